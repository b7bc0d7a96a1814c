/* SPDX-License-Identifier: ISC */
/*
 * What was when: cells of time and node.  Where there would be more than are
 * wanted, each becomes twice as long, and again: so memory is bounded however
 * long was recorded.  How long they are then depends on what is in the
 * recording alone, not on who saw which part of it: a part never has more
 * cells than the whole.
 *
 *	cells  ..|..|..|..|..|..|..|..|	what is the same is added up now and
 *	then   .....|.....|.....|.....|	then, not at each sample: a node's last
 *					cell is all that is looked at
 *
 * Called by profile.c and gather.c; order.c sums up for all.
 */
#include <stdlib.h>

#include "profile_impl.h"

#define NONE	UINT32_MAX

int
prof_cells_init(struct prof_cells *cells, size_t nnodes, size_t max)
{
	cells->ce_nnodes = nnodes;
	cells->ce_max = max;
	cells->ce_fit_at = max != 0 ? 2 * max : SIZE_MAX;
	cells->ce_last = malloc((nnodes + 1) * sizeof(*cells->ce_last));
	if (cells->ce_last == NULL)
		return (-1);
	memset(cells->ce_last, 0xff, nnodes * sizeof(*cells->ce_last));
	return (0);
}

void
prof_cells_fini(struct prof_cells *cells)
{
	free(cells->ce_cell);
	free(cells->ce_last);
}

/* -------------------------------------------------------------- sums */

static inline uint8_t
cell_byte(const struct prof_cell *cell, unsigned n)
{
	uint32_t value = n < 4 ? cell->pc_event : n < 8 ? cell->pc_node :
	    cell->pc_cell;

	return ((uint8_t)(value >> n % 4 * 8));
}

/* By cell, node and event, from the last byte to the first. */
static int
sort_cells(struct prof_cell **cells, size_t n)
{
	struct prof_cell *from = *cells, *to, *swap;
	size_t count[257], i;
	unsigned byte;

	to = calloc(n + 1, sizeof(*to));
	if (to == NULL)
		return (-1);
	for (byte = 0; byte < 12; byte++) {
		memset(count, 0, sizeof(count));
		for (i = 0; i < n; i++)
			count[cell_byte(&from[i], byte) + 1]++;
		if (n == 0 || count[cell_byte(&from[0], byte) + 1] == n)
			continue;
		for (i = 1; i < 257; i++)
			count[i] += count[i - 1];
		for (i = 0; i < n; i++)
			to[count[cell_byte(&from[i], byte)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	free(to);
	*cells = from;
	return (0);
}

int
prof_cells_sum(struct prof_cell **cells, size_t *count)
{
	struct prof_cell *cell, *last;
	size_t n = 0, i;

	if (sort_cells(cells, *count) == -1)
		return (-1);
	cell = *cells;
	for (i = 0; i < *count; i++) {
		last = n > 0 ? &cell[n - 1] : NULL;
		if (last != NULL && last->pc_cell == cell[i].pc_cell &&
		    last->pc_node == cell[i].pc_node &&
		    last->pc_event == cell[i].pc_event) {
			last->pc_samples += cell[i].pc_samples;
			last->pc_weight += cell[i].pc_weight;
		} else {
			cell[n++] = cell[i];
		}
	}
	*count = n;
	return (0);
}

/* -------------------------------------------------------------- time */

/* The array that comes back has room for what went in. */
static int
cells_sum(struct prof_cells *cells)
{
	cells->ce_cap = cells->ce_n;
	return (prof_cells_sum(&cells->ce_cell, &cells->ce_n));
}

static void
cells_halve(struct prof_cells *cells)
{
	size_t i;

	for (i = 0; i < cells->ce_n; i++)
		cells->ce_cell[i].pc_cell /= 2;
	cells->ce_halved++;
}

/* Add up, and then so again with longer ones, until they fit. */
static int
cells_fit(struct prof_cells *cells)
{
	memset(cells->ce_last, 0xff, cells->ce_nnodes *
	    sizeof(*cells->ce_last));
	if (cells_sum(cells) == -1)
		return (-1);
	while (cells->ce_max != 0 && cells->ce_n > cells->ce_max &&
	    cells->ce_cell[cells->ce_n - 1].pc_cell > 0) {
		cells_halve(cells);
		if (cells_sum(cells) == -1)
			return (-1);
	}
	return (0);
}

static int
cells_append(struct prof_cells *cells, const struct prof_cell *cell)
{
	if (!prof_room(&cells->ce_cell, &cells->ce_cap, cells->ce_n + 1,
	    sizeof(*cell)))
		return (-1);
	cells->ce_cell[cells->ce_n++] = *cell;
	return (0);
}

int
prof_cells_add(struct prof_cells *cells, const struct prof_cell *given)
{
	struct prof_cell *last, cell = *given;
	uint32_t n = cells->ce_last[cell.pc_node];

	cell.pc_cell >>= cells->ce_halved;
	if (n != NONE) {
		last = &cells->ce_cell[n];
		if (last->pc_cell == cell.pc_cell &&
		    last->pc_event == cell.pc_event) {
			last->pc_samples += cell.pc_samples;
			last->pc_weight += cell.pc_weight;
			return (0);
		}
	}
	/* Half of them may be the same ones again. */
	if (cells->ce_n >= cells->ce_fit_at) {
		if (cells_fit(cells) == -1)
			return (-1);
		/* One length of time may have more than are wanted. */
		if (cells->ce_n > cells->ce_max)
			cells->ce_fit_at = 2 * cells->ce_n;
		cell.pc_cell = given->pc_cell >> cells->ce_halved;
	}
	cells->ce_last[cell.pc_node] = (uint32_t)cells->ce_n;
	return (cells_append(cells, &cell));
}

int
prof_cells_join(struct prof_cells *to, struct prof_cells *from)
{
	struct prof_cell *cell;
	size_t i;

	while (to->ce_halved < from->ce_halved)
		cells_halve(to);
	for (i = 0; i < from->ce_n; i++) {
		cell = &from->ce_cell[i];
		cell->pc_cell >>= to->ce_halved - from->ce_halved;
		if (cells_append(to, cell) == -1)
			return (-1);
	}
	return (cells_fit(to));
}
