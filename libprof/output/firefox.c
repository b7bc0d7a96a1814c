/* SPDX-License-Identifier: ISC */
/*
 * The JSON file of the Firefox Profiler, "processed profile format" version
 * 60, which shows samples of threads in time.  Stacks, frames, functions and
 * strings are tables of columns, which all threads share.
 *
 *	sample -> stack -> prefix, frame -> function -> name, resource, source
 *
 * The first event that is shown gives the samples of each thread; samples of
 * other events are markers, with their stacks.  A wait and a system call are
 * intervals.  firefox_markers.c writes markers.
 *
 * Called by export.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "firefox.h"
#include "recording/query.h"

#define FORMAT_VERSION	60	/* of the processed profile format */
#define GECKO_VERSION	30	/* of what it is said to be made from */
#define TYPE_LIBRARY	"1"	/* of a resource */

static const char categories[] =
    "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Kernel\",\"color\":\"orange\","
    "\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Script\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
    "{\"name\":\"Waiting\",\"color\":\"purple\","
    "\"subcategories\":[\"Other\"]}";

/* ------------------------------------------------------------ columns */

static void
put_columns(struct prof_fox *fox, const struct fox_column *column, size_t n)
{
	for (; column->fc_name != NULL; column++) {
		prof_put_fmt(fox->fx_out, "\"%s\":[", column->fc_name);
		for (size_t i = 0; i < n; i++) {
			if (i > 0)
				prof_put_str(fox->fx_out, ",");
			if (column->fc_put != NULL)
				column->fc_put(fox, i);
			else
				prof_put_str(fox->fx_out, column->fc_text);
		}
		prof_put_str(fox->fx_out, "],");
	}
}

void
prof_fox_table(struct prof_fox *fox, const char *name,
    const struct fox_column *column, size_t n)
{
	prof_put_fmt(fox->fx_out, "\"%s\":{", name);
	put_columns(fox, column, n);
	prof_put_fmt(fox->fx_out, "\"length\":%zu}", n);
}

/* Milliseconds, to the nanosecond. */
void
prof_fox_ms(struct prof_fox *fox, uint64_t ns)
{
	prof_put_fmt(fox->fx_out, "%" PRIu64 ".%06" PRIu64, ns / 1000000,
	    ns % 1000000);
}

uint64_t
prof_fox_since(const struct prof_fox *fox, uint64_t time_ns)
{
	return (time_ns < fox->fx_start_ns ? 0 : time_ns - fox->fx_start_ns);
}

/* UINT32_MAX: no memory; fx_failed says so, too. */
uint32_t
prof_fox_string(struct prof_fox *fox, const char *text)
{
	bool is_new;
	uint32_t n = prof_dict_find(&fox->fx_by_text, text, strlen(text),
	    &is_new);

	if (n == PROF_INTERN_FAILED) {
		fox->fx_failed = true;
	} else if (is_new) {
		prof_put_str(&fox->fx_strings, n == 0 ? "\n" : ",\n");
		prof_put_json(&fox->fx_strings, text);
	}
	return (n);
}

/* ------------------------------------------- functions, frames, stacks */

/*
 * Numbered in the order in which they come; the number is the string's.  A
 * label has at most one, so the lists are no longer than that of labels.
 */
static int
place_find(struct prof_fox *fox, struct fox_places *places, const char *text)
{
	const uint32_t string = prof_fox_string(fox, text);
	uint32_t *slot, n;
	bool is_new;

	n = prof_map_find(&places->fp_by_string, string, &is_new);
	if (n != PROF_INTERN_FAILED && !is_new)
		return ((int)n);
	slot = n == PROF_INTERN_FAILED ? NULL :
	    prof_grow((void **)&places->fp_string, &places->fp_n,
	    &places->fp_cap, sizeof(*slot));
	if (slot == NULL) {
		fox->fx_failed = true;
		return (-1);
	}
	*slot = string;
	return ((int)n);
}

static int
func_find(struct prof_fox *fox, const struct fox_func *key)
{
	struct fox_func *func;
	bool is_new;
	uint32_t n = prof_dict_find(&fox->fx_by_func, key, sizeof(*key),
	    &is_new);

	if (n == PROF_INTERN_FAILED)
		return (-1);
	if (!is_new)
		return ((int)n);
	func = prof_grow((void **)&fox->fx_func, &fox->fx_nfuncs,
	    &fox->fx_cap_funcs, sizeof(*func));
	if (func == NULL)
		return (-1);
	*func = *key;
	return ((int)n);
}

static enum fox_category
category_of(const struct prof_function *function)
{
	if (function == NULL)
		return (FOX_OTHER);
	switch (function->fu_kind) {
	case PROF_FRAME_NATIVE:
		return (FOX_USER);
	case PROF_FRAME_KERNEL:
		return (FOX_KERNEL);
	case PROF_FRAME_BOUNDARY:
		return (FOX_OTHER);
	default:
		return (FOX_SCRIPT);
	}
}

/* The function of a label, and the line where that is known. */
static int
frame_add(struct prof_fox *fox, const struct prof_label *label)
{
	const struct prof_function *function = prof_export_function(label);
	const enum fox_category category = category_of(function);
	struct fox_func func = { .ff_resource = -1, .ff_source = -1 };
	struct fox_frame *frame;
	unsigned line;
	const size_t n = prof_export_source(label, &line);
	char *file = n > 0 ? strndup(label->lb_name, n) : NULL;

	func.ff_name = prof_fox_string(fox, prof_export_name(label));
	if (n > 0 && file == NULL)
		fox->fx_failed = true;
	if (file != NULL || category == FOX_SCRIPT)
		func.ff_source = place_find(fox, &fox->fx_sources,
		    file != NULL ? file : label->lb_module);
	if (category != FOX_SCRIPT && label->lb_module[0] != '\0')
		func.ff_resource = place_find(fox, &fox->fx_resources,
		    label->lb_module);
	free(file);
	if (category == FOX_SCRIPT)
		func.ff_line = function->fu_line;
	frame = prof_grow((void **)&fox->fx_frame, &fox->fx_nframes,
	    &fox->fx_cap_frames, sizeof(*frame));
	if (frame == NULL)
		return (-1);
	frame->fr_func = func_find(fox, &func);
	frame->fr_line = line;
	frame->fr_category = category;
	return (frame->fr_func);
}

/* The nodes below the roots; parents come first. */
static int
stacks_make(struct prof_fox *fox)
{
	const struct prof_flame *flame = fox->fx_flame;
	const struct prof_profile *profile = flame->fm_profile;
	uint32_t label;

	for (uint32_t n = 1; n < flame->fm_nnodes; n++) {
		if (prof_lanes_is_root(flame, n))
			continue;
		label = flame->fm_node[n].pt_label;
		if (fox->fx_frame_of[label] == 0) {
			if (frame_add(fox, prof_profile_label(profile,
			    label)) == -1)
				return (-1);
			fox->fx_frame_of[label] = (uint32_t)fox->fx_nframes;
		}
		fox->fx_node[fox->fx_nstacks] = n;
		fox->fx_stack_of[n] = ++fox->fx_nstacks;
	}
	return (0);
}

void
prof_fox_stack(struct prof_fox *fox, uint32_t node)
{
	if (fox->fx_stack_of[node] == 0)
		prof_put_str(fox->fx_out, "null");
	else
		prof_put_fmt(fox->fx_out, "%" PRIu32,
		    fox->fx_stack_of[node] - 1);
}

static void
put_prefix(struct prof_fox *fox, size_t n)
{
	prof_fox_stack(fox,
	    fox->fx_flame->fm_node[fox->fx_node[n]].pt_parent);
}

static void
put_stack_frame(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%" PRIu32, fox->fx_frame_of[
	    fox->fx_flame->fm_node[fox->fx_node[n]].pt_label] - 1);
}

static void
put_frame_func(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%d", fox->fx_frame[n].fr_func);
}

static void
put_category(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%d", (int)fox->fx_frame[n].fr_category);
}

static void
put_or_null(struct prof_fox *fox, unsigned number, bool is_there)
{
	if (is_there)
		prof_put_fmt(fox->fx_out, "%u", number);
	else
		prof_put_str(fox->fx_out, "null");
}

static void
put_frame_line(struct prof_fox *fox, size_t n)
{
	put_or_null(fox, fox->fx_frame[n].fr_line,
	    fox->fx_frame[n].fr_line != 0);
}

static void
put_func_name(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%" PRIu32, fox->fx_func[n].ff_name);
}

static void
put_func_resource(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%d", fox->fx_func[n].ff_resource);
}

static void
put_func_source(struct prof_fox *fox, size_t n)
{
	put_or_null(fox, (unsigned)fox->fx_func[n].ff_source,
	    fox->fx_func[n].ff_source >= 0);
}

static void
put_func_line(struct prof_fox *fox, size_t n)
{
	put_or_null(fox, fox->fx_func[n].ff_line,
	    fox->fx_func[n].ff_line != 0);
}

static void
put_resource(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%" PRIu32,
	    fox->fx_resources.fp_string[n]);
}

static void
put_source(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%" PRIu32, fox->fx_sources.fp_string[n]);
}

static const struct fox_column stack_columns[] = {
	{ "prefix", put_prefix, NULL },
	{ "frame", put_stack_frame, NULL },
	{ 0 }
};

static const struct fox_column frame_columns[] = {
	{ "address", NULL, "-1" },
	{ "inlineDepth", NULL, "0" },
	{ "category", put_category, NULL },
	{ "subcategory", NULL, "0" },
	{ "func", put_frame_func, NULL },
	{ "nativeSymbol", NULL, "null" },
	{ "innerWindowID", NULL, "null" },
	{ "line", put_frame_line, NULL },
	{ "column", NULL, "null" },
	{ 0 }
};

static const struct fox_column func_columns[] = {
	{ "name", put_func_name, NULL },
	{ "isJS", NULL, "false" },
	{ "relevantForJS", NULL, "false" },
	{ "resource", put_func_resource, NULL },
	{ "source", put_func_source, NULL },
	{ "lineNumber", put_func_line, NULL },
	{ "columnNumber", NULL, "null" },
	{ 0 }
};

static const struct fox_column resource_columns[] = {
	{ "lib", NULL, "null" },
	{ "name", put_resource, NULL },
	{ "host", NULL, "null" },
	{ "type", NULL, TYPE_LIBRARY },
	{ 0 }
};

static const struct fox_column source_columns[] = {
	{ "uuid", NULL, "null" },
	{ "filename", put_source, NULL },
	{ 0 }
};

/* All strings must have been met before: they come last. */
static void
put_shared(struct prof_fox *fox)
{
	struct prof_buf *out = fox->fx_out;

	prof_put_str(out, "\"shared\":{\n");
	prof_fox_table(fox, "stackTable", stack_columns, fox->fx_nstacks);
	prof_put_str(out, ",\n");
	prof_fox_table(fox, "frameTable", frame_columns, fox->fx_nframes);
	prof_put_str(out, ",\n");
	prof_fox_table(fox, "funcTable", func_columns, fox->fx_nfuncs);
	prof_put_str(out, ",\n");
	prof_fox_table(fox, "resourceTable", resource_columns,
	    fox->fx_resources.fp_n);
	prof_put_str(out, ",\n");
	prof_fox_table(fox, "sources", source_columns, fox->fx_sources.fp_n);
	prof_put_str(out, ",\n\"nativeSymbols\":{"
	    "\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	    "\"length\":0},\n\"stringArray\":[");
	prof_buf_bytes(out, fox->fx_strings.bf_data, fox->fx_strings.bf_len);
	prof_put_str(out, "]}");
}

/* ------------------------------------------------------------- threads */

const struct prof_bucket *
prof_fox_sample(const struct prof_fox *fox, size_t n)
{
	return (&fox->fx_bucket[fox->fx_lanes.ls_bucket[fox->fx_list[n]]]);
}

uint64_t
prof_fox_time(const struct prof_fox *fox, size_t n)
{
	return (prof_profile_time(fox->fx_flame->fm_profile,
	    prof_fox_sample(fox, n)->pc_bucket));
}

static void
put_sample_stack(struct prof_fox *fox, size_t n)
{
	prof_fox_stack(fox, prof_fox_sample(fox, n)->pc_node);
}

static void
put_sample_time(struct prof_fox *fox, size_t n)
{
	prof_fox_ms(fox, prof_fox_since(fox, prof_fox_time(fox, n)));
}

/* It has no unit for counts: of these, samples are counted. */
static const char *
weight_type(const struct prof_fox *fox)
{
	const char *unit = fox->fx_info->pi_unit;

	if (fox->fx_flame->fm_options.fl_samples)
		return ("samples");
	return (strcmp(unit, "ns") == 0 ? "tracing-ms" :
	    strcmp(unit, "bytes") == 0 ? "bytes" : "samples");
}

static void
put_sample_weight(struct prof_fox *fox, size_t n)
{
	const struct prof_bucket *bucket = prof_fox_sample(fox, n);

	if (strcmp(weight_type(fox), "samples") == 0)
		prof_put_fmt(fox->fx_out, "%" PRIu64, bucket->pc_samples);
	else if (strcmp(fox->fx_info->pi_unit, "ns") == 0)
		prof_fox_ms(fox, bucket->pc_weight);
	else
		prof_put_fmt(fox->fx_out, "%" PRIu64, bucket->pc_weight);
}

/* CPU time since the sample before: what a sample of a CPU clock stands for. */
static void
put_cpu(struct prof_fox *fox, size_t n)
{
	prof_put_fmt(fox->fx_out, "%" PRIu64,
	    prof_fox_sample(fox, n)->pc_weight);
}

static bool
is_cpu_clock(const struct prof_event_info *info)
{
	return (strcmp(info->pi_probe, "pmc:::cpu-clock") == 0 ||
	    strcmp(info->pi_probe, "pmc:::task-clock") == 0 ||
	    strcmp(info->pi_provider, "profile") == 0);
}

static void
put_samples(struct prof_fox *fox, size_t n)
{
	const struct fox_column columns[] = {
		{ "stack", put_sample_stack, NULL },
		{ "time", put_sample_time, NULL },
		{ "weight", put_sample_weight, NULL },
		{ is_cpu_clock(fox->fx_info) ? "threadCPUDelta" : NULL,
		    put_cpu, NULL },
		{ 0 }
	};

	prof_put_str(fox->fx_out, "\"samples\":{");
	put_columns(fox, columns, n);
	prof_put_fmt(fox->fx_out, "\"weightType\":\"%s\",\"length\":%zu},\n",
	    weight_type(fox), n);
}

/* The samples of a lane that are of the first event shown, or of others. */
static size_t
list_make(struct prof_fox *fox, const struct prof_lane *lane, bool is_first)
{
	const struct prof_flame_event *first = &fox->fx_flame->fm_event[0];
	size_t n = 0;

	for (size_t i = lane->la_first; i < lane->la_first + lane->la_n; i++)
		if ((fox->fx_bucket[fox->fx_lanes.ls_bucket[i]].pc_event ==
		    first->fe_event) == is_first)
			fox->fx_list[n++] = (uint32_t)i;
	return (n);
}

static void
put_who(struct prof_fox *fox, const struct prof_lane *lane)
{
	struct prof_buf *out = fox->fx_out;

	prof_put_str(out, "{\"name\":");
	prof_put_json(out, lane->la_name);
	prof_put_str(out, ",\"processName\":");
	prof_put_json(out, lane->la_process);
	prof_put_fmt(out, ",\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32
	    ",\"isMainThread\":%s,\"processType\":\"default\","
	    "\"processStartupTime\":0,\"processShutdownTime\":null,"
	    "\"registerTime\":0,\"unregisterTime\":null,", lane->la_pid,
	    lane->la_tid, lane->la_pid == lane->la_tid ? "true" : "false");
	prof_buf_bytes(out, fox->fx_pauses.bf_data, fox->fx_pauses.bf_len);
}

static void
put_threads(struct prof_fox *fox)
{
	const struct prof_lanes *lanes = &fox->fx_lanes;
	const char *separator = "\n";

	prof_put_str(fox->fx_out, "\"threads\":[");
	for (size_t i = 0; i < lanes->ls_n; i++) {
		prof_put_str(fox->fx_out, separator);
		put_who(fox, &lanes->ls_lane[i]);
		put_samples(fox, list_make(fox, &lanes->ls_lane[i], true));
		prof_fox_markers(fox, list_make(fox, &lanes->ls_lane[i],
		    false));
		prof_put_str(fox->fx_out, "}");
		separator = ",\n";
	}
	prof_fox_marks(fox, separator);
	prof_put_str(fox->fx_out, "],\n");
}

/* ---------------------------------------------------------------- file */

/* When the recording began, in milliseconds of the epoch. */
static uint64_t
epoch_ms(const struct prof_fox *fox)
{
	const char *real = prof_reader_info(fox->fx_flame->fm_reader,
	    "time.realtime_ns");
	const char *monotonic = prof_reader_info(fox->fx_flame->fm_reader,
	    "time.monotonic_ns");

	if (real == NULL || monotonic == NULL)
		return (0);
	return ((strtoull(real, NULL, 10) - strtoull(monotonic, NULL, 10) +
	    fox->fx_start_ns) / 1000000);
}

/* The time between two samples, as far as it is known. */
static uint64_t
interval_ns(const struct prof_event_info *info)
{
	const uint64_t period = prof_export_period(info);

	if (info->pi_frequency_hz != 0)
		return (1000000000 / info->pi_frequency_hz);
	return (strcmp(info->pi_unit, "ns") == 0 && period != 0 ? period :
	    1000000);
}

static void
put_meta(struct prof_fox *fox)
{
	const struct prof_flame *flame = fox->fx_flame;
	struct prof_buf *out = fox->fx_out;
	uint64_t from_ns, to_ns;

	prof_profile_span(flame->fm_profile, &from_ns, &to_ns);
	prof_put_str(out, "{\"meta\":{\"product\":");
	prof_put_json(out, flame->fm_title);
	prof_put_fmt(out, ",\"importedFrom\":\"dtprof %s\",\"version\":%d,"
	    "\"preprocessedProfileVersion\":%d,\"processType\":0,"
	    "\"stackwalk\":1,\"symbolicated\":true,\"startTime\":%" PRIu64
	    ",\"interval\":", prof_version(), GECKO_VERSION, FORMAT_VERSION,
	    epoch_ms(fox));
	prof_fox_ms(fox, interval_ns(fox->fx_info));
	prof_put_str(out, ",\"profilingStartTime\":0,\"profilingEndTime\":");
	prof_fox_ms(fox, prof_fox_since(fox, to_ns));
	prof_put_fmt(out, ",\"usesOnlyOneStackType\":true,"
	    "\"sourceCodeIsNotOnSearchfox\":true,\"sampleUnits\":{"
	    "\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":"
	    "\"ns\"},\n\"categories\":[%s],\n", categories);
	prof_fox_schemas(fox);
	prof_put_str(out, "},\n\"libs\":[],\"pages\":[],\n");
}

static int
put_file(struct prof_fox *fox)
{
	put_meta(fox);
	prof_fox_pauses(fox);
	put_threads(fox);
	put_shared(fox);
	prof_put_str(fox->fx_out, "}\n");
	return (fox->fx_failed || fox->fx_pauses.bf_failed ||
	    fox->fx_strings.bf_failed || fox->fx_out->bf_failed ? -1 : 0);
}

static void
fox_fini(struct prof_fox *fox)
{
	prof_lanes_fini(&fox->fx_lanes);
	prof_buf_free(&fox->fx_pauses);
	prof_buf_free(&fox->fx_strings);
	prof_dict_free(&fox->fx_by_text);
	prof_dict_free(&fox->fx_by_func);
	prof_map_free(&fox->fx_sources.fp_by_string);
	prof_map_free(&fox->fx_resources.fp_by_string);
	free(fox->fx_sources.fp_string);
	free(fox->fx_resources.fp_string);
	free(fox->fx_func);
	free(fox->fx_frame);
	free(fox->fx_frame_of);
	free(fox->fx_stack_of);
	free(fox->fx_node);
	free(fox->fx_list);
}

int
prof_write_firefox(const struct prof_flame *flame, struct prof_buf *out)
{
	struct prof_fox fox = { .fx_flame = flame, .fx_out = out };
	size_t nbuckets;
	int rv = -1;

	fox.fx_info = flame->fm_event[0].fe_info;
	fox.fx_bucket = prof_profile_buckets(flame->fm_profile, &nbuckets);
	if (!prof_reader_start(flame->fm_reader, &fox.fx_start_ns))
		prof_profile_span(flame->fm_profile, &fox.fx_start_ns,
		    &(uint64_t){ 0 });
	fox.fx_frame_of = calloc(prof_profile_nlabels(flame->fm_profile) + 1,
	    sizeof(*fox.fx_frame_of));
	fox.fx_stack_of = calloc(flame->fm_nnodes + 1,
	    sizeof(*fox.fx_stack_of));
	fox.fx_node = calloc(flame->fm_nnodes + 1, sizeof(*fox.fx_node));
	fox.fx_list = calloc(nbuckets + prof_reader_nlife(flame->fm_reader) +
	    1, sizeof(*fox.fx_list));
	if (fox.fx_frame_of != NULL && fox.fx_stack_of != NULL &&
	    fox.fx_node != NULL && fox.fx_list != NULL &&
	    prof_lanes_init(&fox.fx_lanes, flame) == 0 &&
	    stacks_make(&fox) == 0)
		rv = put_file(&fox);
	fox_fini(&fox);
	return (rv);
}
