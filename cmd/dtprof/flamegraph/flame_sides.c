/* SPDX-License-Identifier: ISC */
/*
 * Which recordings are the base, and which are new: files, or what a
 * directory of dtprof bench --record holds of one of its commands (DIR:NAME;
 * without a name the first is the base, and the second is what is new).
 *
 * Called by flame_difference.c.
 */
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compare/compare.h"
#include "flame.h"

static const char cure[] =
    "give recordings, or directories of dtprof bench --record";

static int
input_refuse(const char *path, const char *why)
{
	return (msg_fail("flamegraph", cure, "%s: %s", path, why));
}

static bool
is_directory(const char *path)
{
	struct stat st;

	return (file_stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* DIR, or DIR:NAME; how long DIR is, and *name NULL without one; 0: none. */
static size_t
bench_of(const char *path, const char **name)
{
	const size_t length = strlen(path);
	char *directory;

	*name = NULL;
	if (is_directory(path))
		return (length);
	for (size_t n = 1; n < length; n++) {
		if (path[n] != ':' || (directory = strndup(path, n)) == NULL)
			continue;
		*name = is_directory(directory) ? path + n + 1 : NULL;
		free(directory);
		if (*name != NULL)
			return (n);
	}
	return (0);
}

static int
run_add(struct flame_side *side, const char *path)
{
	struct series_run *run = compare_add_run(side->fs_runs);

	return (run == NULL || (run->sr_profile = strdup(path)) == NULL ?
	    input_refuse(path, "out of memory") : 0);
}

/* ---------------------------------------------------------------- bench */

/* By its own name, or as bench and compare call the first two. */
static const struct series *
find_series(const struct side *runs, const char *name, size_t otherwise)
{
	for (size_t i = 0; name != NULL && i < runs->sd_n; i++)
		if (strcmp(runs->sd_series[i].se_name, name) == 0)
			return (&runs->sd_series[i]);
	if (name != NULL && strcmp(name, "base") == 0)
		otherwise = 0;
	else if (name != NULL && strcmp(name, "new") == 0)
		otherwise = 1;
	else if (name != NULL)
		return (NULL);
	return (otherwise < runs->sd_n ? &runs->sd_series[otherwise] : NULL);
}

/* One run, with what bench knows of it. */
static int
add_run(struct flame_side *side, const struct series *series,
    const struct series_run *from, bool is_interleaved)
{
	struct series_run *run;
	int m;

	if (run_add(side, from->sr_profile) == -1)
		return (-1);
	run = &side->fs_runs->se_run[side->fs_runs->se_nruns - 1];
	run->sr_block = from->sr_block;
	run->sr_place = is_interleaved ? from->sr_place : -1;
	for (size_t i = 0; i < series->se_nmetrics; i++) {
		m = compare_add_metric(side->fs_runs,
		    series->se_metric[i].sm_name, series->se_metric[i].sm_unit);
		if (m == -1)
			return (input_refuse(from->sr_profile,
			    "out of memory"));
		run->sr_value[m] = from->sr_value[i];
	}
	return (0);
}

static int
add_series(struct flame_side *side, const char *path,
    const struct series *series, bool is_interleaved)
{
	const size_t before = side->fs_runs->se_nruns;

	if (series == NULL)
		return (input_refuse(path, "no such command in this bench"));
	if (side->fs_name[0] == '\0')
		snprintf(side->fs_name, sizeof(side->fs_name), "%.*s",
		    (int)sizeof(side->fs_name) - 1, series->se_name);
	for (size_t r = 0; r < series->se_nruns; r++)
		if (series->se_run[r].sr_profile != NULL && add_run(side,
		    series, &series->se_run[r], is_interleaved) == -1)
			return (-1);
	return (side->fs_runs->se_nruns > before ? 0 : input_refuse(path,
	    "the bench has no profiles, because it ran without --record"));
}

static int
add_bench(struct flame_side *side, const char *path, size_t length,
    const char *name, size_t otherwise, bool is_interleaved)
{
	struct side runs = { .sd_command = "flamegraph", .sd_cure = cure };
	char *directory = strndup(path, length);
	int rv = directory == NULL ? input_refuse(path, "out of memory") :
	    compare_read_bench(&runs, directory);

	if (rv == 0)
		rv = add_series(side, path, find_series(&runs, name,
		    otherwise), is_interleaved);
	compare_side_free(&runs);
	free(directory);
	return (rv);
}

/* ---------------------------------------------------------------- sides */

/* Are both sides commands of one and the same bench, and nothing else? */
static bool
is_one_bench(char *const *base, size_t nbase, char *const *new, size_t nnew)
{
	const char *name;
	size_t a, b;

	if (nbase != 1 || nnew != 1)
		return (false);
	a = bench_of(base[0], &name);
	b = bench_of(new[0], &name);
	return (a > 0 && a == b && strncmp(base[0], new[0], a) == 0);
}

static int
add_all(struct flame_side *side, char *const *paths, size_t n,
    size_t otherwise, bool is_interleaved)
{
	const char *name, *slash;
	size_t length;

	side->fs_runs = compare_series(&side->fs_side, "runs");
	if (side->fs_runs == NULL)
		return (input_refuse(paths[0], "out of memory"));
	for (size_t i = 0; i < n; i++) {
		length = bench_of(paths[i], &name);
		if (length > 0) {
			if (add_bench(side, paths[i], length, name, otherwise,
			    is_interleaved) == -1)
				return (-1);
			continue;
		}
		slash = strrchr(paths[i], '/');
		if (side->fs_name[0] == '\0')
			snprintf(side->fs_name, sizeof(side->fs_name),
			    "%.150s%s", slash != NULL ? slash + 1 : paths[i],
			    n > 1 ? " and others" : "");
		if (run_add(side, paths[i]) == -1)
			return (-1);
	}
	return (0);
}

/*
 * A folded file with two counts a line is both sides.
 * Without a base the recording is compared with another time of itself;
 * without operands a bench is compared with itself, or the base with
 * dtprof.dtp.
 */
int
flame_sides(const struct flame_options *fo, int n, char **operands,
    struct flame_side sides[2])
{
	char *input[1] = { (char *)(uintptr_t)fo->fo_input };
	char *usual[1] = { (char *)(uintptr_t)DEFAULT_RECORDING };
	/* Nobody writes to them. */
	char *const *bases = (char *const *)fo->fo_bases.os_text;
	char *const *news = operands;
	size_t nbases = fo->fo_bases.os_n, nnews = (size_t)n;
	const char *name;
	bool is_one;

	if (nnews == 0 && fo->fo_input == NULL && nbases == 1 &&
	    choose_has_columns(bases[0])) {
		news = bases;
		nnews = 1;
	} else if (nnews == 0) {
		news = fo->fo_input != NULL ? input : nbases == 1 &&
		    bench_of(bases[0], &name) > 0 ? bases : usual;
		nnews = 1;
	}
	if (nbases == 0) {
		bases = news;
		nbases = nnews;
	}
	is_one = is_one_bench(bases, nbases, news, nnews);
	return (add_all(&sides[0], bases, nbases, 0, is_one) == -1 ||
	    add_all(&sides[1], news, nnews, is_one, is_one) == -1 ? -1 : 0);
}

void
flame_sides_free(struct flame_side sides[2])
{
	compare_side_free(&sides[0].fs_side);
	compare_side_free(&sides[1].fs_side);
}
