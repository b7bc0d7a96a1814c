/* SPDX-License-Identifier: ISC */
/*
 * What both ends of the control channel share: where the sockets are, and what
 * goes through them.  Included by the files control*.c alone.
 */
#ifndef CONTROL_IMPL_H
#define CONTROL_IMPL_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

#include "control.h"

#define CONTROL_MAGIC	0x334b524dU
#define CONTROL_SUFFIX	".ctl"
#define CONTROL_PLACES	4	/* see prof_control_place */
#define CONTROL_MARK	1024	/* bytes of a marker */
#define CONTROL_WAIT_S	2	/* for the answer of a recorder that works */

/* A request or, with cm_type enum control_answer, an answer. */
struct control_message {
	uint32_t	 cm_magic;
	uint32_t	 cm_type;	/* enum prof_ask_type, or of a record */
	uint32_t	 cm_length;	/* of the text, which follows */
	uint64_t	 cm_time_ns;
	char		 cm_text[PROF_ASK_TEXT + 1];
};
#define CONTROL_HEAD	offsetof(struct control_message, cm_text)

enum control_answer { CONTROL_DONE, CONTROL_REFUSED };

/* Does it make sense?  Then its text ends with a NUL. */
bool	prof_control_is_message(struct control_message *message,
	    ssize_t length);
/* May this be sent: is it known, and is its text not too long or too short? */
bool	prof_control_may_be(uint32_t type, size_t length);
/* In one call, without waiting; -1: errno says why. */
int	prof_control_put(int fd, uint32_t type, uint64_t time_ns,
	    const char *text);

/*
 * Where sockets may lie, in order of preference: a descriptor.  -1 with errno
 * 0: no more places; with another: not there, or not private.
 */
int	prof_control_place(unsigned n, uid_t uid, bool create);
struct sockaddr_un;
/* A socket's path has 107 bytes at most: go through the descriptor. */
void	prof_control_address(struct sockaddr_un *address, int dir,
	    const char *name);
/*
 * -1: nobody listens.  It gives up waiting after CONTROL_WAIT_S.  is_ours: dir
 * is a place of sockets; what a dead recorder has left in it is removed.
 */
int	prof_control_connect(int dir, const char *name, bool is_ours);

#endif /* CONTROL_IMPL_H */
