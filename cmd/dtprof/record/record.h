/* SPDX-License-Identifier: ISC */
/* What cmd_record.c (the options) and record.c (the recording) share. */
#ifndef RECORD_H
#define RECORD_H

#include <stdio.h>

#include "../cmd.h"

/* The smallest ring, in bytes. */
#define RECORD_RING_MIN		((uint64_t)256 << 10)
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
	struct opt_number ro_max_memory;
	struct opt_number ro_max_stall;
	struct opt_number ro_max_size;
	struct opt_number ro_ring;
	struct opt_number ro_keep_last;
	struct opt_number ro_dump_after;
	struct opt_number ro_dump_max;
	struct opt_strings ro_dump_on;
	struct opt_number ro_rotate_keep;
	const char	*ro_rotate;
	const char	*ro_switch_output;
	bool		 ro_overwrite;
	struct opt_ids	 ro_pids;
	struct opt_ids	 ro_tids;
	struct opt_ids	 ro_cpus;
	const char	*ro_cgroup;
	const char	*ro_wait_for;
	const char	*ro_comm;
	const char	*ro_filter;
	const char	*ro_keep_if;
	const char	*ro_output;
	const char	*ro_callgraph;
	const char	*ro_push;
	const char	*ro_secret_file;
	int		 ro_attach;
	int		 ro_backend;
	bool		 ro_all;
	bool		 ro_alloc;
	bool		 ro_off_cpu;
	bool		 ro_locks;
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
	struct record_triggers *re_triggers;	/* NULL: none */
};

/* ----------------------------------------------------------- record.c */

/* --ring: when a dump is written, and the results. */
#define RECORD_ON_SIGNAL	1
#define RECORD_ON_EXIT		2
#define RECORD_ON_CTL		4
#define RECORD_ON_OTHER		8	/* one of rd_triggers */
#define RECORD_ASKS		16	/* dumps that dtprof ctl waits for */
#define RECORD_REASON		256
struct record_dumping {
	unsigned	 rd_on;		/* 0: there is no ring */
	bool		 rd_is_quiet;
	bool		 rd_has_warned;	/* that no more are written */
	const char	*rd_pattern;	/* of names */
	uint64_t	 rd_after_ns;
	uint64_t	 rd_most;
	uint64_t	 rd_number;	/* of the last that began */
	uint64_t	 rd_shown;	/* that were done */
	uint64_t	 rd_failed;	/* of these */
	uint64_t	 rd_bytes;	/* of these */
	char		*rd_last_file;	/* the last of them, or NULL */
	char		*rd_last_reason;
	/* The trigger of the one that waits; rd_due_ns 0: none does. */
	uint64_t	 rd_due_ns;
	uint64_t	 rd_asked_ns;
	char		 rd_reason[RECORD_REASON];
	char		 rd_other[RECORD_REASON]; /* of another kind, or "" */
	uint64_t	 rd_merged;	/* triggers since, of the same dump */
	uint64_t	 rd_ignored;	/* after the last dump */
	/* Requests that wait: by the number of the dump, 0: free. */
	struct {
		uint64_t ra_number;
		uint64_t ra_id;
	}		 rd_ask[RECORD_ASKS];
	uint64_t	 rd_stop_id;	/* of a request to stop; 0: none */
	struct record_triggers *rd_triggers;	/* NULL: none */
};

/* --rotate: when another file is begun, and the results. */
struct record_file;
struct record_rotating {
	bool		 rr_is_on;
	bool		 rr_is_quiet;
	bool		 rr_on_signal;
	bool		 rr_is_due;	/* another file is asked for */
	bool		 rr_has_warned;	/* that it cannot be made */
	bool		 rr_is_cut;	/* one took no more: said so */
	bool		 rr_failed;	/* to fill a file */
	const char	*rr_pattern;	/* of names */
	char		*rr_first;
	char		*rr_next;	/* asked of the session; NULL: none */
	uint64_t	 rr_number;	/* of the last that began */
	uint64_t	 rr_shown;	/* that were done */
	uint64_t	 rr_bytes;	/* 0: any */
	uint64_t	 rr_every_ns;	/* 0: any time */
	uint64_t	 rr_due_ns;
	uint64_t	 rr_again_ns;	/* not before, after a failure */
	uint64_t	 rr_cut_ns;	/* between files that are cut short */
	uint64_t	 rr_cut_again_ns; /* another one not before */
	uint64_t	 rr_keep;	/* 0: all */
	struct record_file *rr_file;	/* that stay, but the last */
	size_t		 rr_nfiles;
};

/* Record; the exit status. */
int	record_run(const struct record_options *ro,
	    const struct prof_options *po, const struct record_events *events,
	    struct record_dumping *dumping, struct record_rotating *rotating);

/* ----------------------------------------------------- record_ready.c */

/* Tell the service manager, if there is one, that recording has begun. */
void	record_ready(void);

/* ------------------------------------------------------ record_dump.c */

/* From the options; -1 with a message printed. */
int	record_dumping_set(struct record_dumping *rd,
	    const struct record_options *ro, struct prof_options *po);
/* Something happened: write a dump of it, after --dump-after. */
void	record_dumping_trigger(struct record_dumping *rd, const char *reason,
	    uint64_t time_ns);
/* A request for a dump, which is begun at once; -1: the session failed. */
int	record_dumping_ask(struct record_dumping *rd,
	    struct prof_session *session, const struct prof_ask *ask);
/* Was there a trigger, is one due, is one done?  -1: the session failed. */
int	record_dumping_look(struct record_dumping *rd,
	    struct prof_session *session);
/* When to look again; 0: no matter when. */
uint64_t record_dumping_due_ns(const struct record_dumping *rd);
/* Lines for dtprof ctl status. */
void	record_dumping_status(const struct record_dumping *rd,
	    const struct prof_session *session, FILE *stream);
/* Before the stop; and after it, what was still being written. */
int	record_dumping_end(struct record_dumping *rd,
	    struct prof_session *session);
void	record_dumping_show(struct record_dumping *rd,
	    struct prof_session *session);

void	record_dumping_free(struct record_dumping *rd);

/* ---------------------------------------------------------- trigger.c */

/* One more --dump-on; -1 with a message printed. */
int	record_triggers_add(struct record_dumping *rd, const char *text);
/* Are their spans defined?  Triggers may be NULL here and below. */
int	record_triggers_check(const struct record_triggers *triggers,
	    const struct opt_strings *spans);
/* Is there an expression?  It may compare the name of a thread. */
bool	record_triggers_compare(const struct record_triggers *triggers);
/* The event that trigger n needs, or ""; NULL: there are no more triggers. */
const char *record_triggers_event(const struct record_triggers *triggers,
	    size_t n);
/* As it was written; NULL: there are no more. */
const char *record_triggers_text(const struct record_triggers *triggers,
	    size_t n);
/* Before events are added; again for another session. */
int	record_triggers_begin(struct record_triggers *triggers,
	    struct prof_session *session);
/* After arm: an expression that does not fit its event, or NULL. */
const struct prof_err *record_triggers_error(
	    const struct record_triggers *triggers);
/* After each round; -1 with a message printed. */
int	record_triggers_look(struct record_triggers *triggers, bool is_last);
/* When to look again; 0: no matter when. */
uint64_t record_triggers_due_ns(const struct record_triggers *triggers);
void	record_triggers_free(struct record_triggers *triggers);

/* --------------------------------------------------- record_control.c */

/* Requests of dtprof ctl; -1: the session failed. */
int	record_control_look(const struct record_options *ro,
	    struct record_dumping *rd, struct prof_session *session);
/* It has stopped, as someone may have asked for. */
void	record_control_end(const struct record_dumping *rd,
	    struct prof_session *session, bool is_complete);
/* Of an answer to status: a newline in the value would begin another line. */
void	record_status_line(FILE *stream, const char *key,
	    const char *value);

/* ---------------------------------------------------- record_memory.c */

/* --max-memory. */
struct record_memory {
	uint64_t	 rm_limit;	/* 0: none */
	bool		 rm_keeps;	/* samples in memory, to give up */
	uint64_t	 rm_most;	/* bytes of these, since rm_shrunk_ns */
	uint64_t	 rm_shrunk_ns;	/* 0: they were not made fewer */
	uint64_t	 rm_looked_ns;
	uint64_t	 rm_bytes;	/* resident at that time */
	char		 rm_action[64];	/* "": none yet */
};

/* That are resident; 0: not known. */
uint64_t record_memory_bytes(void);
/*
 * With so many bytes of samples that are kept in memory: give up some if memory
 * is short.  1: nothing is left to give up; -1: failed.  Both with a message.
 */
int	record_memory_look(struct record_memory *rm,
	    struct prof_session *session, uint64_t kept);

/* ------------------------------------------------------ record_name.c */

/* NULL: no memory. */
char	*record_name(const char *pattern, uint64_t number,
	    const char *reason);
bool	record_name_varies(const char *pattern);
/* At start, since a dump may come after days.  -1: no file can be written. */
int	record_name_check(const char *pattern);

/* ---------------------------------------------------- record_rotate.c */

/* From the options; -1 with a message printed. */
int	record_rotating_set(struct record_rotating *rr,
	    const struct record_options *ro, struct prof_options *po);
void	record_rotating_free(struct record_rotating *rr);
/* Is another file due, is one done?  -1: the session failed. */
int	record_rotating_look(struct record_rotating *rr,
	    struct prof_session *session, const struct prof_status *status);
/* After the stop: files that were still being ended; -1: no memory. */
int	record_rotating_show(struct record_rotating *rr,
	    struct prof_session *session);

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
