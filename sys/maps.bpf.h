/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Every map, and (targets.bpf.h) the configuration.  Each event is a loaded
 * object of its own; all of them include this file, and the session makes
 * the maps once and hands them to every further object (reuse of the map's
 * descriptor), so that all events write to the same streams.
 *
 * Sizes that depend on the machine are set before load:
 *
 *	streams  max_entries = ncpus
 *	rings    max_entries = recorded CPUs, value_size = ring + DTP_MAX_RECORD
 *	counts   max_entries = ncpus * nevents
 *	scratch  max_entries = ncpus * DTP_SCRATCH_ALL
 *	groups   max_entries as dc_grouping says, and buckets
 *
 * Included by the providers through stream.bpf.h; libprof/backend/bpf/load.c
 * fills in cfg.
 */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include "abi/dtp_abi.h"
#include "compat.bpf.h"
#include "targets.bpf.h"
#include "unwind_maps.bpf.h"

/* Where stacks are walked to before their size is known. */
struct dtp_scratch {
	__u64			sc_slot;	/* which of a CPU's this is */
	__u64			sc_kernel[DTP_MAX_KFRAMES + 1];
	struct dtp_unwind	sc_unwind;
	struct dtp_snapping {
		__u64	sn_time_ns;	/* of the sample */
		__u32	sn_pid;
		__u32	sn_tid;
		__u32	sn_cpu;
		__u32	sn_sure;
		__u64	sn_at;		/* address of the next piece */
		__u64	sn_end;
		__u64	sn_taken;	/* bytes of the ring, so far */
	}			sc_snap;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_stream);
} streams SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, DTP_MIN_RING + DTP_MAX_RECORD);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_control);
} control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_SCRATCH_ALL);
	__type(key, __u32);
	__type(value, struct dtp_scratch);
} scratch SEC(".maps");

/* Aggregation, see abi/dtp_group.h; of one slot where nothing is. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_group);
} groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_bucket);
} buckets SEC(".maps");

/* Carries no data: a record here wakes the drain, which empties it. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);	/* a multiple of any page size */
} wakeups SEC(".maps");

char dtp_license[] SEC("license") = "Dual BSD/GPL";

#endif /* MAPS_BPF_H */
