/* SPDX-License-Identifier: ISC */
/*
 * The descriptors of a counting session: each event once for each target.
 * In a group the first event leads: it alone is switched, and the others
 * count when it does.  Everything is opened disabled; what a target starts
 * inherits it so, and is switched with it.  A command's events are switched
 * on by the kernel in its exec, so that exactly the command is counted.
 *
 * Called by counters.c while arming and at start and stop.
 */
#include <sys/ioctl.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters_impl.h"
#include "os/permission.h"
#include "os/pmu_kinds.h"

/* What an event of a PMU asks for so that user space may read its counter. */
#ifdef __aarch64__
#define READS_DIRECTLY	2
#else
#define READS_DIRECTLY	0
#endif

static int	open_one(struct prof_counting *, size_t, size_t);
static int	refusal_explain(struct prof_counting *, size_t, size_t, int);
static size_t	leader_of(const struct prof_counting *, size_t);

struct counting_fd *
prof_counting_fd(const struct prof_counting *counting, size_t target,
    size_t event)
{
	return (&counting->kg_fd[target * counting->kg_nevents + event]);
}

/* The first of its group; itself when it is in none. */
static size_t
leader_of(const struct prof_counting *counting, size_t event)
{
	const int group = counting->kg_event[event].ke_info.ce_group;

	if (group != COUNTING_NO_GROUP)
		while (event > 0 &&
		    counting->kg_event[event - 1].ke_info.ce_group == group)
			event--;
	return (event);
}

static bool
is_meant(const struct prof_pmu_kinds *kinds,
    const struct counting_event *event, int cpu)
{
	if (cpu != -1 && !prof_pmu_counts_on(kinds, &event->ke_attr, cpu))
		return (false);
	if (event->ke_cpus == NULL)
		return (true);
	for (size_t n = 0; n < event->ke_ncpus; n++)
		if (event->ke_cpus[n] == cpu)
			return (true);
	return (false);
}

static void
fill_attr(const struct prof_counting *counting, size_t event,
    struct perf_event_attr *attr)
{
	const struct prof_options *po = &counting->kg_options;
	const bool leads = leader_of(counting, event) == event;

	*attr = counting->kg_event[event].ke_attr;
	attr->disabled = leads;
	if (counting->kg_is_direct &&
	    counting->kg_event[event].ke_info.ce_is_hardware)
		attr->config1 |= READS_DIRECTLY;
	if (counting->kg_target[0].kt_cpu != -1)
		return;
	attr->enable_on_exec = leads && po->po_target == PROF_TARGET_COMMAND;
	attr->inherit = !po->po_no_inherit &&
	    po->po_target != PROF_TARGET_TIDS;
}

/* 0: opened, or there is nobody any more to count; -1: failed. */
static int
open_one(struct prof_counting *counting, size_t target, size_t event)
{
	const struct counting_target *kt = &counting->kg_target[target];
	const struct counting_event *ke = &counting->kg_event[event];
	struct counting_fd *kf = prof_counting_fd(counting, target, event);
	const struct prof_pmu_kinds *kinds =
	    prof_names_kinds(counting->kg_names);
	const size_t leader = leader_of(counting, event);
	struct perf_event_attr attr;
	int group = -1;

	if (!is_meant(kinds, ke, kt->kt_cpu))
		return (0);
	fill_attr(counting, event, &attr);
	prof_pmu_choose(kinds, &attr, kt->kt_cpu);
	if (leader != event) {
		group = prof_counting_fd(counting, target, leader)->kf_fd;
		if (group == -1)
			return (0);
	}
	kf->kf_fd = prof_perf_open(&attr, kt->kt_pid, kt->kt_cpu, group,
	    PERF_FLAG_FD_CLOEXEC | (counting->kg_cgroup != -1 ?
	    PERF_FLAG_PID_CGROUP : 0));
	if (kf->kf_fd == -1)
		return (refusal_explain(counting, target, event, errno));
	if (ke->ke_filter != NULL && ioctl(kf->kf_fd,
	    PERF_EVENT_IOC_SET_FILTER, ke->ke_filter) == -1)
		return (prof_fail(&counting->kg_error, PROF_E_KERNEL,
		    "%s: the kernel rejected the filter for system calls of "
		    "this event: %s", ke->ke_info.ce_name, strerror(errno)));
	return (0);
}

static int
refusal_explain(struct prof_counting *counting, size_t target, size_t event,
    int number)
{
	const struct prof_options *po = &counting->kg_options;
	const struct counting_target *kt = &counting->kg_target[target];
	const size_t leader = leader_of(counting, event);
	bool named = po->po_target != PROF_TARGET_PIDS;

	for (size_t n = 0; n < po->po_nids; n++)
		named |= po->po_ids[n] == kt->kt_pid;
	/* It was there when /proc was read. */
	if (number == ESRCH && !named)
		return (0);
	if (number == ENOENT && counting->kg_cgroup != -1) {
		prof_fail(&counting->kg_error, PROF_E_TARGET,
		    "%s: the kernel cannot count in this cgroup",
		    po->po_cgroup);
		return (prof_cure(&counting->kg_error, "use a directory below "
		    "the cgroup2 mount, and enable a controller in this "
		    "directory: echo +pids >cgroup.subtree_control"));
	}
	/* Tried on ourselves it fitted; together with others it does not. */
	if (number == EINVAL && leader != event)
		return (prof_counting_refuse_group(counting,
		    counting->kg_event[event].ke_info.ce_group,
		    event - leader));
	return (prof_perf_explain(&counting->kg_error,
	    counting->kg_event[event].ke_of, number,
	    counting->kg_cgroup != -1 ? -1 : kt->kt_pid, kt->kt_cpu));
}

int
prof_counting_open_all(struct prof_counting *counting)
{
	const size_t n = counting->kg_ntargets * counting->kg_nevents;

	counting->kg_fd = calloc(n + 1, sizeof(*counting->kg_fd));
	if (counting->kg_fd == NULL)
		return (prof_fail_nomem(&counting->kg_error));
	for (size_t i = 0; i < n; i++)
		counting->kg_fd[i].kf_fd = -1;
	for (size_t t = 0; t < counting->kg_ntargets; t++)
		for (size_t e = 0; e < counting->kg_nevents; e++)
			if (open_one(counting, t, e) == -1) {
				prof_counting_close_all(counting);
				return (-1);
			}
	return (0);
}

/*
 * A foreign BPF program on the same tracepoint decides for all who count it:
 * what it does not let through, nobody sees.
 */
bool
prof_counting_is_filtered(const struct prof_counting *counting, size_t event)
{
	/* As struct perf_event_query_bpf, whose ids have no length. */
	struct {
		uint32_t ids_len, prog_cnt, ids[1];
	} query = { .ids_len = 1 };
	int fd;

	if (counting->kg_event[event].ke_attr.type != PERF_TYPE_TRACEPOINT ||
	    counting->kg_ntargets == 0)
		return (false);
	fd = prof_counting_fd(counting, 0, event)->kf_fd;
	/* More of them than there is room for: an error of its own. */
	return (fd != -1 && (ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, &query) ==
	    0 || errno == ENOSPC) && query.prog_cnt > 0);
}

void
prof_counting_close_all(struct prof_counting *counting)
{
	const size_t n = counting->kg_ntargets * counting->kg_nevents;

	for (size_t i = 0; counting->kg_fd != NULL && i < n; i++)
		if (counting->kg_fd[i].kf_fd != -1)
			close(counting->kg_fd[i].kf_fd);
	free(counting->kg_fd);
	counting->kg_fd = NULL;
}

void
prof_counting_switch(struct prof_counting *counting, bool on)
{
	for (size_t t = 0; t < counting->kg_ntargets; t++)
		for (size_t e = 0; e < counting->kg_nevents; e++) {
			const int fd = prof_counting_fd(counting, t,
			    e)->kf_fd;

			if (fd != -1 && leader_of(counting, e) == e)
				ioctl(fd, on ? PERF_EVENT_IOC_ENABLE :
				    PERF_EVENT_IOC_DISABLE, 0);
		}
}
