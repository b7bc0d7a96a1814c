/* SPDX-License-Identifier: ISC */
/*
 * dtprof script: the records of a recording in order of time, with names for
 * stacks, as text or as JSON.  Which records: --show, --event, --filter,
 * --from and --to, --limit.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../opt/choose.h"
#include "profile/calls.h"
#include "script.h"

/* The words of --show, in this order. */
#define SHOW_SAMPLES	0x01
#define SHOW_MARKS	0x02
#define SHOW_PROCESS_EVENTS	0x04
#define SHOW_MAPS	0x08
#define SHOW_ALL	0x10

struct script_options {
	struct opt_strings	 so_events;
	struct opt_number	 so_limit;
	const char		*so_filter;
	const char		*so_input;
	struct choose_time	 so_time;
	unsigned		 so_frames;
	unsigned		 so_show;
	bool			 so_json;
	bool			 so_lines;
	bool			 so_no_symbols;
};

/* One run: what is shown of which event. */
struct script {
	const struct script_options *sr_options;
	struct prof_reader	*sr_reader;
	size_t			 sr_nevents;
	bool			*sr_wanted;	/* per event */
	struct prof_filter	**sr_filters;	/* NULL: nothing passes */
	struct prof_calls	*sr_calls;	/* NULL: nobody asks stacks */
	struct prof_profile_options sr_range;	/* of time */
	struct script_comms	 sr_comms;
	struct line_names	 sr_names;
	struct line_stack	 sr_stack;
	uint64_t		 sr_shown;
	struct out		*sr_out;
};

static int	 check_script(const void *options, int n,
		    char *const *operands);
static int	 run_script(void *options, int n, char **operands);
static int	 compile_filters(struct script *script);
static bool	 record_passes(const struct script *script,
		    const struct prof_record *record, const char *comm);
static int	 show_all(struct script *script);

static const struct opt_row options_of_script[] = {
	CHOOSE_BETWEEN(offsetof(struct script_options, so_time)),
	CHOOSE_EVENT(offsetof(struct script_options, so_events)),
	CHOOSE_FILTER(offsetof(struct script_options, so_filter)),
	CHOOSE_FRAMES(offsetof(struct script_options, so_frames)),
	CHOOSE_FROM(offsetof(struct script_options, so_time)),
	CHOOSE_INPUT(offsetof(struct script_options, so_input)),
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL,
	    "print one JSON object per line",
	    offsetof(struct script_options, so_json), NULL },
	{ 0, "limit", "N", OPT_COUNT, 1, INT64_MAX, NULL,
	    "stop after N records",
	    offsetof(struct script_options, so_limit), NULL },
	{ 0, "lines", NULL, OPT_FLAG, 0, 0, NULL,
	    "print source files and lines, where known",
	    offsetof(struct script_options, so_lines), NULL },
	{ 0, "no-symbols", NULL, OPT_FLAG, 0, 0, NULL,
	    "print addresses only, one line per record",
	    offsetof(struct script_options, so_no_symbols), NULL },
	{ 0, "show", "WHAT", OPT_SET, 0, 0, "samples,markers",
	    "records to print: samples, markers, process-events, "
	    "mapping-events, all",
	    offsetof(struct script_options, so_show),
	    "samples,markers,process-events,mapping-events,all" },
	CHOOSE_TO(offsetof(struct script_options, so_time)),
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof script | head", "print the first records of dtprof.dtp",
	"dtprof script --json x.dtp | jq .comm", "print records as JSON",
	"dtprof script --no-symbols",
	"print one line per record, with addresses",
	"dtprof script --filter 'cpu==1 && comm==\"make\"'",
	"print samples of the program make on CPU 1",
	"dtprof script --show process-events",
	"show which processes started and exited",
	NULL
};

const struct prof_cmd cmd_script = {
	.cm_name = "script",
	.cm_summary = "print the records of a recording, with stacks",
	.cm_operands = "[FILE ...]",
	.cm_options = options_of_script,
	.cm_size = sizeof(struct script_options),
	.cm_max = -1,
	.cm_reads = true,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_check = check_script,
	.cm_run = run_script,
};

/*
 * For each event on its own, since argument names differ.  An event without
 * the argument that is asked for has no sample that passes; an expression
 * that fits no event at all is a mistake.
 */
static int
compile_filters(struct script *script)
{
	struct prof_err error = { 0 }, worst = { 0 };
	bool any = false;

	if (script->sr_options->so_filter == NULL)
		return (0);
	for (size_t e = 1; e < script->sr_nevents; e++) {
		if (!script->sr_wanted[e])
			continue;
		script->sr_filters[e] = prof_filter_new_in(
		    script->sr_options->so_filter,
		    prof_reader_event(script->sr_reader, e), NULL, true,
		    &error);
		any = any || script->sr_filters[e] != NULL;
		if (script->sr_filters[e] == NULL)
			prof_filter_blame(&worst, &error);
	}
	if (!any && worst.pe_code != PROF_OK)
		return (msg_prof("script", &worst));
	return (0);
}

static int
open_calls(struct script *script)
{
	const struct prof_filter *filter = prof_filter_of_calls(
	    script->sr_filters, script->sr_nevents);
	struct prof_err error = { 0 };

	if (filter == NULL)
		return (0);
	script->sr_calls = prof_calls_new(script->sr_reader,
	    script->sr_names.sn_symbols, filter, &error);
	return (script->sr_calls == NULL ? msg_prof("script", &error) : 0);
}

static bool
record_passes(const struct script *script, const struct prof_record *record,
    const char *comm)
{
	const struct prof_profile_options *range = &script->sr_range;
	const struct prof_filter *filter;
	uint64_t calls;

	if (record->pr_time_ns < range->pl_from_ns || (range->pl_to_ns != 0 &&
	    record->pr_time_ns >= range->pl_to_ns))
		return (false);
	if (record->pr_type != PROF_R_SAMPLE)
		return (true);
	if (record->pr_event >= script->sr_nevents ||
	    !script->sr_wanted[record->pr_event])
		return (false);
	if (script->sr_options->so_filter == NULL)
		return (true);
	filter = script->sr_filters[record->pr_event];
	calls = filter == NULL || script->sr_calls == NULL ? 0 :
	    prof_calls_of(script->sr_calls, prof_sample_of(record));
	return (filter != NULL && prof_filter_holds_in(filter, record, comm,
	    0, calls));
}

static int
open_names(struct script *script)
{
	struct prof_err error = { 0 };

	script->sr_names.sn_reader = script->sr_reader;
	if (script->sr_options->so_no_symbols)
		return (0);
	script->sr_names.sn_lines = script->sr_options->so_lines;
	script->sr_names.sn_frames = script->sr_options->so_frames;
	script->sr_names.sn_stack = &script->sr_stack;
	script->sr_names.sn_symbols = prof_symbols_open(script->sr_reader,
	    NULL, &error);
	if (script->sr_names.sn_symbols != NULL)
		return (0);
	return (msg_prof("script", &error));
}

/* One record, if what it is belongs to what is shown. */
static int
show_record(struct script *script, const struct prof_record *record,
    unsigned what, const struct prof_event_info *info)
{
	const struct script_options *so = script->sr_options;
	struct prof_err error = { 0 };
	const char *comm;
	bool is_wanted;

	if (script_comms_take(&script->sr_comms, record) == -1)
		return (msg_error("script", "out of memory", "free memory"));
	if ((so->so_show & (what | SHOW_ALL)) == 0)
		return (0);
	comm = script_comms_get(&script->sr_comms, record->pr_tid);
	is_wanted = record_passes(script, record, comm);
	if (script->sr_calls != NULL &&
	    prof_calls_check(script->sr_calls, &error) == -1)
		return (msg_prof("script", &error));
	if (!is_wanted)
		return (0);
	(so->so_json ? line_json : line_text)(script->sr_out, record, info,
	    comm, &script->sr_names);
	return (++script->sr_shown == so->so_limit.on_value ||
	    script->sr_out->ou_errno != 0);
}

static int
show_sample(void *arg, const struct prof_record *record)
{
	struct script *script = arg;

	return (show_record(script, record, SHOW_SAMPLES,
	    prof_reader_event(script->sr_reader, record->pr_event)));
}

static int
show_task(void *arg, const struct prof_record *record)
{
	return (show_record(arg, record, SHOW_PROCESS_EVENTS, NULL));
}

static int
show_mapping(void *arg, const struct prof_record *record)
{
	return (show_record(arg, record, SHOW_MAPS, NULL));
}

static int
show_mark(void *arg, const struct prof_record *record)
{
	return (show_record(arg, record, record->pr_type == PROF_R_MARK ?
	    SHOW_MARKS : 0, NULL));
}

static int
show_lost(void *arg, const struct prof_record *record)
{
	struct script *script = arg;

	return (show_record(script, record, 0,
	    prof_reader_event(script->sr_reader, record->pr_event)));
}

static int
show_all(struct script *script)
{
	const struct prof_sink sink = {
		.sk_arg = script,
		.sk_task = show_task,
		.sk_mapping = show_mapping,
		.sk_sample = show_sample,
		.sk_mark = show_mark,
		.sk_lost = show_lost,
	};
	const struct prof_err *error;

	if (prof_reader_send(script->sr_reader, &sink) != -1)
		return (0);
	error = prof_reader_error(script->sr_reader);
	if (error->pe_code != PROF_OK)
		msg_prof("script", error);
	return (-1);
}

static int
check_script(const void *options, int n, char *const *operands)
{
	const struct script_options *so = options;

	(void)operands;
	return (choose_check("script", &so->so_time) == -1 ? -1 :
	    input_check("script", so->so_input, n));
}

static int
run_script(void *options, int n, char **operands)
{
	struct script script = { .sr_options = options };
	uint64_t left_out;
	struct out out;
	const char *path;
	int status = EXIT_FAILED;

	script.sr_reader = input_open("script", script.sr_options->so_input,
	    n, operands, &path);
	if (script.sr_reader == NULL)
		return (EXIT_FAILED);
	script.sr_comms.sc_task_0 = prof_reader_task_0(script.sr_reader);
	left_out = prof_reader_left_out(script.sr_reader,
	    &script.sr_comms.sc_until_ns);
	script.sr_nevents = prof_reader_nevents(script.sr_reader);
	script.sr_filters = calloc(script.sr_nevents + 1,
	    sizeof(*script.sr_filters));
	if (script.sr_filters == NULL) {
		msg_error("script", "out of memory", "free memory");
		goto out;
	}
	script.sr_wanted = choose_events("script", script.sr_reader,
	    &script.sr_options->so_events);
	if (script.sr_wanted == NULL || compile_filters(&script) == -1 ||
	    choose_range("script", script.sr_reader,
	    &script.sr_options->so_time, &script.sr_range) == -1 ||
	    open_names(&script) == -1 || open_calls(&script) == -1)
		goto out;
	out_init(&out, STDOUT_FILENO);
	script.sr_out = &out;
	status = show_all(&script) == -1 ? EXIT_FAILED : 0;
	if (out_end(&out, "script") != 0)
		status = EXIT_FAILED;
	/* That a chunk is damaged may show when it is decoded. */
	input_say_cut("script", script.sr_reader);
	input_say_names("script", script.sr_names.sn_symbols);
	if (script.sr_names.sn_symbols == NULL && left_out > 0)
		msg_note("script", "%" PRIu64 " process and mapping events are "
		    "missing: they exceed the memory budget of a recording of "
		    "this size", left_out);
out:
	for (size_t e = 0; script.sr_filters != NULL && e < script.sr_nevents;
	    e++)
		prof_filter_free(script.sr_filters[e]);
	free(script.sr_filters);
	prof_calls_free(script.sr_calls);
	free(script.sr_wanted);
	free(script.sr_stack.st_frame);
	script_comms_free(&script.sr_comms);
	prof_symbols_close(script.sr_names.sn_symbols);
	prof_reader_close(script.sr_reader);
	return (status);
}
