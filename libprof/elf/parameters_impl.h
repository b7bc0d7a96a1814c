/* SPDX-License-Identifier: ISC */
/* What parameters.c (of functions) and members.c (of structures) share. */
#ifndef PARAMETERS_IMPL_H
#define PARAMETERS_IMPL_H

#include "lines_impl.h"
#include "sites.h"

/* What the ABI makes of a type. */
enum prof_passed { PASSED_INTEGER, PASSED_FLOAT, PASSED_OTHER };

/* Through typedefs and qualifiers; false: void, or damaged. */
bool	prof_type_of(Dwarf_Die *of, Dwarf_Die *type);
/* With its size, sign and name. */
enum prof_passed prof_type_passed(Dwarf_Die *type,
	    struct prof_site_parameter *parameter);
/*
 * members.c: ".next->length" of a parameter of that type; false: there is no
 * such member, or it is no integer, pointer or array of characters.
 */
bool	prof_member_find(struct prof_lines *lines, Dwarf_Die *type,
	    const char *path, struct prof_site_parameter *found);

#endif /* PARAMETERS_IMPL_H */
