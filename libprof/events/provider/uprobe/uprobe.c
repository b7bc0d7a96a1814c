/* SPDX-License-Identifier: ISC */
/*
 * Probes in programs and libraries: uprobe, a function is entered, uretprobe,
 * it returns, and usdt, a probe that the program's author has put there.
 *
 *	uprobe:FILE:FUNCTION[+OFFSET|@LINE][/arg0,str(arg1)/]
 *	uretprobe:FILE:FUNCTION[/str(ret)/]
 *	usdt:FILE:PROVIDER:NAME[/arg0,str(arg1)/]
 *
 * FUNCTION is a linker's name, a demangled one with or without parameters, or
 * a glob, of which each function becomes an event; the same holds for globs in
 * PROVIDER and NAME.  Called through the table of providers; where places are
 * is found by a parser (prof_names).
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "events/instrument.h"
#include "uprobe_impl.h"

#define SITES_MAX	PROF_GLOB_EVENTS	/* of one -e */

/* One -e, and what comes of it. */
struct naming {
	struct prof_names *ng_names;
	const struct prof_spec *ng_spec;
	const struct prof_provider *ng_provider;
	struct prof_sites_want ng_want;
	char		 ng_pattern[PROF_SPEC_MAX];
	char		 ng_words[3 * PROF_SPEC_MAX];
	struct prof_events *ng_events;
	size_t		 ng_before;	/* events of others */
	bool		 ng_is_glob;
	struct prof_left ng_left;	/* of a glob */
	struct prof_err	*ng_error;
};

static const char *const provider_names[] = {
	[PROF_SITE_FUNCTION] = "uprobe",
	[PROF_SITE_STATIC] = "usdt",
	[PROF_SITE_RETURN] = "uretprobe",
};

/* ----------------------------------------------------------------- naming */

/* A part of a probe's name, in quotes where it needs them. */
static const char *
quote_for(const char *part)
{
	return (part[strcspn(part, ":{,@ ")] != '\0' ? "\"" : "");
}

static void
probe_name(char *out, size_t size, enum prof_site_kind kind, const char *file,
    const char *site)
{
	const char *fq = quote_for(file), *q = "";

	if (kind != PROF_SITE_STATIC)
		q = strchr(site, '/') != NULL ? "\"" : quote_for(site);
	(void)snprintf(out, size, "%s:%s%s%s:%s%s%s", provider_names[kind],
	    fq, file, fq, q, site, q);
}

/* The event that a function fires, made for the first of that name. */
static struct prof_event *
event_of(struct naming *naming, const struct prof_binary *binary,
    const struct prof_site *site)
{
	const struct prof_spec *spec = naming->ng_spec;
	const struct prof_events *events = naming->ng_events;
	char probe[PROF_SPEC_MAX + 512], name[PROF_SPEC_MAX + 512];
	struct prof_event *event;

	if (!naming->ng_is_glob && events->el_n > naming->ng_before)
		return (events->el_event[naming->ng_before]);
	probe_name(probe, sizeof(probe), naming->ng_want.sw_kind,
	    binary->bi_path, site->si_name);
	probe_name(name, sizeof(name), naming->ng_want.sw_kind, spec->sp_file,
	    site->si_name);
	for (size_t n = naming->ng_before; n < events->el_n; n++)
		if (strcmp(events->el_event[n]->ev_name, name) == 0)
			return (events->el_event[n]);
	event = prof_event_new(naming->ng_is_glob ? name : spec->sp_whole,
	    probe, "events", naming->ng_provider, &prof_instrument_uprobe);
	if (event == NULL || (naming->ng_is_glob &&
	    (event->ev_pattern = strdup(spec->sp_whole)) == NULL)) {
		prof_event_free(event);
		return (NULL);
	}
	/* The kernel's stack is that of the breakpoint. */
	event->ev_attr.exclude_kernel = 1;
	return (prof_events_add(naming->ng_events, event) == -1 ? NULL :
	    event);
}

/* -------------------------------------------------------------- refusals */

/* The name in a file that is nearest; to be freed. */
static char *
site_nearest(struct naming *naming, const struct prof_binary *binary)
{
	const struct prof_sites_want all = {
	    .sw_kind = naming->ng_want.sw_kind, .sw_pattern = "*" };
	const char *wanted = naming->ng_want.sw_pattern;
	unsigned distance, least = (unsigned)(strlen(wanted) / 3) + 1;
	struct prof_sites sites;
	struct prof_err why;
	char *best = NULL;
	size_t nearest = 0;

	if (naming->ng_is_glob || prof_binary_sites(naming->ng_names, binary,
	    &all, &sites, &why) == -1)
		return (NULL);
	for (size_t n = 0; n < sites.st_n; n++) {
		distance = prof_name_distance(wanted,
		    sites.st_site[n].si_name);
		if (distance < least) {
			least = distance;
			nearest = n + 1;
		}
	}
	if (nearest > 0)
		best = strdup(sites.st_site[nearest - 1].si_name);
	prof_sites_free(&sites);
	return (best);
}

static int
refuse_unknown(struct naming *naming, const struct prof_binary *binary,
    const struct prof_sites *sites)
{
	const bool is_static = naming->ng_want.sw_kind == PROF_SITE_STATIC;
	const struct prof_spec *spec = naming->ng_spec;
	struct prof_err *error = naming->ng_error;
	char *nearest;

	if (sites->st_functions == 0) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN, "%s: '%s' has no %s",
		    spec->sp_whole, binary->bi_path, is_static ?
		    "static probes" : "symbols");
		return (prof_cure(error, is_static ? "probe a function: "
		    "uprobe:FILE:FUNCTION" : "install the debug symbols of the "
		    "file"));
	}
	nearest = site_nearest(naming, binary);
	prof_fail(error, PROF_E_EVENT_UNKNOWN, "cannot open event '%s': no "
	    "%s '%s' in %s", spec->sp_whole, is_static ? "static probe" :
	    "function", naming->ng_want.sw_pattern, binary->bi_path);
	if (nearest != NULL)
		prof_cure(error, "did you mean '%s'?", nearest);
	else
		prof_cure(error, "list %s with dtprof list '%s:%s:*'",
		    is_static ? "probes" : "functions",
		    naming->ng_provider->pv_name, spec->sp_file);
	free(nearest);
	return (-1);
}

/* It would be a probe, but for what its notes say. */
static int
refuse_notes(struct naming *naming, const struct prof_binary *binary,
    const struct prof_sites *sites)
{
	static const char *const why[PROF_NOTE_N] = {
		[PROF_NOTE_CUT] = "a USDT note is shorter than its length "
		    "field says",
		[PROF_NOTE_PLACE] =
		    "a probe's address is outside the code of the file",
		[PROF_NOTE_SEMAPHORE] =
		    "a probe's semaphore is outside the data of the file",
	};

	for (size_t n = 1; n < PROF_NOTE_N; n++)
		if (sites->st_bad[n] != 0) {
			prof_fail(naming->ng_error, PROF_E_EVENT_UNSUPPORTED,
			    "%s: the USDT notes of '%s' are damaged: %s",
			    naming->ng_spec->sp_whole, binary->bi_path,
			    why[n]);
			return (prof_cure(naming->ng_error, "install the "
			    "program again"));
		}
	return (0);
}

static int
refuse_many(struct naming *naming, size_t found)
{
	prof_fail(naming->ng_error, PROF_E_LIMIT, "'%s' matches %zu places "
	    "(at most %d)", naming->ng_spec->sp_whole, found,
	    SITES_MAX);
	return (prof_cure(naming->ng_error, "narrow the pattern; list matches "
	    "with dtprof list '%s'", naming->ng_spec->sp_whole));
}

static int
refuse_chosen(struct naming *naming, const struct prof_binary *binary,
    const struct prof_site *site)
{
	prof_fail(naming->ng_error, PROF_E_EVENT_UNSUPPORTED, "%s: '%s' of %s "
	    "is an IFUNC, which runs once to choose a function",
	    naming->ng_spec->sp_whole, site->si_name, binary->bi_path);
	return (prof_cure(naming->ng_error, "use the name of the chosen "
	    "function: a profile (dtprof record -e cpu-clock) shows that "
	    "name"));
}

static const char *
leave_reason(uint32_t leave)
{
	static const char *const why[PROF_LEAVE_N] = {
		[PROF_LEAVE_SIZE] = "the size of the function is unknown or "
		    "too large",
		[PROF_LEAVE_CODE] = "the function contains an unknown "
		    "instruction",
		[PROF_LEAVE_INDIRECT] = "the function contains an indirect "
		    "jump",
		[PROF_LEAVE_TAIL] = "the function ends in a tail call",
		[PROF_LEAVE_NEVER] = "the function never returns",
		[PROF_LEAVE_GO] = "the function is a Go function",
		[PROF_LEAVE_WITHIN] = "the offset is within an instruction",
		[PROF_LEAVE_BEHIND] = "the offset is beyond the end of the "
		    "function",
		[PROF_LEAVE_LINES] = "there is no debug information",
		[PROF_LEAVE_LINE] = "the function has no code of that line",
	};

	return (leave < PROF_LEAVE_N ? why[leave] : NULL);
}

/* NULL: nothing speaks against a probe. */
static const char *
why_not(const struct prof_site *site)
{
	return (site->si_flags & PROF_SITE_CHOSEN ? "the function is an IFUNC, "
	    "which runs once to choose a "
	    "function" : leave_reason(site->si_leave));
}

static int
refuse_place(struct naming *naming, const struct prof_binary *binary,
    const struct prof_site *site)
{
	prof_fail(naming->ng_error, PROF_E_EVENT_UNSUPPORTED, "%s: no such "
	    "place in '%s' of %s: %s", naming->ng_spec->sp_whole,
	    site->si_name, binary->bi_path, leave_reason(site->si_leave));
	return (prof_cure(naming->ng_error, naming->ng_spec->sp_line != 0 ?
	    "choose a line of the function that has code; for debug "
	    "information compile with gcc -g, or install a package with debug "
	    "symbols" :
	    "list the instructions of the function with objdump -d"));
}

/* Another way would be to replace return addresses: exceptions die of it. */
static int
refuse_leave(struct naming *naming, const struct prof_binary *binary,
    const struct prof_site *site)
{
	prof_fail(naming->ng_error, PROF_E_EVENT_UNSUPPORTED, "%s: dtprof "
	    "cannot find where '%s' of %s returns: %s",
	    naming->ng_spec->sp_whole,
	    site->si_name, binary->bi_path, leave_reason(site->si_leave));
	return (prof_cure(naming->ng_error, "probe the entry of the function, "
	    "or the last function that this function calls: "
	    "uprobe:FILE:FUNCTION"));
}

/* Nothing in the file says in which registers a function of Go has them. */
static int
refuse_go(struct naming *naming, const struct prof_binary *binary)
{
	prof_fail(naming->ng_error, PROF_E_EVENT_UNSUPPORTED, "%s: %s is a Go "
	    "program, whose functions do not pass arguments as the C ABI does",
	    naming->ng_spec->sp_whole, binary->bi_path);
	return (prof_cure(naming->ng_error, "leave out the arguments of the "
	    "probe"));
}

/* ------------------------------------------------------------------ sites */

static int
site_add(struct naming *naming, const struct prof_binary *binary,
    struct prof_site *site)
{
	struct prof_event *event;
	struct prof_hook *hook;

	if (naming->ng_is_glob && why_not(site) != NULL) {
		prof_left_out(&naming->ng_left, why_not(site));
		return (0);
	}
	if (site->si_flags & PROF_SITE_CHOSEN)
		return (refuse_chosen(naming, binary, site));
	if (site->si_leave != PROF_LEAVE_KNOWN)
		return (naming->ng_want.sw_kind == PROF_SITE_RETURN ?
		    refuse_leave(naming, binary, site) :
		    refuse_place(naming, binary, site));
	event = event_of(naming, binary, site);
	hook = event == NULL ? NULL : prof_event_add_hook(event,
	    binary->bi_fd, site->si_offset);
	if (hook == NULL)
		return (prof_fail_nomem(naming->ng_error));
	hook->hk_semaphore = site->si_semaphore;
	if (naming->ng_want.sw_kind == PROF_SITE_FUNCTION) {
		if ((site->si_flags & PROF_SITE_GO) &&
		    (naming->ng_spec->sp_slashed ||
		    naming->ng_spec->sp_nused > 0))
			return (refuse_go(naming, binary));
		site->si_flags |= PROF_SITE_ABI;
		if ((site->si_flags & PROF_SITE_INSIDE) == 0)
			prof_site_abi(site);
	}
	if (naming->ng_want.sw_kind == PROF_SITE_RETURN)
		prof_site_abi_ret(site);
	return (prof_hook_args(event, hook, site, naming->ng_spec,
	    naming->ng_error));
}

static int
binary_add(struct naming *naming, const struct prof_binary *binary,
    bool is_last)
{
	struct prof_sites sites;
	int rv = 0;

	if (prof_binary_sites(naming->ng_names, binary,
	    &naming->ng_want, &sites, naming->ng_error) == -1)
		return (-1);
	if (sites.st_found > SITES_MAX)
		rv = refuse_many(naming, sites.st_found);
	for (size_t n = 0; n < sites.st_n && rv == 0; n++)
		rv = site_add(naming, binary, &sites.st_site[n]);
	if (rv == 0 && is_last && naming->ng_left.lf_sum == 0 &&
	    naming->ng_events->el_n == naming->ng_before &&
	    (rv = refuse_notes(naming, binary, &sites)) == 0)
		rv = refuse_unknown(naming, binary, &sites);
	prof_sites_free(&sites);
	return (rv);
}

/* "n,path" of n, str(path). */
static void
word_add(char *words, size_t size, const char *word)
{
	const size_t used = strlen(words);
	const bool is_text = strncmp(word, "str(", 4) == 0;

	word += is_text ? 4 : 0;
	snprintf(words + used, size - used, "%s%.*s", used > 0 ? "," : "",
	    (int)strlen(word) - is_text, word);
}

/* Arguments that the event names, or its filter. */
static void
words_of(const struct prof_spec *spec, char *words, size_t size)
{
	words[0] = '\0';
	for (size_t n = 0; n < spec->sp_nterms; n++)
		word_add(words, size, spec->sp_term[n].st_key);
	for (size_t n = 0; n < spec->sp_nused; n++)
		word_add(words, size, spec->sp_used[n]);
}

/* What the parser is to look for. */
static struct prof_sites_want
want_of(const struct prof_spec *spec, char pattern[PROF_SPEC_MAX])
{
	if (spec->sp_module[0] == '\0')
		return ((struct prof_sites_want){
		    .sw_kind = strcmp(spec->sp_provider, "uprobe") == 0 ?
		    PROF_SITE_FUNCTION : PROF_SITE_RETURN,
		    .sw_pattern = spec->sp_function,
		    .sw_offset = spec->sp_offset, .sw_line = spec->sp_line });
	(void)snprintf(pattern, PROF_SPEC_MAX, "%.250s:%.250s",
	    spec->sp_module, spec->sp_function);
	return ((struct prof_sites_want){ .sw_kind = PROF_SITE_STATIC,
	    .sw_pattern = pattern });
}

static int
check_spec(const struct prof_names *names, const struct prof_spec *spec,
    struct prof_err *error)
{
	if (names->nm_sites == NULL) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: probes of "
		    "programs cannot be counted in groups", spec->sp_whole);
		return (prof_cure(error, "use dtprof stat -e %s",
		    spec->sp_whole));
	}
	if ((strcmp(spec->sp_provider, "uprobe") != 0 ||
	    prof_glob_is(spec->sp_function)) &&
	    prof_spec_no_offset(spec, error) == -1)
		return (-1);
	return (prof_spec_no_rate(spec, "a probe", error));
}

static int
site_resolve(const struct prof_provider *provider, struct prof_names *names,
    const struct prof_spec *spec, struct prof_events *events,
    struct prof_err *error)
{
	struct naming naming = { .ng_names = names, .ng_spec = spec,
	    .ng_provider = provider, .ng_events = events,
	    .ng_before = events->el_n, .ng_error = error };
	struct prof_binaries binaries;
	int rv = 0;

	if (spec->sp_file == NULL ||
	    strcmp(spec->sp_provider, provider->pv_name) != 0)
		return (0);
	if (check_spec(names, spec, error) == -1 ||
	    prof_binaries_find(names, spec->sp_file, &binaries, error) == -1)
		return (-1);
	naming.ng_want = want_of(spec, naming.ng_pattern);
	words_of(spec, naming.ng_words, sizeof(naming.ng_words));
	naming.ng_want.sw_words = naming.ng_words;
	naming.ng_is_glob = prof_glob_is(naming.ng_want.sw_pattern);
	for (size_t n = 0; n < binaries.bs_n && rv == 0; n++)
		rv = binary_add(&naming, &binaries.bs_binary[n],
		    n + 1 == binaries.bs_n);
	prof_binaries_free(&binaries);
	return (rv == -1 || prof_left_say(&naming.ng_left, names, spec,
	    events->el_n - naming.ng_before, error) == -1 ? -1 : 1);
}

static int
uprobe_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	(void)defaults;
	return (site_resolve(&prof_provider_uprobe, names, spec, events,
	    error));
}

static int
uretprobe_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	(void)defaults;
	return (site_resolve(&prof_provider_uretprobe, names, spec, events,
	    error));
}

static int
usdt_resolve(struct prof_names *names, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_events *events,
    struct prof_err *error)
{
	(void)defaults;
	return (site_resolve(&prof_provider_usdt, names, spec, events, error));
}

/* ---------------------------------------------------------------- listing */

static int
site_list(const struct prof_binary *binary, struct prof_site *site,
    enum prof_site_kind kind, prof_list_fn *fn, void *arg)
{
	char name[PROF_SPEC_MAX + 512];
	struct prof_probe probe = {
		.pp_probe = name,
		.pp_alias = "",
		.pp_desc = "",
		.pp_price = site->si_flags & PROF_SITE_CHEAP ? "cheap" :
		    "trap",
	};

	probe_name(name, sizeof(name), kind, binary->bi_path, site->si_name);
	probe.pp_why_not = why_not(site);
	if (kind == PROF_SITE_RETURN)
		prof_site_abi_ret(site);
	(void)prof_site_list_args(site, &probe);
	return (fn(arg, &probe));
}

/* Those of a file, each once. */
static int
binary_list(struct prof_names *names, const struct prof_binary *binary,
    const struct prof_sites_want *want, prof_list_fn *fn, void *arg)
{
	struct prof_sites sites;
	int rv = 0;

	if (prof_binary_sites(names, binary, want, &sites,
	    names->nm_list_error) == -1)
		return (-1);
	for (size_t n = 0; n < sites.st_n && rv == 0; n++)
		if (want->sw_kind == PROF_SITE_FUNCTION || n == 0 ||
		    strcmp(sites.st_site[n].si_name,
		    sites.st_site[n - 1].si_name) != 0)
			rv = site_list(binary, &sites.st_site[n],
			    want->sw_kind, fn, arg);
	prof_sites_free(&sites);
	return (rv);
}

static int
site_lists(const struct prof_provider *provider, struct prof_names *names,
    prof_list_fn *fn, void *arg)
{
	const size_t length = strlen(provider->pv_name);
	const char *text = names->nm_wanted;
	struct prof_binaries binaries;
	char pattern[PROF_SPEC_MAX], all[32];
	struct prof_sites_want want;
	struct prof_spec spec;
	int rv = 0;

	if (text == NULL || names->nm_sites == NULL ||
	    strncmp(text, provider->pv_name, length) != 0 ||
	    text[length] != ':')
		return (0);
	/* Of all files that the processes have mapped. */
	if (names->nm_npids > 0 && strcmp(text + length, ":*") == 0) {
		snprintf(all, sizeof(all), "%s:*:*", provider->pv_name);
		text = all;
	}
	if (prof_spec_parse(&spec, text, names->nm_list_error) == -1 ||
	    prof_binaries_find(names, spec.sp_file, &binaries,
	    names->nm_list_error) == -1)
		return (-1);
	want = want_of(&spec, pattern);
	for (size_t n = 0; n < binaries.bs_n && rv == 0; n++)
		rv = binary_list(names, &binaries.bs_binary[n], &want, fn,
		    arg);
	prof_binaries_free(&binaries);
	return (rv);
}

static int
uprobe_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	(void)why;
	return (site_lists(&prof_provider_uprobe, names, fn, arg));
}

static int
uretprobe_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	(void)why;
	return (site_lists(&prof_provider_uretprobe, names, fn, arg));
}

static int
usdt_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	(void)why;
	return (site_lists(&prof_provider_usdt, names, fn, arg));
}

const struct prof_provider prof_provider_uprobe = {
	.pv_name = "uprobe",
	.pv_resolve = uprobe_resolve,
	.pv_list = uprobe_list,
};

const struct prof_provider prof_provider_uretprobe = {
	.pv_name = "uretprobe",
	.pv_resolve = uretprobe_resolve,
	.pv_list = uretprobe_list,
};

const struct prof_provider prof_provider_usdt = {
	.pv_name = "usdt",
	.pv_resolve = usdt_resolve,
	.pv_list = usdt_list,
};
