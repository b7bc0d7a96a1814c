/* SPDX-License-Identifier: ISC */
/*
 * A profile of pprof made into a recording.  It has names and, mostly, no
 * files to look addresses up in, see places.h.  Functions that were inlined are
 * frames like others.
 *
 * A sample has several values.  One that counts how often ("count") and
 * stands before another of something else is how many samples that other one
 * is made of; all others are events of their own.
 *
 * Called by import.c.
 */
#include <stdlib.h>

#include <string.h>

#include "abi/dtp_abi.h"
#include "places.h"
#include "pprof.h"

#define MAX_FRAMES	8192
#define MAX_SAMPLES	(4u << 20)
#define PID		1
#define NO_COUNT	PPROF_TYPES	/* a value that no sample has */

/* Which of a sample's values an event is made of. */
struct event {
	unsigned	 et_value;
	unsigned	 et_count;	/* how many samples; NO_COUNT */
	uint64_t	 et_samples;	/* that there would be */
	uint64_t	 et_weight;	/* of all of them */
	bool		 et_by_weight;	/* too many: one a stack */
	char		*et_name;
	char		*et_unit;
};

struct conversion {
	struct prof_import *cv_import;
	struct pprof_file cv_file;
	struct prof_places *cv_places;
	struct event	 cv_event[PPROF_TYPES];
	unsigned	 cv_nevents;
	struct prof_accounting cv_sum[PPROF_TYPES + 1];
	uint64_t	 cv_time_ns;
	uint64_t	 cv_deep;
	uint64_t	 cv_negative;
	uint64_t	 cv_kernel[MAX_FRAMES];
	uint64_t	 cv_user[MAX_FRAMES];
};

static int
no_memory(struct conversion *cv)
{
	return (prof_fail_nomem(&cv->cv_import->im_error));
}

static char *
text_copy(struct prof_places_text text)
{
	return (strndup(text.px_at, text.px_length < PROF_MAX_STRING ?
	    text.px_length : PROF_MAX_STRING));
}

/* -------------------------------------------------------------- names */

static struct prof_places_text
text_of(const struct conversion *cv, uint64_t number)
{
	const struct pprof_text text = prof_pprof_string(&cv->cv_file,
	    number);

	return ((struct prof_places_text){ text.pt_at, text.pt_length });
}

static struct prof_places_text
file_of(const struct conversion *cv, const struct pprof_mapping *mapping)
{
	return (text_of(cv, mapping == NULL ? UINT64_MAX : mapping->pm_file));
}

/* The kernel, or any file; UINT32_MAX with an error. */
static uint32_t
module_of(struct conversion *cv, uint64_t mapping_id)
{
	const struct pprof_mapping *mapping = prof_pprof_mapping(&cv->cv_file,
	    mapping_id);

	return (prof_places_module(cv->cv_places, file_of(cv, mapping),
	    text_of(cv, mapping == NULL ? UINT64_MAX :
	    mapping->pm_build_id)));
}

/* ------------------------------------------------------------- stacks */

static int
add_frame(struct conversion *cv, struct prof_record *record,
    uint32_t module, bool in_kernel, uint64_t function_id)
{
	const struct pprof_function *function = prof_pprof_function(
	    &cv->cv_file, function_id);
	const uint64_t place = prof_places_pc(cv->cv_places, module,
	    in_kernel, text_of(cv, function == NULL ? UINT64_MAX :
	    function->pn_name));

	if (place == 0)
		return (-1);
	if (record->pr_nkernel + record->pr_nuser == MAX_FRAMES) {
		record->pr_ustatus = PROF_STACK_DEEP;
		return (0);
	}
	if (in_kernel)
		cv->cv_kernel[record->pr_nkernel++] = place;
	else
		cv->cv_user[record->pr_nuser++] = place;
	return (0);
}

/*
 * How many locations, the innermost, are what the kernel did: its modules and
 * BPF programs have mappings of their own, and are called from it.
 */
static size_t
in_kernel_of(struct conversion *cv, const struct pprof_sample *sample)
{
	size_t n = sample->ps_nlocations < MAX_FRAMES ?
	    sample->ps_nlocations : MAX_FRAMES;
	const struct pprof_location *location;

	for (; n > 0; n--) {
		location = prof_pprof_location(&cv->cv_file,
		    sample->ps_location[n - 1]);
		if (location != NULL && prof_places_is_kernel(file_of(
		    cv, prof_pprof_mapping(&cv->cv_file,
		    location->pl_mapping))))
			break;
	}
	return (n);
}

/*
 * The frames of a sample, the innermost first; -1 with an error.  Locations
 * and their lines take a byte or two each, so behind the last frame that is
 * kept nothing is looked at.
 */
static int
make_stack(struct conversion *cv, const struct pprof_sample *sample,
    struct prof_record *record)
{
	const size_t nkernel = in_kernel_of(cv, sample);

	for (size_t i = 0; i < sample->ps_nlocations &&
	    record->pr_ustatus != PROF_STACK_DEEP; i++) {
		const struct pprof_location *location = prof_pprof_location(
		    &cv->cv_file, sample->ps_location[i]);
		struct pprof_text rest;
		uint64_t function;
		uint32_t module;
		bool in_kernel;
		int lines = 0;

		if (location == NULL)
			continue;
		module = module_of(cv, location->pl_mapping);
		if (module == UINT32_MAX)
			return (-1);
		in_kernel = i < nkernel || module == PROF_PLACES_KERNEL;
		for (rest = location->pl_message;
		    record->pr_ustatus != PROF_STACK_DEEP &&
		    prof_pprof_line(&rest, &function) == 1; lines++)
			if (add_frame(cv, record, module, in_kernel,
			    function) == -1)
				return (-1);
		if (lines == 0 && add_frame(cv, record, module, in_kernel,
		    0) == -1)
			return (-1);
	}
	cv->cv_deep += record->pr_ustatus == PROF_STACK_DEEP;
	record->pr_in_kernel = record->pr_nkernel > 0;
	record->pr_ip = record->pr_nkernel > 0 ? cv->cv_kernel[0] :
	    record->pr_nuser > 0 ? cv->cv_user[0] : 0;
	return (0);
}

/* How many samples a value is made of, and what each weighs. */
static uint64_t
samples_of(const struct event *event, const struct pprof_sample *sample)
{
	const int64_t value = event->et_value < sample->ps_nvalues ?
	    sample->ps_value[event->et_value] : 0;
	const int64_t count = event->et_count < sample->ps_nvalues ?
	    sample->ps_value[event->et_count] : 0;

	/* Fewer than none are a difference of two profiles. */
	if (value <= 0)
		return (0);
	return (count > 0 && count <= value ? (uint64_t)count : 1);
}

static int
add_event(struct conversion *cv, const struct pprof_sample *sample,
    unsigned e, struct prof_record *record)
{
	const struct event *event = &cv->cv_event[e];
	const uint64_t n = event->et_by_weight ? 1 :
	    samples_of(event, sample);
	const uint64_t whole = (uint64_t)sample->ps_value[event->et_value];
	struct prof_accounting *sum = &cv->cv_sum[e + 1];

	record->pr_event = e + 1;
	record->pr_weight = whole / n;
	if (whole % n > 0) {
		record->pr_weight += whole % n;
		if (prof_import_repeat(cv->cv_import, record, 1, sum,
		    &cv->cv_time_ns) == -1)
			return (-1);
		record->pr_weight = whole / n;
		return (prof_import_repeat(cv->cv_import, record, n - 1, sum,
		    &cv->cv_time_ns));
	}
	return (prof_import_repeat(cv->cv_import, record, n, sum,
	    &cv->cv_time_ns));
}

static int
add_sample(struct conversion *cv, const struct pprof_sample *sample)
{
	struct prof_record record = {
		.pr_type = PROF_R_SAMPLE, .pr_pid = PID, .pr_tid = PID,
		.pr_ustatus = PROF_STACK_OK, .pr_user = cv->cv_user,
		.pr_kernel = cv->cv_kernel, .pr_comm = "", .pr_path = "",
	};

	if (make_stack(cv, sample, &record) == -1)
		return (-1);
	for (unsigned e = 0; e < cv->cv_nevents; e++)
		if (samples_of(&cv->cv_event[e], sample) > 0 &&
		    add_event(cv, sample, e, &record) == -1)
			return (-1);
	return (0);
}

/* Only count what there will be; names and memories come out of it, too. */
static int
count_sample(struct conversion *cv, const struct pprof_sample *sample)
{
	struct prof_record record = { 0 };

	for (unsigned e = 0; e < cv->cv_nevents; e++) {
		struct event *event = &cv->cv_event[e];
		const int64_t value = event->et_value < sample->ps_nvalues ?
		    sample->ps_value[event->et_value] : 0;

		cv->cv_negative += value < 0;
		/* No more samples than weight. */
		event->et_samples += samples_of(event, sample);
		if (value > 0 && __builtin_add_overflow(event->et_weight,
		    (uint64_t)value, &event->et_weight))
			return (prof_fail(&cv->cv_import->im_error,
			    PROF_E_FORMAT, "the sum of the profile's values "
			    "exceeds 64 bits"));
	}
	return (make_stack(cv, sample, &record));
}

static int
each_sample(struct conversion *cv, int (*take)(struct conversion *,
    const struct pprof_sample *))
{
	struct pprof_text rest = cv->cv_file.pf_whole;
	struct pprof_sample sample = { 0 };
	int rv;

	while ((rv = prof_pprof_sample(&rest, &sample)) == 1)
		if (take(cv, &sample) == -1)
			break;
	free(sample.ps_location);
	if (rv == -1)
		return (no_memory(cv));
	return (rv == 0 ? 0 : -1);
}

/* ------------------------------------------------------------- events */

static bool
is_count(const struct conversion *cv, unsigned type)
{
	const struct pprof_text unit = prof_pprof_string(&cv->cv_file,
	    cv->cv_file.pf_type[type].py_unit);

	return (unit.pt_length == 5 && memcmp(unit.pt_at, "count", 5) == 0);
}

/* A count of samples goes with what follows: dtprof writes "samples". */
static bool
is_number_of(const struct conversion *cv, unsigned type)
{
	const struct pprof_text name = prof_pprof_string(&cv->cv_file,
	    cv->cv_file.pf_type[type].py_type);

	return (type + 1 < cv->cv_file.pf_ntypes && is_count(cv, type) &&
	    (!is_count(cv, type + 1) || prof_pprof_begins(name, "samples")));
}

static int
make_events(struct conversion *cv)
{
	for (unsigned t = 0; t < cv->cv_file.pf_ntypes; t++) {
		struct event *event = &cv->cv_event[cv->cv_nevents];
		const unsigned value = t + is_number_of(cv, t);
		const struct pprof_type *type = &cv->cv_file.pf_type[value];

		event->et_value = value;
		event->et_count = value != t || is_count(cv, t) ? t :
		    NO_COUNT;
		event->et_name = text_copy(text_of(cv, type->py_type));
		event->et_unit = text_copy(text_of(cv, type->py_unit));
		cv->cv_nevents++;
		if (event->et_name == NULL || event->et_unit == NULL)
			return (no_memory(cv));
		t = value;
	}
	return (0);
}

static int
say_events(struct conversion *cv)
{
	const struct prof_event_info proc = {
		.pi_name = "proc", .pi_probe = "proc:::", .pi_provider =
		"proc", .pi_unit = "events", .pi_period = 1,
	};
	int rv = prof_import_event(cv->cv_import, &proc);

	for (unsigned e = 0; e < cv->cv_nevents && rv == 0; e++) {
		struct event *event = &cv->cv_event[e];
		const bool is_ns = strcmp(event->et_unit, "nanoseconds") == 0;
		const struct prof_event_info info = {
			.pi_name = event->et_name[0] != '\0' ?
			    event->et_name : "samples",
			.pi_probe = "pprof:::", .pi_provider = "pprof",
			.pi_unit = is_ns ? "ns" : is_count(cv,
			    event->et_value) ? "events" : event->et_unit,
			.pi_period = 1,
			.pi_parts = DTP_P_USTACK | DTP_P_KSTACK | DTP_P_WEIGHT,
		};

		event->et_by_weight = event->et_samples > MAX_SAMPLES;
		rv = prof_import_event(cv->cv_import, &info);
		if (rv == 0 && event->et_by_weight)
			rv = prof_import_say(cv->cv_import, "%s: too many "
			    "samples: each stack becomes one sample, and the "
			    "weight of this sample is the sum of the values",
			    info.pi_name);
	}
	return (rv);
}

/* -------------------------------------------------------------- whole */

static int
recording_finish(struct conversion *cv)
{
	const struct prof_record stop = {
		.pr_type = PROF_R_STOP, .pr_comm = "", .pr_path = "",
		.pr_time_ns = cv->cv_time_ns + 1,
	};

	for (unsigned e = 0; e <= cv->cv_nevents; e++)
		cv->cv_sum[e].pa_stored = cv->cv_sum[e].pa_read =
		    cv->cv_sum[e].pa_fired;
	if (cv->cv_deep > 0 && prof_import_say(cv->cv_import, "%llu stacks are "
	    "deeper than %d frames: the outermost frames of these stacks are "
	    "dropped",
	    (unsigned long long)cv->cv_deep, MAX_FRAMES) == -1)
		return (-1);
	if (cv->cv_negative > 0 && prof_import_say(cv->cv_import, "%llu values "
	    "are negative (a difference of two profiles?) and were left out",
	    (unsigned long long)cv->cv_negative) == -1)
		return (-1);
	if (prof_places_say_tables(cv->cv_places) == -1)
		return (-1);
	return (prof_import_add(cv->cv_import, &stop) == -1 ? -1 :
	    prof_import_accounting(cv->cv_import, cv->cv_sum,
	    cv->cv_nevents + 1));
}

static int
profile_convert(struct conversion *cv, const uint8_t *bytes, size_t length)
{
	const struct prof_record start = { .pr_type = PROF_R_START,
	    .pr_time_ns = 2, .pr_comm = "", .pr_path = "" };
	struct prof_import *import = cv->cv_import;

	cv->cv_places = prof_places_new(import);
	if (cv->cv_places == NULL || prof_pprof_read(&cv->cv_file, bytes,
	    length, &import->im_error) == -1 || make_events(cv) == -1 ||
	    prof_import_info(import, "import", "pprof") == -1 ||
	    prof_import_info(import, "path", "pprof") == -1 ||
	    each_sample(cv, count_sample) == -1)
		return (-1);
	cv->cv_deep = 0;
	cv->cv_time_ns = 2;
	if (say_events(cv) == -1 || prof_places_say_memory(cv->cv_places,
	    PID, 1) == -1 || prof_import_add(import, &start) == -1 ||
	    each_sample(cv, add_sample) == -1)
		return (-1);
	return (recording_finish(cv));
}

static void
conversion_free(struct conversion *cv)
{
	for (unsigned e = 0; e < cv->cv_nevents; e++) {
		free(cv->cv_event[e].et_name);
		free(cv->cv_event[e].et_unit);
	}
	prof_places_free(cv->cv_places);
	prof_pprof_fini(&cv->cv_file);
	free(cv);
}

int
prof_import_pprof(struct prof_import *import)
{
	struct conversion *cv = calloc(1, sizeof(*cv));
	struct prof_buf plain = { 0 };
	int rv = 0;

	if (cv == NULL)
		return (prof_fail_nomem(&import->im_error));
	cv->cv_import = import;
	if (import->im_length > 2 && import->im_bytes[0] == 0x1f &&
	    import->im_bytes[1] == 0x8b)
		rv = prof_pprof_inflate(import, &plain);
	if (rv == 0)
		rv = plain.bf_data != NULL ?
		    profile_convert(cv, plain.bf_data, plain.bf_len) :
		    profile_convert(cv, import->im_bytes, import->im_length);
	conversion_free(cv);
	prof_buf_free(&plain);
	return (rv);
}

/* In gzip; or its first field is a type of value, as pprof writes it. */
bool
prof_import_is_pprof(const uint8_t *bytes, size_t length)
{
	return (length > 2 && ((bytes[0] == 0x1f && bytes[1] == 0x8b) ||
	    (bytes[0] == 0x0a && bytes[1] < 32 && bytes[2] == 0x08)));
}
