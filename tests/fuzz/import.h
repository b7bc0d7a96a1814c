/* SPDX-License-Identifier: ISC */
/*
 * What fuzzers of imports ask of descriptions and of tables, whatever the
 * format; and how an import ends that nobody allocated.
 */
#ifndef FUZZ_IMPORT_H
#define FUZZ_IMPORT_H

#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "recording/table.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static inline int
check_info(void *arg, const char *key, const char *value)
{
	(void)arg;
	return (key[0] == '\0' || value == NULL ? -1 : 0);
}

static inline int
check_symbols(void *arg, const void *body, size_t len)
{
	struct prof_cur cur = prof_cur_of(body, len);
	struct prof_table_function function;
	struct prof_table table;

	(void)arg;
	if (prof_table_unpack(&cur, &table) != 1)
		abort();
	while (prof_table_unpack_function(&cur, &table, &function) == 1)
		if (function.tf_name[0] == '\0' || function.tf_size == 0)
			abort();
	return (0);
}

static inline void
forget_notes(struct prof_import *import)
{
	while (import->im_nnotes > 0)
		free(import->im_notes[--import->im_nnotes]);
	free(import->im_notes);
}

#endif /* FUZZ_IMPORT_H */
