/* SPDX-License-Identifier: ISC */
/*
 * dtprof export: a recording as other tools read profiles.  Reads the
 * options, has libprof make the profile and the bytes, and writes them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../opt/choose.h"

/* In the order of the words of --weight. */
enum { WEIGHT_AUTO, WEIGHT_SAMPLES, WEIGHT_WEIGHT };
#define WEIGHTS		"auto,samples,weight"
#define MAX_TIMES	(16u << 20)	/* samples of one file */

struct export_options {
	struct opt_strings	 eo_events;
	struct choose_time	 eo_time;
	const char		*eo_filter;
	bool			 eo_held;
	const char		*eo_input;
	const char		*eo_output;
	int			 eo_format;
	int			 eo_weight;
	bool			 eo_inlines;
	unsigned		 eo_frames;
	bool			 eo_lines;
	const char		*eo_secret_file;
};

/* One run. */
struct export_run {
	const struct export_options *er_options;
	struct prof_reader	*er_reader;
	struct prof_symbols	*er_symbols;
	struct prof_profile	*er_profile;
	size_t			*er_events;
	size_t			 er_nevents;
};

static int	 check_export(const void *options, int n,
		    char *const *operands);
static int	 begin_export(const struct prof_cmd *cmd, void *options, int n,
		    char *const *operands);
static int	 run_export(void *options, int n, char **operands);

/* ",folded,pprof", in the order of enum prof_export. */
static const char formats[] =
#define PROF_FORMAT(NAME, name) "," #name
#include "formats.def"
#undef PROF_FORMAT
    ;

static const struct opt_row options_of_export[] = {
	CHOOSE_BETWEEN(offsetof(struct export_options, eo_time)),
	CHOOSE_EVENT(offsetof(struct export_options, eo_events)),
	CHOOSE_FILTER(offsetof(struct export_options, eo_filter)),
	{ 0, "format", "FORMAT", OPT_CHOICE, 0, 0, "folded",
	    formats + 1, offsetof(struct export_options, eo_format),
	    formats + 1 },
	CHOOSE_FRAMES(offsetof(struct export_options, eo_frames)),
	CHOOSE_FROM(offsetof(struct export_options, eo_time)),
	CHOOSE_HELD(offsetof(struct export_options, eo_held)),
	CHOOSE_INPUT(offsetof(struct export_options, eo_input)),
	{ 0, "inline", NULL, OPT_FLAG, 0, 0, NULL,
	    "show inlined functions as frames",
	    offsetof(struct export_options, eo_inlines), NULL },
	{ 0, "lines", NULL, OPT_FLAG, 0, 0, NULL,
	    "show source lines as frames, inlined functions too",
	    offsetof(struct export_options, eo_lines), NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, "-",
	    "output file, or - for standard output",
	    offsetof(struct export_options, eo_output), NULL },
	CHOOSE_SECRET(offsetof(struct export_options, eo_secret_file)),
	CHOOSE_TO(offsetof(struct export_options, eo_time)),
	{ 0, "weight", "WHAT", OPT_CHOICE, 0, 0, "auto",
	    "value of each stack: number of samples, or weight (events or "
	    "time); auto means samples for folded, weight for other formats; "
	    "pprof and otlp always contain both",
	    offsetof(struct export_options, eo_weight), WEIGHTS },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof export x.dtp >x.folded",
	"write folded stacks, one line per distinct stack",
	"dtprof export --format pprof -o x.pb.gz x.dtp",
	"write a profile for go tool pprof",
	"dtprof export --format otlp -o x.otlp x.dtp",
	"write a profile for OpenTelemetry",
	"dtprof export --format speedscope --lines -o x.json",
	"write a profile for www.speedscope.app, with source lines",
	"dtprof export --format firefox -o x.json x.dtp",
	"write samples by thread and time for profiler.firefox.com",
	NULL
};

const struct prof_cmd cmd_export = {
	.cm_name = "export",
	.cm_summary = "convert a recording for other tools",
	.cm_operands = "[FILE ...]",
	.cm_options = options_of_export,
	.cm_size = sizeof(struct export_options),
	.cm_max = -1,
	.cm_reads = true,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "Folded stacks contain only one event: the event named "
	    "with --event, or else the first event that has samples.  Other "
	    "formats can contain several events.",
	.cm_check = check_export,
	.cm_begin = begin_export,
	.cm_run = run_export,
};

static int
begin_export(const struct prof_cmd *cmd, void *options, int n,
    char *const *operands)
{
	return (input_store_begin(cmd, options, n, operands, 0));
}

/* Those that are asked for and have samples, in the order of the recording. */
static int
events_choose(struct export_run *run)
{
	const size_t nevents = prof_reader_nevents(run->er_reader);
	bool *wanted;

	wanted = choose_events("export", run->er_reader,
	    &run->er_options->eo_events);
	if (wanted == NULL)
		return (-1);
	run->er_events = calloc(nevents + 1, sizeof(*run->er_events));
	for (size_t e = 1; run->er_events != NULL && e < nevents; e++)
		if (wanted[e] && prof_profile_count(run->er_profile, e) > 0)
			run->er_events[run->er_nevents++] = e;
	free(wanted);
	if (run->er_events == NULL)
		msg_error("export", "out of memory", "free memory");
	else if (run->er_nevents == 0)
		msg_error("export", "no samples match the event, time range "
		    "and filter", "run dtprof report --stats to see what was "
		    "recorded");
	return (run->er_nevents == 0 ? -1 : 0);
}

/* These also have addresses. */
static bool
is_binary(const struct export_options *eo)
{
	return (eo->eo_format == PROF_EXPORT_PPROF ||
	    eo->eo_format == PROF_EXPORT_OTLP);
}

static int
make_profile(struct export_run *run)
{
	const struct export_options *eo = run->er_options;
	struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_filter = eo->eo_filter,
		.pl_held = eo->eo_held,
		.pl_roots = PROF_ROOT_COMM,
		.pl_inlines = eo->eo_inlines,
		.pl_frames = eo->eo_frames,
		.pl_lines = eo->eo_lines,
		.pl_places = is_binary(eo),
		.pl_times = eo->eo_format == PROF_EXPORT_FIREFOX ?
		    MAX_TIMES : 0,
	};

	if (choose_range("export", run->er_reader, &eo->eo_time, &options) ==
	    -1)
		return (-1);
	run->er_profile = choose_profile("export", run->er_reader, &options,
	    &run->er_symbols);
	return (run->er_profile == NULL ? -1 : events_choose(run));
}

/* Of these an import has weights, and as many samples as it can have. */
static bool
has_weights(const struct prof_reader *reader)
{
	const char *import = prof_reader_info(reader, "import");

	return (import != NULL && (strcmp(import, "folded") == 0 ||
	    strcmp(import, "pprof") == 0));
}

/* Firefox Profiler has weights of time and of bytes. */
static int
check_weight(const struct export_run *run)
{
	const struct export_options *eo = run->er_options;
	const struct prof_event_info *info = prof_reader_event(run->er_reader,
	    run->er_events[0]);

	if (eo->eo_format != PROF_EXPORT_FIREFOX ||
	    eo->eo_weight != WEIGHT_WEIGHT ||
	    strcmp(info->pi_unit, "ns") == 0 ||
	    strcmp(info->pi_unit, "bytes") == 0)
		return (0);
	return (msg_error("export", "format firefox has no weights in the "
	    "unit of this event", "use --weight samples"));
}

static int
write_profile(const struct export_run *run)
{
	const struct export_options *eo = run->er_options;
	const bool is_given = has_weights(run->er_reader);
	const struct prof_flame_options options = {
		.fl_size = sizeof(options),
		.fl_events = run->er_events,
		.fl_nevents = run->er_nevents,
		.fl_samples = eo->eo_weight == WEIGHT_SAMPLES ||
		    (eo->eo_weight == WEIGHT_AUTO && !is_given &&
		    eo->eo_format == PROF_EXPORT_FOLDED),
	};
	struct prof_err error = { 0 };
	size_t length;
	char *bytes;
	int rv;

	bytes = prof_export(run->er_profile, (enum prof_export)eo->eo_format,
	    &options, &length, &error);
	if (bytes == NULL)
		return (msg_prof("export", &error));
	rv = file_write("export", eo->eo_output, bytes, length);
	free(bytes);
	return (rv);
}

static void
say_notes(const struct export_run *run)
{
	const struct prof_event_info *info =
	    prof_reader_event(run->er_reader, run->er_events[0]);

	if (run->er_options->eo_format == PROF_EXPORT_FOLDED &&
	    run->er_nevents > 1)
		msg_note("export", "exported only event '%s'; choose another "
		    "event with --event",
		    info->pi_name);
	input_say_names("export", run->er_symbols);
}

static int
check_export(const void *options, int n, char *const *operands)
{
	const struct export_options *eo = options;

	(void)operands;
	if (is_binary(eo) && strcmp(eo->eo_output, "-") == 0 &&
	    isatty(STDOUT_FILENO))
		return (msg_error("export", "pprof and otlp output is binary, "
		    "so it is not written to a terminal",
		    "write the output to a "
		    "file with -o"));
	return (choose_check("export", &eo->eo_time) == -1 ? -1 :
	    input_check("export", eo->eo_input, n));
}

static int
run_export(void *options, int n, char **operands)
{
	struct export_run run = { .er_options = options };
	const char *path;
	int status = EXIT_FAILED;

	run.er_reader = input_open("export", run.er_options->eo_input, n,
	    operands, &path);
	if (run.er_reader == NULL)
		return (EXIT_FAILED);
	if (make_profile(&run) == 0 && check_weight(&run) == 0 &&
	    write_profile(&run) == 0) {
		say_notes(&run);
		status = 0;
	}
	free(run.er_events);
	prof_profile_free(run.er_profile);
	prof_symbols_close(run.er_symbols);
	prof_reader_close(run.er_reader);
	return (status);
}
