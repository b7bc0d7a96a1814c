/* SPDX-License-Identifier: ISC */
/*
 * The file that a recording goes to: made, given to its owner, removed.
 * Included by recording/ alone.
 */
#ifndef PROF_PLACE_H
#define PROF_PLACE_H

#include <stdbool.h>

#include "prof.h"

struct prof_place {
	int	 pl_fd;
	bool	 pl_regular;	/* can be cut, and be removed */
	bool	 pl_memory;	/* of memory: no name, no disk */
	bool	 pl_moved;	/* the previous file is pl_old now */
	char	*pl_path;
	char	*pl_old;
	char	*pl_aside;	/* where the previous pl_old is; NULL: none */
};

int	prof_place_open(struct prof_place *place, const char *path,
	    struct prof_err *error);
/* A file without a name: nothing is kept, moved or removed. */
int	prof_place_memory(struct prof_place *place, int fd,
	    struct prof_err *error);
/* Remove the new file and put the previous ones back. */
void	prof_place_undo(struct prof_place *place);
/* The new file stays, nothing is undone any more; so says close, too. */
void	prof_place_keep(struct prof_place *place);
void	prof_place_close(struct prof_place *place);
/*
 * Before success is said: what was written, and under which names, is on the
 * disk, and the file is closed.  0, or -1 and errno.
 */
int	prof_place_finish(struct prof_place *place);
/* What errno means for a file that we write; returns -1. */
int	prof_place_fail(struct prof_err *error, const char *path,
	    int error_number);

#endif /* PROF_PLACE_H */
