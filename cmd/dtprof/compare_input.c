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
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "json.h"

static int
fail(const char *path, const char *why, const char *cure)
{
	msg_fail("compare", cure, "%s: %s", path, why);
	return (-1);
}

struct series *
compare_series(struct side *side, const char *name)
{
	struct series *grown;

	for (size_t i = 0; i < side->sd_n; i++)
		if (strcmp(side->sd_series[i].se_name, name) == 0)
			return (&side->sd_series[i]);
	grown = reallocarray(side->sd_series, side->sd_n + 1, sizeof(*grown));
	if (grown == NULL)
		return (NULL);
	side->sd_series = grown;
	grown += side->sd_n;
	memset(grown, 0, sizeof(*grown));
	grown->se_name = strdup(name);
	grown->se_machine = strdup("");
	side->sd_n++;
	return (grown->se_name != NULL && grown->se_machine != NULL ? grown :
	    NULL);
}

int
compare_add_metric(struct series *series, const char *name, const char *unit)
{
	const size_t n = series->se_nmetrics;
	struct series_metric *grown;

	for (size_t i = 0; i < n; i++)
		if (strcmp(series->se_metric[i].sm_name, name) == 0)
			return ((int)i);
	grown = reallocarray(series->se_metric, n + 1, sizeof(*grown));
	if (grown == NULL)
		return (-1);
	series->se_metric = grown;
	grown[n].sm_name = strdup(name);
	grown[n].sm_unit = strdup(unit);
	series->se_nmetrics++;
	/* Runs that are there have none of it. */
	for (size_t i = 0; i < series->se_nruns; i++) {
		double *values = reallocarray(series->se_run[i].sr_value,
		    n + 1, sizeof(*values));

		if (values == NULL)
			return (-1);
		series->se_run[i].sr_value = values;
		values[n] = NAN;
	}
	return (grown[n].sm_name != NULL && grown[n].sm_unit != NULL ?
	    (int)n : -1);
}

struct series_run *
compare_add_run(struct series *series)
{
	struct series_run *grown = reallocarray(series->se_run,
	    series->se_nruns + 1, sizeof(*grown));

	if (grown == NULL)
		return (NULL);
	series->se_run = grown;
	grown += series->se_nruns;
	memset(grown, 0, sizeof(*grown));
	grown->sr_value = reallocarray(NULL, series->se_nmetrics + 1,
	    sizeof(*grown->sr_value));
	if (grown->sr_value == NULL)
		return (NULL);
	for (size_t m = 0; m < series->se_nmetrics; m++)
		grown->sr_value[m] = NAN;
	series->se_nruns++;
	return (grown);
}

/* All files of a side that are just one run are runs of the same. */
static int
read_profile(struct side *side, const char *path)
{
	struct series *series = compare_series(side, "profile");
	struct series_run *run;

	if (series == NULL || (run = compare_add_run(series)) == NULL ||
	    (run->sr_profile = strdup(path)) == NULL)
		return (fail(path, "out of memory", "free memory"));
	return (compare_machine_of(series, path));
}

int
compare_read(struct side *side, const char *path)
{
	struct stat st;
	size_t length, blank;
	char *text;
	int rv;

	if (stat(path, &st) == -1)
		return (fail(path, strerror(errno), "check its name"));
	if (S_ISDIR(st.st_mode))
		return (compare_read_bench(side, path));
	if (compare_is_recording(path))
		return (read_profile(side, path));
	text = file_read(path, &length);
	if (text == NULL)
		return (fail(path, strerror(errno), "check the file"));
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
		}
		free(se->se_name);
		free(se->se_machine);
		free(se->se_metric);
		free(se->se_run);
	}
	free(side->sd_series);
}
