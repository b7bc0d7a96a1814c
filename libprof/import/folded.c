/* SPDX-License-Identifier: ISC */
/*
 * Folded stacks made into a recording.  A line is "root;...;leaf COUNT"; the
 * count stands behind the last blank, so names may hold blanks.
 *
 * There are names and no addresses.  So each name gets a place of 16 bytes in
 * a memory that nothing else is in, and the recording has a table of what is
 * there, as of code that a program makes in memory.  No frame is taken for
 * the name of a thread: nothing in the file tells whether the first one is.
 *
 * A count is so many samples; where there are too many of them (nanoseconds
 * or bytes, most likely) a line is one sample of that weight.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "import.h"
#include "recording/table.h"

#define MEMORY		0x10000000ULL	/* where the first name lies */
#define PLACE		16		/* bytes of code that a name gets */
#define MAX_SAMPLES	(4u << 20)
#define MAX_FRAMES	8192
#define PID		1
#define TABLE_BYTES	(256u << 10)	/* a table is written then */

/* A line, split where its count begins. */
struct line {
	const char	*ln_text;
	size_t		 ln_length;
	uint64_t	 ln_count;
};

struct folded {
	struct prof_import *fo_import;
	struct prof_dict fo_names;
	struct prof_table fo_table;
	struct prof_buf	 fo_body;	/* of the table */
	uint64_t	 fo_count;	/* sum over all lines */
	uint64_t	 fo_bad;
	uint64_t	 fo_deep;
	uint64_t	 fo_time_ns;
	bool		 fo_by_weight;
	struct prof_accounting fo_sum[2];
	uint64_t	 fo_frame[MAX_FRAMES];
};

typedef int line_fn(struct folded *folded, const struct line *line);

/* -------------------------------------------------------------- lines */

static bool
split(struct line *line)
{
	const char *text = line->ln_text, *blank;
	size_t n = line->ln_length;
	uint64_t digit;

	if (n > 0 && text[n - 1] == '\r')
		n--;
	blank = memrchr(text, ' ', n);
	if (blank == NULL || blank == text || blank == text + n - 1 ||
	    memchr(text, '\0', n) != NULL)
		return (false);
	line->ln_length = (size_t)(blank - text);
	line->ln_count = 0;
	for (blank++; blank < text + n; blank++) {
		digit = (uint64_t)(*blank - '0');
		if (digit > 9 || __builtin_mul_overflow(line->ln_count, 10,
		    &line->ln_count) || __builtin_add_overflow(
		    line->ln_count, digit, &line->ln_count))
			return (false);
	}
	return (line->ln_count > 0);
}

/* Comments and empty lines are passed over, others that fail counted. */
static int
each_line(struct folded *folded, line_fn *fn)
{
	const char *at = (const char *)folded->fo_import->im_bytes;
	const char *end = at + folded->fo_import->im_length, *next;
	struct line line;

	for (; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (next == NULL)
			next = end;
		line.ln_text = at;
		line.ln_length = (size_t)(next - at);
		if (line.ln_length == 0 || *at == '#')
			continue;
		if (!split(&line))
			folded->fo_bad++;
		else if (fn(folded, &line) == -1)
			return (-1);
	}
	return (0);
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

	if (__builtin_add_overflow(folded->fo_count, line->ln_count,
	    &folded->fo_count))
		return (prof_fail(&folded->fo_import->im_error,
		    PROF_E_FORMAT, "its counts add up to more than 64 bits "
		    "hold"));
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
	record->pr_weight = folded->fo_by_weight ? line->ln_count : 1;
	return (prof_import_repeat(folded->fo_import, record,
	    folded->fo_by_weight ? 1 : line->ln_count, &folded->fo_sum[1],
	    &folded->fo_time_ns));
}

static int
take_stack(struct folded *folded, const struct line *line)
{
	struct prof_record record = {
		.pr_type = PROF_R_SAMPLE,
		.pr_event = 1,
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

static int
describe(struct folded *folded)
{
	const struct prof_event_info proc = {
		.pi_name = "proc", .pi_probe = "proc:::", .pi_provider =
		"proc", .pi_unit = "events", .pi_period = 1,
	}, samples = {
		.pi_name = "samples", .pi_probe = "folded:::samples",
		.pi_provider = "folded", .pi_unit = folded->fo_by_weight ?
		"units" : "samples", .pi_period = 1,
		.pi_parts = DTP_P_USTACK | DTP_P_WEIGHT,
	};

	return (prof_import_event(folded->fo_import, &proc) == -1 ? -1 :
	    prof_import_event(folded->fo_import, &samples));
}

static int
finish(struct folded *folded)
{
	struct prof_import *import = folded->fo_import;
	const struct prof_record stop = {
		.pr_type = PROF_R_STOP, .pr_comm = "", .pr_path = "",
		.pr_time_ns = folded->fo_time_ns + 1,
	};
	struct prof_accounting *sum = &folded->fo_sum[1];

	sum->pa_stored = sum->pa_read = sum->pa_fired;
	if (folded->fo_bad > 0 && prof_import_say(import, "%llu lines are "
	    "no stacks with a count and were left out",
	    (unsigned long long)folded->fo_bad) == -1)
		return (-1);
	if (folded->fo_deep > 0 && prof_import_say(import, "%llu stacks are "
	    "deeper than %d and lost their outermost frames",
	    (unsigned long long)folded->fo_deep, MAX_FRAMES) == -1)
		return (-1);
	if (folded->fo_by_weight && prof_import_say(import, "its counts add "
	    "up to %llu: each line is one sample of that weight",
	    (unsigned long long)folded->fo_count) == -1)
		return (-1);
	if (prof_import_add(import, &stop) == -1 ||
	    (folded->fo_body.bf_len > 0 && say_table(folded) == -1))
		return (-1);
	return (prof_import_accounting(import, folded->fo_sum, 2));
}

static int
convert(struct folded *folded)
{
	struct prof_import *import = folded->fo_import;

	if (prof_import_info(import, "import", "folded") == -1 ||
	    prof_import_info(import, "path", "folded") == -1 ||
	    each_line(folded, take_names) == -1)
		return (-1);
	if (folded->fo_count == 0) {
		prof_fail(&import->im_error, PROF_E_FORMAT, "neither "
		    "perf.data nor pprof, text of perf script or folded "
		    "stacks");
		return (prof_cure(&import->im_error, "dtprof import reads "
		    "perf.data, profiles of pprof, what perf script prints, "
		    "and lines \"root;...;leaf COUNT\""));
	}
	folded->fo_by_weight = folded->fo_count > MAX_SAMPLES;
	folded->fo_time_ns = 2;
	folded->fo_bad = 0;
	if (describe(folded) == -1 || say_memory(folded) == -1 ||
	    each_line(folded, take_stack) == -1)
		return (-1);
	return (finish(folded));
}

int
prof_import_folded(struct prof_import *import)
{
	struct folded *folded = calloc(1, sizeof(*folded));
	int rv;

	if (folded == NULL)
		return (prof_fail_nomem(&import->im_error));
	folded->fo_import = import;
	rv = convert(folded);
	prof_buf_free(&folded->fo_body);
	prof_dict_free(&folded->fo_names);
	free(folded);
	return (rv);
}
