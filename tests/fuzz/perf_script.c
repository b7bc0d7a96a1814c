/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever text of perf script there is, samples come in order of
 * time, each of an event that was announced, with frames below the most that a
 * stack has, and their number and weight are those of the accounting.
 */
#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "recording/table.h"

#define MAX_FRAMES	8192

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define MAX_EVENTS	2048

struct seen {
	uint64_t	 sn_events;	/* with the lives of processes */
	uint64_t	 sn_time_ns;
	uint64_t	 sn_samples[MAX_EVENTS];
	uint64_t	 sn_weight[MAX_EVENTS];
};

static int
take_info(void *arg, const char *key, const char *value)
{
	(void)arg;
	return (key[0] == '\0' || value == NULL ? -1 : 0);
}

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
take_symbols(void *arg, const void *body, size_t len)
{
	struct prof_cur cur = prof_cur_of(body, len);
	struct prof_table_function function;
	struct prof_table table;

	(void)arg;
	if (prof_table_unpack(&cur, &table) != 1)
		abort();
	while (prof_table_unpack_function(&cur, &table, &function) == 1)
		if (function.tf_name[0] == '\0' || function.tf_size == 0)
			abort();
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
		.im_sink = { take_info, take_event, take_record, NULL,
		    take_symbols, take_accounting, &seen },
	};

	memset(&seen, 0, sizeof(seen));
	(void)prof_import_is_perf_script(data, size);
	if (prof_import_perf_script(&import) == -1 &&
	    import.im_error.pe_text[0] == '\0')
		abort();
	while (import.im_nnotes > 0)
		free(import.im_notes[--import.im_nnotes]);
	free(import.im_notes);
	return (0);
}
