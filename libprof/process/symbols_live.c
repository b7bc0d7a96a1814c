/* SPDX-License-Identifier: ISC */
/*
 * See symbols_live.h.  Mappings are asked by process and time instead of by
 * spaces, which there are only of a past that is known as a whole; tables come
 * while it is asked, each function once.  What JITs have made has no names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "symbols_impl.h"
#include "symbols_live.h"

#define IMAGES_BYTES	(64u << 20)	/* files that are told apart */
#define MAX_ASKED	(1u << 20)	/* places that are remembered */

struct prof_symbols *
prof_symbols_live(bool is_perf, struct prof_err *error)
{
	struct prof_symbols *symbols = calloc(1, sizeof(*symbols));

	if (symbols == NULL ||
	    prof_images_init(&symbols->sy_images, IMAGES_BYTES) == -1) {
		free(symbols);
		prof_fail_nomem(error);
		return (NULL);
	}
	symbols->sy_is_live = true;
	symbols->sy_files.mf_none = true;
	symbols->sy_until_ns = UINT64_MAX;
	symbols->sy_processes = prof_processes_new(PROF_PROCESSES_NOW |
	    (is_perf ? PROF_PROCESSES_PERF : 0u), PROF_PROCESSES_MOST_NOW);
	symbols->sy_kernel = prof_kernel_map_new();
	if (symbols->sy_processes == NULL || symbols->sy_kernel == NULL ||
	    prof_symbols_first(symbols, error) == -1) {
		prof_fail_nomem(error);
		prof_symbols_close(symbols);
		return (NULL);
	}
	return (symbols);
}

/* A module for each image; images may have moved. */
static int
modules_follow(struct prof_symbols *symbols)
{
	const uint32_t n = symbols->sy_images.is_n;
	struct prof_module *grown;

	if (n == symbols->sy_nmodules)
		return (0);
	grown = reallocarray(symbols->sy_module, n, sizeof(*grown));
	if (grown == NULL)
		return (-1);
	memset(&grown[symbols->sy_nmodules], 0,
	    (n - symbols->sy_nmodules) * sizeof(*grown));
	symbols->sy_module = grown;
	symbols->sy_nmodules = n;
	for (uint32_t i = 0; i < n; i++)
		grown[i].mo_image = &symbols->sy_images.is_image[i];
	return (0);
}

int
prof_symbols_live_event(struct prof_symbols *symbols,
    const struct prof_record *record)
{
	return (prof_symbols_take_event(symbols, record) == -1 ? -1 :
	    modules_follow(symbols));
}

/* Code of scripts has its texts where they are: NULL: no memory. */
static const void *
body_keep(struct prof_symbols *symbols, const void *body, size_t length)
{
	void **kept = prof_append(&symbols->sy_body, &symbols->sy_nbodies,
	    sizeof(*kept));

	if (kept == NULL || (*kept = malloc(length)) == NULL)
		return (NULL);
	return (memcpy(*kept, body, length));
}

int
prof_symbols_live_table(struct prof_symbols *symbols, const void *body,
    size_t length)
{
	struct prof_cur cur = prof_cur_of(body, length);
	struct prof_table table;

	if (prof_table_unpack(&cur, &table) == 1 &&
	    table.tb_kind == PROF_TABLE_SCRIPT &&
	    (body = body_keep(symbols, body, length)) == NULL)
		return (-1);
	/* What had no name may have one, and another one lie where one was. */
	prof_symbols_forget_asked(symbols);
	return (prof_symbols_take_table(symbols, body, length) == -1 ||
	    !prof_symbols_sort(symbols) || prof_kernel_map_done(
	    symbols->sy_kernel, false) == -1 ? -1 : modules_follow(symbols));
}

/* What was found is found again; so memory ends somewhere. */
void
prof_symbols_live_forget(struct prof_symbols *symbols, uint64_t before_ns)
{
	prof_processes_forget(symbols->sy_processes, before_ns);
	if (symbols->sy_asked.an_dict.dt_count > MAX_ASKED)
		prof_symbols_forget_asked(symbols);
}
