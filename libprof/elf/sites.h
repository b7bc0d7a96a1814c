/* SPDX-License-Identifier: ISC */
/*
 * Where in a file probes can be: functions by name.
 *
 * A name is the linker's or the demangled one, that with its parameters or
 * without, or a glob.  Files are untrusted: called in a parser
 * (broker/parse_sites.c), and by tests.
 */
#ifndef SITES_H
#define SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_SITE_NAME	256	/* bytes, with its NUL */
#define PROF_SITES_MAX	65536	/* that one name may mean */

enum prof_site_flags {
	PROF_SITE_CHOSEN	= 1,	/* IFUNC: called once, to choose */
	PROF_SITE_CHEAP		= 2,	/* the kernel emulates what is there */
	PROF_SITE_EXACT		= 4,	/* of that name, not of a glob */
};

/* A function that a probe can be put on. */
struct prof_site {
	uint64_t	 si_offset;	/* in the file */
	uint64_t	 si_size;	/* 0: not known */
	uint32_t	 si_flags;	/* enum prof_site_flags */
	uint32_t	 si_pad;
	/* For people, demangled; a longer one is cut. */
	char		 si_name[PROF_SITE_NAME];
};

struct prof_sites {
	struct prof_site *st_site;	/* by name */
	size_t		 st_n;
	size_t		 st_found;	/* with those there was no room for */
	size_t		 st_functions;	/* that the file names at all */
};

/* 0, or -1 with errno: ENOEXEC: it is no ELF file. */
int	prof_sites_find(int fd, const char *pattern, struct prof_sites *sites);
void	prof_sites_free(struct prof_sites *sites);
/* Does the kernel emulate the instruction that begins here? */
bool	prof_site_is_cheap(uint16_t machine, const uint8_t *code, size_t size);

#endif /* SITES_H */
