/* SPDX-License-Identifier: ISC */
/* What root looks at as somebody else; see owner.c. */
#ifndef OWNER_H
#define OWNER_H

#include <sys/types.h>

#include "../cmd.h"

struct owner {
	bool	 ow_is_other;	/* we are root, and it is not root's */
	uid_t	 ow_uid;
	gid_t	 ow_gid;
	const char *ow_program;	/* borrowed; NULL: not known */
};

/* Of a program; NULL, or one that is gone: nobody's. */
void	owner_of(struct owner *owner, const char *path);
/* file_open_regular, as the owner could. */
int	owner_open(const struct owner *owner, const char *path);
/* In a child, before its exec: the owner for good, and with limits. */
int	owner_become(const struct owner *owner);

#endif /* OWNER_H */
