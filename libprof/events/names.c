/* SPDX-License-Identifier: ISC */
/*
 * From the text of one -e to events: asks each provider in turn, and when
 * none knows the name, says which one is nearest.  Holds what providers need
 * of the machine (tracefs, BTF), opened when first asked for.  Called by the
 * session and the catalog; attaching is not its business.
 */
#include <sys/stat.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/glob.h"
#include "names.h"
#include "os/tracefs.h"

#define SPAN_PREFIX	"span:"

/* Functions that the kernel traces are some megabytes, all of modules more. */
#define TRACEFS_FILE_MAX	(32u << 20)

static int	names_ask(struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);
static int	names_unknown(struct prof_names *names,
		    const struct prof_spec *spec, struct prof_err *error);

const struct prof_provider *const prof_providers[] = {
#define PROF_PROVIDER(name) &prof_provider_##name,
#include "providers.def"
#undef PROF_PROVIDER
	NULL
};

struct prof_names *
prof_names_open(struct prof_err *error)
{
	struct prof_names *names;

	if ((names = calloc(1, sizeof(*names))) == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	names->nm_tracefs = -1;
	return (names);
}

struct prof_names *
prof_names_open_offline(const char *tracepoints, struct prof_err *error)
{
	struct prof_names *names;
	char *copy;

	if ((names = prof_names_open(error)) == NULL)
		return (NULL);
	names->nm_offline = true;
	names->nm_tracefs_tried = names->nm_btf_tried = true;
	names->nm_pfm_tried = names->nm_tps_tried = true;
	names->nm_kinds_tried = true;
	copy = strdup(tracepoints);
	if (copy == NULL || prof_tracepoints_parse(names, copy) == -1) {
		prof_names_close(names);
		prof_fail_nomem(error);
		names = NULL;
	}
	free(copy);
	return (names);
}

void
prof_names_close(struct prof_names *names)
{
	if (names == NULL)
		return;
	prof_tracepoints_free(names);
	free(names->nm_traceable);
	btf__free(names->nm_btf);
	prof_pmu_kinds_free(&names->nm_kinds);
	if (names->nm_tracefs != -1)
		close(names->nm_tracefs);
	free(names);
}

int
prof_names_tracefs(struct prof_names *names)
{
	if (!names->nm_tracefs_tried) {
		names->nm_tracefs_tried = true;
		names->nm_tracefs = prof_tracefs_open(&names->nm_tracefs_error);
	}
	return (names->nm_tracefs);
}

const struct prof_pmu_kinds *
prof_names_kinds(struct prof_names *names)
{
	if (!names->nm_kinds_tried) {
		names->nm_kinds_tried = true;
		prof_pmu_kinds_read(&names->nm_kinds,
		    "/sys/bus/event_source/devices");
	}
	return (&names->nm_kinds);
}

struct btf *
prof_names_btf(struct prof_names *names)
{
	if (!names->nm_btf_tried) {
		names->nm_btf_tried = true;
		/* libbpf would print that it found none. */
		libbpf_print_fn_t print = libbpf_set_print(NULL);

		names->nm_btf = btf__load_vmlinux_btf();
		libbpf_set_print(print);
		if (libbpf_get_error(names->nm_btf) != 0)
			names->nm_btf = NULL;
	}
	return (names->nm_btf);
}

char *
prof_names_tracefs_read(struct prof_names *names, const char *path)
{
	int dir = prof_names_tracefs(names), fd;
	size_t used = 0, cap = 16384;
	char *text = NULL, *bigger;
	ssize_t got = -1;

	if (dir == -1 || (fd = openat(dir, path, O_RDONLY | O_CLOEXEC)) == -1)
		return (NULL);
	for (;;) {
		if ((bigger = realloc(text, cap)) == NULL)
			break;
		text = bigger;
		got = read(fd, text + used, cap - used - 1);
		if (got <= 0)
			break;
		used += (size_t)got;
		if (used + 1 == cap && (cap *= 2) > TRACEFS_FILE_MAX) {
			got = -1;
			break;
		}
	}
	close(fd);
	if (got != 0) {
		free(text);
		return (NULL);
	}
	text[used] = '\0';
	return (text);
}

const char *
prof_names_traceable(struct prof_names *names)
{
	if (!names->nm_traceable_tried) {
		names->nm_traceable_tried = true;
		names->nm_traceable = prof_names_tracefs_read(names,
		    "available_filter_functions");
	}
	return (names->nm_traceable);
}

int
prof_names_resolve(struct prof_names *names, const char *text,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	struct prof_spec spec;

	return (prof_spec_parse(&spec, text, error) == -1 ? -1 :
	    prof_spec_resolve(names, &spec, defaults, events, error));
}

/* Each has it, and says so in its name. */
static int
filter_add(const struct prof_spec *spec, struct prof_events *events,
    size_t from, struct prof_err *error)
{
	for (; from < events->el_n && spec->sp_filter != NULL; from++) {
		struct prof_event *event = events->el_event[from];
		char *name = NULL;

		if (strcmp(event->ev_name, spec->sp_whole) != 0 &&
		    asprintf(&name, "%s{%s}", event->ev_name,
		    spec->sp_filter) == -1)
			return (prof_fail_nomem(error));
		if (name != NULL) {
			free(event->ev_name);
			event->ev_name = name;
		}
		event->ev_expression = strdup(spec->sp_filter);
		if (event->ev_expression == NULL)
			return (prof_fail_nomem(error));
	}
	return (0);
}

/* All that it means is added, or nothing. */
int
prof_spec_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	const size_t had = events->el_n;
	int rv;

	rv = names_ask(names, spec, defaults, events, error);
	if (rv == 0)
		rv = names_unknown(names, spec, error);
	if (rv == 1 && filter_add(spec, events, had, error) == 0)
		return (0);
	while (events->el_n > had)
		prof_event_free(events->el_event[--events->el_n]);
	return (-1);
}

/*
 * A plain name belongs to the first provider that knows it; a probe whose
 * provider part is empty or a glob, to all of them.
 */
static int
names_ask(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	int found = 0, rv;

	for (size_t n = 0; prof_providers[n] != NULL; n++) {
		const struct prof_provider *provider = prof_providers[n];

		if (!prof_spec_is_for(spec, provider->pv_name))
			continue;
		rv = provider->pv_resolve(names, spec, defaults, events,
		    error);
		if (rv == -1)
			return (-1);
		found |= rv;
		if (rv == 1 && !spec->sp_is_probe)
			break;
	}
	return (found);
}

static int
names_unknown(struct prof_names *names, const struct prof_spec *spec,
    struct prof_err *error)
{
	const char *text = spec->sp_whole, *last;
	char plain[PROF_SPEC_MAX], *nearest;

	if (strncmp(text, SPAN_PREFIX, strlen(SPAN_PREFIX)) == 0) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN, "cannot open event "
		    "'%s': a span is a pair of events", text);
		return (prof_cure(error, "define the span: dtprof record or "
		    "stat --span %s=BEGIN[,END]", text + strlen(SPAN_PREFIX)));
	}
	snprintf(plain, sizeof(plain), "%.*s", spec->sp_filter == NULL ?
	    (int)strlen(text) : (int)(strlen(text) - strlen(spec->sp_filter) -
	    2), text);
	nearest = prof_names_nearest(names, plain);
	if (nearest != NULL) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN,
		    "cannot open event '%s': no such event", text);
		prof_cure(error, "did you mean '%s'?", nearest);
		free(nearest);
		return (-1);
	}
	prof_fail(error, PROF_E_EVENT_UNKNOWN, "cannot open event '%s': no "
	    "such event", text);
	/* Four parts, and the first is no provider of ours. */
	if (!spec->sp_is_probe && prof_spec_colons(text) >= 3)
		return (prof_cure(error, "providers are pmc, profile, "
		    "interval, static, syscall, kprobe, fentry, uprobe and "
		    "usdt; list events with dtprof list"));
	if (text[0] == '{')
		return (prof_cure(error, "count groups with dtprof stat; to "
		    "add a counter to each sample, use --with COUNTER"));
	last = strrchr(spec->sp_name, ':');
	last = last == NULL ? spec->sp_name : last + 1;
	if (last[0] == '\0' || prof_glob_is(last))
		return (-1);
	return (prof_cure(error, "list events with dtprof list '*%.16s*'",
	    last));
}
