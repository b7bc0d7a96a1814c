/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever lines of folded stacks there are, every frame of every
 * sample lies where the tables say that a name is, and all counts together
 * are the weight of the samples.
 */
#include "import.h"

#define ENOUGH		10000
#define MAX_NAMES	(1u << 16)

struct seen {
	uint64_t	 sn_place[MAX_NAMES];	/* where names begin */
	size_t		 sn_nplaces;
	uint64_t	 sn_low;	/* of the frames of all samples */
	uint64_t	 sn_high;
	uint64_t	 sn_samples;
	uint64_t	 sn_weight;
};

static int
take_event(void *arg, const struct prof_event_info *info)
{
	(void)arg;
	return (info->pi_name[0] == '\0' ? -1 : 0);
}

static int
take_record(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;
	uint32_t n;

	if (record->pr_type != PROF_R_SAMPLE)
		return (0);
	/* A count is as many samples; that takes time and finds nothing. */
	if (seen->sn_samples == ENOUGH)
		return (-1);
	if (record->pr_nuser == 0 || record->pr_weight == 0)
		abort();
	for (n = 0; n < record->pr_nuser; n++) {
		if (record->pr_user[n] < seen->sn_low)
			seen->sn_low = record->pr_user[n];
		if (record->pr_user[n] > seen->sn_high)
			seen->sn_high = record->pr_user[n];
	}
	seen->sn_samples++;
	seen->sn_weight += record->pr_weight;
	return (0);
}

static int
take_symbols(void *arg, const void *body, size_t len)
{
	struct prof_cur cur = prof_cur_of(body, len);
	struct prof_table_function function;
	struct seen *seen = arg;
	struct prof_table table;

	if (prof_table_unpack(&cur, &table) != 1)
		abort();
	while (prof_table_unpack_function(&cur, &table, &function) == 1) {
		if (function.tf_name[0] == '\0' || function.tf_size == 0)
			abort();
		if (seen->sn_nplaces < MAX_NAMES)
			seen->sn_place[seen->sn_nplaces++] =
			    function.tf_address;
	}
	return (0);
}

static int
take_accounting(void *arg, const struct prof_accounting *sums, size_t n)
{
	const struct seen *seen = arg;

	/* Of a line with two counts each is an event. */
	if (n != 2 && n != 3)
		abort();
	if (sums[1].pa_stored + (n == 3 ? sums[2].pa_stored : 0) !=
	    seen->sn_samples || sums[1].pa_weight +
	    (n == 3 ? sums[2].pa_weight : 0) != seen->sn_weight)
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
		    .sk_symbols = take_symbols, .sk_end = take_accounting },
	};
	size_t last;

	memset(&seen, 0, sizeof(seen));
	seen.sn_low = UINT64_MAX;
	if (prof_import_folded(&import) == 0) {
		last = seen.sn_nplaces - 1;
		if (seen.sn_nplaces == 0 || (seen.sn_nplaces < MAX_NAMES &&
		    (seen.sn_low < seen.sn_place[0] ||
		    seen.sn_high > seen.sn_place[last] + 16)))
			abort();
	} else if (import.im_error.pe_text[0] == '\0' &&
	    seen.sn_samples < ENOUGH)
		abort();
	forget_notes(&import);
	return (0);
}
