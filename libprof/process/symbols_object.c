/* SPDX-License-Identifier: ISC */
/*
 * Names of objects in memory, such as locks that threads wait for.  Mappings of
 * code are recorded, and where the code of a file is, its data is, too:
 *
 *	in memory				in the file
 *	0x55f0c0de1000	code			0x1000
 *	0x55f0c0de4060	queue_lock		0x4060
 *
 * That is "queue_lock (server+0x4060)": objects in a file may have the same
 * name, and the same program has other addresses each time.
 *
 * The names are read from files, so a file must be there still, as it was.
 * The code of a file is expected below its data, where linkers put it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "elf/demangle.h"
#include "symbols_impl.h"

static char *
object_text(const struct prof_image *image, const struct prof_symbol *symbol,
    uint64_t address)
{
	const char *slash = strrchr(image->im_path, '/');
	char *name = prof_demangle(symbol->sy_name), within[32] = "", *text;

	if (address != symbol->sy_address)
		snprintf(within, sizeof(within), "+0x%" PRIx64,
		    address - symbol->sy_address);
	if (asprintf(&text, "%s%s (%s+0x%" PRIx64 ")", name == NULL ?
	    symbol->sy_name : name, within, slash == NULL ? image->im_path :
	    slash + 1, address) == -1)
		text = NULL;
	free(name);
	return (text);
}

/* NULL: not known. */
static char *
object_find(struct prof_symbols *symbols, uint32_t space, uint64_t address)
{
	struct prof_mapping mapping;
	struct prof_module *module;
	struct prof_symbol symbol;
	uint64_t start;

	if (symbols->sy_is_live || !prof_processes_below(
	    symbols->sy_processes, space, address, &mapping))
		return (NULL);
	module = &symbols->sy_module[mapping.mp_image];
	if (!prof_module_address(module, &symbols->sy_files,
	    mapping.mp_offset, &start))
		return (NULL);
	address = address - mapping.mp_start + start;
	return (prof_module_object(module, &symbols->sy_files, address,
	    &symbol) ? object_text(module->mo_image, &symbol, address) : NULL);
}

const char *
prof_symbols_object(struct prof_symbols *symbols, uint32_t space,
    const char *text)
{
	const struct {
		uint64_t	ky_address;
		uint64_t	ky_space;
	} key = { strtoull(text, NULL, 16), space };
	char **object;
	bool is_new;
	uint32_t n;

	if (strncmp(text, "0x", 2) != 0)
		return (text);
	n = prof_dict_find(&symbols->sy_by_object, &key, sizeof(key), &is_new);
	if (n == PROF_INTERN_FAILED)
		return (text);
	if (is_new) {
		object = prof_grow(&symbols->sy_object, &symbols->sy_nobjects,
		    &symbols->sy_cap_objects, sizeof(*object));
		if (object == NULL)
			return (text);
		*object = object_find(symbols, space, key.ky_address);
	}
	return (n >= symbols->sy_nobjects || symbols->sy_object[n] == NULL ?
	    text : symbols->sy_object[n]);
}

void
prof_symbols_forget_objects(struct prof_symbols *symbols)
{
	for (size_t n = 0; n < symbols->sy_nobjects; n++)
		free(symbols->sy_object[n]);
	free(symbols->sy_object);
	prof_dict_free(&symbols->sy_by_object);
}
