/* SPDX-License-Identifier: ISC */
/*
 * What a file holds that one wants to compare: runs of a command, with what
 * each took.  A bench directory, results of stat or hyperfine
 * (compare_files.c), a recording or a folded file, which is one run each.
 *
 * Called by cmd_compare.c.
 */
#include <sys/stat.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/json.h"
#include "compare.h"

static int
input_fail(const char *path, const char *why, const char *cure)
{
	return (msg_fail("compare", cure, "%s: %s", path, why));
}

struct series *
compare_series(struct side *side, const char *name)
{
	struct series *new;

	for (size_t i = 0; i < side->sd_n; i++)
		if (strcmp(side->sd_series[i].se_name, name) == 0)
			return (&side->sd_series[i]);
	new = prof_append(&side->sd_series, &side->sd_n, sizeof(*new));
	if (new == NULL)
		return (NULL);
	new->se_name = strdup(name);
	new->se_machine = strdup("");
	return (new->se_name != NULL && new->se_machine != NULL ? new : NULL);
}

int
compare_add_metric(struct series *series, const char *name, const char *unit)
{
	const size_t n = series->se_nmetrics;
	struct series_metric *new;

	for (size_t i = 0; i < n; i++)
		if (strcmp(series->se_metric[i].sm_name, name) == 0)
			return ((int)i);
	new = prof_append(&series->se_metric, &series->se_nmetrics,
	    sizeof(*new));
	if (new == NULL)
		return (-1);
	new->sm_name = strdup(name);
	new->sm_unit = strdup(unit);
	/* Runs that are there have none of it. */
	for (size_t i = 0; i < series->se_nruns; i++) {
		double *values = reallocarray(series->se_run[i].sr_value,
		    n + 1, sizeof(*values));

		if (values == NULL)
			return (-1);
		series->se_run[i].sr_value = values;
		values[n] = NAN;
	}
	return (new->sm_name != NULL && new->sm_unit != NULL ? (int)n : -1);
}

struct series_run *
compare_add_run(struct series *series)
{
	struct series_run *run = prof_append(&series->se_run,
	    &series->se_nruns, sizeof(*run));

	if (run == NULL || (run->sr_value = reallocarray(NULL,
	    series->se_nmetrics + 1, sizeof(*run->sr_value))) == NULL)
		return (NULL);
	for (size_t m = 0; m < series->se_nmetrics; m++)
		run->sr_value[m] = NAN;
	run->sr_place = -1;
	return (run);
}

/* ------------------------------------------------------------ machines */

/* The line of a machine, "cpus: 2\n", of the trait that a line has; NULL. */
static const char *
same_trait(const char *machine, const char *line)
{
	const size_t trait = strcspn(line, ":") + 1;

	while (*machine != '\0' && strncmp(line, machine, trait) != 0)
		machine += strcspn(machine, "\n") + 1;
	return (*machine != '\0' ? machine : NULL);
}

int
compare_unlike(const char *a, const char *b, const char *where, char **what)
{
	const char *other;
	size_t length;

	for (*what = NULL; *a != '\0'; a += length) {
		length = strcspn(a, "\n") + 1;
		other = same_trait(b, a);
		if (other != NULL && strncmp(a, other, length) != 0)
			return (asprintf(what, "\"%.*s\" and \"%.*s\"%s",
			    (int)length - 1, a, (int)strcspn(other, "\n"),
			    other, where) == -1 ? -1 : 0);
	}
	return (0);
}

int
compare_add_machine(struct series *series, const char *machine)
{
	const char *known = series->se_machine;
	size_t length;
	char *text;
	FILE *stream;

	if (series->se_unlike == NULL && compare_unlike(known, machine,
	    " in runs of one input", &series->se_unlike) == -1)
		return (-1);
	stream = open_memstream(&text, &length);
	if (stream == NULL)
		return (-1);
	fputs(known, stream);
	for (; *machine != '\0'; machine += length) {
		length = strcspn(machine, "\n") + 1;
		if (same_trait(known, machine) == NULL)
			fwrite(machine, 1, length, stream);
	}
	if (fclose(stream) != 0)
		return (-1);
	free(series->se_machine);
	series->se_machine = text;
	return (0);
}

/* --------------------------------------------------------------- files */

/* All files of a side that are just one run are runs of the same. */
static int
read_profile(struct side *side, const char *path)
{
	struct series *series = compare_series(side, COMPARE_PROFILES);
	struct series_run *run;

	if (series == NULL || (run = compare_add_run(series)) == NULL ||
	    (run->sr_profile = strdup(path)) == NULL)
		return (input_fail(path, "out of memory", "free memory"));
	return (compare_machine_of(series, run));
}

/* What a store was asked for: recordings of base and new. */
int
compare_read_answers(struct side sides[2])
{
	const char *name;

	for (int s = 0; s < 2; s++) {
		for (size_t n = 0; (name = input_store_answer(s, n)) != NULL;
		    n++)
			if (read_profile(&sides[s], name) == -1)
				return (-1);
		free(sides[s].sd_series[0].se_name);
		sides[s].sd_series[0].se_name = strdup(input_store_side(s));
		if (sides[s].sd_series[0].se_name == NULL)
			return (input_fail("the store", "out of memory",
			    "free memory"));
	}
	return (0);
}

int
compare_read(struct side *side, const char *path)
{
	struct stat st;
	size_t length, blank;
	char *text;
	int rv;

	if (file_stat(path, &st) == -1)
		return (input_fail(path, strerror(errno), "check its name"));
	if (S_ISDIR(st.st_mode))
		return (compare_read_bench(side, path));
	if (compare_is_recording(path))
		return (read_profile(side, path));
	text = file_read(path, &length);
	if (text == NULL)
		return (input_fail(path, strerror(errno), "check the file"));
	blank = strspn(text, " \t\r\n");
	rv = text[blank] == '{' ?
	    compare_read_json(side, path, text, length) :
	    read_profile(side, path);
	free(text);
	return (rv);
}

void
compare_side_free(struct side *side)
{
	for (size_t i = 0; i < side->sd_n; i++) {
		struct series *se = &side->sd_series[i];

		for (size_t m = 0; m < se->se_nmetrics; m++) {
			free(se->se_metric[m].sm_name);
			free(se->se_metric[m].sm_unit);
		}
		for (size_t r = 0; r < se->se_nruns; r++) {
			free(se->se_run[r].sr_value);
			free(se->se_run[r].sr_profile);
			free(se->se_run[r].sr_host);
			free(se->se_run[r].sr_traits);
		}
		free(se->se_name);
		free(se->se_machine);
		free(se->se_unlike);
		free(se->se_metric);
		free(se->se_run);
	}
	free(side->sd_series);
}
