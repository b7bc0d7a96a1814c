/* SPDX-License-Identifier: ISC */
/*
 * What the files of dtprof stacks share: cmd_stacks.c (options, the session),
 * stacks.c (from samples to threads), stacks_print.c (text and JSON).
 */
#ifndef STACKS_H
#define STACKS_H

#include "../ui/line.h"

/* What a thread was found to do. */
enum stacks_state { STACKS_UNKNOWN, STACKS_RUNNING, STACKS_RUNNABLE,
	STACKS_BLOCKED, STACKS_STOPPED, STACKS_EXITED };

/* The best look at a thread that there was. */
struct stacks_thread {
	struct prof_record th_record;	/* with frames of its own */
	uint64_t	*th_frames;
	char		 th_comm[16];
	unsigned	 th_rank;
	enum stacks_state th_state;
	const char	*th_reason;	/* NULL: not known, or none */
	char		*th_file;	/* that the call is about; or NULL */
};

struct stacks {
	const struct prof_reader *sa_reader;
	struct stacks_thread *sa_thread;	/* by process and thread */
	size_t		 sa_n;
	size_t		 sa_cap;
	const int	*sa_pid;
	size_t		 sa_npids;
};

/* The events of the session, in this order. */
#define STACKS_CLOCK	1
#define STACKS_LOOK	2

/* Of each thread its best look; -1 with a message printed. */
int	stacks_gather(struct stacks *stacks, struct prof_reader *reader);
void	stacks_fini(struct stacks *stacks);

/* The exit status. */
int	stacks_print(const struct stacks *stacks, struct prof_reader *reader,
	    bool is_json);

#endif /* STACKS_H */
