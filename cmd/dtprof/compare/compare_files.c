/* SPDX-License-Identifier: ISC */
/*
 * Runs out of files of results: the directory of a bench, what dtprof stat
 * and hyperfine write as JSON.  Numbers that are missing are missing; a file
 * that is none of these is refused.
 *
 * Called by compare_input.c.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/bench.h"
#include "../ui/json.h"
#include "compare.h"

static int
file_fail(const struct side *side, const char *path, const char *why)
{
	return (msg_fail(side->sd_command != NULL ? side->sd_command :
	    "compare", side->sd_cure != NULL ? side->sd_cure : "give a bench "
	    "directory, recordings, folded stacks, pprof profiles, or JSON of "
	    "dtprof stat or hyperfine", "%s: %s", path, why));
}

/* --------------------------------------------------------------- bench */

/* What must be alike for times to mean the same. */
static int
machine_of(struct series *series, const struct json *environment)
{
	static const char *const traits[] = {
		"kernel", "arch", "cpu_model", "governor"
	};
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	int rv;

	if (stream == NULL)
		return (-1);
	for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); i++)
		if (json_text(environment, traits[i]) != NULL)
			fprintf(stream, "%s: %s\n", traits[i],
			    json_text(environment, traits[i]));
	if (json_get(environment, "cpus") != NULL)
		fprintf(stream, "cpus: %.0f\n", json_number(environment,
		    "cpus", 0));
	if (fclose(stream) != 0)
		return (-1);
	rv = compare_add_machine(series, text);
	free(text);
	return (rv);
}

/* 2026-11-25T11:45:00Z */
static bool
is_time(const char *text)
{
	static const char form[] = "dddd-dd-ddTdd:dd:ddZ";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' :
		    text[i] != form[i])
			return (false);
	return (true);
}

/* Where and when: of the first bench of a series that says so. */
static void
origin_of(struct series *series, const struct json *environment)
{
	const char *host = json_text(environment, "host");
	const char *when = json_text(environment, "time");

	if (series->se_host[0] == '\0' && host != NULL)
		snprintf(series->se_host, sizeof(series->se_host), "%.64s",
		    host);
	if (series->se_time[0] == '\0' && when != NULL && is_time(when))
		snprintf(series->se_time, sizeof(series->se_time), "%s",
		    when);
}

/* What is said of the i-th command, or NULL. */
static const char *
text_of(const struct json *about, size_t i, const char *what)
{
	const struct json *commands = json_get(about, "commands");
	const struct json *one = commands == NULL ? NULL :
	    commands->js_first;

	for (; one != NULL && i > 0; i--)
		one = one->js_next;
	return (json_text(one, what));
}

static int
add_bench_run(struct side *side, const char *path, const struct json *about,
    const struct json *json, long place)
{
	const double command = json_number(json, "command", -1);
	const char *name = command >= 0 && command < 1000 ?
	    text_of(about, (size_t)command, "name") : NULL;
	const char *profile = json_text(json, "profile");
	const double block = json_number(json, "block", 0);
	struct series *series;
	struct series_run *run;

	if (name == NULL)
		return (file_fail(side, path, "a run has no command"));
	series = compare_series(side, name);
	run = series == NULL ? NULL : compare_add_run(series);
	if (run == NULL)
		return (file_fail(side, path, "out of memory"));
	/* The series may have metrics of another file before these. */
	for (size_t m = 0; m < series->se_nmetrics; m++)
		run->sr_value[m] = json_number(json,
		    series->se_metric[m].sm_name, NAN);
	run->sr_block = block >= 0 && block < UINT32_MAX ?
	    (uint32_t)block : 0;
	run->sr_place = place;
	/* A name, never a path out of the directory. */
	if (profile != NULL && strchr(profile, '/') == NULL &&
	    asprintf(&run->sr_profile, "%s/%s", path, profile) == -1)
		return (file_fail(side, path, "out of memory"));
	return (0);
}

/* Every command has its series, also without runs, in the order given. */
static int
add_bench_series(struct side *side, const char *path,
    const struct json *about)
{
	const char *name;

	for (size_t i = 0; (name = text_of(about, i,
	    "name")) != NULL; i++) {
		struct series *series = compare_series(side, name);

		if (series == NULL || machine_of(series, json_get(about,
		    "environment")) == -1)
			return (file_fail(side, path, "out of memory"));
		origin_of(series, json_get(about, "environment"));
		if (text_of(about, i, "build_id") != NULL)
			snprintf(series->se_build_id,
			    sizeof(series->se_build_id), "%s",
			    text_of(about, i, "build_id"));
		for (int m = 0; m < BENCH_NMETRICS; m++)
			if (compare_add_metric(series,
			    bench_metrics[m].mn_name,
			    bench_metrics[m].mn_unit) == -1)
				return (file_fail(side, path, "out of memory"));
	}
	return (side->sd_n > 0 ? 0 :
	    file_fail(side, path, "the file has no commands"));
}

static int
add_bench_runs(struct side *side, const char *path, const struct json *about,
    char *text)
{
	long place = 0;
	char *end;

	/* A line for each run, in the order in which they were made. */
	for (; (end = strchr(text, '\n')) != NULL; text = end + 1) {
		const char *why;
		struct json *json = json_parse(text, (size_t)(end - text),
		    &why);
		const int rv = json == NULL ? file_fail(side, path, why) :
		    add_bench_run(side, path, about, json, place++);

		json_free(json);
		if (rv == -1)
			return (-1);
	}
	return (0);
}

/* A file of the directory, whole; NULL: a message has been printed. */
static char *
file_of(const struct side *side, const char *directory, const char *name,
    size_t *length)
{
	char *path, *text;

	if (asprintf(&path, "%s/%s", directory, name) == -1) {
		file_fail(side, directory, "out of memory");
		return (NULL);
	}
	file_narrow(path);
	text = file_read_regular(path, length);
	if (text == NULL)
		file_fail(side, path, strerror(errno));
	free(path);
	return (text);
}

int
compare_read_bench(struct side *side, const char *path)
{
	const char *why;
	size_t length;
	char *text = file_of(side, path, BENCH_ABOUT, &length), *runs;
	struct json *about = NULL;
	int rv = -1;

	if (text == NULL)
		return (-1);
	about = json_parse(text, length, &why);
	free(text);
	if (about == NULL)
		return (file_fail(side, path, why));
	if (json_number(about, "schema_version", 0) != JSON_SCHEMA)
		file_fail(side, path, "written by another version of dtprof "
		    "bench");
	else if (add_bench_series(side, path, about) == 0 &&
	    (runs = file_of(side, path, BENCH_RUNS, &length)) != NULL) {
		rv = add_bench_runs(side, path, about, runs);
		free(runs);
	}
	json_free(about);
	return (rv);
}

/* ---------------------------------------------------------------- JSON */

/* Values of runs from the first-th on; runs that lack are made. */
static int
add_values(struct series *series, size_t first, const char *name,
    const char *unit, const struct json *values)
{
	const int metric = compare_add_metric(series, name, unit);
	size_t i = first;

	if (metric == -1)
		return (-1);
	if (values == NULL || values->js_type != JSON_ARRAY)
		return (0);
	for (const struct json *one = values->js_first; one != NULL;
	    one = one->js_next, i++) {
		if (i >= series->se_nruns && compare_add_run(series) == NULL)
			return (-1);
		if (one->js_type == JSON_NUMBER)
			series->se_run[i].sr_value[metric] = one->js_number;
	}
	return (0);
}

static int
read_hyperfine(struct side *side, const char *path,
    const struct json *results)
{
	for (const struct json *one = results->js_first; one != NULL;
	    one = one->js_next) {
		const char *name = json_text(one, "command");
		struct series *series = name == NULL ? NULL :
		    compare_series(side, name);
		const struct json *times = json_get(one, "times");

		if (name == NULL || times == NULL)
			return (file_fail(side, path,
			    "a result has no command or no times"));
		if (series == NULL || add_values(series, series->se_nruns,
		    "wall", "s", times) == -1)
			return (file_fail(side, path, "out of memory"));
	}
	return (0);
}

/* "a b c", as it was given to stat. */
static char *
words_join(const struct json *words)
{
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return (NULL);
	if (words != NULL)
		for (const struct json *one = words->js_first; one != NULL;
		    one = one->js_next)
			fprintf(stream, "%s%s", one != words->js_first ?
			    " " : "", one->js_text != NULL ? one->js_text :
			    "");
	return (fclose(stream) == 0 ? text : NULL);
}

/* Times are those of runs[]; the events have their values in a list. */
static int
read_stat(struct side *side, const char *path, const struct json *json)
{
	static const char *const times[3] = { "wall", "user", "system" };
	static const char *const keys[3] = { "wall_s", "user_s", "system_s" };
	const struct json *runs = json_get(json, "runs");
	const struct json *events = json_get(json, "events");
	char *name = words_join(json_get(json, "command"));
	struct series *series = name == NULL ? NULL :
	    compare_series(side, name);
	int metric[3] = { 0 }, rv = 0;
	size_t first;

	free(name);
	if (series == NULL)
		return (file_fail(side, path, "out of memory"));
	first = series->se_nruns;
	for (int t = 0; t < 3 && rv != -1; t++)
		rv = metric[t] = compare_add_metric(series, times[t], "s");
	for (const struct json *one = runs->js_first; one != NULL &&
	    rv != -1; one = one->js_next) {
		struct series_run *run = compare_add_run(series);

		if (run == NULL)
			return (file_fail(side, path, "out of memory"));
		for (int t = 0; t < 3; t++)
			run->sr_value[metric[t]] = json_number(one, keys[t],
			    NAN);
	}
	for (const struct json *one = events->js_first; one != NULL &&
	    rv != -1; one = one->js_next)
		if (json_text(one, "name") != NULL)
			rv = add_values(series, first, json_text(one, "name"),
			    json_text(one, "unit") != NULL ?
			    json_text(one, "unit") : "",
			    json_get(one, "values"));
	return (rv == -1 ? file_fail(side, path, "out of memory") : 0);
}

int
compare_read_json(struct side *side, const char *path, char *text,
    size_t length)
{
	const char *why;
	struct json *json = json_parse(text, length, &why);
	const struct json *results = json_get(json, "results");
	const struct json *events = json_get(json, "events");
	const struct json *runs = json_get(json, "runs");
	int rv;

	if (json == NULL)
		return (file_fail(side, path, why));
	if (results != NULL && results->js_type == JSON_ARRAY)
		rv = read_hyperfine(side, path, results);
	else if (events != NULL && events->js_type == JSON_ARRAY &&
	    runs != NULL && runs->js_type == JSON_ARRAY)
		rv = read_stat(side, path, json);
	else
		rv = file_fail(side, path,
		    "the JSON is neither from dtprof stat nor from hyperfine");
	json_free(json);
	return (rv);
}
