/* SPDX-License-Identifier: ISC */
/*
 * Members of structures that parameters point to, by path: "request.next.id",
 * where "." is "->" as well.  Members of base classes and of unnamed
 * structures and unions are the structure's own.
 *
 * Called by parameters.c in a parser; the debug information may say anything.
 */
#include <string.h>

#include <dwarf.h>

#include "parameters_impl.h"

#define MOST_MEMBERS	256
#define MOST_NESTED	8	/* base classes, unnamed structures */
#define MOST_OFFSET	(1u << 28)

/* Where a path stands: so far behind the last pointer, and what is there. */
struct walk {
	struct prof_lines *wk_lines;
	struct prof_site_parameter *wk_found;
	Dwarf_Die	 wk_type;
	uint64_t	 wk_offset;
};

static bool
is_structure(Dwarf_Die *type)
{
	const int tag = dwarf_tag(type);

	return (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	    tag == DW_TAG_union_type);
}

static bool
is_pointer(Dwarf_Die *type)
{
	const int tag = dwarf_tag(type);

	return (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	    tag == DW_TAG_rvalue_reference_type);
}

/* One more load, after which the address is at hand. */
static bool
load_add(struct walk *walk)
{
	struct prof_site_parameter *found = walk->wk_found;

	if (found->sp_nloads == DTP_MAX_DEREF)
		return (false);
	found->sp_off[found->sp_nloads++] = (uint32_t)walk->wk_offset;
	walk->wk_offset = 0;
	return (true);
}

/* Where a member is in its structure; false: it is a part of a word. */
static bool
offset_of(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word word = 0;

	if (dwarf_hasattr(member, DW_AT_bit_size))
		return (false);
	/* Of a union there is none; a location that is computed is virtual. */
	if (dwarf_attr(member, DW_AT_data_member_location, &attribute) !=
	    NULL && dwarf_formudata(&attribute, &word) != 0)
		return (false);
	*offset += word;
	return (*offset < MOST_OFFSET);
}

/* A member by its name; its type and place in the walk. */
static bool
member_find(struct walk *walk, const char *name, size_t length, int depth)
{
	static const int tags[] = { DW_TAG_member, DW_TAG_inheritance };
	const struct walk before = *walk;
	Dwarf_Die part[MOST_MEMBERS];

	for (size_t t = 0; t < 2 && depth < MOST_NESTED; t++) {
		const size_t n = prof_lines_parts(walk->wk_lines,
		    &walk->wk_type, tags[t], part, MOST_MEMBERS);

		for (size_t i = 0; i < n; i++) {
			const char *own = t == 1 ? NULL :
			    dwarf_diename(&part[i]);

			*walk = before;
			if (own != NULL && (strlen(own) != length ||
			    strncmp(own, name, length) != 0))
				continue;
			if (!offset_of(&part[i], &walk->wk_offset) ||
			    !prof_type_of(&part[i], &walk->wk_type))
				continue;
			if (own != NULL || (is_structure(&walk->wk_type) &&
			    member_find(walk, name, length, depth + 1)))
				return (true);
		}
	}
	*walk = before;
	return (false);
}

/* The text in an array of characters is where the array is. */
static bool
array_end(struct walk *walk)
{
	struct prof_site_parameter *found = walk->wk_found, one = { 0 };
	Dwarf_Die element;

	if (!prof_type_of(&walk->wk_type, &element) ||
	    prof_type_passed(&element, &one) != PASSED_INTEGER ||
	    one.sp_size != 1)
		return (false);
	found->sp_after = (uint32_t)walk->wk_offset;
	found->sp_size = 8;
	found->sp_is_signed = 0;
	memcpy(found->sp_type, "char []", sizeof("char []"));
	return (true);
}

static bool
walk_end(struct walk *walk)
{
	struct prof_site_parameter *found = walk->wk_found;

	if (dwarf_tag(&walk->wk_type) == DW_TAG_array_type)
		return (array_end(walk));
	found->sp_is_signed = 0;
	return (prof_type_passed(&walk->wk_type, found) == PASSED_INTEGER &&
	    load_add(walk));
}

bool
prof_member_find(struct prof_lines *lines, Dwarf_Die *type, const char *path,
    struct prof_site_parameter *found)
{
	struct walk walk = { .wk_lines = lines, .wk_found = found,
	    .wk_type = *type };
	size_t length;
	bool is_first = true;

	while (*path != '\0') {
		path += *path == '.' ? 1 : strncmp(path, "->", 2) == 0 ? 2 : 0;
		length = strcspn(path, ".-");
		if (is_pointer(&walk.wk_type)) {
			Dwarf_Die to;

			/* The first is in a register. */
			if ((!is_first && !load_add(&walk)) ||
			    !prof_type_of(&walk.wk_type, &to))
				return (false);
			walk.wk_type = to;
		}
		if (length == 0 || !is_structure(&walk.wk_type) ||
		    !member_find(&walk, path, length, 0))
			return (false);
		path += length;
		is_first = false;
	}
	return (walk_end(&walk));
}
