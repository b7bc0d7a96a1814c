/* SPDX-License-Identifier: ISC */
/* What cmd_record.c (the options) and record.c (the recording) share. */
#ifndef RECORD_H
#define RECORD_H

#include "../cmd.h"

/* Which of the words of --backend. */
#define RECORD_BACKEND_PERF	2

struct record_options {
	struct opt_strings ro_events;
	struct opt_strings ro_spans;
	struct opt_strings ro_with;
	struct opt_strings ro_labels;
	struct opt_number ro_frequency;
	struct opt_number ro_period;
	struct opt_number ro_buffer;
	struct opt_number ro_unwind;
	struct opt_number ro_delay;	/* ms */
	struct opt_number ro_off_cpu_ms;
	struct opt_number ro_duration;
	struct opt_number ro_max_loss;
	struct opt_number ro_overhead;
	struct opt_number ro_max_size;
	struct opt_ids	 ro_pids;
	struct opt_ids	 ro_tids;
	struct opt_ids	 ro_cpus;
	const char	*ro_cgroup;
	const char	*ro_comm;
	const char	*ro_filter;
	const char	*ro_output;
	const char	*ro_callgraph;
	const char	*ro_push;
	const char	*ro_secret_file;
	int		 ro_attach;
	int		 ro_backend;
	bool		 ro_all;
	bool		 ro_alloc;
	bool		 ro_off_cpu;
	bool		 ro_wall;
	bool		 ro_stacks;
	bool		 ro_no_inherit;
	bool		 ro_include_self;
	bool		 ro_user_only;
	bool		 ro_record_comm;
	bool		 ro_verify;
	bool		 ro_quiet;
	bool		 ro_verbose;
};

/* What to sample, and the counters whose values samples bring. */
struct record_events {
	struct opt_strings re_events;	/* none: the default one */
	const char	*re_off_cpu;	/* one more; NULL: none */
	const char	*re_wall;	/* likewise */
	struct opt_strings re_spans;
	struct opt_strings re_with;
};

/* ----------------------------------------------------------- record.c */

/* Record; the exit status. */
int	record_run(const struct record_options *ro,
	    const struct prof_options *po, const struct record_events *events);

/* ------------------------------------------------------ record_push.c */

struct record_push {
	pid_t	rp_pid;		/* 0: none */
	int	rp_counts;	/* a memory file of what it prints, or -1 */
};

/* --push: dtprof push --follow of this recording, before it has a START. */
void	record_push_begin(struct record_push *push,
	    const struct record_options *ro, const char *path);
/* When the recording has ended: wait for it, and say what was not sent. */
void	record_push_end(struct record_push *push, const char *path);

/* ---------------------------------------------------- record_verify.c */

/* The table of --verify. */
void	record_show_verified(struct prof_session *session);

#endif /* RECORD_H */
