/* SPDX-License-Identifier: ISC */
/*
 * Waits for the CPU quotas of cgroups, as BPF programs have summed them up
 * (sys/throttle.bpf.h): a line of each cgroup goes into the recording,
 *
 *	throttled.EVENT.N = waits ns quota period periods ns-of-kernel path
 *
 * with all times in nanoseconds; a quota that is not known is 0.  Called by
 * backend.c, at the end.
 */
#include <inttypes.h>
#include <stdio.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi/dtp_reason.h"
#include "backend/bpf/bpf_impl.h"
#include "os/cgroup.h"

/* The kernel's quota of a cgroup that has none, as after it was removed. */
#define UNLIMITED	UINT64_MAX

static int
throttled_say(struct prof_bpf *bpf, uint32_t event, unsigned n, uint64_t id,
    const struct dtp_throttled *sum)
{
	const uint64_t quota_ns = sum->tt_quota_ns == UNLIMITED ? 0 :
	    sum->tt_quota_ns;
	char key[64], path[4096], text[4352];

	prof_cgroup_path(id, path, sizeof(path));
	snprintf(key, sizeof(key), "throttled.%u.%u", event, n);
	snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s",
	    (uint64_t)sum->tt_waits, (uint64_t)sum->tt_ns,
	    quota_ns, (uint64_t)sum->tt_period_ns,
	    (uint64_t)(sum->tt_periods - sum->tt_periods_before),
	    (uint64_t)(sum->tt_kernel_ns - sum->tt_kernel_before_ns), path);
	return (prof_host_info(bpf->bp_plan, key, text));
}

static int
throttled_each(struct prof_bpf *bpf, uint32_t event, int map)
{
	struct dtp_throttled sum;
	__u64 id, *before = NULL;
	unsigned n = 0, nkeys = 0;

	for (; bpf_map_get_next_key(map, before, &id) == 0; before = &id) {
		nkeys++;
		if (bpf_map_lookup_elem(map, &id, &sum) == 0 &&
		    sum.tt_waits > 0 &&
		    throttled_say(bpf, event, n++, id, &sum) == -1)
			return (-1);
	}
	return (nkeys < DTP_THROTTLED ? 0 : prof_host_note(bpf->bp_plan,
	    "%s: only %d cgroups whose CPU quota was used up are listed",
	    bpf->bp_events->el_event[event]->ev_name, DTP_THROTTLED));
}

int
prof_describe_throttled(struct prof_bpf *bpf)
{
	for (uint32_t n = 1; n < bpf->bp_events->el_n; n++) {
		const struct bpf_map *map = bpf->bp_instance[n].in_obj ==
		    NULL ? NULL : bpf_object__find_map_by_name(
		    bpf->bp_instance[n].in_obj, "throttled");

		if (map != NULL && throttled_each(bpf, n,
		    bpf_map__fd(map)) == -1)
			return (-1);
	}
	return (0);
}
