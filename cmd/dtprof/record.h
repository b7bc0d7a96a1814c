/* SPDX-License-Identifier: ISC */
/* What cmd_record.c (the options) and record.c (the recording) share. */
#ifndef RECORD_H
#define RECORD_H

#include "cmd.h"

/* Which of the words of --call-graph and --path. */
#define RECORD_CALLGRAPH_NONE	2
#define RECORD_PATH_PERF	2

struct record_options {
	struct opt_strings ro_events;
	struct opt_number ro_frequency;
	struct opt_number ro_period;
	struct opt_number ro_buffer;
	struct opt_number ro_duration;
	struct opt_number ro_max_loss;
	struct opt_ids	 ro_pids;
	struct opt_ids	 ro_tids;
	struct opt_ids	 ro_cpus;
	const char	*ro_cgroup;
	const char	*ro_comm;
	const char	*ro_filter;
	const char	*ro_output;
	int		 ro_callgraph;
	int		 ro_path;
	bool		 ro_all;
	bool		 ro_stacks;
	bool		 ro_no_inherit;
	bool		 ro_include_self;
	bool		 ro_user_only;
	bool		 ro_record_comm;
	bool		 ro_quiet;
	bool		 ro_verbose;
};

/* ----------------------------------------------------------- record.c */

/* Record; the exit status.  No events: the default one. */
int	record_run(const struct record_options *ro,
	    const struct prof_options *po, const struct opt_strings *events);

/* --------------------------------------------------- record_signals.c */

/* Keep SIGINT, SIGTERM and SIGHUP for record_signals_take; 0, or -1. */
int	record_signals_open(void);
/* The next that came in, and whether a process sent it; 0: none. */
int	record_signals_take(bool *by_process);
void	record_signals_close(void);

#endif /* RECORD_H */
