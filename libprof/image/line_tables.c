/* SPDX-License-Identifier: ISC */
/*
 * See line_tables.h.  There are few files whose lines are asked for, so they
 * are looked through.  What finds no room is its reader's own.
 *
 * Called by module.c; whoever reads several recordings owns the tables.
 */
#include <string.h>

#include "line_tables.h"

struct prof_lines *
prof_line_tables_find(const struct prof_line_tables *tables,
    const struct prof_image *image)
{
	const struct prof_line_table *table;

	if (tables == NULL || image->im_id_len == 0)
		return (NULL);
	for (size_t n = 0; n < tables->ls_n; n++) {
		table = &tables->ls_table[n];
		if (table->lt_id_len == image->im_id_len &&
		    memcmp(table->lt_id, image->im_id,
		    image->im_id_len) == 0)
			return (table->lt_lines);
	}
	return (NULL);
}

bool
prof_line_tables_keep(struct prof_line_tables *tables,
    const struct prof_image *image, struct prof_lines *lines)
{
	struct prof_line_table *table;

	if (tables == NULL || lines == NULL || image->im_id_len == 0 ||
	    tables->ls_n == PROF_LINE_TABLES)
		return (false);
	table = &tables->ls_table[tables->ls_n++];
	table->lt_id_len = image->im_id_len;
	memcpy(table->lt_id, image->im_id, sizeof(table->lt_id));
	table->lt_lines = lines;
	return (true);
}

void
prof_line_tables_fini(struct prof_line_tables *tables)
{
	while (tables->ls_n > 0)
		prof_lines_close(tables->ls_table[--tables->ls_n].lt_lines);
}
