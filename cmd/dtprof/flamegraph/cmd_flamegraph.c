/* SPDX-License-Identifier: ISC */
/*
 * dtprof flamegraph: a recording as a picture, a page that opens anywhere or
 * a drawing.  Reads the options, has libprof make the profile and the bytes,
 * and writes them in place of the old file at once, or not at all.
 */
#include <sys/wait.h>

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helper/helper.h"
#include "flame.h"

/* One run. */
struct flame_run {
	const struct flame_options *fr_options;
	struct prof_reader	*fr_reader;
	struct prof_symbols	*fr_symbols;
	struct prof_profile	*fr_profile;
	struct prof_latencies	*fr_latencies;	/* NULL: none are shown */
	size_t			 fr_events[FLAME_MAX_EVENTS];
	size_t			 fr_nevents;
	const char		*fr_filter;	/* with that of --state */
	char			*fr_joined;	/* the same; NULL: as given */
};

static int	 check_flamegraph(const void *options, int n,
		    char *const *operands);
static int	 begin_flamegraph(const struct prof_cmd *cmd, void *options,
		    int n, char *const *operands);
static int	 run_flamegraph(void *options, int n, char **operands);

static const struct opt_row options_of_flamegraph[] = {
	{ 0, "base", "BASE", OPT_STRINGS, 0, 0, NULL,
	    "show differences from BASE: a recording, or DIR[:NAME] of "
	    "dtprof bench --record; repeat --base for more runs",
	    offsetof(struct flame_options, fo_bases), NULL },
	CHOOSE_BASE_BETWEEN(offsetof(struct flame_options, fo_base_time)),
	CHOOSE_BASE_FILTER(offsetof(struct flame_options, fo_base_filter)),
	CHOOSE_BASE_FROM(offsetof(struct flame_options, fo_base_time)),
	CHOOSE_BASE_TO(offsetof(struct flame_options, fo_base_time)),
	CHOOSE_BETWEEN(offsetof(struct flame_options, fo_time)),
	CHOOSE_EVENT(offsetof(struct flame_options, fo_events)),
	CHOOSE_FILTER(offsetof(struct flame_options, fo_filter)),
	CHOOSE_FRAMES(offsetof(struct flame_options, fo_frames)),
	CHOOSE_FROM(offsetof(struct flame_options, fo_time)),
	CHOOSE_HELD(offsetof(struct flame_options, fo_held)),
	CHOOSE_INPUT(offsetof(struct flame_options, fo_input)),
	CHOOSE_IDLE(offsetof(struct flame_options, fo_idle)),
	{ 0, "inline", NULL, OPT_FLAG, 0, 0, NULL,
	    "show inlined functions as frames",
	    offsetof(struct flame_options, fo_inlines), NULL },
	{ 0, "lines", NULL, OPT_FLAG, 0, 0, NULL,
	    "show source lines as frames, inlined functions too",
	    offsetof(struct flame_options, fo_lines), NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, "flame.html",
	    "output file: page (.html) or image (.svg)",
	    offsetof(struct flame_options, fo_output), NULL },
	{ 0, "open", NULL, OPT_FLAG, 0, 0, NULL,
	    "open the output file with xdg-open",
	    offsetof(struct flame_options, fo_open), NULL },
	{ 0, "ratio", "E1/E2", OPT_STRING, 0, 0, NULL,
	    "show E1 as frame width, the ratio E1/E2 as color",
	    offsetof(struct flame_options, fo_ratio), NULL },
	{ 0, "rename", "OLD=NEW", OPT_STRINGS, 0, 0, NULL,
	    "match OLD of the base with NEW; may be repeated",
	    offsetof(struct flame_options, fo_renames), NULL },
	{ 0, "reverse", NULL, OPT_FLAG, 0, 0, NULL,
	    "put leaf functions at the root, their callers above",
	    offsetof(struct flame_options, fo_reverse), NULL },
	CHOOSE_SECRET(offsetof(struct flame_options, fo_secret_file)),
	CHOOSE_STATE(offsetof(struct flame_options, fo_state)),
	{ 0, "title", "TEXT", OPT_STRING, 0, 0, NULL,
	    "title of the graph (default: the recorded command)",
	    offsetof(struct flame_options, fo_title), NULL },
	CHOOSE_TO(offsetof(struct flame_options, fo_time)),
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof flamegraph --open",
	"draw dtprof.dtp and open it in the browser",
	"dtprof flamegraph -o x.svg x.dtp", "write an image",
	"dtprof flamegraph --ratio cycles/instructions",
	"color by cycles per instruction",
	"dtprof flamegraph --base old.dtp new.dtp",
	"show stacks that cost more or less than in old.dtp",
	NULL
};

const struct prof_cmd cmd_flamegraph = {
	.cm_name = "flamegraph",
	.cm_summary = "draw a flame graph of a recording",
	.cm_operands = "[FILE ...]",
	.cm_options = options_of_flamegraph,
	.cm_size = sizeof(struct flame_options),
	.cm_max = -1,
	.cm_reads = true,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "The page is one self-contained file; press ? in the page "
	    "to list its keyboard shortcuts.  With a base, frames that changed "
	    "significantly are red or blue; the test needs at least five runs "
	    "each of base and new.  --base-from, --base-to and --base-between "
	    "without --base compare two time ranges of one recording.",
	.cm_check = check_flamegraph,
	.cm_begin = begin_flamegraph,
	.cm_run = run_flamegraph,
};

/* ------------------------------------------------------------ events */

static size_t
event_named(const struct prof_reader *reader, const char *name, size_t length)
{
	const struct prof_event_info *info;

	for (size_t e = 1; e < prof_reader_nevents(reader); e++) {
		info = prof_reader_event(reader, e);
		if ((strlen(info->pi_name) == length &&
		    memcmp(info->pi_name, name, length) == 0) ||
		    (strlen(info->pi_probe) == length &&
		    memcmp(info->pi_probe, name, length) == 0))
			return (e);
	}
	return (0);
}

/* Names may hold slashes: whichever slash stands between two events. */
static int
choose_ratio(struct flame_run *run)
{
	const char *text = run->fr_options->fo_ratio, *slash;
	size_t a, b;

	for (slash = strchr(text, '/'); slash != NULL;
	    slash = strchr(slash + 1, '/')) {
		a = event_named(run->fr_reader, text, (size_t)(slash - text));
		b = event_named(run->fr_reader, slash + 1, strlen(slash + 1));
		if (a == 0 || b == 0)
			continue;
		run->fr_events[0] = a;
		run->fr_events[1] = b;
		run->fr_nevents = 2;
		return (0);
	}
	return (msg_fail("flamegraph", "list the events of a recording with "
	    "dtprof report --by event",
	    "--ratio %s: no such events in this recording",
	    text));
}

/* Some do nothing but begin or end spans, and have no stacks. */
static bool
has_hidden(const struct prof_reader *reader)
{
	for (size_t e = 1; e < prof_reader_nevents(reader); e++)
		if (prof_reader_event(reader, e)->pi_is_of_span)
			return (true);
	return (false);
}

/* Those that are asked for; else all that have samples, and the ratio's. */
static int
events_choose(struct flame_run *run)
{
	const struct flame_options *fo = run->fr_options;
	struct choose_short waits = { 0 };
	bool *wanted;

	if (fo->fo_ratio != NULL && choose_ratio(run) == -1)
		return (-1);
	run->fr_filter = fo->fo_filter;
	if (fo->fo_ratio == NULL && fo->fo_state == 0 &&
	    fo->fo_events.os_n == 0 &&
	    !has_hidden(run->fr_reader))
		return (0);
	wanted = fo->fo_state != 0 ? choose_elapsed("flamegraph",
	    run->fr_reader, fo->fo_state, &run->fr_filter, &run->fr_joined) :
	    choose_events("flamegraph", run->fr_reader, &fo->fo_events);
	if (wanted == NULL)
		return (-1);
	if (fo->fo_state != 0) {
		choose_add_short(&waits, run->fr_reader);
		choose_say_short("flamegraph", &waits);
		choose_say_part("flamegraph", run->fr_reader,
		    "elapsed time includes");
	}
	for (size_t e = 1; e < prof_reader_nevents(run->fr_reader) &&
	    run->fr_nevents < FLAME_MAX_EVENTS; e++) {
		if (wanted[e] && (fo->fo_ratio == NULL ||
		    (e != run->fr_events[0] && e != run->fr_events[1])))
			run->fr_events[run->fr_nevents++] = e;
	}
	free(wanted);
	return (0);
}

/* ------------------------------------------------------------ profile */

static bool
has_base(const struct flame_options *fo)
{
	return (fo->fo_bases.os_n > 0 || fo->fo_base_filter != NULL ||
	    choose_has_time(&fo->fo_base_time));
}

/* What was when: a page shows it, unless it is a difference. */
static bool
shows_time(const struct flame_options *fo)
{
	return (!flame_is_drawing(fo) && !has_base(fo));
}

void
flame_profile_options(const struct flame_options *fo,
    struct prof_profile_options *options)
{
	static const char *const args[] = { "state", "reason" };

	*options = (struct prof_profile_options){
		.pl_size = sizeof(*options),
		.pl_filter = fo->fo_filter,
		.pl_held = fo->fo_held,
		.pl_roots = PROF_ROOT_COMM | (fo->fo_state == 0 ? 0 :
		    PROF_ROOT_ARGS),
		.pl_args = args,
		.pl_nargs = fo->fo_state != 0 ? 2 : 0,
		.pl_values = true,
		.pl_reverse = fo->fo_reverse,
		.pl_inlines = fo->fo_inlines,
		.pl_frames = fo->fo_frames,
		.pl_lines = fo->fo_lines,
		.pl_bucket_ns = shows_time(fo) ? FLAME_CELL_NS : 0,
		.pl_max_buckets = FLAME_MAX_CELLS,
		.pl_fold_idle = !fo->fo_idle,
	};
}

/* A drawing shows no more than stacks and names of threads. */
static int
begin_flamegraph(const struct prof_cmd *cmd, void *options, int n,
    char *const *operands)
{
	const struct flame_options *fo = options;

	return (input_store_begin(cmd, options, n, operands, has_base(fo) ?
	    PROF_STORE_ALL : shows_time(fo) ? PROF_STORE_TIMES : 0));
}

/* Calls or spans. */
static bool
has_latencies(const struct prof_reader *reader)
{
	bool has = prof_reader_info(reader, "span.0.name") != NULL;

	for (size_t e = 1; e < prof_reader_nevents(reader); e++)
		has |= prof_reader_event(reader, e)->pi_is_call != 0;
	return (has);
}

/* Of what was imported or merged it is not known which thread it was. */
static bool
has_threads(const struct prof_reader *reader)
{
	static const char *const others[] = { "import", "merged", "store" };

	for (size_t n = 0; n < sizeof(others) / sizeof(others[0]); n++)
		if (prof_reader_info(reader, others[n]) != NULL)
			return (false);
	return (true);
}

static void
note_times(const struct prof_profile *profile)
{
	if (prof_profile_nnodes(profile) > 1 &&
	    prof_profile_time(profile, 0) == 0)
		msg_note("flamegraph", "the page has no timeline: there are "
		    "more than %d samples; select fewer with --from and --to",
		    FLAME_MAX_TIMES);
}

static int
make_profile(struct flame_run *run)
{
	struct prof_profile_options options;
	struct prof_err error = { 0 };

	flame_profile_options(run->fr_options, &options);
	options.pl_filter = run->fr_filter;
	if (shows_time(run->fr_options) && has_threads(run->fr_reader))
		options.pl_times = FLAME_MAX_TIMES;
	if (choose_range("flamegraph", run->fr_reader,
	    &run->fr_options->fo_time, &options) == -1)
		return (-1);
	run->fr_profile = choose_profile("flamegraph", run->fr_reader,
	    &options, &run->fr_symbols);
	if (run->fr_profile == NULL)
		return (-1);
	if (options.pl_times != 0)
		note_times(run->fr_profile);
	if (!shows_time(run->fr_options) || !has_latencies(run->fr_reader))
		return (0);
	options.pl_max_buckets = FLAME_MAX_LATENCIES;
	run->fr_latencies = prof_latencies_new(run->fr_reader, &options,
	    &error);
	/* The graph is none the worse. */
	if (run->fr_latencies == NULL)
		msg_note("flamegraph", "the page has no latency heat map: %s",
		    error.pe_text);
	else
		prof_profile_add_latencies(run->fr_profile,
		    run->fr_latencies);
	return (0);
}

/* ------------------------------------------------------------- output */

static bool
ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return (n >= m && strcmp(text + n - m, end) == 0);
}

bool
flame_is_drawing(const struct flame_options *fo)
{
	return (ends_with(fo->fo_output, ".svg"));
}

int
flame_write(const struct flame_options *fo, char *bytes, size_t length,
    const struct prof_err *error)
{
	int rv = -1;

	if (bytes == NULL)
		msg_prof("flamegraph", error);
	else
		rv = file_write("flamegraph", fo->fo_output, bytes, length);
	free(bytes);
	return (rv);
}

static int
write_picture(const struct flame_run *run)
{
	const struct flame_options *fo = run->fr_options;
	const struct prof_flame_options options = {
		.fl_size = sizeof(options),
		.fl_title = fo->fo_title,
		.fl_events = run->fr_events,
		.fl_nevents = run->fr_nevents,
		.fl_ratio = fo->fo_ratio != NULL,
		.fl_reverse = fo->fo_reverse,
	};
	struct prof_err error = { 0 };
	size_t length = 0;
	char *bytes;

	bytes = (flame_is_drawing(fo) ? prof_flame_svg :
	    prof_flame_html)(run->fr_profile, &options, &length, &error);
	return (flame_write(fo, bytes, length, &error));
}

/* ------------------------------------------------------------- showing */

/* As who called sudo: a browser is nothing to run as root. */
static void
become_caller(void)
{
	const unsigned uid = file_sudo_id("SUDO_UID"),
	    gid = file_sudo_id("SUDO_GID");

	if (geteuid() != 0 || uid == 0)
		return;
	if (setgroups(0, NULL) == -1 || setresgid(gid, gid, gid) == -1 ||
	    setresuid(uid, uid, uid) == -1)
		_exit(127);
}

int
flame_show(const char *path)
{
	int status = -1;
	char *whole;
	pid_t pid;

	if (helper_is_there())
		return (helper_show(path));
	pid = fork();
	if (pid == 0) {
		become_caller();
		/* A whole path: no name is taken for an option or a URL. */
		whole = realpath(path, NULL);
		if (whole != NULL)
			execlp("xdg-open", "xdg-open", whole, (char *)NULL);
		_exit(127);
	}
	if (pid != -1)
		(void)waitpid(pid, &status, 0);
	if (pid == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return (msg_fail("flamegraph", "open the file in a browser",
		    "xdg-open could not open %s", path));
	return (0);
}

static int
draw_one(const struct flame_options *fo, int n, char **operands)
{
	struct flame_run run = { .fr_options = fo };
	const char *path;
	int rv = -1;

	run.fr_reader = input_open("flamegraph", fo->fo_input, n, operands,
	    &path);
	if (run.fr_reader == NULL)
		return (-1);
	if (events_choose(&run) == -1) {
		input_say_cut("flamegraph", run.fr_reader);
	} else if (make_profile(&run) == 0 && write_picture(&run) == 0) {
		input_say_limits("flamegraph", run.fr_symbols);
		rv = 0;
	}
	free(run.fr_joined);
	prof_latencies_free(run.fr_latencies);
	prof_profile_free(run.fr_profile);
	prof_symbols_close(run.fr_symbols);
	prof_reader_close(run.fr_reader);
	return (rv);
}

static int
check_flamegraph(const void *options, int n, char *const *operands)
{
	const struct flame_options *fo = options;
	const char *wrong = fo->fo_state != 0 && (fo->fo_events.os_n > 0 ||
	    fo->fo_held || fo->fo_ratio != NULL) ?
	    "--state excludes --event, --held and --ratio" :
	    has_base(fo) ? (fo->fo_ratio != NULL ?
	    "--ratio cannot be combined with a base" : fo->fo_lines ?
	    "--lines cannot be combined with a base" : NULL) :
	    fo->fo_renames.os_n > 0 ? "--rename requires --base" :
	    fo->fo_open && strcmp(fo->fo_output, "-") == 0 ?
	    "--open cannot open standard output" : NULL;

	(void)operands;
	if (!flame_is_drawing(fo) && !ends_with(fo->fo_output, ".html") &&
	    !ends_with(fo->fo_output, ".htm") && strncmp(fo->fo_output,
	    "/dev/", 5) != 0 && strcmp(fo->fo_output, "-") != 0)
		return (msg_fail("flamegraph", "use a name ending in .html or "
		    ".svg, or - to write a page to standard output",
		    "-o %s: unknown output format", fo->fo_output));
	if (wrong != NULL)
		return (msg_error("flamegraph", wrong,
		    "see dtprof flamegraph --help"));
	return (choose_check("flamegraph", &fo->fo_time) == -1 ||
	    choose_check("flamegraph", &fo->fo_base_time) == -1 ||
	    choose_check_renames("flamegraph", &fo->fo_renames) == -1 ? -1 :
	    input_check("flamegraph", fo->fo_input, n));
}

static int
run_flamegraph(void *options, int n, char **operands)
{
	const struct flame_options *fo = options;

	if ((has_base(fo) ? flame_difference : draw_one)(fo, n, operands) ==
	    -1)
		return (EXIT_FAILED);
	if (fo->fo_open && flame_show(fo->fo_output) == -1)
		return (EXIT_FAILED);
	return (0);
}
