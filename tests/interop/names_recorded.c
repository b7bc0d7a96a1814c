/* SPDX-License-Identifier: ISC */
/*
 * The frames of each sample by the names that the recording itself
 * holds: no other file is looked at.  One line a frame:
 *
 *	sample pid time k|u depth pc module reason name
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "prof.h"

static void
print_frames(struct prof_symbols *symbols, unsigned long sample,
    const struct prof_entry *entry, const uint64_t *pc, uint32_t n,
    enum prof_frame_kind kind)
{
	const struct prof_function *fu;
	uint32_t space, i;

	space = prof_symbols_space(symbols, entry->en_pid,
	    entry->en_time_ns);
	for (i = 0; i < n; i++) {
		fu = prof_symbols_function(symbols, prof_symbols_find(
		    symbols, space, &(struct prof_frame){ pc[i],
		    (uint8_t)kind, i > 0 ? PROF_FRAME_RETURN : 0 }));
		printf("%lu\t%u\t%" PRIu64 "\t%c\t%u\t%" PRIx64
		    "\t%s\t%d\t%s\n", sample, entry->en_pid,
		    entry->en_time_ns, kind == PROF_FRAME_KERNEL ? 'k' :
		    'u',
		    i, pc[i], fu->fu_module, (int)fu->fu_unnamed,
		    fu->fu_unnamed != PROF_NAMED ? "?" : fu->fu_raw);
	}
}

int
main(int argc, char **argv)
{
	struct prof_symbols_options so = { .so_size = sizeof(so),
	    .so_only_recorded = 1 };
	struct prof_symbols *symbols;
	struct prof_reader *reader;
	const struct prof_entry *entry;
	unsigned long sample = 0;
	struct prof_err error;

	if (argc != 2 || (reader = prof_reader_open(argv[1], &error)) ==
	    NULL || (symbols = prof_symbols_open(reader, &so, &error)) ==
	    NULL)
		return (1);
	while (prof_reader_next(reader, &entry) == 1) {
		if (entry->en_sample == NULL)
			continue;
		sample++;
		print_frames(symbols, sample, entry,
		    entry->en_sample->es_kernel, entry->en_sample->es_nkernel,
		    PROF_FRAME_KERNEL);
		print_frames(symbols, sample, entry, entry->en_sample->es_user,
		    entry->en_sample->es_nuser, PROF_FRAME_NATIVE);
	}
	prof_symbols_close(symbols);
	prof_reader_close(reader);
	return (0);
}
