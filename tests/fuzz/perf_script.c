/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever text of perf script there is, samples come in order of
 * time, each of an event that was announced, with frames below the most that a
 * stack has, and their number and weight are those of the accounting.
 */
#include "import.h"

#define MAX_FRAMES	8192
#define MAX_EVENTS	2048

struct seen {
	uint64_t	 sn_events;	/* with the lives of processes */
	uint64_t	 sn_time_ns;
	uint64_t	 sn_samples[MAX_EVENTS];
	uint64_t	 sn_weight[MAX_EVENTS];
};

static int
take_event(void *arg, const struct prof_event_info *info)
{
	struct seen *seen = arg;

	if (info->pi_probe[0] == '\0' || ++seen->sn_events > MAX_EVENTS)
		abort();
	return (0);
}

static int
take_record(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;

	if (record->pr_time_ns < seen->sn_time_ns)
		abort();
	seen->sn_time_ns = record->pr_time_ns;
	if (record->pr_type != PROF_R_SAMPLE)
		return (0);
	if (record->pr_event == 0 || record->pr_event >= seen->sn_events ||
	    record->pr_nkernel + record->pr_nuser > MAX_FRAMES)
		abort();
	seen->sn_samples[record->pr_event]++;
	seen->sn_weight[record->pr_event] += record->pr_weight;
	return (0);
}

static int
take_accounting(void *arg, const struct prof_accounting *sums, size_t n)
{
	const struct seen *seen = arg;

	if (n != seen->sn_events)
		abort();
	for (size_t e = 1; e < n; e++)
		if (sums[e].pa_stored != seen->sn_samples[e] ||
		    sums[e].pa_weight != seen->sn_weight[e] ||
		    sums[e].pa_fired != sums[e].pa_stored + sums[e].pa_full)
			abort();
	return (0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct seen seen;
	struct prof_import import = {
		.im_bytes = data,
		.im_length = size,
		.im_sink = { .sk_arg = &seen, .sk_info = check_info,
		    .sk_event = take_event, PROF_SINK_RECORDS(take_record),
		    .sk_symbols = check_symbols, .sk_end = take_accounting },
	};

	memset(&seen, 0, sizeof(seen));
	(void)prof_import_is_perf_script(data, size);
	if (prof_import_perf_script(&import) == -1 &&
	    import.im_error.pe_text[0] == '\0')
		abort();
	forget_notes(&import);
	return (0);
}
