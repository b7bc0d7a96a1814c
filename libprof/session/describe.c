/* SPDX-License-Identifier: ISC */
/*
 * What a recording says of itself (machine, command, how it was made), and
 * the session's own copy of the options it was opened with.
 *
 * Called by session.c.  Tells only what was read here and now; nothing that
 * a report could work out.
 */
#include <sys/utsname.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/permission.h"
#include "os/pmu_kinds.h"
#include "session_impl.h"
#include "verified.h"

#define PROF_VERIFY_TEXT	4160	/* a path, and numbers */

static char *
copy_string(const char *text, bool *failed)
{
	char *copy = text == NULL ? NULL : strdup(text);

	if (text != NULL && copy == NULL)
		*failed = true;
	return (copy);
}

/* Each once: a CPU or thread named twice is not to be counted twice. */
static int *
copy_ids(const int *from, size_t *n, bool *failed)
{
	const size_t given = *n;
	size_t i, k;
	int *copy;

	*n = 0;
	if (from == NULL)
		return (NULL);
	if ((copy = calloc(given + 1, sizeof(*copy))) == NULL) {
		*failed = true;
		return (NULL);
	}
	for (i = 0; i < given; i++) {
		for (k = 0; k < *n && copy[k] != from[i]; k++)
			continue;
		if (k == *n)
			copy[(*n)++] = from[i];
	}
	return (copy);
}

static char **
copy_argv(char *const *argv, bool *failed)
{
	size_t n, count = 0;
	char **copy;

	if (argv == NULL)
		return (NULL);
	while (argv[count] != NULL)
		count++;
	if ((copy = calloc(count + 1, sizeof(*copy))) == NULL)
		*failed = true;
	else
		for (n = 0; n < count; n++)
			copy[n] = copy_string(argv[n], failed);
	return (copy);
}

/* A name that the last component of a path can be. */
static int
check_name(const char *name, struct prof_err *error)
{
	if (name != NULL && name[0] != '\0' && strchr(name, '/') == NULL &&
	    strlen(name) < DTP_NAME_LEN)
		return (0);
	prof_fail(error, PROF_E_USAGE, "cannot wait for '%s': not the name of "
	    "a file", name == NULL ? "" : name);
	return (prof_cure(error, "use a name without a path, of at most %d "
	    "bytes", DTP_NAME_LEN - 1));
}

int
prof_options_copy(struct prof_options *to, const struct prof_options *from,
    struct prof_err *error)
{
	bool failed = false;

	memset(to, 0, sizeof(*to));
	if (prof_options_take(to, sizeof(*to), from, "prof_options",
	    error) == -1)
		return (-1);
	to->po_output = copy_string(to->po_output != NULL ? to->po_output :
	    "dtprof.dtp", &failed);
	to->po_ids = copy_ids(to->po_ids, &to->po_nids, &failed);
	to->po_cpus = copy_ids(to->po_cpus, &to->po_ncpus, &failed);
	to->po_cgroup = copy_string(to->po_cgroup, &failed);
	to->po_filter = copy_string(to->po_filter, &failed);
	to->po_comm = copy_string(to->po_comm, &failed);
	to->po_wait_for = copy_string(to->po_wait_for, &failed);
	to->po_keep_if = copy_string(to->po_keep_if, &failed);
	to->po_note = copy_string(to->po_note, &failed);
	to->po_degraded = copy_string(to->po_degraded, &failed);
	to->po_argv = copy_argv(to->po_argv, &failed);
	if (failed)
		return (prof_fail_nomem(error));
	if (to->po_target == PROF_TARGET_COMMAND && (to->po_argv == NULL ||
	    to->po_argv[0] == NULL))
		return (prof_fail(error, PROF_E_USAGE, "no command"));
	return (to->po_target == PROF_TARGET_NAME ?
	    check_name(to->po_wait_for, error) : 0);
}

void
prof_options_free(struct prof_options *po)
{
	size_t n;

	for (n = 0; po->po_argv != NULL && po->po_argv[n] != NULL; n++)
		free(po->po_argv[n]);
	free((void *)po->po_argv);
	free((void *)po->po_output);
	free((void *)po->po_ids);
	free((void *)po->po_cpus);
	free((void *)po->po_cgroup);
	free((void *)po->po_filter);
	free((void *)po->po_comm);
	free((void *)po->po_wait_for);
	free((void *)po->po_keep_if);
	free((void *)po->po_note);
	free((void *)po->po_degraded);
}

static int
say_info(struct prof_session *session, const char *key, const char *value)
{
	return (prof_sink_info(&session->se_sink, key, value) == 0 ?
	    prof_sink_info(&session->se_listener, key, value) : -1);
}

int
prof_describe_say(struct prof_session *session, const char *key,
    const char *value)
{
	return (say_info(session, key, value));
}

static int
say_number(struct prof_session *session, const char *key, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return (say_info(session, key, text));
}

/* The first "model name" or, on arm64, nothing: then the field is absent. */
static int
say_cpu_model(struct prof_session *session)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], *value;
	int rv = 0;

	if (file == NULL)
		return (0);
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "model name", 10) == 0 &&
		    (value = strchr(line, ':')) != NULL) {
			value[strcspn(value, "\n")] = '\0';
			rv = say_info(session, "machine.cpu_model", value + 2);
			break;
		}
	fclose(file);
	return (rv);
}

/* Addresses of the kernel and numbers of devices hold for one boot. */
static int
say_boot(struct prof_session *session)
{
	char boot[64];

	if (prof_proc_read("/proc/sys/kernel/random/boot_id", boot,
	    sizeof(boot)) <= 0)
		return (0);
	boot[strcspn(boot, "\n")] = '\0';
	return (say_info(session, "machine.boot", boot));
}

/* The command line, quoted so that it can be pasted into a shell. */
static int
say_command(struct prof_session *session)
{
	char *const *argv = session->se_options.po_argv;
	char *text;
	size_t length;
	FILE *stream;
	int rv = -1;

	if (argv == NULL)
		return (0);
	if ((stream = open_memstream(&text, &length)) == NULL)
		return (prof_fail_nomem(&session->se_error));
	for (; *argv != NULL; argv++) {
		const char *at;
		bool plain = **argv != '\0' && (*argv)[strspn(*argv,
		    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		    "0123456789_-+=.,:/@%")] == '\0';

		if (!plain)
			putc('\'', stream);
		for (at = *argv; *at != '\0'; at++)
			if (*at == '\'')
				fputs("'\\''", stream);
			else
				putc(*at, stream);
		fputs(plain ? "" : "'", stream);
		fputs(argv[1] != NULL ? " " : "", stream);
	}
	if (fclose(stream) == 0)
		rv = say_info(session, "command", text);
	free(text);
	return (rv);
}

static int
say_notes(struct prof_session *session)
{
	char key[32];

	for (; session->se_nstamped < session->se_nnotes;
	    session->se_nstamped++) {
		snprintf(key, sizeof(key), "note.%zu", session->se_nstamped);
		if (say_info(session, key,
		    session->se_notes[session->se_nstamped]) == -1)
			return (-1);
	}
	return (0);
}

/* Which counters tell an address that lies behind the one they mean. */
static int
say_skids(struct prof_session *session)
{
	const struct prof_pmu_kinds *kinds =
	    prof_names_kinds(session->se_names);
	char key[32];
	size_t n;

	for (n = 1; n < session->se_events.el_n; n++) {
		const struct prof_event *event =
		    session->se_events.el_event[n];

		if (!event->ev_has_period ||
		    !prof_pmu_skids(kinds, &event->ev_attr))
			continue;
		snprintf(key, sizeof(key), "skid.%zu", n);
		if (say_info(session, key, "yes") == -1)
			return (-1);
	}
	return (0);
}

int
prof_describe(struct prof_session *session)
{
	static const char *const targets[] = {
		"all", "pids", "tids", "cgroup", "command", "name"
	};
	static const char *const callgraphs[] = {
		"none", "fp", "auto", "dwarf"
	};
	const struct prof_options *po = &session->se_options;
	struct utsname un;
	struct timespec ts;

	uname(&un);
	clock_gettime(CLOCK_REALTIME, &ts);
	if (say_info(session, "dtprof.version", prof_version()) == -1 ||
	    say_boot(session) == -1 ||
	    say_info(session, "machine.host", un.nodename) == -1 ||
	    say_info(session, "machine.kernel", un.release) == -1 ||
	    say_info(session, "machine.arch", un.machine) == -1 ||
	    say_number(session, "machine.cpus",
	    session->se_plan.pn_ncpus) == -1 ||
	    say_cpu_model(session) == -1 || say_command(session) == -1 ||
	    say_number(session, "time.realtime_ns", (uint64_t)ts.tv_sec *
	    1000000000ULL + (uint64_t)ts.tv_nsec) == -1 ||
	    say_number(session, "time.monotonic_ns", prof_now_ns()) == -1 ||
	    say_info(session, "path", session->se_backend->bk_name) ==
	    -1 || say_info(session, "target", targets[po->po_target]) == -1 ||
	    say_info(session, "callgraph", callgraphs[po->po_callgraph]) == -1)
		return (-1);
	if (po->po_filter != NULL && say_info(session, "filter",
	    po->po_filter) == -1)
		return (-1);
	if (po->po_keep_if != NULL && say_info(session, "keep_if",
	    po->po_keep_if) == -1)
		return (-1);
	if (po->po_no_kernel && say_info(session, "user_only", "yes") == -1)
		return (-1);
	if (po->po_comm != NULL && say_info(session, "comm", po->po_comm) == -1)
		return (-1);
	if (po->po_target == PROF_TARGET_NAME && say_info(session, "wait_for",
	    po->po_wait_for) == -1)
		return (-1);
	if (say_skids(session) == -1 || prof_spans_describe(session) == -1)
		return (-1);
	if (po->po_degraded != NULL && say_info(session, "less.event",
	    po->po_degraded) == -1)
		return (-1);
	if (session->se_in_namespace && say_info(session, "pid.namespace",
	    "its own") == -1)
		return (-1);
	return (say_notes(session));
}

/* A whole call leaves out what could not be read; others have to say it. */
int
prof_describe_arguments(struct prof_session *session)
{
	const struct prof_events *events = &session->se_events;
	struct prof_accounting sum;

	for (size_t n = 1; n < events->el_n; n++) {
		if (events->el_event[n]->ev_is_call)
			continue;
		if (prof_account_event(session, n, &sum) == -1)
			return (prof_fail_nomem(&session->se_error));
		if (sum.pa_arg_fault > 0 && prof_session_add_note(session,
		    "%s: %" PRIu64 " argument%s could not be read and %s 0 or "
		    "empty", events->el_event[n]->ev_name, sum.pa_arg_fault,
		    sum.pa_arg_fault == 1 ? "" : "s",
		    sum.pa_arg_fault == 1 ? "is" : "are") == -1)
			return (-1);
	}
	return (0);
}

/* Since when nothing is recorded of probes, and of how long that is a part. */
static int
say_detached(struct prof_session *session)
{
	const char *detached = session->se_overhead.ov_detached;
	char *text;
	int rv;

	if (detached == NULL)
		return (0);
	if (asprintf(&text, "%s; recorded %.1f s in total", detached, (double)
	    prof_clock_ran_ns(&session->se_plan.pn_clock) / 1e9) == -1)
		return (prof_fail_nomem(&session->se_error));
	rv = say_info(session, "less.probes", text);
	free(text);
	return (rv);
}

int
prof_describe_overhead(struct prof_session *session)
{
	const struct prof_overhead *ov = &session->se_overhead;
	char text[128];

	if (session->se_options.po_max_overhead != 0 &&
	    (say_number(session, "overhead.recorder_ns",
	    ov->ov_recorder_ns) == -1 || (ov->ov_was_measured &&
	    say_number(session, "overhead.programs_ns",
	    ov->ov_programs_ns) == -1)))
		return (-1);
	if (ov->ov_slowest > 1) {
		prof_rates_text(ov, text, sizeof(text));
		if (say_info(session, "less.rate", text) == -1)
			return (-1);
	}
	if (ov->ov_behind_ns != 0) {
		prof_pace_text(ov, text, sizeof(text));
		if (say_info(session, "less.pace", text) == -1)
			return (-1);
	}
	return (say_detached(session) == -1 ||
	    prof_budgets_say(session) == -1 ? -1 : say_notes(session));
}

/* The comparison: how many of each kind, and where they went apart. */
static int
say_verified(struct prof_session *session)
{
	static const char *const kinds[] = {
		"same", "short", "doubt", "earlier", "further", "differ"
	};
	uint64_t sum[sizeof(kinds) / sizeof(kinds[0])] = { 0 };
	struct prof_verify_row row;
	char key[32], text[PROF_VERIFY_TEXT];
	size_t n, place = 0;

	for (n = 0; prof_session_verified(session, n, &row) == 1; n++) {
		sum[row.vr_kind] += row.vr_samples;
		if (row.vr_kind < PROF_VERIFY_EARLIER)
			continue;
		snprintf(key, sizeof(key), "verify.place.%zu", place++);
		snprintf(text, sizeof(text), "%llu %s %u %llx %s",
		    (unsigned long long)row.vr_samples, kinds[row.vr_kind],
		    row.vr_status, (unsigned long long)row.vr_address,
		    row.vr_module);
		if (say_info(session, key, text) == -1)
			return (-1);
	}
	for (n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		snprintf(key, sizeof(key), "verify.%s", kinds[n]);
		if (say_number(session, key, sum[n]) == -1)
			return (-1);
	}
	return (0);
}

int
prof_describe_snapshots(struct prof_session *session)
{
	uint64_t walked, whole;

	if (session->se_plan.pn_snapshots == NULL)
		return (0);
	prof_snapshots_count(session->se_plan.pn_snapshots, &walked, &whole);
	if (say_number(session, "snapshots.walked", walked) == -1 ||
	    say_number(session, "snapshots.whole", whole) == -1)
		return (-1);
	return (session->se_options.po_verify ? say_verified(session) : 0);
}

/*
 * Who read the files, in how many processes, and which file cost one.  The
 * sentences are for people; files.lost is what can be counted on.
 */
int
prof_describe_files(struct prof_session *session)
{
	struct prof_broker_stats stats;
	const char *lost;
	char how[PROF_BROKER_HOW];
	size_t n;

	prof_broker_stats(session->se_plan.pn_broker, &stats);
	for (n = 0; (lost = prof_broker_lost(session->se_plan.pn_broker,
	    n)) != NULL;
	    n++)
		if (prof_session_add_note(session, "dtprof could not read a "
		    "file, so addresses in the file are unresolved or stacks "
		    "truncated: %s", lost) == -1)
			return (-1);
	prof_broker_how(&stats, how, sizeof(how));
	if (say_info(session, "files.readers", how) == -1 ||
	    say_number(session, "files.processes", stats.bs_started) == -1)
		return (-1);
	return (say_number(session, "files.lost", stats.bs_lost));
}

static int
put_names(void *arg, const void *body, size_t len)
{
	struct prof_session *session = arg;

	if (prof_sink_symbols(&session->se_sink, body, len) == -1)
		return (prof_session_sink_failed(session));
	return (prof_stack_filter_symbols(session, body, len));
}

int
prof_describe_codes(struct prof_session *session, bool is_last)
{
	struct prof_codes_stats stats;

	if (prof_codes_round(session->se_plan.pn_codes, is_last, put_names,
	    session) == -1)
		return (session->se_error.pe_code != PROF_OK ? -1 :
		    prof_fail_nomem(&session->se_error));
	if (!is_last)
		return (0);
	prof_codes_stats(session->se_plan.pn_codes, &stats);
	/*
	 * Code that runs once, as modules do, is often gone before it is read;
	 * reports have rows for it.  Most of them: something is wrong.
	 */
	if (stats.cs_unnamed > stats.cs_named &&
	    prof_session_add_note(session, "%" PRIu64 " of %" PRIu64 " script "
	    "functions have no symbol: the function was freed or the process "
	    "ended before dtprof read the symbol, or dtprof reached its limit "
	    "of time or bytes for reading symbols",
	    stats.cs_unnamed, stats.cs_named + stats.cs_unnamed) == -1)
		return (-1);
	return (stats.cs_over == 0 ? 0 : prof_session_add_note(session,
	    "%" PRIu64 " script frames have no symbol: the table of script "
	    "functions was full", stats.cs_over));
}

/* A sink of the caller's that wants symbols. */
bool
prof_session_names_now(const struct prof_session *session)
{
	return (session->se_has_sink && session->se_sink.sk_symbols != NULL);
}

int
prof_describe_now(struct prof_session *session)
{
	int rv;

	if (!prof_session_names_now(session) ||
	    !prof_noted_any(session->se_noted))
		return (0);
	rv = prof_noted_now(session->se_noted, session->se_plan.pn_broker,
	    put_names, session);
	return (rv == -1 && session->se_error.pe_code == PROF_OK ?
	    prof_fail_nomem(&session->se_error) : rv);
}

/* Of what was met since the last time. */
int
prof_describe_symbols(struct prof_session *session)
{
	struct prof_noted_stats stats;

	return (prof_describe_codes(session, false) == -1 ? -1 :
	    prof_noted_tables(session->se_noted, session->se_plan.pn_broker,
	    put_names, session, &stats));
}

int
prof_describe_names(struct prof_session *session)
{
	struct prof_noted_stats stats;

	if (prof_describe_codes(session, true) == -1)
		return (-1);
	if (prof_noted_tables(session->se_noted, session->se_plan.pn_broker,
	    put_names,
	    session, &stats) == -1)
		return (-1);
	if (say_number(session, "names.places", stats.ns_places) == -1 ||
	    say_number(session, "names.modules", stats.ns_modules) == -1 ||
	    say_number(session, "names.functions", stats.ns_functions) == -1 ||
	    say_number(session, "names.late", stats.ns_late) == -1)
		return (-1);
	/* Of a recording whoever reads it has the files. */
	if (stats.ns_late > 0 && prof_session_names_now(session) &&
	    prof_session_add_note(session, "dtprof had no time to read %" PRIu64
	    " files: addresses in these files are unresolved",
	    stats.ns_late) == -1)
		return (-1);
	if (say_number(session, "maps.reread",
	    prof_reread_times(session->se_reread)) == -1)
		return (-1);
	if (stats.ns_over > 0 && prof_session_add_note(session, "the target "
	    "has more mappings than the recorder can keep: addresses in "
	    "processes with dropped mappings may be unresolved") == -1)
		return (-1);
	if (stats.ns_maps_over > 0 && prof_session_add_note(session, "%" PRIu64
	    " perf map%s of JITs exceed%s the memory budget: addresses in the "
	    "code of these JITs are unresolved", stats.ns_maps_over,
	    stats.ns_maps_over == 1 ? "" : "s",
	    stats.ns_maps_over == 1 ? "s" : "") == -1)
		return (-1);
	if (stats.ns_dumps_over > 0 && prof_session_add_note(session, "%" PRIu64
	    " JIT dumps were not read, because the recorder had too many JIT "
	    "dumps open: addresses in the code of the unread JIT dumps are "
	    "unresolved",
	    stats.ns_dumps_over) == -1)
		return (-1);
	return (say_number(session, "names.dropped", stats.ns_dropped));
}

int
prof_session_verified(struct prof_session *session, size_t n,
    struct prof_verify_row *row)
{
	const struct prof_plan *plan = &session->se_plan;
	struct prof_verify *verify = plan->pn_snapshots == NULL ? NULL :
	    prof_snapshots_verify(plan->pn_snapshots);

	return (verify != NULL && prof_verify_row(verify, n, row) ? 1 : 0);
}
