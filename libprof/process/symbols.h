/* SPDX-License-Identifier: ISC */
/* Places in the code, and why one has no symbol. */
#ifndef PROF_SYMBOLS_H
#define PROF_SYMBOLS_H

#include <stdint.h>

#include "image/line_tables.h"
#include "kernel_map.h"
#include "prof.h"

/* Why there is no name, and a cure that can work; "": none. */
const char *prof_unnamed_reason(enum prof_unnamed why, const char *module);
const char *prof_unnamed_cure(enum prof_unnamed why, const char *module);

/* prof_symbols_space, and narrows from and to: so long it stays that one. */
uint32_t prof_symbols_space_while(struct prof_symbols *symbols, uint32_t pid,
	    uint64_t time_ns, uint64_t *from_ns, uint64_t *to_ns);
/*
 * A place in the code, whoever has it mapped and wherever: in the same spot
 * there is the same function, the same line.  No padding: it is a key.
 */
struct prof_spot {
	uint64_t	so_at;		/* in the file, or the pc */
	uint32_t	so_owner;	/* image, or life */
	uint32_t	so_flags;	/* kind, flags, and what so_owner is */
};

void	prof_symbols_spot(const struct prof_symbols *symbols, uint32_t space,
	    const struct prof_frame *frame, struct prof_spot *spot);

/*
 * What a frame of user code is in: the image, and the offset in its file;
 * NULL: memory without a file, or *why is not PROF_NAMED.
 */
struct prof_image;
const struct prof_image *prof_symbols_image(
	    const struct prof_symbols *symbols, uint32_t space,
	    const struct prof_frame *frame, uint64_t *offset,
	    enum prof_unnamed *why);
/* What a script frame runs; NULL: the recording does not say. */
struct prof_table_code;
const struct prof_table_code *prof_script_code(
	    const struct prof_symbols *symbols,
	    const struct prof_frame *frame);
/*
 * A pc that was in none, where all code lies in the memory of
 * PROF_PLACES_PID: it says why.
 */
#define PROF_PC_WITHOUT(why)	((uint64_t)(why) << 4 | 8)

/*
 * Text of an address, "0x55f0c0de4060", as the object that lies there in the
 * memory of a file; borrowed until close.  The text itself if none is known.
 */
const char *prof_symbols_object(struct prof_symbols *symbols, uint32_t space,
	    const char *text);
/* What the symbols of several recordings read once; all zero: nothing yet. */
struct prof_symbols_shared {
	struct prof_line_tables sh_lines;
	struct prof_kernel_list sh_kernel;
};

/* Before the first question; shared must outlive symbols. */
void	prof_symbols_share(struct prof_symbols *symbols,
	    struct prof_symbols_shared *shared);
void	prof_symbols_shared_fini(struct prof_symbols_shared *shared);
/* Of prof_symbols_note, limits that were reached: no quality says so. */
const char *prof_symbols_limit(struct prof_symbols *symbols, size_t n);

#endif /* PROF_SYMBOLS_H */
