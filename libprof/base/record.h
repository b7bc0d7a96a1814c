/* SPDX-License-Identifier: ISC */
/*
 * A record, as back ends, importers and the reader make it and everything in
 * libprof takes it: flat, with the members of all types.  prof.h shows it as
 * struct prof_entry (recording/entry.c).
 */
#ifndef PROF_RECORD_H
#define PROF_RECORD_H

#include "prof.h"

/*
 * The members that a type does not have are 0; pr_path is never NULL in
 * records of the reader.  Pointers are borrowed from whoever made it.
 */
struct prof_record {
	enum prof_record_type pr_type;
	uint32_t	 pr_event;	/* index of struct prof_event_info */
	uint32_t	 pr_cpu;
	uint32_t	 pr_pid;
	uint32_t	 pr_tid;
	uint64_t	 pr_time_ns;	/* CLOCK_MONOTONIC */
	/* SAMPLE */
	int		 pr_in_kernel;
	int		 pr_nested;
	uint64_t	 pr_weight;
	uint64_t	 pr_ip;		/* innermost pc, 0: none recorded */
	uint32_t	 pr_nargs;
	uint64_t	 pr_args[PROF_MAX_ARGS];
	const char	*pr_strs[PROF_MAX_ARGS]; /* NULL: a number */
	uint32_t	 pr_nkernel;
	uint32_t	 pr_nuser;
	const uint64_t	*pr_kernel;	/* innermost first */
	const uint64_t	*pr_user;
	uint8_t		 pr_kstatus;	/* enum prof_stack_status */
	uint8_t		 pr_ustatus;
	uint8_t		 pr_by_chance;	/* 0: all are walked; one in 2^this */
	/*
	 * Script frames beside those of pr_user, innermost first, a word
	 * each; prof_record_stack merges both.
	 */
	uint32_t	 pr_nscript;
	const uint64_t	*pr_script;	/* see prof_frame_unpack */
	const char	*pr_comm;	/* "": not recorded here */
	/*
	 * What counters (pi_counter) had counted for the thread since its
	 * sample before.  0: none, or known with a later sample
	 * only.  Where running is less than the whole time, values are of that
	 * part alone.
	 */
	uint32_t	 pr_nvalues;
	uint64_t	 pr_values[PROF_MAX_VALUES];
	uint64_t	 pr_values_ns;
	uint64_t	 pr_values_running_ns;
	/*
	 * Begins and ends of spans: how long the thread has run and has not,
	 * both since the same time; only differences mean anything.
	 */
	int		 pr_has_clock;
	uint64_t	 pr_running_ns;
	uint64_t	 pr_off_ns;
	/* FORK: parent; EXEC: pr_ptid is the old tid */
	uint32_t	 pr_ppid;
	uint32_t	 pr_ptid;
	uint64_t	 pr_exec_id;	/* while recording only */
	/* EXIT: wait(2) status, -1: unknown; last thread of its process */
	int		 pr_code;
	int		 pr_group_dead;
	/* EXEC: path.  MMAP: path.  MARK: text.  KSYMBOL: name */
	const char	*pr_path;
	/*
	 * LOST: firings of pr_event were refused on pr_cpu, from this time on
	 * until pr_time_ns; 0: it is records of the sideband that were lost.
	 */
	uint64_t	 pr_addr;
	uint64_t	 pr_len;
	uint64_t	 pr_offset;
	uint32_t	 pr_prot;
	int		 pr_is_ahead;	/* MMAP: records before it may come */
	uint64_t	 pr_dev;
	uint64_t	 pr_ino;
	uint32_t	 pr_build_id_len;
	uint8_t		 pr_build_id[20];
};

/* Called for each record; nonzero ends it. */
typedef int prof_record_fn(void *arg, const struct prof_record *record);

#endif /* PROF_RECORD_H */
