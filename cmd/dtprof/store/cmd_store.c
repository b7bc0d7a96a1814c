/* SPDX-License-Identifier: ISC */
/*
 * dtprof store: create the tables of a store, show what they hold, and delete
 * old days.  What is in them is doc/FLEET.md's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ui/emit.h"

#define NS_PER_DAY	86400000000000ULL

struct store_options {
	const char	*so_secret_file;
	bool		 so_json;
	bool		 so_print;
};

enum store_what { STORE_INIT, STORE_STATUS, STORE_DROP, STORE_NONE };

static int	 check_store(const void *options, int n,
		    char *const *operands);
static int	 run_store(void *options, int n, char **operands);

static const struct opt_row options_of_store[] = {
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL, "status: print JSON",
	    offsetof(struct store_options, so_json), NULL },
	{ 0, "print", NULL, OPT_FLAG, 0, 0, NULL,
	    "init: print the SQL statements, and send nothing",
	    offsetof(struct store_options, so_print), NULL },
	{ 0, "secret-file", "FILE", OPT_STRING, 0, 0, NULL,
	    "file with the password of the URL's user, or a bearer token",
	    offsetof(struct store_options, so_secret_file), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof store init clickhouse+http://ch:8123/dtprof",
	"create database and tables",
	"dtprof store status clickhouse+http://ch:8123/dtprof",
	"print rows, bytes and the oldest day of each table",
	"dtprof store drop-before 30d clickhouse+http://ch:8123/dtprof",
	"delete the samples of days more than 30 days ago",
	NULL
};

const struct prof_cmd cmd_store = {
	.cm_name = "store",
	.cm_summary = "create, show or clean the tables of a store",
	.cm_operands = "init | status | drop-before [TIME] URL",
	.cm_options = options_of_store,
	.cm_size = sizeof(struct store_options),
	.cm_min = 2,
	.cm_max = 3,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "TIME is a day, such as 2026-11-26, or an age of at least "
	    "1d, such as 30d.",
	.cm_check = check_store,
	.cm_run = run_store,
};

static enum store_what
what_of(const char *word)
{
	static const char *const words[] = { "init", "status",
	    "drop-before" };

	for (int n = 0; n < STORE_NONE; n++)
		if (strcmp(word, words[n]) == 0)
			return ((enum store_what)n);
	return (STORE_NONE);
}

/* "2026-11-26", or "30d": the day that it was then, in UTC. */
static int
day_of(const char *text, char day[11])
{
	uint64_t ns = 0;
	struct tm tm;
	time_t then;
	char *end;

	memset(&tm, 0, sizeof(tm));
	end = strptime(text, "%Y-%m-%d", &tm);
	if (end != NULL && *end == '\0' && strlen(text) == 10) {
		memcpy(day, text, 11);
		return (0);
	}
	if (opt_time(text, &ns) == -1 || ns < NS_PER_DAY)
		return (-1);
	then = time(NULL) - (time_t)(ns / 1000000000);
	return (gmtime_r(&then, &tm) == NULL ||
	    strftime(day, 11, "%Y-%m-%d", &tm) == 0 ? -1 : 0);
}

static int
check_store(const void *options, int n, char *const *operands)
{
	const enum store_what what = what_of(operands[0]);
	const int wanted = what == STORE_DROP ? 3 : 2;
	char day[11];

	(void)options;
	if (what == STORE_NONE)
		/* Not which: it may be a URL, which may hold a password. */
		return (msg_error("store", "unknown action",
		    "use init, status or drop-before"));
	if (n != wanted)
		return (msg_error("store", what == STORE_DROP ?
		    "drop-before needs a TIME and a URL" :
		    "init and status take only a URL",
		    "see dtprof store --help"));
	if (what == STORE_DROP && day_of(operands[1], day) == -1)
		return (msg_error("store", "drop-before: TIME is neither a day "
		    "nor an age of at least 1d", "write a day, such as "
		    "2026-11-26, or an age, such as 30d"));
	return (0);
}

static int
tables_print(void)
{
	struct out out;

	out_init(&out, STDOUT_FILENO);
	for (unsigned t = 0; t < PROF_STORE_TABLES; t++) {
		struct prof_buf sql = { 0 };

		prof_store_create(&sql, (enum prof_store_table)t);
		out_mem(&out, (const char *)sql.bf_data, sql.bf_len);
		out_str(&out, ";\n");
		prof_buf_free(&sql);
	}
	return (out_end(&out, "store"));
}

static int
status_show(const struct prof_store_size *sizes, bool is_json)
{
	char bytes[16];
	struct emit em;
	struct out out;

	out_init(&out, STDOUT_FILENO);
	if (is_json) {
		emit_json(&em, &out);
		EMIT(&em, COUNT("schema_version", JSON_SCHEMA));
		emit_rows(&em, "tables");
	} else
		out_str(&out, "table            rows      bytes oldest\n");
	for (unsigned t = 0; t < PROF_STORE_TABLES; t++) {
		const struct prof_store_size *size = &sizes[t];
		const char *name = prof_store_table_name(
		    (enum prof_store_table)t);

		if (is_json) {
			EMIT_ROW(&em, NULL, WORD("name", name),
			    FLAG("exists", size->st_is_there),
			    COUNT("rows", size->st_rows),
			    COUNT("bytes", size->st_bytes),
			    TEXT("oldest", size->st_oldest[0] == '\0' ? NULL :
			    size->st_oldest));
			continue;
		}
		term_bytes(bytes, sizeof(bytes), size->st_bytes);
		out_fmt(&out, "%-10s %10" PRIu64 " %10s %s\n", name,
		    size->st_rows, bytes, !size->st_is_there ? "no table" :
		    size->st_oldest[0] == '\0' ? "-" : size->st_oldest);
	}
	if (is_json)
		emit_end(&em);
	return (out_end(&out, "store"));
}

static int
store_do(struct prof_store *store, const struct store_options *so,
    char **operands, struct prof_err *error)
{
	struct prof_store_size sizes[PROF_STORE_TABLES];
	const enum store_what what = what_of(operands[0]);
	unsigned dropped;
	char day[11];
	int rv;

	if (what == STORE_INIT)
		return (prof_store_init(store, error));
	if (what == STORE_DROP) {
		rv = day_of(operands[1], day) == -1 ? -1 :
		    prof_store_drop(store, day, &dropped, error);
		if (rv == 0)
			msg_note("store", "deleted %u partitions before %s",
			    dropped, day);
		return (rv);
	}
	if (prof_store_status(store, sizes, error) == -1)
		return (-1);
	if (status_show(sizes, so->so_json) != 0)
		return (1);
	for (unsigned t = 0; t < PROF_STORE_TABLES; t++)
		if (!sizes[t].st_is_there)
			return (1);
	return (0);
}

static int
run_store(void *options, int n, char **operands)
{
	const struct store_options *so = options;
	struct prof_err error = { 0 };
	struct prof_store *store;
	int rv;

	if (so->so_print && what_of(operands[0]) == STORE_INIT)
		return (tables_print());
	store = prof_store_open(operands[n - 1], so->so_secret_file, &error);
	rv = store == NULL ? -1 : store_do(store, so, operands, &error);
	if (rv == -1)
		msg_prof("store", &error);
	prof_store_close(store);
	return (rv == 0 ? 0 : EXIT_FAILED);
}
