/* SPDX-License-Identifier: ISC */
/*
 * Several recordings made into one, for dtprof merge and for commands that
 * are given more than one.  Each is opened twice: first all say what they
 * have, which decides whether they can be merged; then their samples are
 * written, one recording after the other, so memory holds one of them, and
 * what is different of all: functions and stacks.
 *
 *	a.dtp  |START ... STOP|              time of the merged recording:
 *	b.dtp                 |START ... STOP|   the sum of their times
 *
 * Times of different machines have nothing in common, so each recording
 * begins where the one before it ended.  Samples keep pid, tid, CPU and the
 * thread's name; process events and mappings are left out, as code is found
 * elsewhere (merge_code.c).
 */
#include <sys/mman.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grow.h"
#include "base/intern.h"
#include "confine/reading.h"
#include "merge.h"
#include "merge_about.h"
#include "merge_code.h"
#include "process/symbols.h"
#include "profile/profile_impl.h"
#include "recording/format.h"
#include "recording/frame.h"
#include "recording/write.h"

struct merge {
	struct prof_import *mg_import;
	struct prof_merge_about *mg_about;
	struct prof_merge_code *mg_code;
	struct prof_dict mg_seen;	/* when recordings began */
	size_t		 mg_n;
	uint64_t	 mg_begin_ns;	/* of all */
	uint64_t	 mg_end_ns;	/* so far */
	bool		 mg_has_start;
	bool		 mg_has_begun;
	/* throttled at the end of what was read: event << 32 | CPU */
	uint64_t	*mg_still;
	size_t		 mg_nstill;
	uint64_t	 mg_frames[3][PROF_MAX_FRAMES];
};

/* A recording that is being read. */
struct input {
	struct merge	*in_merge;
	const char	*in_path;
	struct prof_reader *in_reader;
	struct prof_import *in_import;	/* what made it of perf.data */
	struct prof_symbols *in_symbols;
	struct prof_history *in_history;
	uint64_t	 in_begin_ns;	/* on its clock */
	uint64_t	 in_here_ns;	/* the same on that of all */
	bool		 in_has_begun;
	bool		 in_is_paused;
	uint32_t	 in_number[PROF_MAX_EVENTS];
};

/* -------------------------------------------------------------- inputs */

/* Names without places, of which another file's may be other ones. */
static int
input_check(struct input *input)
{
	const char *import = prof_reader_info(input->in_reader, "import");
	struct prof_err *error = &input->in_merge->mg_import->im_error;

	if (prof_reader_in_progress(input->in_reader)) {
		prof_fail(error, PROF_E_BUSY, "%s: is still being recorded",
		    input->in_path);
		return (prof_cure(error, "merge the recording after its "
		    "recorder has ended"));
	}
	if (import == NULL || strcmp(import, "perf.data") == 0)
		return (0);
	prof_fail(error, PROF_E_FORMAT, "%s: cannot be merged: it was imported "
	    "from %s, which has no addresses", input->in_path, import);
	return (prof_cure(error, "merge only recordings and perf.data"));
}

static int
input_open(struct input *input, struct merge *merge, const char *path)
{
	*input = (struct input){ .in_merge = merge, .in_path = path };
	if (strcmp(path, "-") == 0) {
		prof_fail(&merge->mg_import->im_error, PROF_E_USAGE,
		    "standard input cannot be merged, because merge reads each "
		    "input twice");
		return (prof_cure(&merge->mg_import->im_error,
		    "write standard input to a file first"));
	}
	input->in_reader = prof_reader_open_any(path, &input->in_import,
	    &merge->mg_import->im_error);
	return (input->in_reader == NULL ? -1 : input_check(input));
}

static void
input_close(struct input *input)
{
	prof_history_free(input->in_history);
	prof_symbols_close(input->in_symbols);
	prof_reader_close(input->in_reader);
	prof_import_free(input->in_import);
}

/*
 * The same recording twice is a mistake: it would count twice.  One that was
 * merged has the time of its first, and no boot.
 */
static int
input_new(struct input *input)
{
	const char *boot = prof_reader_info(input->in_reader, "machine.boot");
	const char *began = prof_reader_info(input->in_reader,
	    "time.monotonic_ns");
	struct merge *merge = input->in_merge;
	struct prof_buf key = { 0 };
	bool is_new = true;
	uint32_t n = 0;

	if (began == NULL)
		return (0);
	prof_buf_string(&key, boot == NULL ? "" : boot);
	prof_buf_string(&key, began);
	n = key.bf_failed ? PROF_INTERN_FAILED : prof_dict_find(
	    &merge->mg_seen, key.bf_data, key.bf_len, &is_new);
	prof_buf_free(&key);
	if (n == PROF_INTERN_FAILED)
		return (prof_fail_nomem(&merge->mg_import->im_error));
	if (is_new)
		return (0);
	prof_fail(&merge->mg_import->im_error, PROF_E_EXISTS,
	    "%s: the same recording is given twice", input->in_path);
	return (prof_cure(&merge->mg_import->im_error, "name it once"));
}

/* The first time: what they have. */
static int
input_describe(struct merge *merge, const char *path)
{
	struct input *input = calloc(1, sizeof(*input));
	const char *cut;
	int rv = -1;

	if (input == NULL)
		return (prof_fail_nomem(&merge->mg_import->im_error));
	if (input_open(input, merge, path) == -1 || input_new(input) == -1 ||
	    prof_merge_about_take(merge->mg_about, path,
	    input->in_reader) == -1)
		goto out;
	cut = prof_reader_cut(input->in_reader);
	if (cut != NULL && prof_import_say(merge->mg_import,
	    "%s: was cut short: %s", path, cut) == -1)
		goto out;
	rv = 0;
out:
	input_close(input);
	free(input);
	return (rv);
}

/* ------------------------------------------------------------- samples */

static int
frames_take(struct input *input, const struct prof_record *record,
    unsigned kind, const uint64_t **words, uint32_t *n)
{
	struct merge *merge = input->in_merge;
	uint64_t *here = merge->mg_frames[kind == PROF_FRAME_KERNEL];
	const uint32_t space = kind == PROF_FRAME_KERNEL ? 0 :
	    prof_symbols_space(input->in_symbols, record->pr_pid,
	    record->pr_time_ns);
	struct prof_frame frame;

	if (*n > PROF_MAX_FRAMES)
		*n = PROF_MAX_FRAMES;
	for (uint32_t i = 0; i < *n; i++) {
		prof_frame_of_pc((*words)[i], kind, i > 0, &frame);
		here[i] = (*words)[i];
		if (frame.fr_kind != PROF_FRAME_BOUNDARY &&
		    prof_merge_code_pc(merge->mg_code, space, &frame,
		    &here[i]) == -1)
			return (-1);
	}
	*words = here;
	return (0);
}

static int
script_take(struct input *input, struct prof_record *record)
{
	struct merge *merge = input->in_merge;
	uint64_t *here = merge->mg_frames[2];

	for (uint32_t i = 0; i < record->pr_nscript; i++)
		if (prof_merge_code_script(merge->mg_code,
		    record->pr_script[i], &here[i]) == -1)
			return (-1);
	record->pr_script = here;
	return (0);
}

/* The innermost pc, which is that of a stack where there is one. */
static int
pc_take(struct input *input, const struct prof_record *given,
    struct prof_record *record)
{
	const struct prof_frame frame = {
		given->pr_ip, given->pr_in_kernel ? PROF_FRAME_KERNEL :
		    PROF_FRAME_NATIVE, 0
	};

	if (given->pr_ip == 0)
		return (0);
	if (given->pr_nkernel > 0 && given->pr_kernel[0] == given->pr_ip)
		record->pr_ip = record->pr_kernel[0];
	else if (given->pr_nuser > 0 && given->pr_user[0] == given->pr_ip)
		record->pr_ip = record->pr_user[0];
	else
		return (prof_merge_code_pc(input->in_merge->mg_code,
		    given->pr_in_kernel ? 0 : prof_symbols_space(
		    input->in_symbols, given->pr_pid, given->pr_time_ns),
		    &frame, &record->pr_ip));
	return (0);
}

static int
sample_take(struct input *input, const struct prof_record *given,
    uint64_t time_ns)
{
	struct prof_record record = *given;
	struct prof_moment moment;

	if (frames_take(input, given, PROF_FRAME_KERNEL, &record.pr_kernel,
	    &record.pr_nkernel) == -1 ||
	    frames_take(input, given, PROF_FRAME_NATIVE, &record.pr_user,
	    &record.pr_nuser) == -1 || script_take(input, &record) == -1 ||
	    pc_take(input, given, &record) == -1)
		return (-1);
	record.pr_event = input->in_number[given->pr_event];
	record.pr_time_ns = time_ns;
	if (record.pr_comm[0] == '\0') {
		prof_history_at(input->in_history, given->pr_tid,
		    given->pr_time_ns, &moment);
		record.pr_comm = moment.mo_comm;
	}
	return (prof_import_add(input->in_merge->mg_import, &record));
}

/* ------------------------------------------------------------- records */

/* Remember it, or forget it. */
static int
still_take(struct merge *merge, const struct prof_record *record)
{
	const uint64_t key = (uint64_t)record->pr_event << 32 |
	    record->pr_cpu;
	uint64_t *still;
	size_t n;

	for (n = 0; n < merge->mg_nstill; n++)
		if (merge->mg_still[n] == key)
			break;
	if (n < merge->mg_nstill)
		merge->mg_still[n] = merge->mg_still[--merge->mg_nstill];
	if (record->pr_type == PROF_R_UNTHROTTLE)
		return (0);
	still = prof_append(&merge->mg_still, &merge->mg_nstill,
	    sizeof(*still));
	if (still == NULL)
		return (prof_fail_nomem(&merge->mg_import->im_error));
	*still = key;
	return (0);
}

static uint64_t
time_here(const struct input *input, uint64_t time_ns)
{
	return (input->in_here_ns + (time_ns > input->in_begin_ns ?
	    time_ns - input->in_begin_ns : 0));
}

/* Marks, pauses, and when less was recorded. */
static int
other_take(struct input *input, const struct prof_record *given,
    uint64_t time_ns)
{
	struct merge *merge = input->in_merge;
	struct prof_record record = *given;

	record.pr_time_ns = time_ns;
	switch (given->pr_type) {
	case PROF_R_START:
	case PROF_R_STOP:
		return (0);
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		input->in_is_paused = given->pr_type == PROF_R_PAUSE;
		break;
	case PROF_R_LOST:
	case PROF_R_TURNS:
		if (given->pr_addr != 0)
			record.pr_addr = time_here(input, given->pr_addr);
		record.pr_event = input->in_number[given->pr_event];
		break;
	case PROF_R_THROTTLE:
	case PROF_R_UNTHROTTLE:
		record.pr_event = input->in_number[given->pr_event];
		if (still_take(merge, &record) == -1)
			return (-1);
		break;
	default:
		break;
	}
	return (prof_import_add(merge->mg_import, &record));
}

/* Process events and mappings are of no use without their pids. */
static bool
is_left_out(enum prof_record_type type)
{
	return (type == PROF_R_FORK || type == PROF_R_EXEC ||
	    type == PROF_R_EXIT || type == PROF_R_COMM ||
	    type == PROF_R_TASK || type == PROF_R_MMAP ||
	    type == PROF_R_KSYMBOL);
}

static int
record_take(struct input *input, const struct prof_record *record)
{
	struct merge *merge = input->in_merge;
	uint64_t time_ns;

	if (is_left_out(record->pr_type) ||
	    record->pr_event >= PROF_MAX_EVENTS)
		return (0);
	if (!input->in_has_begun) {
		if (!prof_reader_start(input->in_reader, &input->in_begin_ns))
			input->in_begin_ns = record->pr_time_ns;
		else
			merge->mg_has_start = true;
		if (!merge->mg_has_begun)
			merge->mg_begin_ns = merge->mg_end_ns =
			    input->in_begin_ns != 0 ? input->in_begin_ns : 1;
		input->in_here_ns = merge->mg_end_ns;
		input->in_has_begun = merge->mg_has_begun = true;
	}
	time_ns = time_here(input, record->pr_time_ns);
	if (time_ns > merge->mg_end_ns)
		merge->mg_end_ns = time_ns;
	return (record->pr_type == PROF_R_SAMPLE ?
	    sample_take(input, record, time_ns) :
	    other_take(input, record, time_ns));
}

/* What has no end in it ends with it. */
static int
input_end(struct input *input)
{
	struct merge *merge = input->in_merge;
	struct prof_record record = {
		.pr_type = PROF_R_RESUME, .pr_time_ns = merge->mg_end_ns,
		.pr_path = "", .pr_comm = "",
	};

	if (input->in_is_paused &&
	    prof_import_add(merge->mg_import, &record) == -1)
		return (-1);
	record.pr_type = PROF_R_UNTHROTTLE;
	while (merge->mg_nstill > 0) {
		const uint64_t still = merge->mg_still[--merge->mg_nstill];

		record.pr_event = (uint32_t)(still >> 32);
		record.pr_cpu = (uint32_t)still;
		if (prof_import_add(merge->mg_import, &record) == -1)
			return (-1);
	}
	free(merge->mg_still);
	merge->mg_still = NULL;
	return (0);
}

/* Whose inodes they are; 0: they have been distinguished before. */
static uint64_t
salt_of(const struct input *input, size_t n)
{
	const char *boot = prof_reader_info(input->in_reader, "machine.boot");

	if (prof_reader_info(input->in_reader, "merged") != NULL)
		return (0);
	return (boot != NULL ? XXH64(boot, strlen(boot), 0) :
	    XXH64(&n, sizeof(n), 1));
}

static int
input_records(struct input *input)
{
	struct prof_import *import = input->in_merge->mg_import;
	const struct prof_record *record;
	int rv;

	while ((rv = prof_reader_borrow(input->in_reader, &record)) == 1)
		if (record_take(input, record) == -1)
			return (-1);
	if (rv == -1)
		import->im_error = *prof_reader_error(input->in_reader);
	return (rv == -1 ? -1 : input_end(input));
}

/* The second time: what they recorded. */
static int
input_merge(struct merge *merge, const char *path, size_t number)
{
	struct input *input = calloc(1, sizeof(*input));
	struct prof_err *error = &merge->mg_import->im_error;
	const void *body;
	size_t length;
	int rv = -1;

	if (input == NULL)
		return (prof_fail_nomem(error));
	if (input_open(input, merge, path) == -1 ||
	    prof_merge_about_events(merge->mg_about, path, input->in_reader,
	    input->in_number) == -1)
		goto out;
	input->in_symbols = prof_symbols_open(input->in_reader, NULL, error);
	input->in_history = prof_history_new(input->in_reader, true, error);
	if (input->in_symbols == NULL || input->in_history == NULL)
		goto out;
	prof_merge_code_begin(merge->mg_code, input->in_symbols,
	    salt_of(input, number));
	if (input_records(input) == -1)
		goto out;
	for (size_t n = 0; (body = prof_reader_symbols(input->in_reader, n,
	    &length)) != NULL; n++)
		if (prof_merge_code_table(merge->mg_code, body, length) == -1)
			goto out;
	rv = prof_merge_about_account(merge->mg_about, input->in_reader,
	    input->in_number);
out:
	input_close(input);
	free(input);
	return (rv);
}

/* --------------------------------------------------------------- whole */

static int
merge_all(struct merge *merge, const char *const *inputs, size_t n)
{
	struct prof_record record = {
		.pr_type = PROF_R_START, .pr_path = "", .pr_comm = "",
	};

	for (size_t i = 0; i < n; i++)
		if (input_describe(merge, inputs[i]) == -1)
			return (-1);
	if (prof_merge_about_write(merge->mg_about) == -1)
		return (-1);
	for (size_t i = 0; i < n; i++)
		if (input_merge(merge, inputs[i], i) == -1)
			return (-1);
	if (prof_merge_code_end(merge->mg_code, merge->mg_begin_ns) == -1)
		return (-1);
	record.pr_time_ns = merge->mg_begin_ns;
	if (merge->mg_has_start &&
	    prof_import_add(merge->mg_import, &record) == -1)
		return (-1);
	record.pr_type = PROF_R_STOP;
	record.pr_time_ns = merge->mg_end_ns;
	if (merge->mg_has_start &&
	    prof_import_add(merge->mg_import, &record) == -1)
		return (-1);
	return (prof_merge_about_end(merge->mg_about));
}

int
prof_import_merge(struct prof_import *import)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	int rv = -1;

	if (merge == NULL)
		return (prof_fail_nomem(&import->im_error));
	merge->mg_import = import;
	merge->mg_about = prof_merge_about_new(import);
	merge->mg_code = prof_merge_code_new(import);
	if (merge->mg_about != NULL && merge->mg_code != NULL)
		rv = merge_all(merge, import->im_inputs, import->im_ninputs);
	prof_merge_about_free(merge->mg_about);
	prof_merge_code_free(merge->mg_code);
	prof_dict_free(&merge->mg_seen);
	free(merge->mg_still);
	free(merge);
	return (rv);
}
