/* SPDX-License-Identifier: ISC */
/*
 * Baselines: benches that are kept under a name, each a directory of bench in
 * .dtprof of the working directory.  So a CI job has one directory to keep,
 * and git bisect finds it whichever commit is checked out.
 *
 * Called by cmd_bench.c and cmd_compare.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

/* What bench itself puts beside a baseline. */
static const char *const reserved[] = { ".old", BENCH_BISECT };

static bool
ends_with(const char *name, const char *end)
{
	const size_t length = strlen(name), tail = strlen(end);

	return (length >= tail && strcmp(name + length - tail, end) == 0);
}

int
bench_baseline_check(const char *command, const char *option,
    const char *name, bool is_new)
{
	const char *why = NULL, *cure = "use letters, digits, '.', '_' and "
	    "'-', beginning with a letter or digit";

	if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789._-") != strlen(name) || strlen(name) > BENCH_NAME_MAX ||
	    strchr(".-", name[0]) != NULL)
		why = "invalid baseline name";
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (is_new && ends_with(name, reserved[i])) {
			why = "names that end in .old or .bisect are reserved";
			cure = "choose a name that does not end in .old or "
			    ".bisect";
		}
	if (why == NULL)
		return (0);
	return (msg_fail(command, cure, "--%s %s: %s", option, name, why));
}

char *
bench_baseline_path(const char *name, const char *end)
{
	char *path;

	return (asprintf(&path, BENCH_BASELINES "/%s%s", name, end) == -1 ?
	    NULL : path);
}
