/* SPDX-License-Identifier: ISC */
/*
 * Opens the perf events behind the rings: the sideband (a dummy event that
 * counts nothing, but brings mappings and process events) and, where BPF may
 * not be used, the sampling events.  All of a CPU write into one ring.
 *
 * Called by rings.c and tasks.c.  The sideband runs from here
 * on; sampling events wait for prof_rings_enable, or for exec.
 */
#include <sys/ioctl.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/permission.h"
#include "os/pmu_kinds.h"
#include "rings_impl.h"

static void	attr_common(const struct prof_rings *,
		    struct perf_event_attr *);
static void	attr_side_band(const struct prof_rings *,
		    struct perf_event_attr *);
static void	attr_samples(const struct prof_rings *,
		    const struct ring_event *, struct perf_event_attr *);
static int	open_older(struct prof_rings *, struct perf_event_attr *, int,
		    int, unsigned long);
static int	add_fd(struct prof_rings *, int, uint32_t, uint32_t,
		    struct prof_err *);
static int	open_sharing(struct prof_rings *, struct perf_event_attr *,
		    uint32_t, uint32_t, const struct ring *,
		    struct prof_err *);

/* One clock for rings and BPF: bpf_ktime_get_ns is CLOCK_MONOTONIC too. */
static void
attr_common(const struct prof_rings *rings, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->sample_type = RING_TRAILER;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
	    PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
	    (rings->rs_has_lost ? PERF_FORMAT_LOST : 0);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->inherit = rings->rs_inherit && !rings->rs_all &&
	    !rings->rs_has_cgroup;
}

/*
 * Counts nothing, but brings records.  An ordinary user may open it only with
 * exclude_kernel.
 */
static void
attr_dummy(const struct prof_rings *rings, struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr_common(rings, attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

/* With BPF, the stream has the process events, so they are left out here. */
static void
attr_side_band(const struct prof_rings *rings,
    struct perf_event_attr *attr)
{
	attr_dummy(rings, attr);
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->build_id = rings->rs_has_build_id;
	attr->task = rings->rs_samples;
	attr->comm = rings->rs_samples;
	attr->comm_exec = rings->rs_samples;
	attr->ksymbol = rings->rs_all;
	/*
	 * A mapping is wanted at once: walks through it wait for it, and its
	 * file may soon be gone.  By bytes, since wakeup_events counts
	 * samples alone.  Else the kernel wakes us when a ring is half full.
	 */
	attr->watermark = !rings->rs_samples && !rings->rs_quiet;
	attr->wakeup_watermark = attr->watermark ? 1 : 0;
}

static void
attr_switches(const struct prof_rings *rings, struct perf_event_attr *attr)
{
	attr_dummy(rings, attr);
	attr->context_switch = 1;
	attr->disabled = 1;
	attr->enable_on_exec = rings->rs_enable_on_exec;
}

/*
 * PERF_SAMPLE_PERIOD only by frequency: with a fixed period a software event
 * that is asked for it fires at every occurrence, whatever its period.
 */
static void
attr_samples(const struct prof_rings *rings, const struct ring_event *event,
    struct perf_event_attr *attr)
{
	if (event->re_is_of_switches) {
		attr_switches(rings, attr);
		return;
	}
	*attr = event->re_event->ev_attr;
	attr_common(rings, attr);
	attr->sample_type |= PERF_SAMPLE_IP;
	if (attr->freq)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (rings->rs_callchain)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (rings->rs_stack_bytes != 0) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER |
		    PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = prof_ring_registers();
		attr->sample_stack_user = rings->rs_stack_bytes;
	}
	attr->disabled = 1;
	attr->enable_on_exec = rings->rs_enable_on_exec;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->exclude_callchain_kernel = rings->rs_callchain;
}

/* EINVAL can mean that the kernel is older than what we would like. */
static int
open_older(struct prof_rings *rings, struct perf_event_attr *attr, int pid,
    int cpu, unsigned long flags)
{
	int fd;

	fd = prof_perf_open(attr, pid, cpu, -1, flags);
	if (fd == -1 && errno == EINVAL && rings->rs_nfds == 0 &&
	    rings->rs_has_lost) {
		rings->rs_has_lost = false;
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
		fd = prof_perf_open(attr, pid, cpu, -1, flags);
	}
	if (fd == -1 && errno == EINVAL && attr->build_id) {
		rings->rs_has_build_id = false;
		attr->build_id = 0;
		fd = prof_perf_open(attr, pid, cpu, -1, flags);
	}
	return (fd);
}

/* Takes the descriptor over, also when it fails. */
static int
add_fd(struct prof_rings *rings, int fd, uint32_t event, uint32_t task,
    struct prof_err *error)
{
	struct ring_fd *grown;
	uint64_t id;
	size_t cap;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) == -1) {
		close(fd);
		return (prof_fail(error, PROF_E_KERNEL,
		    "cannot read the id of a perf event: %s",
		    strerror(errno)));
	}
	if (rings->rs_nfds == rings->rs_fds_cap) {
		cap = rings->rs_fds_cap == 0 ? 64 : rings->rs_fds_cap * 2;
		grown = reallocarray(rings->rs_fd, cap, sizeof(*grown));
		if (grown == NULL) {
			close(fd);
			return (prof_fail_nomem(error));
		}
		rings->rs_fd = grown;
		rings->rs_fds_cap = cap;
	}
	rings->rs_fd[rings->rs_nfds++] = (struct ring_fd){ .rf_fd = fd,
	    .rf_event = event, .rf_task = task, .rf_id = id };
	return (0);
}

/* 1: there is one, 0: that CPU has gone. */
static int
open_owner(struct prof_rings *rings, struct ring *ring, int cpu, int pid,
    struct perf_event_attr *attr, struct prof_err *error)
{
	ring->rg_cpu = cpu;
	ring->rg_fd = open_older(rings, attr, pid, cpu, PERF_FLAG_FD_CLOEXEC);
	if (ring->rg_fd == -1) {
		if (errno != ENODEV)
			return (prof_perf_explain(error, NULL, errno, pid,
			    cpu));
		prof_rings_say(rings, "CPU %d is offline and not recorded",
		    cpu);
		return (0);
	}
	return (add_fd(rings, ring->rg_fd, RING_SIDE_BAND, RING_NO_TASK,
	    error) == -1 ? -1 : 1);
}

static void
attr_silence(struct perf_event_attr *attr)
{
	attr->mmap = attr->mmap2 = attr->build_id = attr->ksymbol = 0;
	attr->task = attr->comm = attr->comm_exec = 0;
	attr->inherit = 0;
}

/*
 * The event that owns a CPU's ring.  For all processes it is the sideband
 * itself; for tasks it is an idle one of our own, so that the ring outlives
 * each of them.
 */
int
prof_ring_open(struct prof_rings *rings, struct ring *ring, int cpu,
    struct prof_err *error)
{
	struct perf_event_attr attr;

	attr_side_band(rings, &attr);
	if (!rings->rs_all) {
		attr_silence(&attr);
		attr.disabled = 1;
	}
	return (open_owner(rings, ring, cpu, rings->rs_all ? -1 : 0, &attr,
	    error));
}

/*
 * A ring for code that the kernel makes, which belongs to no task.  Nobody
 * waits for it, so nobody is woken.
 */
int
prof_ring_open_code(struct prof_rings *rings, struct ring *ring, int cpu,
    struct prof_err *error)
{
	struct perf_event_attr attr;

	attr_side_band(rings, &attr);
	attr_silence(&attr);
	attr.ksymbol = 1;
	attr.watermark = 0;
	attr.wakeup_watermark = 0;
	return (open_owner(rings, ring, cpu, -1, &attr, error));
}

static int
open_sharing(struct prof_rings *rings, struct perf_event_attr *attr,
    uint32_t event, uint32_t task, const struct ring *ring,
    struct prof_err *error)
{
	int fd, tid = rings->rs_task[task].rt_tid;

	if (rings->rs_max_fds != 0 && rings->rs_nfds >= rings->rs_max_fds)
		return (prof_fail(error, PROF_E_LIMIT,
		    "too many perf events (at most %zu)", rings->rs_max_fds));
	fd = open_older(rings, attr, tid, ring->rg_cpu,
	    PERF_FLAG_FD_CLOEXEC | (rings->rs_has_cgroup ?
	    PERF_FLAG_PID_CGROUP : 0));
	if (fd == -1)
		return (prof_perf_explain(error, event == RING_SIDE_BAND ?
		    NULL : rings->rs_event[event].re_event, errno, tid,
		    ring->rg_cpu));
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->rg_fd) == -1) {
		close(fd);
		return (prof_fail(error, PROF_E_KERNEL,
		    "the events of CPU %d cannot share a ring: %s",
		    ring->rg_cpu, strerror(errno)));
	}
	if (event != RING_SIDE_BAND)
		rings->rs_event[event].re_nfds++;
	return (add_fd(rings, fd, event, task, error));
}

static bool
is_meant(const struct prof_rings *rings, const struct prof_event *event,
    const struct ring *ring)
{
	return ((event->ev_cpu == -1 || event->ev_cpu == ring->rg_cpu) &&
	    prof_pmu_counts_on(rings->rs_kinds, &event->ev_attr,
	    ring->rg_cpu));
}

int
prof_rings_open_task(struct prof_rings *rings, uint32_t task, bool side_band,
    struct prof_err *error)
{
	struct perf_event_attr attr;
	uint32_t e, r;

	/* First of all, so that it sees who is started from here on. */
	attr_side_band(rings, &attr);
	for (r = 0; side_band && r < rings->rs_nshared; r++)
		if (open_sharing(rings, &attr, RING_SIDE_BAND, task,
		    &rings->rs_ring[r], error) == -1)
			return (-1);
	for (e = 0; e < rings->rs_nevents; e++) {
		rings->rs_event[e].re_nplaces = 0;
		for (r = 0; r < rings->rs_nshared; r++) {
			const struct ring *ring = &rings->rs_ring[r];

			if (!is_meant(rings, rings->rs_event[e].re_event,
			    ring))
				continue;
			attr_samples(rings, &rings->rs_event[e], &attr);
			prof_pmu_choose(rings->rs_kinds, &attr, ring->rg_cpu);
			if (open_sharing(rings, &attr, e, task, ring,
			    error) == -1)
				return (-1);
			rings->rs_event[e].re_nplaces++;
		}
	}
	return (0);
}
