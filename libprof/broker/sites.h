/* SPDX-License-Identifier: ISC */
/*
 * Where probes can be in a file, by way of a parser: what sites.c asks and
 * checks, and parse_sites.c answers.
 */
#ifndef PROF_BROKER_SITES_H
#define PROF_BROKER_SITES_H

#include "broker.h"
#include "elf/sites.h"

#define PROF_SITES_PATTERN	1024	/* bytes, with its NUL */

/* The request. */
struct prof_sited_ask {
	uint32_t	sa_kind;	/* enum prof_site_kind */
	uint32_t	sa_line;
	uint64_t	sa_offset;
	uint32_t	sa_has_words;
	uint32_t	sa_pad;
	char		sa_words[2 * PROF_SITES_PATTERN];
	char		sa_pattern[PROF_SITES_PATTERN];
};

/* The answer begins so; behind it struct prof_site. */
struct prof_sited_head {
	uint32_t	sd_errno;	/* 0: it was read */
	uint32_t	sd_pad;
	uint64_t	sd_n;
	uint64_t	sd_found;
	uint64_t	sd_functions;
	uint64_t	sd_bad[PROF_NOTE_N];
};

/*
 * As prof_sites_find, in a parser.  EIO: the file cost one, EAGAIN: there is
 * none.
 */
int	prof_sites_ask(struct prof_broker *broker, int fd, const char *name,
	    const struct prof_sites_want *want, struct prof_sites *sites);

#endif /* PROF_BROKER_SITES_H */
