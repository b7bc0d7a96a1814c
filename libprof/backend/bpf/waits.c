/* SPDX-License-Identifier: ISC */
/*
 * Waits of threads, at stop and at each pause: records unfinished waits, and at
 * stop writes the sums of the BPF programs (struct dtp_wait_counts).
 *
 * Called by attach.c and by backend.c.  The BPF programs are in
 * sys/prov_wait.bpf.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "backend/bpf/bpf_impl.h"
#include "base/clock.h"
#include "base/error.h"
#include "events/instrument.h"

int
prof_waits_end_of(struct prof_bpf *bpf, const struct prof_event *event)
{
	const char *name = event->ev_instrument->im_at_end;

	if (name == NULL || bpf->bp_instance[event->ev_id].in_obj == NULL)
		return (0);
	/* In a pause: all was looked at when it began. */
	if (bpf->bp_plan->pn_clock.ck_pause_ns == 0)
		bpf->bp_control->co_stop_ns = prof_now_ns();
	return (prof_bpf_iterate(bpf, event, name, 0) == 0 ? 0 :
	    prof_fail(bpf->bp_error, PROF_E_KERNEL,
	    "%s: cannot find the threads that still wait: %s",
	    event->ev_name, strerror(errno)));
}

/* Sums over all CPUs, in the order of the members. */
static int
counts_read(const struct prof_bpf *bpf, const struct bpf_map *map,
    struct dtp_wait_counts *sum)
{
	struct dtp_wait_counts *each = calloc(bpf->bp_ncpus, sizeof(*each));
	__u64 *to = (void *)sum;
	const uint32_t zero = 0;
	int rv = -1;

	memset(sum, 0, sizeof(*sum));
	if (each == NULL)
		return (prof_fail_nomem(bpf->bp_error));
	if (bpf_map_lookup_elem(bpf_map__fd(map), &zero, each) == 0)
		rv = 0;
	else
		prof_fail(bpf->bp_error, PROF_E_KERNEL,
		    "cannot read the counts of waits: %s", strerror(errno));
	for (uint32_t cpu = 0; rv == 0 && cpu < bpf->bp_ncpus; cpu++)
		for (size_t n = 0; n < sizeof(*sum) / sizeof(*to); n++)
			to[n] += ((const __u64 *)(const void *)
			    &each[cpu])[n];
	free(each);
	return (rv);
}

/* Notes on what makes the result degraded. */
static int
note_counts(struct prof_bpf *bpf, const struct prof_event *event,
    const struct dtp_wait_counts *counts)
{
	if (counts->wn_unkept > 0 && prof_host_note(bpf->bp_plan,
	    "%s: waits of at most %d threads can be recorded at once: %llu "
	    "context switches and wakeups of further threads are missing",
	    event->ev_name,
	    DTP_WAIT_THREADS, (unsigned long long)counts->wn_unkept) == -1)
		return (-1);
	if (counts->wn_unwalked > 0 && prof_host_note(bpf->bp_plan,
	    "%s: %llu waits have no stack, because more than %d threads waited "
	    "at once; --wall records stacks of more", event->ev_name,
	    (unsigned long long)counts->wn_unwalked, DTP_WAIT_STACKS) == -1)
		return (-1);
	return (0);
}

int
prof_describe_waits(struct prof_bpf *bpf)
{
	for (size_t n = 1; n < bpf->bp_events->el_n; n++) {
		const struct prof_event *event = bpf->bp_events->el_event[n];
		const struct bpf_map *map =
		    event->ev_instrument->im_at_end == NULL ? NULL :
		    bpf_object__find_map_by_name(
		    bpf->bp_instance[event->ev_id].in_obj, "wait_counts");
		struct dtp_wait_counts counts;

		if (map != NULL && (counts_read(bpf, map, &counts) == -1 ||
		    prof_waits_say(bpf->bp_plan, event, &counts) == -1 ||
		    note_counts(bpf, event, &counts) == -1))
			return (-1);
	}
	return (0);
}
