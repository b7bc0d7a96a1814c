/* SPDX-License-Identifier: ISC */
/*
 * Line tables of files that several recordings are of: whoever reads many
 * recordings of a build, one by one, reads its DWARF once.  A file is known by
 * its build-id.
 */
#ifndef LINE_TABLES_H
#define LINE_TABLES_H

#include <stddef.h>

#include "elf/lines.h"
#include "images.h"

#define PROF_LINE_TABLES	64

/* Nothing in it: all zero. */
struct prof_line_tables {
	struct prof_line_table {
		uint32_t	 lt_id_len;
		uint8_t		 lt_id[sizeof((struct prof_image){ 0 }.im_id)];
		struct prof_lines *lt_lines;
	} ls_table[PROF_LINE_TABLES];
	size_t		 ls_n;
};

/* Borrowed until fini; NULL: it is not there.  tables may be NULL. */
struct prof_lines *prof_line_tables_find(
	    const struct prof_line_tables *tables,
	    const struct prof_image *image);
/* true: lines, of this image, are owned by tables now. */
bool	prof_line_tables_keep(struct prof_line_tables *tables,
	    const struct prof_image *image, struct prof_lines *lines);
void	prof_line_tables_fini(struct prof_line_tables *tables);

#endif /* LINE_TABLES_H */
