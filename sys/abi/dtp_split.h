/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Counts kept apart by process or thread: what split.bpf.c and the library
 * (libprof/count/split.c) both read.
 */
#ifndef DTP_SPLIT_H
#define DTP_SPLIT_H

#include <linux/types.h>

#define DTP_SPLIT_EVENTS	16
#define DTP_SPLIT_TASKS		65536
#define DTP_SPLIT_COMM		16

/* A number alone is used again; with the time of its start it is not. */
struct dtp_split_key {
	__u32	sk_pid;		/* 0: idle */
	__u32	sk_tid;		/* 0: the whole process */
	__u64	sk_start_ns;
};

struct dtp_split_task {
	__u64	st_counts[DTP_SPLIT_EVENTS];
	char	st_comm[DTP_SPLIT_COMM];
	__u32	st_has_ended;
	__u32	st_pad;
};

/* What a CPU had counted at its last switch, and who has run since. */
struct dtp_split_cpu {
	__u64			sc_counts[DTP_SPLIT_EVENTS];
	struct dtp_split_key	sc_before;	/* who ran before that */
	struct dtp_split_key	sc_now;
	__u32			sc_has_before;
	__u32			sc_has_now;
};

/* Beside the targets and CPUs of struct dtp_config. */
struct dtp_split_config {
	__u32	sg_late;	/* bit e: counted after the switch */
	__u32	sg_threads;	/* by thread, not by process */
};

_Static_assert(sizeof(struct dtp_split_key) == 16, "dtp_split_key");
_Static_assert(sizeof(struct dtp_split_task) == 152, "dtp_split_task");
_Static_assert(sizeof(struct dtp_split_cpu) == 168, "dtp_split_cpu");
_Static_assert(sizeof(struct dtp_split_config) == 8, "dtp_split_config");

#endif /* DTP_SPLIT_H */
