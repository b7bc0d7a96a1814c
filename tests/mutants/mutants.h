/* SPDX-License-Identifier: ISC */
/*
 * Mutants of inputs that know how their format is built, many in one process:
 *
 *	mutants.c	the driver: runs, measures, and names what it finds
 *	bytes.c		changes that fit any bytes, and any text
 *	reading.c	what is done with a recording, however it was made
 *	FORMAT.c	takes an input of a format apart, changes it, and puts
 *			it together so that it passes the door
 *
 * Mutant n of a seed is always the same.
 */
#ifndef MUTANTS_H
#define MUTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/format.h"

/* ------------------------------------------------------------ bytes.c */

struct chance {
	uint64_t	ch_state;
};

uint64_t chance_next(struct chance *chance);
/* Below n; 0 when n is 0. */
size_t	chance_below(struct chance *chance, size_t n);
/* One time in n. */
bool	chance_is(struct chance *chance, size_t n);
/* Values at borders, mostly. */
uint64_t chance_value(struct chance *chance);
/* One change or a few: set, cut, repeat, move. */
void	bytes_mutate(struct chance *chance, struct prof_buf *buf);
/* The same of lines and what stands between marks; marks: such characters. */
void	text_mutate(struct chance *chance, struct prof_buf *buf,
	    const char *marks);
/* Put length bytes in the place of others. */
void	bytes_replace(struct prof_buf *buf, size_t at, size_t old,
	    const void *bytes, size_t length);

/* --------------------------------------------------------- the formats */

struct format {
	const char	*fm_name;
	/* Make one of a seed; out is empty. */
	void		(*fm_mutate)(struct chance *chance,
			    const struct prof_buf *seed,
			    struct prof_buf *out);
	/* Read it all, by a descriptor that others may cut.  True: it passed
	 * the door. */
	bool		(*fm_run)(struct chance *chance, int fd, size_t length);
};

extern const struct format format_recording;
extern const struct format format_perfdata;
extern const struct format format_pprof;
extern const struct format format_folded;
extern const struct format format_perf_script;
extern const struct format format_elf;
extern const struct format format_perfmap;

/* ---------------------------------------------------------- reading.c */

/* Everything that is made of a recording; true: it could be opened. */
bool	reading_all(struct chance *chance, const char *path, int cut_fd,
	    size_t length);
/* An import, and sometimes what is made of it then. */
bool	reading_import(struct chance *chance, int fd, size_t length);

/* ---------------------------------------------------------- mutants.c */

/* Where imports are written to. */
const char *mutants_output(void);
/* Cut a file beside us, some microseconds from now. */
void	mutants_cut(int fd, size_t length, unsigned after_us);

#endif /* MUTANTS_H */
