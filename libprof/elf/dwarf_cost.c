/* SPDX-License-Identifier: ISC */
/*
 * What libdw makes in memory of a file's DWARF when units are walked through.
 * For each unit it keeps a description, and of the unit's abbreviations all up
 * to those that it was asked for; any number of units may share one table of
 * them, and each makes its own copy.  So a small file can be made to take any
 * memory, and what it will be is added up here before libdw is asked.
 *
 *	.debug_info	| head, code of its first entry, ... | head, ...
 *	.debug_abbrev	| code, tag, (name, form) ..., 0, 0 | ... | 0
 *
 * Called by lines.c.
 */
#include <dwarf.h>
#include <string.h>

#include "base/cursor.h"
#include "dwarf_file.h"

#define UNIT_BYTES	384	/* of libdw's description, and of ours */
#define ABBREV_BYTES	96	/* of a copy, and its place in a table */

/* A unit's head. */
struct head {
	uint64_t	 he_abbrevs;	/* where they are */
	uint64_t	 he_code;	/* of its first entry */
};

/* Past one abbreviation; false: there is none. */
static bool
abbrev_skip(struct cursor *cu, uint64_t *code)
{
	uint64_t name, form;

	*code = cursor_uleb(cu);
	if (*code == 0 || cu->cu_over)
		return (false);
	(void)cursor_uleb(cu);		/* the tag */
	(void)cursor_fixed(cu, 1);	/* has it children? */
	do {
		name = cursor_uleb(cu);
		form = cursor_uleb(cu);
		if (form == DW_FORM_implicit_const)
			(void)cursor_sleb(cu);
	} while ((name != 0 || form != 0) && !cu->cu_over);
	return (!cu->cu_over);
}

/* Those that libdw reads until it finds one; SIZE_MAX: all of them. */
static bool
charge_until(struct prof_dwarf *file, uint64_t offset, uint64_t wanted)
{
	const Elf_Data *data = file->pd_abbrevs;
	const uint8_t *from;
	struct cursor cu;
	uint64_t code;

	if (data == NULL || data->d_buf == NULL || offset >= data->d_size)
		return (true);
	cu.cu_at = (const uint8_t *)data->d_buf + offset;
	cu.cu_end = (const uint8_t *)data->d_buf + data->d_size;
	cu.cu_over = false;
	do {
		from = cu.cu_at;
		if (!abbrev_skip(&cu, &code))
			return (true);
		/* One may be long, which takes time. */
		if (!prof_dwarf_charge(file, ABBREV_BYTES +
		    (uint64_t)(cu.cu_at - from)))
			return (false);
	} while (code != wanted);
	return (true);
}

bool
prof_dwarf_charge_abbrevs(struct prof_dwarf *file, Dwarf_Off offset)
{
	return (charge_until(file, offset, UINT64_MAX));
}

/* Behind its length; false: libdw goes no further. */
static bool
head_read(struct cursor *cu, size_t offset_size, bool is_types,
    struct head *head)
{
	const uint64_t version = cursor_fixed(cu, 2);
	uint64_t type;

	if (version < 2 || version > 5)
		return (false);
	if (version < 5) {
		head->he_abbrevs = cursor_fixed(cu, offset_size);
		cursor_skip(cu, 1);
		type = is_types ? DW_UT_type : DW_UT_compile;
	} else {
		type = cursor_fixed(cu, 1);
		cursor_skip(cu, 1);
		head->he_abbrevs = cursor_fixed(cu, offset_size);
	}
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		cursor_skip(cu, 8);
	else if (type == DW_UT_type || type == DW_UT_split_type)
		cursor_skip(cu, 8 + offset_size);
	head->he_code = cursor_uleb(cu);
	return (true);
}

static bool
charge_section(struct prof_dwarf *file, const Elf_Data *data, bool is_types)
{
	struct cursor cu = { .cu_at = data->d_buf }, unit;
	struct head head = { 0, 0 };
	uint64_t length;
	size_t offset_size;

	cu.cu_end = cu.cu_at + data->d_size;
	while (cu.cu_at < cu.cu_end) {
		offset_size = 4;
		length = cursor_fixed(&cu, 4);
		if (length == 0xffffffff) {
			offset_size = 8;
			length = cursor_fixed(&cu, 8);
		}
		unit = cu;
		cursor_skip(&cu, length);
		if (!prof_dwarf_charge(file, UNIT_BYTES))
			return (false);
		if (cu.cu_over)
			return (true);
		unit.cu_end = cu.cu_at;
		if (!head_read(&unit, offset_size, is_types, &head))
			return (true);
		if (!unit.cu_over && !charge_until(file, head.he_abbrevs,
		    head.he_code))
			return (false);
	}
	return (true);
}

bool
prof_dwarf_charge_units(struct prof_dwarf *file)
{
	return ((file->pd_infos == NULL || charge_section(file,
	    file->pd_infos, false)) && (file->pd_types == NULL ||
	    charge_section(file, file->pd_types, true)));
}
