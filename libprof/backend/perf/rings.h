/* SPDX-License-Identifier: ISC */
/* Perf rings: the sideband, and samples where BPF may not be used. */
#ifndef PROF_RINGS_H
#define PROF_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"
#include "events/event.h"
#include "prof.h"

/*
 * The perf rings of a session: the sideband (mappings with build-ids, ksymbols,
 * throttling) for each back end, and the samples themselves where BPF may not
 * be used.  One ring per CPU, shared by all events on it.
 */
struct prof_rings;
#define PROF_RING_BYTES	524288	/* of a CPU, when nothing else is asked for */
struct prof_rings_options {
	const int	*ro_cpus;
	size_t		 ro_ncpus;
	/*
	 * NULL: all processes.  With ro_inherit a pid stands for all its
	 * threads and descendants; without, for that one thread, or with
	 * ro_threads for those that the process has.  Both: for its threads,
	 * and what they start from now on.
	 */
	const int	*ro_pids;
	size_t		 ro_npids;
	bool		 ro_inherit;
	bool		 ro_threads;
	bool		 ro_has_cgroup;	/* instead of pids; sideband alone */
	int		 ro_cgroup;	/* directory's descriptor */
	size_t		 ro_max_fds;	/* 0: any number; more: PROF_E_LIMIT */
	/* What has come is looked at now and then: no record wakes anybody. */
	bool		 ro_quiet;
	bool		 ro_enable_on_exec;
	/*
	 * The events sample into the rings, and fork, exec, comm and exit come
	 * from here as well (exec path "", exit code -1: not known).  Events
	 * without a period are passed over.
	 */
	bool		 ro_samples;
	bool		 ro_callchain;
	/*
	 * Instead of the callchain: a copy of so many bytes of stack in each
	 * sample, walked here.  Records must be shown to the snapshots first.
	 */
	uint32_t	 ro_stack_bytes;
	struct prof_snapshots *ro_snapshots;
	/* Before a stack is walked, with the drain's argument; or NULL. */
	prof_record_fn	*ro_before;
	const struct prof_pmu_kinds *ro_kinds;	/* of CPUs; for samples */
	struct prof_event *const *ro_events;
	size_t		 ro_nevents;
	size_t		 ro_ring_bytes;	/* per CPU; 0: default */
};
/* The sideband runs at once. */
struct prof_rings *prof_rings_open(const struct prof_rings_options *options,
	    struct prof_err *error);
/* Switch the sampling events; of a command, exec switches them on. */
int	prof_rings_enable(struct prof_rings *rings);
int	prof_rings_disable(struct prof_rings *rings);
/*
 * See what has come; time of the oldest that waits, or UINT64_MAX.  Others have
 * handed over records up to handed_ns: what is older has that time.
 */
void	prof_rings_look(struct prof_rings *rings, uint64_t handed_ns);
uint64_t prof_rings_next(const struct prof_rings *rings);
/*
 * Hand over what was seen, in order of time, up to until_ns; what the kernel
 * publishes late comes with the next look.  Returns what fn returned, or 0.
 */
int	prof_rings_drain(struct prof_rings *rings, uint64_t until_ns,
	    prof_record_fn *fn, void *arg);
/*
 * For an event of waits: at this time recording goes on, if it was paused, or
 * else pauses.  The caller switches the events.  -1: no memory.
 */
int	prof_rings_turn(struct prof_rings *rings, uint64_t ns);
/* Each record that is taken, in order of time. */
void	prof_rings_observe(const struct prof_rings *rings,
	    const struct prof_record *record);
/* What waits add up to, and of which event; NULL: of none. */
const struct dtp_wait_counts *prof_rings_waits(const struct prof_rings *rings,
	    const struct prof_event **of);
/* Descriptors to poll. */
size_t	prof_rings_fds(const struct prof_rings *rings, const int **fds);
/*
 * By ev_id, summed over CPUs; see backend/perf/account.c for what it can know.
 */
int	prof_rings_accounting(struct prof_rings *rings, size_t event,
	    struct prof_accounting *accounting, struct prof_err *error);
/* Samples that found a ring full. */
uint64_t prof_rings_lost(const struct prof_rings *rings);
/*
 * Records of the sideband: those that were handed over, and those that found
 * a ring full (until the last look, as far as LOST records told).
 */
bool	prof_rings_was_full(struct prof_rings *rings);	/* nearly */
uint64_t prof_rings_side_read(const struct prof_rings *rings);
uint64_t prof_rings_side_lost(const struct prof_rings *rings, bool is_last);
/* Of those lost, LOST records have told so far. */
uint64_t prof_rings_side_said(const struct prof_rings *rings);
/* Execs of programs whose events the kernel has closed in the exec. */
uint64_t prof_rings_taken_away(const struct prof_rings *rings);
const char *prof_rings_note(const struct prof_rings *rings, size_t n);
void	prof_rings_close(struct prof_rings *rings);

#endif /* PROF_RINGS_H */
