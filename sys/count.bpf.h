/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Counting.  Every way out of a program passes here with its reason, so
 * that after stop, per CPU and event, exactly
 *
 *	fired = stored + full + nested + filtered + error
 *
 * Used by everything in sys/; the session reads the counters through mmap.
 */
#ifndef COUNT_BPF_H
#define COUNT_BPF_H

#include "maps.bpf.h"

/* The counters of this event on a CPU; NULL never happens on a set-up map. */
DTP_INLINE struct dtp_counts *
dtp_counts_of(__u32 cpu)
{
	__u32 at = cpu * cfg.dc_nevents + cfg.dc_event;

	return (bpf_map_lookup_elem(&counts, &at));
}

/*
 * What a build with a planted fault (make FAULT=) sometimes does not count; one
 * more is in sample.bpf.h.
 */
#ifndef DTP_FORGETS_fired
#define DTP_FORGETS_fired	0
#endif
#ifndef DTP_FORGETS_stored
#define DTP_FORGETS_stored	0
#endif
#ifndef DTP_FORGETS_reason
#define DTP_FORGETS_reason	0
#endif

/* The end of a program that stores nothing: say why. */
DTP_INLINE int
dtp_count(__u64 *reason)
{
	if (!DTP_FORGETS_reason)
		DTP_ADD(reason, 1);
	return (0);
}

#endif /* COUNT_BPF_H */
