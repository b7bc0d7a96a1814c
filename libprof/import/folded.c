/* SPDX-License-Identifier: ISC */
/*
 * Folded stacks made into a recording.  A line is "root;...;leaf COUNT"; the
 * count stands behind the last blank, so names may hold blanks.  When two
 * numbers end every line they are counts of the base and of what is new, which
 * are then two events.
 *
 * There are names and no addresses.  So each name gets a place of 16 bytes in
 * a memory that nothing else is in, and the recording has a table of what is
 * there, as of code that a program makes in memory.  No frame is taken for
 * the name of a thread: nothing in the file tells whether the first one is.
 *
 * A count is so many samples; where there are too many of them (nanoseconds
 * or bytes, most likely) a line is one sample of that weight.  So it is where
 * counts have decimals: all are multiplied by the power of ten that makes them
 * whole, and the unit, "0.001 counts", says by which.
 *
 * The text is read three times: for its form, for its names, for its samples.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_abi.h"
#include "folded.h"
#include "import.h"
#include "profile/profile_impl.h"
#include "recording/table.h"

#define MEMORY		0x10000000ULL	/* where the first name lies */
#define PLACE		16		/* bytes of code that a name gets */
#define MAX_SAMPLES	(4u << 20)
#define MAX_FRAMES	8192
#define PID		1
#define TABLE_BYTES	(256u << 10)	/* a table is written then */

/* A line as the form of the file makes it. */
struct line {
	const char	*ln_text;
	size_t		 ln_length;
	uint64_t	 ln_count[FOLDED_COUNTS];
};

struct folded {
	struct prof_import *fo_import;
	struct prof_dict fo_names;
	struct prof_table fo_table;
	struct prof_buf	 fo_body;	/* of the table */
	unsigned	 fo_ncounts;	/* of a line; 0: not known yet */
	unsigned	 fo_decimals;	/* of the count that has most */
	uint64_t	 fo_line;	/* its number, for messages */
	uint64_t	 fo_count[FOLDED_COUNTS]; /* sum over all lines */
	uint64_t	 fo_deep;
	uint64_t	 fo_time_ns;
	bool		 fo_by_weight;
	struct prof_accounting fo_sum[FOLDED_COUNTS + 1];
	uint64_t	 fo_frame[MAX_FRAMES];
};

typedef int line_fn(struct folded *folded, const struct line *line);

/* -------------------------------------------------------------- lines */

/* Where not even the first line is one, it is a file of something else. */
static int
line_refuse(struct folded *folded, const char *why)
{
	struct prof_err *error = &folded->fo_import->im_error;

	if (folded->fo_ncounts > 0) {
		prof_fail(error, PROF_E_FORMAT, "line %llu: %s",
		    (unsigned long long)folded->fo_line, why);
		return (prof_cure(error, "write each line as \"root;...;leaf "
		    "COUNT\": fix or remove this line"));
	}
	prof_fail(error, PROF_E_FORMAT, "neither perf.data, pprof, perf script "
	    "output nor folded stacks (line %llu: %s)",
	    (unsigned long long)folded->fo_line, why);
	return (prof_cure(error, "dtprof import reads perf.data, pprof "
	    "profiles, perf script output, and lines \"root;...;leaf COUNT\""));
}

static int
too_much(struct folded *folded)
{
	return (line_refuse(folded, "the sum of counts exceeds 64 bits"));
}

/* The next line that is not empty, and its parts; 1, 0: none, or -1. */
static int
next_line(struct folded *folded, const char **at, struct folded_line *line)
{
	const struct prof_import *import = folded->fo_import;
	const char *end = (const char *)import->im_bytes + import->im_length;
	const char *text, *next, *why;

	for (text = *at; text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		if (next == NULL)
			next = end;
		folded->fo_line++;
		if (folded_line_is_empty(text, (size_t)(next - text)))
			continue;
		*at = next + (next < end);
		why = folded_line_parse(text, (size_t)(next - text), line);
		return (why == NULL ? 1 : line_refuse(folded, why));
	}
	return (0);
}

/* How many counts a line has, and how many decimals. */
static int
find_form(struct folded *folded)
{
	const char *at = (const char *)folded->fo_import->im_bytes;
	unsigned decimals[FOLDED_COUNTS] = { 0 };
	struct folded_line line;
	int rv;

	while ((rv = next_line(folded, &at, &line)) == 1) {
		if (folded->fo_ncounts == 0)
			folded->fo_ncounts = FOLDED_COUNTS;
		if (!line.ln_has_two)
			folded->fo_ncounts = 1;
		for (int c = 0; c < FOLDED_COUNTS; c++)
			if (line.ln_count[c].fc_decimals > decimals[c])
				decimals[c] = line.ln_count[c].fc_decimals;
	}
	folded->fo_decimals = decimals[1];
	if (folded->fo_ncounts > 1 && decimals[0] > decimals[1])
		folded->fo_decimals = decimals[0];
	return (rv);
}

/* A count in the file's unit; false: no number holds it. */
static bool
count_scale(const struct folded *folded, const struct folded_count *count,
    uint64_t *value)
{
	*value = count->fc_digits;
	for (unsigned n = count->fc_decimals; n < folded->fo_decimals; n++)
		if (__builtin_mul_overflow(*value, 10, value))
			return (false);
	return (true);
}

/* What no sample is of is passed over. */
static int
each_line(struct folded *folded, line_fn *fn)
{
	const char *at = (const char *)folded->fo_import->im_bytes;
	const unsigned n = folded->fo_ncounts;
	struct folded_line parts;
	struct line line;
	uint64_t any;
	int rv;

	folded->fo_line = 0;
	while ((rv = next_line(folded, &at, &parts)) == 1) {
		line.ln_text = parts.ln_text;
		line.ln_length = n > 1 ? parts.ln_length_of_two :
		    parts.ln_length;
		any = 0;
		for (unsigned c = 0; c < n; c++) {
			if (!count_scale(folded, &parts.ln_count[FOLDED_COUNTS -
			    n + c], &line.ln_count[c]))
				return (too_much(folded));
			any |= line.ln_count[c];
		}
		if (any != 0 && fn(folded, &line) == -1)
			return (-1);
	}
	return (rv);
}

/* The frames of a line, root first; "" between two ; is a name, too. */
static bool
next_frame(const struct line *line, size_t *at, const char **name,
    size_t *length)
{
	const char *end;

	if (*at > line->ln_length)
		return (false);
	*name = line->ln_text + *at;
	end = memchr(*name, ';', line->ln_length - *at);
	*length = end == NULL ? line->ln_length - *at :
	    (size_t)(end - *name);
	*at += *length + 1;
	return (true);
}

/* -------------------------------------------------------------- names */

/* What was collected of the table; there may be several for one memory. */
static int
say_table(struct folded *folded)
{
	struct prof_buf *body = &folded->fo_body;
	int rv;

	rv = body->bf_failed ?
	    prof_fail_nomem(&folded->fo_import->im_error) :
	    prof_import_symbols(folded->fo_import, body->bf_data,
	    body->bf_len);
	prof_buf_free(body);
	memset(body, 0, sizeof(*body));
	return (rv);
}

static int
say_name(struct folded *folded, uint32_t n, const char *name, size_t length)
{
	char *text = strndup(name, length < PROF_MAX_STRING ? length :
	    PROF_MAX_STRING);
	const struct prof_table_function function = {
		.tf_address = MEMORY + (uint64_t)n * PLACE,
		.tf_size = PLACE,
		.tf_name = length == 0 ? "[no name]" : text,
		.tf_module = "",
	};

	if (text == NULL)
		return (prof_fail_nomem(&folded->fo_import->im_error));
	if (folded->fo_body.bf_len == 0) {
		folded->fo_table = (struct prof_table){
			.tb_kind = PROF_TABLE_JIT,
			.tb_path = "",
			.tb_pid = PID,
			.tb_time_ns = 1,
		};
		prof_table_pack(&folded->fo_body, &folded->fo_table);
	}
	prof_table_pack_function(&folded->fo_body, &folded->fo_table,
	    &function);
	free(text);
	return (folded->fo_body.bf_len < TABLE_BYTES ? 0 :
	    say_table(folded));
}

static int
take_names(struct folded *folded, const struct line *line)
{
	size_t at = 0, length;
	const char *name;
	bool is_new;
	uint32_t n;

	for (unsigned c = 0; c < folded->fo_ncounts; c++)
		if (__builtin_add_overflow(folded->fo_count[c],
		    line->ln_count[c], &folded->fo_count[c]))
			return (too_much(folded));
	while (next_frame(line, &at, &name, &length)) {
		n = prof_dict_find(&folded->fo_names, name, length, &is_new);
		if (n == PROF_INTERN_FAILED)
			return (prof_fail_nomem(
			    &folded->fo_import->im_error));
		if (is_new && say_name(folded, n, name, length) == -1)
			return (-1);
	}
	return (0);
}

/* The memory itself, when it is known how much there is. */
static int
say_memory(struct folded *folded)
{
	const struct prof_record task = {
		.pr_type = PROF_R_TASK, .pr_time_ns = 1, .pr_pid = PID,
		.pr_tid = PID, .pr_comm = "", .pr_path = "",
	}, memory = {
		.pr_type = PROF_R_MMAP, .pr_time_ns = 1, .pr_pid = PID,
		.pr_tid = PID, .pr_addr = MEMORY, .pr_len =
		(uint64_t)folded->fo_names.dt_count * PLACE,
		.pr_comm = "", .pr_path = "[folded]",
	}, start = {
		.pr_type = PROF_R_START, .pr_time_ns = 2, .pr_comm = "",
		.pr_path = "",
	};

	return (prof_import_add(folded->fo_import, &task) == -1 ||
	    prof_import_add(folded->fo_import, &memory) == -1 ? -1 :
	    prof_import_add(folded->fo_import, &start));
}

/* ------------------------------------------------------------ samples */

/* Within its place, so that a return address lies there as well. */
static uint64_t
pc_of(struct folded *folded, const char *name, size_t length)
{
	bool is_new;

	return (MEMORY + PLACE / 2 + (uint64_t)prof_dict_find(
	    &folded->fo_names, name, length, &is_new) * PLACE);
}

static int
add_samples(struct folded *folded, const struct line *line,
    struct prof_record *record)
{
	int rv = 0;

	for (unsigned c = 0; c < folded->fo_ncounts && rv == 0; c++) {
		if (line->ln_count[c] == 0)
			continue;
		record->pr_event = c + 1;
		record->pr_weight = folded->fo_by_weight ?
		    line->ln_count[c] : 1;
		rv = prof_import_repeat(folded->fo_import, record,
		    folded->fo_by_weight ? 1 : line->ln_count[c],
		    &folded->fo_sum[c + 1], &folded->fo_time_ns);
	}
	return (rv);
}

static int
take_stack(struct folded *folded, const struct line *line)
{
	struct prof_record record = {
		.pr_type = PROF_R_SAMPLE,
		.pr_pid = PID,
		.pr_tid = PID,
		.pr_ustatus = PROF_STACK_OK,
		.pr_comm = "",
		.pr_path = "",
	};
	size_t at = 0, length, depth = 0, first = MAX_FRAMES;
	const char *name;

	while (next_frame(line, &at, &name, &length))
		depth++;
	if (depth > MAX_FRAMES) {
		record.pr_ustatus = PROF_STACK_DEEP;
		folded->fo_deep++;
	}
	/* Innermost first, so filled from the end; the outermost may go. */
	for (at = 0; next_frame(line, &at, &name, &length); depth--)
		if (depth <= MAX_FRAMES)
			folded->fo_frame[--first] = pc_of(folded, name,
			    length);
	record.pr_user = folded->fo_frame + first;
	record.pr_nuser = (uint32_t)(MAX_FRAMES - first);
	record.pr_ip = record.pr_user[0];
	return (add_samples(folded, line, &record));
}

/* ---------------------------------------------------------------- all */

/* "counts", or "0.001 counts" */
static int
recording_describe(struct folded *folded)
{
	static const char *const names[FOLDED_COUNTS] = { "base", "new" };
	static const char zeros[] = "0.000000000000000000";
	const struct prof_event_info proc = {
		.pi_name = "proc", .pi_probe = "proc:::", .pi_provider =
		"proc", .pi_unit = "events", .pi_period = 1,
	};
	struct prof_event_info info = {
		.pi_name = "samples", .pi_probe = "folded:::samples",
		.pi_provider = "folded", .pi_unit = "counts", .pi_period = 1,
		.pi_parts = DTP_P_USTACK | DTP_P_WEIGHT,
	};
	char unit[sizeof(zeros) + sizeof(" counts") + 1];
	int rv = prof_import_event(folded->fo_import, &proc);

	if (folded->fo_decimals > 0) {
		(void)snprintf(unit, sizeof(unit), "%.*s1 counts",
		    (int)folded->fo_decimals + 1, zeros);
		info.pi_unit = unit;
	}
	for (unsigned c = 0; c < folded->fo_ncounts && rv == 0; c++) {
		if (folded->fo_ncounts > 1)
			info.pi_name = names[c];
		rv = prof_import_event(folded->fo_import, &info);
	}
	return (rv);
}

static int
say_notes(struct folded *folded)
{
	struct prof_import *import = folded->fo_import;

	if (folded->fo_deep > 0 && prof_import_say(import, "%llu stacks are "
	    "deeper than %d frames: the outermost frames of these stacks are "
	    "dropped",
	    (unsigned long long)folded->fo_deep, MAX_FRAMES) == -1)
		return (-1);
	if (folded->fo_ncounts > 1)
		return (prof_import_say(import, "each line has two counts, "
		    "which are imported as events 'base' and 'new'"));
	if (folded->fo_by_weight && folded->fo_decimals == 0)
		return (prof_import_say(import, "the sum of counts is %llu, "
		    "too many for one sample per count: each line becomes one "
		    "sample, and the count becomes the weight of this sample",
		    (unsigned long long)folded->fo_count[0]));
	return (0);
}

static int
recording_finish(struct folded *folded)
{
	struct prof_import *import = folded->fo_import;
	const struct prof_record stop = {
		.pr_type = PROF_R_STOP, .pr_comm = "", .pr_path = "",
		.pr_time_ns = folded->fo_time_ns + 1,
	};

	for (unsigned c = 1; c <= folded->fo_ncounts; c++)
		folded->fo_sum[c].pa_stored = folded->fo_sum[c].pa_read =
		    folded->fo_sum[c].pa_fired;
	if (say_notes(folded) == -1 || prof_import_add(import, &stop) == -1 ||
	    (folded->fo_body.bf_len > 0 && say_table(folded) == -1))
		return (-1);
	return (prof_import_accounting(import, folded->fo_sum,
	    folded->fo_ncounts + 1));
}

static int
file_convert(struct folded *folded)
{
	struct prof_import *import = folded->fo_import;
	uint64_t sum;

	if (prof_import_info(import, "import", "folded") == -1 ||
	    prof_import_info(import, "path", "folded") == -1 ||
	    find_form(folded) == -1 || each_line(folded, take_names) == -1)
		return (-1);
	if (folded->fo_names.dt_count == 0)
		return (prof_fail(&import->im_error, PROF_E_FORMAT,
		    "no stack with a count above 0"));
	if (__builtin_add_overflow(folded->fo_count[0], folded->fo_count[1],
	    &sum))
		sum = UINT64_MAX;
	folded->fo_by_weight = sum > MAX_SAMPLES || folded->fo_decimals > 0;
	folded->fo_time_ns = 2;
	if (recording_describe(folded) == -1 || say_memory(folded) == -1 ||
	    each_line(folded, take_stack) == -1)
		return (-1);
	return (recording_finish(folded));
}

int
prof_import_folded(struct prof_import *import)
{
	struct folded *folded = calloc(1, sizeof(*folded));
	int rv;

	if (folded == NULL)
		return (prof_fail_nomem(&import->im_error));
	folded->fo_import = import;
	rv = file_convert(folded);
	prof_buf_free(&folded->fo_body);
	prof_dict_free(&folded->fo_names);
	free(folded);
	return (rv);
}

bool
prof_import_is_folded(const uint8_t *bytes, size_t length)
{
	const char *at = (const char *)bytes, *end = at + length, *next;
	struct folded_line line;

	for (; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (next == NULL)
			next = end;
		if (!folded_line_is_empty(at, (size_t)(next - at)))
			return (folded_line_parse(at, (size_t)(next - at),
			    &line) == NULL);
	}
	return (false);
}
