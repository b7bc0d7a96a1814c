/* SPDX-License-Identifier: ISC */
/*
 * The keeper: a process that is forked off early, while the recorder has but
 * one thread and nothing to lose, and from which all parsers are forked: so
 * none of them has more than the recorder had then, and a new one can be had
 * at any time.  It gives up its rights first of all, reads nothing but what
 * the recorder asks of it, and ends when the recorder does.
 */
#ifndef PROF_KEEPER_H
#define PROF_KEEPER_H

#include <sys/types.h>

#include <stdint.h>

enum prof_keeper_what {
	PROF_KEEPER_FORK = 1,	/* a parser, on the socket that comes along */
	PROF_KEEPER_END		/* a parser, that has ended or has to */
};

struct prof_keeper_ask {
	uint32_t	ka_what;
	pid_t		ka_pid;		/* END */
};

struct prof_keeper_answer {
	pid_t		kr_pid;		/* -1: could not be forked */
	int		kr_status;	/* END: as from wait */
	uint32_t	kr_lacks;	/* PROF_LACKS_* */
	uint32_t	kr_pad;
	uint64_t	kr_cpu_ns;	/* END: that it used */
};

struct prof_throttle;

/* Its pid, and a socket to it; -1: errno. */
pid_t	prof_keeper_start(struct prof_throttle *throttle, int *sock);

#endif /* PROF_KEEPER_H */
