/* SPDX-License-Identifier: ISC */
/*
 * What a child of the recorder gives up, for good, before it looks at
 * anything that is not the recorder's own.  doc/PRIVILEGES.md lists it.
 */
#ifndef PROF_CONFINE_H
#define PROF_CONFINE_H

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
	PROF_CONFINED_PARSER	/* may read what is open, and answer */
};

/* Nobody, no capability, none to come, and a limit of memory: both are. */
unsigned prof_confine_rights(void);
/* Other limits, and the list of system calls. */
unsigned prof_confine_calls(enum prof_confined who);

#endif /* PROF_CONFINE_H */
