/* SPDX-License-Identifier: ISC */
/*
 * Lines and inlined functions at an address, for what is shown.
 *
 *	address -> unit -> function -> inlined in it -> inlined in that ...
 *	   ranges of     ranges of     children whose ranges contain it
 *	   all units     the unit's
 *
 * Opening reads which addresses each unit covers; what functions a unit has,
 * and which lines, is read when it is first asked for, and kept.  libdw's own
 * searches go through a whole unit for each address, or all of its scopes.
 *
 * The file is untrusted: a walk only goes forward in the file, how much is
 * looked at for one address and for all is bounded, and what is made of the
 * file in memory is charged to a budget that its size sets (dwarf_file.h).
 * Beyond that there are no lines, which prof_lines_limited tells.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "base/grow.h"
#include "base/intern.h"
#include "base/search.h"
#include "demangle.h"
#include "lines_impl.h"

#define MAX_RANGES	(8u << 20)	/* of units, or functions of one */
#define MAX_OF_DIE	4096		/* ranges of one function */
#define MAX_NESTED	48		/* namespaces, scopes */
#define MAX_INLINED	64
#define MAX_STEPS	200000		/* for one address */
#define MAX_WALK	(20u << 20)	/* for a unit */
#define MAX_LINES	(32u << 20)	/* bytes of one unit's program */
#define LOOK_BACK	16		/* ranges that may overlap */
#define STEPS_FIRST	(8u << 20)	/* for all units and addresses */
#define STEPS_PER_BYTE	8
#define STEPS_PER_ADDRESS 2000
#define RANGE_BYTES	40		/* memory of one, as it grows */
#define ROW_BYTES	112		/* of a line while its program runs */
#define LINE_BYTES	48		/* and then */
#define NAME_BYTES	64		/* besides its text */

/* Addresses that belong to a unit or function. */
struct range {
	uint64_t	ra_low;
	uint64_t	ra_high;
	Dwarf_Off	ra_die;
};

struct ranges {
	struct range	*rs_range;
	size_t		 rs_n;
	size_t		 rs_space;
};

struct unit {
	Dwarf_Die	 un_die;
	struct ranges	 un_functions;
	bool		 un_walked;
	bool		 un_searched;	/* in types and functions, too */
	bool		 un_has_lines;
	bool		 un_jumps;	/* uses DW_AT_sibling */
};

struct prof_lines {
	struct prof_dwarf pl_file;
	struct ranges	 pl_units;	/* ra_die: number of the unit */
	struct unit	*pl_unit;
	size_t		 pl_nunits;
	size_t		 pl_space;
	struct prof_map	 pl_raw;	/* address of a string -> number ... */
	char		**pl_made;	/* ... of what is shown, or NULL */
	size_t		 pl_made_space;
	unsigned	 pl_steps;	/* left for this address or unit */
	uint64_t	 pl_all_steps;	/* left for all of them */
	bool		 pl_limited;	/* something was too much */
};

/* From the function that was compiled inwards. */
struct chain {
	Dwarf_Die	ch_die[MAX_INLINED];
	size_t		ch_n;
};

/* -------------------------------------------------------------- ranges */

/* May so much memory be taken of what the file's size allows? */
static bool
may_take(struct prof_lines *lines, uint64_t bytes)
{
	if (prof_dwarf_charge(&lines->pl_file, bytes))
		return (true);
	lines->pl_limited = true;
	return (false);
}

/* Steps for one address or unit, of those that are left for all. */
static void
steps_begin(struct prof_lines *lines, unsigned steps)
{
	lines->pl_steps = steps < lines->pl_all_steps ? steps :
	    (unsigned)lines->pl_all_steps;
}

/* One of them; false: there is none left. */
static bool
inlined_step(struct prof_lines *lines)
{
	if (lines->pl_all_steps == 0)
		lines->pl_limited = true;
	if (lines->pl_steps == 0 || lines->pl_all_steps == 0)
		return (false);
	lines->pl_steps--;
	lines->pl_all_steps--;
	return (true);
}

/* What a linker left out has addresses at the beginning or the very end. */
static void
add_ranges(struct prof_lines *lines, struct ranges *ranges, Dwarf_Die *die,
    Dwarf_Off name)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	unsigned n;

	for (n = 0; n < MAX_OF_DIE && ranges->rs_n < MAX_RANGES &&
	    (at = dwarf_ranges(die, at, &base, &low, &high)) > 0; n++) {
		if (low == 0 || low >= high ||
		    !may_take(lines, RANGE_BYTES) ||
		    !prof_room(&ranges->rs_range, &ranges->rs_space,
		    ranges->rs_n + 1, sizeof(*ranges->rs_range)))
			continue;
		ranges->rs_range[ranges->rs_n++] =
		    (struct range){ low, high, name };
	}
}

static int
ranges_compare(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->ra_low != b->ra_low)
		return (a->ra_low < b->ra_low ? -1 : 1);
	if (a->ra_high != b->ra_high)
		return (a->ra_high > b->ra_high ? -1 : 1);
	return (a->ra_die < b->ra_die ? -1 : a->ra_die > b->ra_die);
}

static void
sort_ranges(struct ranges *ranges)
{
	if (ranges->rs_n > 0)
		qsort(ranges->rs_range, ranges->rs_n,
		    sizeof(*ranges->rs_range), ranges_compare);
}

/* The innermost range around an address, or NULL. */
static const struct range *
find_range(const struct ranges *ranges, uint64_t address)
{
	size_t low = PROF_BEFORE(i, ranges->rs_n,
	    ranges->rs_range[i].ra_low <= address), n;

	for (n = 0; n < LOOK_BACK && low > 0; n++, low--)
		if (address < ranges->rs_range[low - 1].ra_high)
			return (&ranges->rs_range[low - 1]);
	return (NULL);
}

/* ----------------------------------------------------------------- walk */

/*
 * The next one on the same level.  Where it is may be said by the file
 * (DW_AT_sibling), and only forwards is believed: else a walk might never
 * end.  libdw, passing over children on its way, believes all; so they are
 * gone through before, unless the unit says nothing of the kind.
 */
static bool
next_die(struct prof_lines *lines, const struct unit *unit, Dwarf_Die *die,
    unsigned depth)
{
	Dwarf_Off before = dwarf_dieoffset(die);
	Dwarf_Die child;

	if (depth > MAX_NESTED || !inlined_step(lines))
		return (false);
	if (unit->un_jumps && dwarf_haschildren(die) == 1 &&
	    dwarf_hasattr(die, DW_AT_sibling) == 0 &&
	    dwarf_child(die, &child) == 0) {
		while (next_die(lines, unit, &child, depth + 1))
			continue;
		if (lines->pl_steps == 0)
			return (false);
	}
	return (dwarf_siblingof(die, die) == 0 &&
	    dwarf_dieoffset(die) > before);
}

/* Does any entry of the unit say where the next one is? */
static bool
unit_jumps(struct unit *unit)
{
	unsigned name, form;
	size_t length, n, count;
	Dwarf_Off at = 0;
	Dwarf_Abbrev *abbrev;

	while ((abbrev = dwarf_getabbrev(&unit->un_die, at, &length)) != NULL &&
	    abbrev != DWARF_END_ABBREV) {
		at += length;
		if (dwarf_getattrcnt(abbrev, &count) != 0)
			return (true);
		for (n = 0; n < count; n++)
			if (dwarf_getabbrevattr(abbrev, n, &name, &form,
			    NULL) != 0 || name == DW_AT_sibling)
				return (true);
	}
	return (abbrev == NULL);
}

/* Functions lie in these; with deep, in types and other functions, too. */
static bool
may_hold_functions(int tag, bool deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return (true);
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return (deep);
	default:
		return (false);
	}
}

static void
walk_functions(struct prof_lines *lines, struct unit *unit, Dwarf_Die *parent,
    bool deep, unsigned depth)
{
	Dwarf_Die die;
	int tag;

	if (depth > MAX_NESTED || dwarf_child(parent, &die) != 0)
		return;
	do {
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram)
			add_ranges(lines, &unit->un_functions, &die,
			    dwarf_dieoffset(&die));
		if (may_hold_functions(tag, deep))
			walk_functions(lines, unit, &die, deep, depth + 1);
	} while (next_die(lines, unit, &die, depth));
}

/* The function of a unit around an address. */
static bool
find_function(struct prof_lines *lines, struct unit *unit, uint64_t address,
    Dwarf_Die *function)
{
	const struct range *range;

	if (!unit->un_walked) {
		unit->un_walked = true;
		steps_begin(lines, MAX_WALK);
		walk_functions(lines, unit, &unit->un_die, false, 0);
		sort_ranges(&unit->un_functions);
	}
	range = find_range(&unit->un_functions, address);
	if (range == NULL && !unit->un_searched) {
		unit->un_searched = true;
		unit->un_functions.rs_n = 0;
		steps_begin(lines, MAX_WALK);
		walk_functions(lines, unit, &unit->un_die, true, 0);
		sort_ranges(&unit->un_functions);
		range = find_range(&unit->un_functions, address);
	}
	return (range != NULL && dwarf_offdie(lines->pl_file.pd_dwarf,
	    range->ra_die, function) != NULL);
}

static bool
die_covers(struct prof_lines *lines, Dwarf_Die *die, uint64_t address)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while (inlined_step(lines) &&
	    (at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (address >= low && address < high)
			return (true);
	}
	return (false);
}

/* From the function inwards, as long as something covers the address. */
static void
find_inlined(struct prof_lines *lines, const struct unit *unit,
    uint64_t address, struct chain *chain)
{
	Dwarf_Die die, parent = chain->ch_die[0];
	unsigned depth;
	int tag;

	steps_begin(lines, MAX_STEPS);
	for (depth = 0; depth < MAX_NESTED * 4; depth++) {
		if (dwarf_child(&parent, &die) != 0)
			return;
		for (;;) {
			tag = dwarf_tag(&die);
			if ((tag == DW_TAG_inlined_subroutine ||
			    tag == DW_TAG_lexical_block) &&
			    die_covers(lines, &die, address))
				break;
			if (!next_die(lines, unit, &die, 0))
				return;
		}
		if (tag == DW_TAG_inlined_subroutine) {
			if (chain->ch_n == MAX_INLINED)
				return;
			chain->ch_die[chain->ch_n++] = die;
		}
		parent = die;
	}
}

/* ---------------------------------------------------------------- names */

/*
 * What was made of a string of the file, which lives as long as the file is
 * open; NULL: no memory.
 */
static char **
made_of(struct prof_lines *lines, const char *raw, bool *is_new)
{
	uint32_t n;

	if (!prof_room(&lines->pl_made, &lines->pl_made_space,
	    (size_t)lines->pl_raw.mp_count + 1, sizeof(*lines->pl_made)))
		return (NULL);
	n = prof_map_find(&lines->pl_raw, (uintptr_t)raw, is_new);
	if (n == PROF_INTERN_FAILED)
		return (NULL);
	if (*is_new)
		lines->pl_made[n] = NULL;
	return (&lines->pl_made[n]);
}

/*
 * Any number of names may begin in one long string; NULL: that would be too
 * much.
 */
static const char *
shown_name(struct prof_lines *lines, const char *raw)
{
	bool is_new;
	char **made = made_of(lines, raw, &is_new);

	if (made == NULL)
		return (raw);
	if (is_new && !may_take(lines, NAME_BYTES + 2 * strlen(raw)))
		return (NULL);
	if (is_new)
		*made = prof_demangle(raw);
	return (*made == NULL ? raw : *made);
}

/* With the directory in which the compiler ran, where it is relative. */
static const char *
shown_file(struct prof_lines *lines, struct unit *unit, const char *raw)
{
	Dwarf_Attribute attribute;
	const char *dir;
	char **made;
	bool is_new;

	if (raw == NULL || raw[0] == '/')
		return (raw);
	made = made_of(lines, raw, &is_new);
	if (made == NULL)
		return (raw);
	if (is_new) {
		dir = dwarf_formstring(dwarf_attr(&unit->un_die,
		    DW_AT_comp_dir, &attribute));
		if (dir == NULL || !may_take(lines, NAME_BYTES +
		    strlen(dir) + strlen(raw)) ||
		    asprintf(made, "%s/%s", dir, raw) == -1)
			*made = NULL;
	}
	return (*made == NULL ? raw : *made);
}

static const char *
function_name(struct prof_lines *lines, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *raw = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name,
	    &attribute) != NULL)
		raw = dwarf_formstring(&attribute);
	if (raw == NULL)
		raw = dwarf_diename(die);
	return (raw == NULL ? NULL : shown_name(lines, raw));
}

/* The line of the instruction. */
static void
line_at(struct prof_lines *lines, struct unit *unit, uint64_t address,
    struct prof_line *out)
{
	Dwarf_Line *line;
	int number;

	out->ln_file = NULL;
	out->ln_number = 0;
	if (!unit->un_has_lines)
		return;
	line = dwarf_getsrc_die(&unit->un_die, address);
	if (line == NULL)
		return;
	out->ln_file = shown_file(lines, unit,
	    dwarf_linesrc(line, NULL, NULL));
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		out->ln_number = (unsigned)number;
}

/* The line of the call that an inlined function stands for. */
static void
line_of_call(struct prof_lines *lines, struct unit *unit, Dwarf_Die *inlined,
    struct prof_line *out)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	Dwarf_Files *files;
	size_t count;

	out->ln_file = NULL;
	out->ln_number = 0;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute),
	    &value) == 0 && value <= INT32_MAX)
		out->ln_number = (unsigned)value;
	if (unit->un_has_lines &&
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute),
	    &value) == 0 &&
	    dwarf_getsrcfiles(&unit->un_die, &files, &count) == 0 &&
	    value < count)
		out->ln_file = shown_file(lines, unit,
		    dwarf_filesrc(files, value, NULL, NULL));
}

/* ---------------------------------------------------------------- whole */

/* Bytes of a unit's line program; 0: it has none, or one that is too long. */
static uint32_t
program_size(const struct prof_lines *lines, struct unit *unit)
{
	const Elf_Data *data = lines->pl_file.pd_lines;
	Dwarf_Attribute attribute;
	Dwarf_Word at;
	uint32_t length;

	if (data == NULL || dwarf_formudata(dwarf_attr(&unit->un_die,
	    DW_AT_stmt_list, &attribute), &at) != 0 ||
	    data->d_size < sizeof(length) || at > data->d_size - sizeof(length))
		return (0);
	memcpy(&length, (const char *)data->d_buf + at, sizeof(length));
	return (length <= MAX_LINES ? length : 0);
}

/*
 * Run it.  A byte of it may become a line, which takes more memory while it
 * runs than what is kept.
 */
static bool
has_lines(struct prof_lines *lines, struct unit *unit)
{
	const uint64_t most = (uint64_t)program_size(lines, unit) * ROW_BYTES;
	struct prof_dwarf *file = &lines->pl_file;
	Dwarf_Lines *table;
	size_t n;

	if (most == 0 || !may_take(lines, most))
		return (false);
	if (dwarf_getsrclines(&unit->un_die, &table, &n) != 0)
		n = 0;
	if (n < most / LINE_BYTES)
		file->pd_memory += most - n * LINE_BYTES;
	return (n > 0);
}

/* What is known of a unit before its functions are; false: too much. */
static bool
look_at_unit(struct prof_lines *lines, struct unit *unit)
{
	Dwarf_Off abbrevs;
	Dwarf_Die die;

	if (dwarf_cu_die(unit->un_die.cu, &die, NULL, &abbrevs, NULL, NULL,
	    NULL, NULL) == NULL)
		return (false);
	if (!prof_dwarf_charge_abbrevs(&lines->pl_file, abbrevs)) {
		lines->pl_limited = true;
		return (false);
	}
	unit->un_jumps = unit_jumps(unit);
	unit->un_has_lines = has_lines(lines, unit);
	return (true);
}

static bool
add_unit(struct prof_lines *lines, Dwarf_Die *die)
{
	struct unit *unit;

	if (!prof_room(&lines->pl_unit, &lines->pl_space,
	    lines->pl_nunits + 1, sizeof(*unit)))
		return (false);
	unit = &lines->pl_unit[lines->pl_nunits];
	memset(unit, 0, sizeof(*unit));
	unit->un_die = *die;
	add_ranges(lines, &lines->pl_units, die, lines->pl_nunits++);
	return (true);
}

static bool
read_units(struct prof_lines *lines)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (dwarf_get_units(lines->pl_file.pd_dwarf, unit, &unit, NULL,
	    &type, &die, NULL) == 0)
		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    dwarf_tag(&die) == DW_TAG_compile_unit &&
		    !add_unit(lines, &die))
			return (false);
	sort_ranges(&lines->pl_units);
	return (lines->pl_units.rs_n > 0);
}

struct prof_lines *
prof_lines_open(int fd, const char *debug_dirs)
{
	struct prof_lines *lines = calloc(1, sizeof(*lines));
	bool limited;

	if (lines == NULL)
		return (NULL);
	if (!prof_dwarf_open(&lines->pl_file, fd, debug_dirs)) {
		errno = lines->pl_file.pd_refused ? EFBIG : 0;
		free(lines);
		return (NULL);
	}
	lines->pl_all_steps = STEPS_FIRST + STEPS_PER_BYTE *
	    (lines->pl_file.pd_size & (UINT64_MAX >> 8));
	if (!prof_dwarf_charge_units(&lines->pl_file))
		lines->pl_limited = true;
	else if (read_units(lines))
		return (lines);
	limited = lines->pl_limited;
	prof_lines_close(lines);
	errno = limited ? EFBIG : 0;
	return (NULL);
}

bool
prof_lines_limited(const struct prof_lines *lines)
{
	return (lines->pl_limited);
}

void
prof_lines_close(struct prof_lines *lines)
{
	size_t n;

	if (lines == NULL)
		return;
	for (n = 0; n < lines->pl_nunits; n++)
		free(lines->pl_unit[n].un_functions.rs_range);
	for (n = 0; n < lines->pl_raw.mp_count; n++)
		free(lines->pl_made[n]);
	free(lines->pl_made);
	prof_map_free(&lines->pl_raw);
	free(lines->pl_unit);
	free(lines->pl_units.rs_range);
	prof_dwarf_close(&lines->pl_file);
	free(lines);
}

/* Innermost first: each function at the line where it calls the one before. */
static size_t
place_describe(struct prof_lines *lines, struct unit *unit, uint64_t address,
    struct chain *chain, struct prof_line *out, size_t max)
{
	size_t n, from;

	for (n = 0; n < max && n < chain->ch_n; n++) {
		from = chain->ch_n - 1 - n;
		out[n].ln_function = function_name(lines,
		    &chain->ch_die[from]);
		if (n == 0)
			line_at(lines, unit, address, &out[n]);
		else
			line_of_call(lines, unit, &chain->ch_die[from + 1],
			    &out[n]);
	}
	return (n);
}

/* The unit of an address, looked at; NULL: there is none, or too much of it. */
static struct unit *
unit_of(struct prof_lines *lines, uint64_t address)
{
	const struct range *range = find_range(&lines->pl_units, address);
	struct unit *unit;

	if (range == NULL)
		return (NULL);
	unit = &lines->pl_unit[range->ra_die];
	lines->pl_all_steps += STEPS_PER_ADDRESS;
	if (!unit->un_walked && !look_at_unit(lines, unit)) {
		unit->un_walked = unit->un_searched = true;
		return (NULL);
	}
	return (unit);
}

bool
prof_lines_function(struct prof_lines *lines, uint64_t address,
    Dwarf_Die *function)
{
	struct unit *unit = unit_of(lines, address);
	Dwarf_Addr entry;

	return (unit != NULL &&
	    find_function(lines, unit, address, function) &&
	    dwarf_entrypc(function, &entry) == 0 && entry == address);
}

size_t
prof_lines_parts(struct prof_lines *lines, Dwarf_Die *of, int tag,
    Dwarf_Die *part, size_t max)
{
	const struct unit all = { .un_jumps = true };
	Dwarf_Die die;
	size_t n = 0;

	steps_begin(lines, MAX_STEPS);
	if (dwarf_child(of, &die) != 0)
		return (0);
	do {
		if (dwarf_tag(&die) == tag)
			part[n++] = die;
	} while (n < max && next_die(lines, &all, &die, 0));
	return (n);
}

size_t
prof_lines_find(struct prof_lines *lines, uint64_t address,
    struct prof_line *out, size_t max)
{
	struct chain chain = { .ch_n = 1 };
	struct unit *unit = unit_of(lines, address);

	if (unit == NULL)
		return (0);
	if (!find_function(lines, unit, address, &chain.ch_die[0])) {
		if (max == 0)
			return (0);
		out->ln_function = NULL;
		line_at(lines, unit, address, out);
		return (out->ln_file != NULL);
	}
	find_inlined(lines, unit, address, &chain);
	return (place_describe(lines, unit, address, &chain, out, max));
}
