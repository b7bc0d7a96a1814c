/* SPDX-License-Identifier: ISC */
/*
 * Commands that read what others made, run as root:
 *
 *	helper (as root)	opens what it is asked for, reads nothing of it
 *	   `-- reader (nobody)	all the rest, from the first byte that it reads
 *
 * prof_reading_confine (broker/reading.c) forks the reader.  What the library
 * itself then asks for is here; programs ask for their own by
 * prof_reading_ask.  The reader may be a hostile file's: the helper opens
 * programs, debug files of programs, and what the program says that its user
 * named, and nothing else.
 */
#ifndef PROF_READING_H
#define PROF_READING_H

#include <limits.h>
#include <stdint.h>

#include "prof.h"

#define PROF_READING_OWN	64

/* What a program that reads recordings lets its helper do. */
struct prof_reading {
	size_t		 rg_size;
	/* A name that the user gave; it may be read, or written, as he may. */
	int		 (*rg_may_read)(void *arg, const char *path);
	int		 (*rg_may_write)(void *arg, const char *path);
	/*
	 * In the helper: a request of the program's own, from
	 * PROF_READING_OWN on.  The bytes, behind which a NUL stands, may be
	 * changed, and *give is a descriptor to go back, or -1.  As a system
	 * call it returns -1 with errno, or not.  NULL: there are none.
	 */
	int		 (*rg_serve)(void *arg, unsigned what, char *bytes,
			    size_t size, int fd, int *give);
	void		*rg_arg;
};

/*
 * Before the first file is opened, with one thread: give up all privileges.
 * Of root, this is a new process from here on, which may open nothing by
 * itself; what it was waits as its helper, opens files for it, and ends as it
 * does (doc/PRIVILEGES.md).  0, or -1 with error.
 */
int prof_reading_confine(const struct prof_reading *reading,
    struct prof_err *error);
/* Is there such a helper? */
int prof_reading_is_confined(void);
/* Ask it; *came: a descriptor, or -1.  What rg_serve returned, and errno. */
int prof_reading_ask(unsigned what, void *bytes, size_t size, int fd,
    int *came);
/* Open for reading what the user named, with or without helper; or -1. */
int prof_reading_open(const char *path, int flags);

/* Of requests; those of programs begin at PROF_READING_OWN. */
enum prof_reading_what {
	PROF_READING_INPUT = 1,	/* what the user named */
	PROF_READING_IMAGE,	/* a program */
	PROF_READING_DEBUG,	/* struct prof_debug_want, directories */
	PROF_READING_BESIDE,	/* a name that a debug file has of another */
	PROF_READING_KERNEL,	/* what the kernel says of itself */
	PROF_READING_RECORDING	/* struct prof_err, name: write it */
};

/* The bytes of the request come back behind it. */
struct prof_reading_answer {
	int32_t	ra_value;
	int32_t	ra_errno;
};

/*
 * What a file says of its debug file, and the candidates for it one after the
 * other.  Comes from a file, and from a parser: nothing of it is trusted.
 */
struct prof_debug_want {
	uint32_t	dw_next;	/* the candidate to begin with */
	uint32_t	dw_id_length;
	uint8_t		dw_id[20];
	char		dw_link[NAME_MAX + 1]; /* "": by build-id */
};

/*
 * Each opens what a function of that kind would open by itself; all but
 * prof_reading_kernel only where prof_reading_is_confined.
 */
int	prof_reading_image(const char *path);
int	prof_reading_debug(struct prof_debug_want *want, int file,
	    const char *debug_dirs);
int	prof_reading_beside(const char *name, int file);
int	prof_reading_kernel(const char *path);
/* A regular file by its path; opening it has no effects.  -1: none. */
int	prof_image_open(const char *path);
/* A recording in memory becomes a file; 0, or -1 and error. */
int	prof_reading_recording(const char *path, int memory,
	    struct prof_err *error);

/* From now on a helper is asked, at the other end of this socket. */
void	prof_reading_by(int sock);

#endif /* PROF_READING_H */
