/* SPDX-License-Identifier: ISC */
/* See mutants.h. */
#include <sys/types.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mutants.h"
#include "prof.h"
#include "recording/query.h"

#define MAX_RECORDS	200000

/* Everything that records point at, so that the sanitizer sees it. */
static uint64_t
touch(const struct prof_record *record)
{
	uint64_t sum = strlen(record->pr_comm) + strlen(record->pr_path);
	uint32_t n;

	for (n = 0; n < record->pr_nkernel; n++)
		sum += record->pr_kernel[n];
	for (n = 0; n < record->pr_nuser; n++)
		sum += record->pr_user[n];
	for (n = 0; n < record->pr_nscript; n++)
		sum += record->pr_script[n];
	for (n = 0; n < PROF_MAX_ARGS; n++)
		if (record->pr_strs[n] != NULL)
			sum += strlen(record->pr_strs[n]);
	return (sum);
}

static uint64_t
read_records(struct prof_reader *reader)
{
	struct prof_record record;
	uint64_t sum = 0;
	unsigned n;

	for (n = 0; n < MAX_RECORDS && prof_reader_record(reader, &record) == 1;
	    n++)
		sum += touch(&record);
	(void)prof_reader_rewind(reader);
	return (sum);
}

/* What flamegraph and export write. */
static void
draw(struct chance *chance, struct prof_profile *profile)
{
	const struct prof_flame_options options = { .fl_size =
	    sizeof(options) };
	const int formats[] = { PROF_EXPORT_FOLDED, PROF_EXPORT_PPROF,
	    PROF_EXPORT_SPEEDSCOPE };
	struct prof_err error;
	size_t length;

	switch (chance_below(chance, 5)) {
	case 0:
		free(prof_flame_html(profile, &options, &length, &error));
		return;
	case 1:
		free(prof_flame_svg(profile, &options, &length, &error));
		return;
	default:
		free(prof_export(profile, (enum prof_export)formats[
		    chance_below(chance, 3)], &options, &length, &error));
		return;
	}
}

static void
analyze(struct chance *chance, struct prof_reader *reader)
{
	const struct prof_symbols_options so = { .so_size = sizeof(so),
	    .so_only_recorded = 1 };
	const struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_roots = chance_is(chance, 2) ? PROF_ROOT_COMM :
		    PROF_ROOT_PID | PROF_ROOT_TID | PROF_ROOT_CPU,
		.pl_reverse = chance_is(chance, 4),
		.pl_places = chance_is(chance, 8),
		.pl_leaves = chance_is(chance, 8),
		.pl_bucket_ns = chance_is(chance, 2) ? 1000000 : 0,
		.pl_max_buckets = 10000,
	};
	struct prof_profile *profile = NULL;
	struct prof_symbols *symbols;
	struct prof_err error;

	symbols = prof_symbols_open(reader, &so, &error);
	if (symbols != NULL)
		profile = prof_profile_new(reader, symbols, &options, &error);
	if (profile != NULL)
		draw(chance, profile);
	prof_profile_free(profile);
	for (size_t n = 0; symbols != NULL &&
	    prof_symbols_note(symbols, n) != NULL; n++)
		;
	prof_symbols_close(symbols);
}

bool
reading_all(struct chance *chance, const char *path, int cut_fd,
    size_t length)
{
	struct prof_reader *reader;
	struct prof_err error;

	reader = prof_reader_open(path, &error);
	if (reader == NULL)
		return (false);
	if (cut_fd != -1 && chance_is(chance, 32))
		(void)!ftruncate(cut_fd,
		    (off_t)chance_below(chance, length + 1));
	(void)read_records(reader);
	analyze(chance, reader);
	prof_reader_close(reader);
	return (true);
}

bool
reading_import(struct chance *chance, int fd, size_t length)
{
	char path[64];
	const struct prof_import_options options = { .im_size =
	    sizeof(options), .im_input = path, .im_output =
	    mutants_output() };
	struct prof_import *import;
	struct prof_err error;
	bool passed;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (chance_is(chance, 32))
		mutants_cut(fd, chance_below(chance, length + 1),
		    (unsigned)chance_below(chance, 2000));
	(void)unlink(mutants_output());
	import = prof_import_new(&options, &error);
	passed = import != NULL;
	prof_import_free(import);
	if (import != NULL && chance_is(chance, 8))
		(void)reading_all(chance, mutants_output(), -1, 0);
	return (passed);
}
