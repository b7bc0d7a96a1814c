/* SPDX-License-Identifier: ISC */
/*
 * The text that perf script prints, a line at a time.
 *
 *	perf_script_line.c	what a line is, and what stands in it
 *	perf_script.c		from samples to a recording
 *
 * Which fields there are depends on -F, so a line is read by what each field
 * looks like.
 *
 * Included by import/ alone.
 */
#ifndef PROF_PERF_SCRIPT_H
#define PROF_PERF_SCRIPT_H

#include "places.h"

/* A frame, "    7f01 name+0x2 (/lib/x.so)"; name "": perf knew none. */
struct perf_frame {
	struct prof_places_text fr_name;
	struct prof_places_text fr_file;	/* length 0: not said */
	uint64_t	 fr_ip;
	bool		 fr_is_inlined;
};

#define PERF_NOBODY	UINT32_MAX	/* "-1": a thread that is not known */

/* The line that a sample begins with; what is missing is 0, or nobody. */
struct perf_head {
	struct prof_places_text he_comm;
	struct prof_places_text he_event;
	uint64_t	 he_time_ns;
	uint64_t	 he_period;
	uint64_t	 he_lost;	/* of PERF_RECORD_LOST */
	uint32_t	 he_pid;
	uint32_t	 he_tid;
	uint32_t	 he_cpu;
	bool		 he_has_pid;
	bool		 he_has_time;
	bool		 he_has_period;
	bool		 he_maybe_period; /* or it is the thread, see there */
	bool		 he_is_record;	/* PERF_RECORD_...: no sample */
	bool		 he_has_frame;	/* in the same line */
	struct perf_frame he_frame;
};

/*
 * How to read them.  Without a time, "a 1 2 cycles:" may be thread 1 of "a"
 * with a period of 2, or thread 2 of "a 1".
 */
struct perf_script_form {
	bool		 fm_no_period;
};

/* A sample without its first line. */
void	perf_script_nothing(struct perf_head *head);
/* Lines without their end; false: it is no such line. */
bool	perf_script_head(struct prof_places_text line,
	    const struct perf_script_form *form, struct perf_head *head);
bool	perf_script_frame(struct prof_places_text line,
	    struct perf_frame *frame);
bool	perf_script_is_blank(struct prof_places_text line);
/* Of a line that is not blank. */
bool	perf_script_is_source(struct prof_places_text line);
/* "sched:sched_switch", not "cycles:u" */
bool	perf_script_is_tracepoint(struct prof_places_text event);

#endif /* PROF_PERF_SCRIPT_H */
