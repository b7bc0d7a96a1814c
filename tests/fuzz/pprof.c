/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever the bytes of a profile of pprof, every frame of every
 * sample lies in a memory that was announced, every table can be read, and
 * the samples of all events are those of the accounting.
 */
#include "image/images.h"
#include "import.h"

#define MAX_MEMORIES	4096
#define MAX_EVENTS	64
#define ENOUGH		10000
#define KERNEL		0xffffffff80000000ULL

struct seen {
	struct {
		uint64_t	from, to;
	} sn_memory[MAX_MEMORIES];
	size_t		 sn_nmemories;
	size_t		 sn_nevents;
	uint64_t	 sn_all;
	uint64_t	 sn_samples[MAX_EVENTS];
	uint64_t	 sn_weight[MAX_EVENTS];
};

static int
take_event(void *arg, const struct prof_event_info *info)
{
	struct seen *seen = arg;

	if (info->pi_name[0] == '\0' || seen->sn_nevents == MAX_EVENTS)
		abort();
	seen->sn_nevents++;
	return (0);
}

static void
look_up(const struct seen *seen, uint64_t pc)
{
	for (size_t m = 0; m < seen->sn_nmemories; m++)
		if (pc >= seen->sn_memory[m].from &&
		    pc < seen->sn_memory[m].to)
			return;
	abort();
}

static int
take_record(void *arg, const struct prof_record *record)
{
	struct seen *seen = arg;

	/* What belongs to no process is the kernel's: a module by any name. */
	if (record->pr_type == PROF_R_MMAP && record->pr_pid == UINT32_MAX) {
		if (record->pr_addr < KERNEL)
			abort();
	} else if (record->pr_type == PROF_R_MMAP) {
		if (seen->sn_nmemories == MAX_MEMORIES ||
		    (record->pr_path[0] != '/' &&
		    !prof_path_has_names(record->pr_path)))
			abort();
		seen->sn_memory[seen->sn_nmemories].from = record->pr_addr;
		seen->sn_memory[seen->sn_nmemories++].to = record->pr_addr +
		    record->pr_len;
	}
	if (record->pr_type != PROF_R_SAMPLE)
		return (0);
	/* A count is as many samples; that takes time and finds nothing. */
	if (seen->sn_all++ == ENOUGH)
		return (-1);
	if (record->pr_weight == 0 || record->pr_event == 0 ||
	    record->pr_event >= seen->sn_nevents)
		abort();
	for (uint32_t n = 0; n < record->pr_nuser; n++)
		if (record->pr_user[n] < KERNEL)
			look_up(seen, record->pr_user[n]);
	for (uint32_t n = 0; n < record->pr_nkernel; n++)
		if (record->pr_kernel[n] < KERNEL)
			abort();
	seen->sn_samples[record->pr_event]++;
	seen->sn_weight[record->pr_event] += record->pr_weight;
	return (0);
}

static int
take_accounting(void *arg, const struct prof_accounting *sums, size_t n)
{
	const struct seen *seen = arg;

	if (n != seen->sn_nevents)
		abort();
	for (size_t e = 1; e < n; e++)
		if (sums[e].pa_stored != seen->sn_samples[e] ||
		    sums[e].pa_weight != seen->sn_weight[e])
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
	if (prof_import_pprof(&import) == -1 &&
	    import.im_error.pe_text[0] == '\0' && seen.sn_all <= ENOUGH)
		abort();
	forget_notes(&import);
	return (0);
}
