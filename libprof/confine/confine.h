/* SPDX-License-Identifier: ISC */
/*
 * What a child of the recorder gives up, for good, before it looks at
 * anything that is not the recorder's own.  doc/PRIVILEGES.md lists it.
 */
#ifndef PROF_CONFINE_H
#define PROF_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* What could not be had; 0: all of it was. */
#define PROF_LACKS_SECCOMP	1u	/* this kernel or build has no filter */
#define PROF_LACKS_USER		2u	/* it is still root, without rights */
#define PROF_LACKS_CAPS		4u	/* it could not give up all of them */

/* May do so much beyond the memory that it has when it begins. */
#define PROF_PARSER_BYTES	(1ULL << 30)
/* A parser that used half of this ends after its answer. */
#define PROF_PARSER_CPU_S	60

enum prof_confined {
	PROF_CONFINED_KEEPER,	/* may fork, and end what it forked */
	PROF_CONFINED_PARSER,	/* may read what is open, and answer */
	PROF_CONFINED_READER,	/* the same, with threads and output */
	PROF_CONFINED_NETWORK	/* may connect, and read files */
};

/* Nobody, no capability, none to come; but for a reader, limits of memory. */
unsigned prof_confine_rights(enum prof_confined who);
/* Other limits, and the list of system calls. */
unsigned prof_confine_calls(enum prof_confined who);
/* Is this a build, or a run, that no filter can be put on? */
bool	prof_confine_is_instrumented(void);

#endif /* PROF_CONFINE_H */
