/* SPDX-License-Identifier: ISC */
/*
 * Waits of threads, at stop and at each pause: records unfinished waits, and at
 * stop writes the sums of the BPF programs (struct dtp_wait_counts).  While
 * recording: which threads wait.
 *
 * Called by attach.c and by backend.c.  The BPF programs are in
 * sys/prov_wait.bpf.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
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

/* ------------------------------------------------ waits that go on */

/* As dtp_targets_begun in sys/filter.bpf.h. */
uint64_t
prof_bpf_begun_ns(const struct dtp_control *control)
{
	return (control->co_awaited_ns > control->co_begun_ns ?
	    control->co_awaited_ns : control->co_begun_ns);
}

/* Members of struct wait (sys/wait.bpf.h) that are looked at. */
enum { AT_BEGUN, AT_OUT, AT_WOKEN, AT_STATE, AT_PID, AT_TID, AT_N };

/* Where they are in an entry, as the object describes itself; -1. */
static int
members_find(const struct bpf_object *obj, const struct bpf_map *map,
    uint32_t at[AT_N])
{
	static const char *const names[AT_N] = { "wt_begun_ns", "wt_out_ns",
	    "wt_woken_ns", "wt_state", "wt_pid", "wt_tid" };
	const struct btf *btf = bpf_object__btf(obj);
	const struct btf_type *type = btf__type_by_id(btf,
	    bpf_map__btf_value_type_id(map));
	int found = 0;

	for (unsigned m = 0; type != NULL && m < btf_vlen(type); m++)
		for (int n = 0; n < AT_N; n++)
			if (strcmp(btf__name_by_offset(btf,
			    btf_members(type)[m].name_off), names[n]) == 0) {
				at[n] = btf_member_bit_offset(type, m) / 8;
				found++;
			}
	return (found == AT_N ? 0 : -1);
}

static uint64_t
member_of(const char *entry, uint32_t at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, entry + at, size);
	return (value);
}

static void
entry_tell(const char *entry, const uint32_t at[AT_N], uint64_t begun_ns,
    prof_waiting_fn *fn, void *arg)
{
	const uint64_t out_ns = member_of(entry, at[AT_OUT], 8);

	if (out_ns == 0 || member_of(entry, at[AT_BEGUN], 8) != begun_ns ||
	    member_of(entry, at[AT_STATE], 8) == 0 ||
	    member_of(entry, at[AT_WOKEN], 8) != 0)
		return;
	fn(arg, (uint32_t)member_of(entry, at[AT_PID], 4),
	    (uint32_t)member_of(entry, at[AT_TID], 4), out_ns);
}

/* Where an entry goes meanwhile, the kernel begins again: not for ever. */
static int
waiting_of(const struct prof_bpf *bpf, const struct bpf_object *obj,
    prof_waiting_fn *fn, void *arg)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, "waits");
	uint32_t at[AT_N];
	__u64 key, *before = NULL;
	char *entry;

	if (map == NULL || members_find(obj, map, at) == -1)
		return (-1);
	entry = calloc(1, bpf_map__value_size(map));
	if (entry == NULL)
		return (-1);
	for (int n = 0; n < DTP_WAIT_THREADS && bpf_map_get_next_key(
	    bpf_map__fd(map), before, &key) == 0; n++) {
		if (bpf_map_lookup_elem(bpf_map__fd(map), &key, entry) == 0)
			entry_tell(entry, at, prof_bpf_begun_ns(
			    bpf->bp_control), fn, arg);
		before = &key;
	}
	free(entry);
	return (0);
}

int
prof_bpf_waiting(const void *state, prof_waiting_fn *fn, void *arg)
{
	const struct prof_bpf *bpf = state;

	for (size_t n = 1; n < bpf->bp_events->el_n; n++) {
		const struct prof_event *event = bpf->bp_events->el_event[n];

		if (event->ev_instrument->im_at_end != NULL &&
		    event->ev_filter.fi_ntests == 0 &&
		    waiting_of(bpf, bpf->bp_instance[n].in_obj, fn, arg) == 0)
			return (0);
	}
	return (-1);
}
