/* SPDX-License-Identifier: ISC */
/*
 * Parameters of a function, by its debug information: names, types, and in
 * which of the registers that the ABI has for integers and pointers each is
 * where the function begins.
 *
 * Only what is sure: none behind one that is a structure or an integer of more
 * than a register, none of a function that returns a structure, which the
 * caller may have passed the place of, none of copies that the compiler has
 * made for some callers; and of a function that no other file calls, whose
 * parameters the compiler may have moved, only those of which the debug
 * information says that they are there.
 *
 * Called by sites.c; members.c follows paths into them.
 */
#include <stdio.h>
#include <string.h>

#include <dwarf.h>

#include "parameters_impl.h"
#include "sites_impl.h"

#define MOST_PARAMETERS	64
#define MOST_TYPES	32	/* typedefs and qualifiers of one type */

/* Of DWARF, by the place among the arguments. */
static const uint8_t registers_x86_64[] = { 5, 4, 1, 2, 8, 9 };
static const uint8_t registers_arm64[] = { 0, 1, 2, 3, 4, 5 };

bool
prof_type_of(Dwarf_Die *of, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	int tag = DW_TAG_typedef;

	*type = *of;
	for (int n = 0; n < MOST_TYPES && (n == 0 || tag == DW_TAG_typedef ||
	    tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	    tag == DW_TAG_restrict_type); n++) {
		if (dwarf_attr_integrate(type, DW_AT_type, &attribute) ==
		    NULL || dwarf_formref_die(&attribute, type) == NULL)
			return (false);
		tag = dwarf_tag(type);
	}
	return (true);
}

static bool
encoding_is_signed(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;

	return (dwarf_formudata(dwarf_attr_integrate(type, DW_AT_encoding,
	    &attribute), &encoding) == 0 && (encoding == DW_ATE_signed ||
	    encoding == DW_ATE_signed_char));
}

static bool
encoding_is_float(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;

	return (dwarf_formudata(dwarf_attr_integrate(type, DW_AT_encoding,
	    &attribute), &encoding) != 0 || encoding == DW_ATE_float ||
	    encoding == DW_ATE_complex_float);
}

/* As C writes it, near enough: "const" is left out. */
static void
type_print(Dwarf_Die *type, char *out, size_t size)
{
	const char *name = dwarf_diename(type), *kind = "";
	Dwarf_Die to;

	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
		name = prof_type_of(type, &to) ? dwarf_diename(&to) : "void";
		snprintf(out, size, "%.20s *", name == NULL ? "void" : name);
		return;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		name = prof_type_of(type, &to) ? dwarf_diename(&to) : NULL;
		snprintf(out, size, "%.20s &", name == NULL ? "..." : name);
		return;
	case DW_TAG_enumeration_type:
		kind = "enum ";
		break;
	default:
		break;
	}
	snprintf(out, size, "%s%.24s", kind, name == NULL ? "..." : name);
}

enum prof_passed
prof_type_passed(Dwarf_Die *type, struct prof_site_parameter *parameter)
{
	const int bytes = dwarf_bytesize(type);
	Dwarf_Die under;

	type_print(type, parameter->sp_type, sizeof(parameter->sp_type));
	parameter->sp_size = 8;
	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return (PASSED_INTEGER);
	case DW_TAG_base_type:
		parameter->sp_is_signed = encoding_is_signed(type);
		if (encoding_is_float(type))
			return (bytes == 4 || bytes == 8 ? PASSED_FLOAT :
			    PASSED_OTHER);
		break;
	case DW_TAG_enumeration_type:
		/* Compilers say it of one or the other. */
		parameter->sp_is_signed = encoding_is_signed(
		    prof_type_of(type, &under) ? &under : type);
		break;
	default:
		return (PASSED_OTHER);
	}
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return (PASSED_OTHER);
	parameter->sp_size = (uint8_t)bytes;
	return (PASSED_INTEGER);
}

/* The register that the debug information says; -1: it says none. */
static int
register_of(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *expression;
	size_t length;

	if (dwarf_attr(die, DW_AT_location, &attribute) == NULL ||
	    dwarf_getlocation_addr(&attribute, address, &expression, &length,
	    1) != 1 || length != 1 || expression[0].atom < DW_OP_reg0 ||
	    expression[0].atom > DW_OP_reg31)
		return (-1);
	return (expression[0].atom - DW_OP_reg0);
}

/* The parameters that were compiled are those that were written. */
static bool
are_as_written(struct prof_lines *lines, Dwarf_Die *function,
    Dwarf_Die *parameter, size_t n)
{
	Dwarf_Die origin, written[MOST_PARAMETERS], one;
	Dwarf_Attribute attribute;

	if (dwarf_attr(function, DW_AT_abstract_origin, &attribute) == NULL)
		return (true);
	if (dwarf_formref_die(&attribute, &origin) == NULL ||
	    prof_lines_parts(lines, &origin, DW_TAG_formal_parameter, written,
	    MOST_PARAMETERS) != n)
		return (false);
	for (size_t i = 0; i < n; i++)
		if (dwarf_attr(&parameter[i], DW_AT_abstract_origin,
		    &attribute) == NULL ||
		    dwarf_formref_die(&attribute, &one) == NULL ||
		    dwarf_dieoffset(&one) != dwarf_dieoffset(&written[i]))
			return (false);
	return (true);
}

/* What it returns: false, if the caller may have passed a place for it. */
static bool
result_find(Dwarf_Die *function, struct prof_site *site)
{
	struct prof_site_parameter result = { 0 };
	Dwarf_Die type;

	if (!prof_type_of(function, &type))
		return (!dwarf_hasattr_integrate(function, DW_AT_type));
	switch (prof_type_passed(&type, &result)) {
	case PASSED_INTEGER:
		site->si_result = result;
		return (true);
	case PASSED_FLOAT:
		return (true);
	default:
		return (false);
	}
}

static bool
is_there(const struct prof_site *site, const char *name)
{
	for (uint32_t n = 0; n < site->si_nparameters; n++)
		if (strcmp(site->si_parameter[n].sp_name, name) == 0)
			return (true);
	return (false);
}

/*
 * One that is in a register for sure: all that is wanted of it, or, where
 * nobody says what, it.
 */
static void
parameter_add(struct prof_lines *lines, const struct prof_sites_want *want,
    Dwarf_Die *type, const struct prof_site_parameter *one,
    struct prof_site *site)
{
	const char *word = want->sw_words, *end;
	size_t length;

	if (word == NULL) {
		site->si_parameter[site->si_nparameters++] = *one;
		return;
	}
	for (; *word != '\0' && site->si_nparameters < PROF_SITE_PARAMETERS;
	    word = end + (*end == ',')) {
		struct prof_site_parameter found = *one;

		end = word + strcspn(word, ",");
		length = strcspn(word, ",.-");
		if (length != strlen(one->sp_name) ||
		    strncmp(word, one->sp_name, length) != 0 ||
		    (size_t)(end - word) >= sizeof(found.sp_name))
			continue;
		memcpy(found.sp_name, word, (size_t)(end - word));
		found.sp_name[end - word] = '\0';
		/* str(path) and path are one. */
		if (!is_there(site, found.sp_name) && (word + length == end ||
		    prof_member_find(lines, type, found.sp_name + length,
		    &found)))
			site->si_parameter[site->si_nparameters++] = found;
	}
}

static void
function_describe(struct prof_lines *lines, const struct prof_elf *elf,
    const struct prof_sites_want *want, Dwarf_Die *function,
    struct prof_site *site)
{
	const uint8_t *registers = elf->el_machine == EM_AARCH64 ?
	    registers_arm64 : registers_x86_64;
	const uint64_t address = prof_elf_address(elf, site->si_offset);
	const bool is_own = !dwarf_hasattr_integrate(function,
	    DW_AT_external);
	Dwarf_Die parameter[MOST_PARAMETERS], type;
	const size_t n = prof_lines_parts(lines, function,
	    DW_TAG_formal_parameter, parameter, MOST_PARAMETERS);
	uint8_t place = 0;
	int reg = -1;

	if (!result_find(function, site) ||
	    !are_as_written(lines, function, parameter, n))
		return;
	for (size_t i = 0; i < n && place < sizeof(registers_x86_64) &&
	    site->si_nparameters < PROF_SITE_PARAMETERS; i++) {
		struct prof_site_parameter one = { .sp_place = place };
		const char *name = dwarf_diename(&parameter[i]);
		enum prof_passed passed = prof_type_of(&parameter[i], &type) ?
		    prof_type_passed(&type, &one) : PASSED_OTHER;

		if (passed == PASSED_OTHER)
			return;
		if (passed == PASSED_INTEGER) {
			reg = register_of(&parameter[i], address);
			/* Compiled with other ones than were written. */
			if (reg != -1 && reg != registers[place]) {
				site->si_nparameters = 0;
				return;
			}
		}
		place += passed == PASSED_INTEGER;
		if (passed == PASSED_FLOAT || name == NULL ||
		    strlen(name) >= sizeof(one.sp_name) ||
		    (is_own && reg == -1))
			continue;
		memcpy(one.sp_name, name, strlen(name));
		parameter_add(lines, want, &type, &one, site);
	}
}

void
prof_parameters_find(struct prof_elf *elf, int fd,
    const struct prof_sites_want *want, struct prof_sites *sites)
{
	struct prof_lines *lines = prof_lines_open(fd, NULL);
	Dwarf_Die function;

	for (size_t n = 0; n < sites->st_n && lines != NULL; n++) {
		struct prof_site *site = &sites->st_site[n];

		/* A copy for some callers, which has other ones. */
		if (site->si_flags & PROF_SITE_COPY)
			continue;
		if (prof_lines_function(lines, prof_elf_address(elf,
		    site->si_offset), &function))
			function_describe(lines, elf, want, &function, site);
	}
	prof_lines_close(lines);
}
