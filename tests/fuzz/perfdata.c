/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: no bytes whatever make the reader of perf.data read outside of
 * them, loop, or hand out a record that is not whole; samples come in order
 * of time, and what is stored and lost adds up to what fired.
 *
 * Stacks that were copied are walked too, so paths of the input are opened.
 */
#include "import.h"

struct seen {
	size_t		 sn_nevents;
	uint64_t	 sn_samples;
	uint64_t	 sn_last_ns;
	uint64_t	 sn_sum;	/* of every byte that is pointed at */
};

static int
take_info(void *arg, const char *key, const char *value)
{
	struct seen *seen = arg;

	seen->sn_sum += strlen(key) + strlen(value);
	return (0);
}

static int
take_event(void *arg, const struct prof_event_info *info)
{
	struct seen *seen = arg;

	seen->sn_sum += strlen(info->pi_name) + strlen(info->pi_probe) +
	    strlen(info->pi_provider) + strlen(info->pi_unit);
	seen->sn_nevents++;
	return (0);
}

static int
take_record(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;
	uint32_t n;

	seen->sn_sum += strlen(record->pr_comm) + strlen(record->pr_path);
	for (n = 0; n < record->pr_nkernel; n++)
		seen->sn_sum += record->pr_kernel[n];
	for (n = 0; n < record->pr_nuser; n++)
		seen->sn_sum += record->pr_user[n];
	if (record->pr_build_id_len > sizeof(record->pr_build_id) ||
	    record->pr_kstatus >= PROF_STACK_NSTATUS ||
	    record->pr_ustatus >= PROF_STACK_NSTATUS ||
	    record->pr_event >= seen->sn_nevents)
		abort();
	if (record->pr_type != PROF_R_SAMPLE)
		return (0);
	if (record->pr_time_ns < seen->sn_last_ns || record->pr_event == 0)
		abort();
	seen->sn_last_ns = record->pr_time_ns;
	seen->sn_samples++;
	return (0);
}

static int
take_accounting(void *arg, const struct prof_accounting *sums, size_t n)
{
	const struct seen *seen = arg;
	uint64_t stored = 0;
	size_t e;

	for (e = 0; e < n; e++) {
		stored += sums[e].pa_stored;
		if (sums[e].pa_fired != sums[e].pa_stored + sums[e].pa_full)
			abort();
	}
	if (n != seen->sn_nevents || stored != seen->sn_samples)
		abort();
	return (0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = { 0 };
	struct prof_import import = {
		.im_bytes = data,
		.im_length = size,
		.im_sink = { .sk_arg = &seen, .sk_info = take_info,
		    .sk_event = take_event, PROF_SINK_RECORDS(take_record),
		    .sk_symbols = NULL, .sk_end = take_accounting },
	};

	if (prof_import_perf(&import) == -1 &&
	    (import.im_error.pe_code == PROF_OK ||
	    import.im_error.pe_text[0] == '\0'))
		abort();
	if (import.im_samples != seen.sn_samples ||
	    seen.sn_sum == 0x5eed5eed5eed5eed)
		abort();
	forget_notes(&import);
	return (0);
}
