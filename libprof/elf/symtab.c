/* SPDX-License-Identifier: ISC */
/*
 * Keeps the functions of a module and finds the one at an address.  Filled by
 * symtab_elf.c, symtab_plt.c and symtab_text.c; knows nothing of files.
 *
 *	symbols, by address	|--- outer ------------------|
 *				        |- inner -|	     |- next ---|
 *	pieces			| outer | inner   | outer    | next     | none
 *
 * Symbols overlap: aliases, a function in another one, labels in functions,
 * and in the maps of JITs the dead below the living.  Who owns which bytes is
 * decided once, when sorting: the space is cut into pieces of one owner each,
 * so that a question is one binary search, whatever the symbols are like.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sort.h"
#include "symtab_impl.h"

/* More than any module has; what exceeds them is left out. */
#define MAX_SYMBOLS	(16u << 20)
#define MAX_NAMES	(256u << 20)
#define MAX_NAME	(1u << 20)
#define MAX_LOOKED	(4ull * MAX_NAMES)	/* bytes, for ends of names */
#define SYMBOL_BYTES	128		/* memory of one, sorted and cut */

#define NOBODY		UINT32_MAX

/* One symbol; names are offsets in st_names. */
struct entry {
	uint64_t	en_address;	/* first: for prof_sort_items */
	uint64_t	en_end;
	uint32_t	en_name;
	uint32_t	en_module;	/* 0: none */
	uint32_t	en_order;	/* of being put */
	uint8_t		en_kind;	/* enum symtab_kind */
	uint8_t		en_binding;	/* enum symtab_binding */
	bool		en_open;	/* ends where the next one begins */
};

struct prof_symtab {
	struct entry	*st_entries;
	size_t		 st_n;
	size_t		 st_space;
	char		*st_names;
	size_t		 st_names_n;
	size_t		 st_names_space;
	uint64_t	 st_looked;
	uint32_t	 st_last_module;
	bool		 st_later_wins;
	bool		 st_is_full;
	uint64_t	 st_left;	/* bytes of memory that it may take */
	uint64_t	*st_starts;	/* of pieces ... */
	uint32_t	*st_owners;	/* ... and their entries, or NOBODY */
	size_t		 st_npieces;
};

/* Those that cover the place where the sweep is, the most important first. */
struct sweep {
	struct prof_symtab *sw_table;
	uint64_t	*sw_heap;	/* importance << 32 | entry */
	size_t		 sw_n;
	uint64_t	 sw_at;
};

struct prof_symtab *
prof_symtab_new(void)
{
	struct prof_symtab *table = calloc(1, sizeof(*table));

	if (table != NULL)
		table->st_left = UINT64_MAX;
	return (table);
}

void
prof_symtab_limit(struct prof_symtab *table, uint64_t bytes)
{
	table->st_left = bytes;
}

uint64_t
prof_symtab_left(const struct prof_symtab *table)
{
	return (table->st_is_full ? 0 : table->st_left);
}

bool
prof_symtab_full(struct prof_symtab *table)
{
	table->st_is_full = true;
	return (false);
}

void
prof_symtab_free(struct prof_symtab *table)
{
	if (table == NULL)
		return;
	free(table->st_entries);
	free(table->st_names);
	free(table->st_starts);
	free(table->st_owners);
	free(table);
}

void
prof_symtab_later_wins(struct prof_symtab *table)
{
	table->st_later_wins = true;
}

/* A string at the end of the names; room was made. */
static void
symbol_append(struct prof_symtab *table, const char *text, size_t length)
{
	if (length > 0)
		memcpy(table->st_names + table->st_names_n, text, length);
	table->st_names_n += length;
}

/* The module's name; those of one module follow one another. */
static uint32_t
put_module(struct prof_symtab *table, const struct symtab_item *item)
{
	const char *last = table->st_names + table->st_last_module;

	if (item->it_module == NULL)
		return (0);
	if (table->st_last_module == 0 ||
	    strncmp(last, item->it_module, item->it_module_length) != 0 ||
	    last[item->it_module_length] != '\0') {
		table->st_last_module = (uint32_t)table->st_names_n;
		symbol_append(table, item->it_module, item->it_module_length);
		symbol_append(table, "", 1);
	}
	return (table->st_last_module);
}

/* Many symbols may begin in one text without an end. */
size_t
prof_symtab_length(struct prof_symtab *table, const char *name, size_t most)
{
	size_t length;

	if (table->st_looked > MAX_LOOKED)
		return (0);
	length = strnlen(name, most < MAX_NAME ? most : MAX_NAME + 1);
	table->st_looked += length;
	return (length);
}

bool
prof_symtab_put(struct prof_symtab *table, const struct symtab_item *item)
{
	const char *suffix = item->it_suffix == NULL ? "" : item->it_suffix;
	size_t need = item->it_length + strlen(suffix) +
	    item->it_module_length + 3;
	struct entry *entry;

	if (item->it_length == 0 || item->it_length > MAX_NAME ||
	    item->it_module_length > MAX_NAME ||
	    item->it_end <= item->it_address || table->st_n >= MAX_SYMBOLS ||
	    need > MAX_NAMES - table->st_names_n)
		return (true);
	if (table->st_left < SYMBOL_BYTES + 2 * need)
		return (prof_symtab_full(table));
	table->st_left -= SYMBOL_BYTES + 2 * need;
	if (!prof_room(&table->st_entries, &table->st_space,
	    table->st_n + 1, sizeof(*entry)) ||
	    !prof_room(&table->st_names, &table->st_names_space,
	    table->st_names_n + need, 1))
		return (false);
	if (table->st_names_n == 0)
		symbol_append(table, "", 1);	/* so that 0 is none */
	entry = &table->st_entries[table->st_n];
	entry->en_address = item->it_address;
	entry->en_end = item->it_end;
	entry->en_order = (uint32_t)table->st_n++;
	entry->en_kind = (uint8_t)item->it_kind;
	entry->en_binding = (uint8_t)item->it_binding;
	entry->en_open = item->it_kind == SYMTAB_OPEN ||
	    item->it_kind == SYMTAB_LABEL;
	entry->en_module = put_module(table, item);
	entry->en_name = (uint32_t)table->st_names_n;
	symbol_append(table, item->it_name, item->it_length);
	symbol_append(table, suffix, strlen(suffix) + 1);
	return (true);
}

bool
prof_symtab_add(struct prof_symtab *table, uint64_t address, uint64_t size,
    const char *name)
{
	const struct symtab_item item = {
		.it_address = address,
		.it_end = size == 0 || size > UINT64_MAX - address ?
		    UINT64_MAX : address + size,
		.it_name = name,
		.it_length = strlen(name),
		.it_kind = size == 0 ? SYMTAB_OPEN : SYMTAB_FUNCTION,
		.it_binding = SYMTAB_GLOBAL,
	};

	return (prof_symtab_put(table, &item));
}

/* -------------------------------------------------------------- order */

/* Which of two names of one function to show: the less internal one. */
static int
compare_names(const char *a, const char *b)
{
	bool a_internal = a[0] == '_' && a[1] != 'Z' && a[1] != 'R';
	bool b_internal = b[0] == '_' && b[1] != 'Z' && b[1] != 'R';
	size_t a_length, b_length;

	if (a_internal != b_internal)
		return (a_internal ? 1 : -1);
	a_length = strlen(a);
	b_length = strlen(b);
	if (a_length != b_length)
		return (a_length < b_length ? -1 : 1);
	return (strcmp(a, b));
}

/* By address; of aliases the best first; of a map's the latest last. */
static int
symbols_compare(const void *left, const void *right, void *arg)
{
	const struct prof_symtab *table = arg;
	const struct entry *a = left, *b = right;
	int order;

	if (a->en_address != b->en_address)
		return (a->en_address < b->en_address ? -1 : 1);
	if (!table->st_later_wins) {
		if (a->en_kind != b->en_kind)
			return (b->en_kind - a->en_kind);
		if (a->en_binding != b->en_binding)
			return (b->en_binding - a->en_binding);
		order = compare_names(table->st_names + a->en_name,
		    table->st_names + b->en_name);
		if (order != 0)
			return (order);
	}
	return (a->en_order < b->en_order ? -1 : a->en_order > b->en_order);
}

/* By address first, which nearly all have for themselves. */
static void
sort_entries(struct prof_symtab *table)
{
	struct entry *entry = table->st_entries;
	size_t n, first = 0, all = table->st_n;

	if (!prof_sort_items(entry, all, sizeof(*entry)))
		qsort_r(entry, all, sizeof(*entry), symbols_compare, table);
	else for (n = 1; n <= all; n++) {
		if (n < all && entry[n].en_address == entry[first].en_address)
			continue;
		if (n - first > 1)
			qsort_r(entry + first, n - first, sizeof(*entry),
			    symbols_compare, table);
		first = n;
	}
}

/* One symbol for an address, as long as the longest of its kind. */
static void
join_aliases(struct prof_symtab *table)
{
	struct entry *entry, *last = NULL;
	size_t n, kept = 0;

	for (n = 0; n < table->st_n; n++) {
		entry = &table->st_entries[n];
		if (last != NULL && entry->en_address == last->en_address) {
			if (entry->en_kind == last->en_kind &&
			    entry->en_end > last->en_end)
				last->en_end = entry->en_end;
			continue;
		}
		last = &table->st_entries[kept++];
		*last = *entry;
	}
	table->st_n = kept;
}

static void
close_open(struct prof_symtab *table)
{
	struct entry *entry;
	size_t n;

	for (n = 0; n + 1 < table->st_n; n++) {
		entry = &table->st_entries[n];
		if (entry->en_open && entry->en_end > entry[1].en_address)
			entry->en_end = entry[1].en_address;
	}
}

/* ------------------------------------------------------------- pieces */

static uint64_t
symbol_importance(const struct prof_symtab *table, uint32_t n)
{
	const struct entry *entry = &table->st_entries[n];

	return ((uint64_t)(table->st_later_wins ? entry->en_order :
	    entry->en_kind) << 32 | n);
}

static void
heap_push(struct sweep *sweep, uint64_t value)
{
	size_t at = sweep->sw_n++, up;

	while (at > 0 && sweep->sw_heap[up = (at - 1) / 2] < value) {
		sweep->sw_heap[at] = sweep->sw_heap[up];
		at = up;
	}
	sweep->sw_heap[at] = value;
}

static void
heap_pop(struct sweep *sweep)
{
	uint64_t value = sweep->sw_heap[--sweep->sw_n];
	size_t at = 0, down;

	while ((down = 2 * at + 1) < sweep->sw_n) {
		if (down + 1 < sweep->sw_n &&
		    sweep->sw_heap[down + 1] > sweep->sw_heap[down])
			down++;
		if (sweep->sw_heap[down] <= value)
			break;
		sweep->sw_heap[at] = sweep->sw_heap[down];
		at = down;
	}
	sweep->sw_heap[at] = value;
}

/* From where the sweep is, the space belongs to owner. */
static void
begin_piece(struct sweep *sweep, uint32_t owner)
{
	struct prof_symtab *table = sweep->sw_table;
	size_t n = table->st_npieces;

	if (n > 0 && table->st_owners[n - 1] == owner)
		return;
	table->st_starts[n] = sweep->sw_at;
	table->st_owners[n] = owner;
	table->st_npieces++;
}

/* Up to an address nothing new begins: who owns what? */
static void
sweep_to(struct sweep *sweep, uint64_t address)
{
	const struct prof_symtab *table = sweep->sw_table;
	uint32_t top;
	uint64_t end;

	while (sweep->sw_at < address && sweep->sw_n > 0) {
		top = (uint32_t)sweep->sw_heap[0];
		end = table->st_entries[top].en_end;
		if (end <= sweep->sw_at) {
			heap_pop(sweep);
			continue;
		}
		begin_piece(sweep, top);
		sweep->sw_at = end < address ? end : address;
	}
	if (sweep->sw_at < address)
		begin_piece(sweep, NOBODY);
	sweep->sw_at = address;
}

/* Pieces begin only where symbols begin or end, so there are 2 n at most. */
static bool
cut_pieces(struct prof_symtab *table)
{
	struct sweep sweep = { .sw_table = table };
	uint32_t n;

	table->st_npieces = 0;
	table->st_starts = reallocarray(NULL, 2 * table->st_n + 2,
	    sizeof(*table->st_starts));
	table->st_owners = reallocarray(NULL, 2 * table->st_n + 2,
	    sizeof(*table->st_owners));
	sweep.sw_heap = reallocarray(NULL, table->st_n + 1,
	    sizeof(*sweep.sw_heap));
	if (table->st_starts == NULL || table->st_owners == NULL ||
	    sweep.sw_heap == NULL) {
		free(sweep.sw_heap);
		return (false);
	}
	for (n = 0; n < table->st_n; n++) {
		sweep_to(&sweep, table->st_entries[n].en_address);
		heap_push(&sweep, symbol_importance(table, n));
	}
	sweep_to(&sweep, UINT64_MAX);
	free(sweep.sw_heap);
	return (true);
}

bool
prof_symtab_sort(struct prof_symtab *table)
{
	if (table->st_n > 0)
		sort_entries(table);
	if (!table->st_later_wins)
		join_aliases(table);
	close_open(table);
	free(table->st_starts);
	free(table->st_owners);
	return (cut_pieces(table));
}

struct prof_symtab *
prof_symtab_done(struct prof_symtab *table, bool ok)
{
	int error_number;

	if (ok && table->st_n > 0 && prof_symtab_sort(table))
		return (table);
	error_number = table != NULL && table->st_is_full ? EFBIG :
	    ok && table->st_n == 0 ? 0 : ENOMEM;
	prof_symtab_free(table);
	errno = error_number;
	return (NULL);
}

/* ---------------------------------------------------------- questions */

/* The last piece that begins at or before an address; false: nobody's. */
static bool
find_piece(const struct prof_symtab *table, uint64_t address, size_t *piece)
{
	const uint64_t *start = table->st_starts;
	size_t n = table->st_npieces, half;

	if (n == 0 || address < start[0])
		return (false);
	while (n > 1) {
		half = n / 2;
		start = start[half] <= address ? start + half : start;
		n -= half;
	}
	*piece = (size_t)(start - table->st_starts);
	return (table->st_owners[*piece] != NOBODY);
}

bool
prof_symtab_find(const struct prof_symtab *table, uint64_t address,
    struct prof_symbol *symbol)
{
	size_t piece;

	if (!find_piece(table, address, &piece))
		return (false);
	prof_symtab_at(table, table->st_owners[piece], symbol);
	return (true);
}

bool
prof_symtab_find_piece(const struct prof_symtab *table, uint64_t address,
    struct prof_symbol *symbol)
{
	size_t piece;

	if (!find_piece(table, address, &piece))
		return (false);
	prof_symtab_at(table, table->st_owners[piece], symbol);
	symbol->sy_address = table->st_starts[piece];
	symbol->sy_size = (piece + 1 < table->st_npieces ?
	    table->st_starts[piece + 1] : UINT64_MAX) - symbol->sy_address;
	return (true);
}

size_t
prof_symtab_count(const struct prof_symtab *table)
{
	return (table->st_n);
}

void
prof_symtab_at(const struct prof_symtab *table, size_t n,
    struct prof_symbol *symbol)
{
	const struct entry *entry = &table->st_entries[n];

	symbol->sy_address = entry->en_address;
	symbol->sy_size = entry->en_end - entry->en_address;
	symbol->sy_name = table->st_names + entry->en_name;
	symbol->sy_module = entry->en_module == 0 ? NULL :
	    table->st_names + entry->en_module;
}
