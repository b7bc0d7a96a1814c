/* SPDX-License-Identifier: ISC */
/*
 * See client.h.  A batch is three INSERTs: stacks, then samples, then the
 * accounts, which commit it.  When one of them has failed nobody knows what
 * became of it, so the next attempt sends all of them again, with another
 * number.  Called by push, store, record and reading commands.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/error.h"
#include "client.h"

#define SCHEME		"clickhouse+"
#define TIMEOUT_S	120
#define QUERY_S		600
#define LONGEST_LIST	(1u << 20)
#define HASH_BITS	38	/* of the number of an attempt */
/* What 18.16 demands for columns of texts, and 26 no longer knows. */
#define SETTING		"allow_experimental_low_cardinality_type"

struct prof_store {
	struct prof_network *sr_network;
	char		*sr_database;
	bool		 sr_is_checked;	/* its tables are ours */
};

bool
prof_store_is_url(const char *text)
{
	return (strncmp(text, SCHEME "http://", strlen(SCHEME "http://")) ==
	    0 || strncmp(text, SCHEME "https://",
	    strlen(SCHEME "https://")) == 0);
}

/* ---------------------------------------------------------------- open */

static bool
is_name(const char *text)
{
	size_t n = 0;

	for (; isalnum((unsigned char)text[n]) || text[n] == '_'; n++)
		continue;
	return (n > 0 && text[n] == '\0');
}

/* The URL without its path, which is the database's name. */
static char *
url_take(struct prof_store *store, const char *url, struct prof_err *error)
{
	char *base = strdup(url + strlen(SCHEME)), *slash;

	slash = base == NULL ? NULL : strchr(strstr(base, "://") + 3, '/');
	store->sr_database = base == NULL ? NULL :
	    strdup(slash == NULL || slash[1] == '\0' ? "default" : slash + 1);
	if (slash != NULL)
		*slash = '\0';
	if (store->sr_database == NULL) {
		free(base);
		prof_fail_nomem(error);
		return (NULL);
	}
	if (is_name(store->sr_database))
		return (base);
	free(base);
	prof_fail(error, PROF_E_USAGE, "the path of a store's URL must be a "
	    "database name of letters, digits and '_'");
	return (NULL);
}

struct prof_store *
prof_store_open(const char *url, const char *secret_file,
    struct prof_err *error)
{
	struct prof_network_options options = { NULL, secret_file };
	struct prof_store *store = calloc(1, sizeof(*store));
	char *base = NULL;

	if (store == NULL)
		prof_fail_nomem(error);
	else if (!prof_store_is_url(url)) {
		/* It may hold a password. */
		prof_fail(error, PROF_E_USAGE, "not the URL of a store");
		prof_cure(error, "use clickhouse+http://HOST:8123/DATABASE "
		    "or clickhouse+https://...");
	} else
		base = url_take(store, url, error);
	if (base != NULL) {
		options.no_url = base;
		store->sr_network = prof_network_open(&options, error);
		free(base);
	}
	if (store != NULL && store->sr_network != NULL)
		return (store);
	prof_store_close(store);
	return (NULL);
}

void
prof_store_close(struct prof_store *store)
{
	if (store == NULL)
		return;
	prof_network_close(store->sr_network);
	free(store->sr_database);
	free(store);
}

/* ---------------------------------------------------------------- HTTP */

/* "/?database=x&setting&query=..." */
static char *
path_make(const char *database, const char *query, const char *setting)
{
	struct prof_buf path = { 0 };
	char code[4];

	prof_buf_bytes(&path, "/?database=", 11);
	prof_buf_bytes(&path, database, strlen(database));
	prof_buf_bytes(&path, setting, strlen(setting));
	if (query != NULL)
		prof_buf_bytes(&path, "&query=", 7);
	for (; query != NULL && *query != '\0'; query++) {
		if (isalnum((unsigned char)*query)) {
			prof_buf_bytes(&path, query, 1);
			continue;
		}
		snprintf(code, sizeof(code), "%%%02X", (unsigned char)*query);
		prof_buf_bytes(&path, code, 3);
	}
	prof_buf_bytes(&path, "", 1);
	if (!path.bf_failed)
		return ((char *)path.bf_data);
	prof_buf_free(&path);
	return (NULL);
}

/* Code 243 or 75, by where it was noticed. */
static bool
has_no_space(const struct prof_answer *answer)
{
	return (strstr(answer->an_text, "Code: 243") != NULL ||
	    strstr(answer->an_text, "errno: 28,") != NULL);
}

/* What ClickHouse calls errors that go away. */
static bool
may_pass(const struct prof_answer *answer)
{
	static const unsigned codes[] = { 159, 202, 209, 210, 225, 236, 241,
	    242, 243, 252, 319, 999 };
	const char *at = strstr(answer->an_text, "Code: ");
	const unsigned code = at == NULL ? 0 : (unsigned)strtoul(at + 6, NULL,
	    10);

	for (size_t n = 0; n < sizeof(codes) / sizeof(codes[0]); n++)
		if (code == codes[n])
			return (true);
	return (has_no_space(answer) || prof_answer_may_pass(answer));
}

static int
cure_version(struct prof_err *error)
{
	return (prof_cure(error, "the tables were created by another version "
	    "of dtprof: name another database, and create its tables with "
	    "dtprof store init"));
}

/* PROF_E_BUSY: trying again may help. */
static int
fail_answer(const struct prof_answer *answer, struct prof_err *error)
{
	const enum prof_code code = may_pass(answer) ? PROF_E_BUSY :
	    PROF_E_IO;

	if (answer->an_status == 0) {
		prof_fail(error, code, "cannot reach the store: %s",
		    answer->an_text);
		return (prof_cure(error, "check that the server is running and "
		    "that the URL is right"));
	}
	prof_fail(error, code, "the store refused the request: HTTP %u%s%s",
	    answer->an_status, answer->an_text[0] != '\0' ? ", " : "",
	    answer->an_text);
	if (strstr(answer->an_text, "Code: 60") != NULL ||
	    strstr(answer->an_text, "Code: 81") != NULL)
		return (prof_cure(error, "create the tables of the store with "
		    "dtprof store init"));
	if (strstr(answer->an_text, "Code: 368") != NULL ||
	    strstr(answer->an_text, "Code: 53,") != NULL ||
	    strstr(answer->an_text, "Code: 53.") != NULL ||
	    strstr(answer->an_text, "Code: 16,") != NULL ||
	    strstr(answer->an_text, "Code: 16.") != NULL)
		return (cure_version(error));
	if (answer->an_status == 401 || answer->an_status == 403 ||
	    strstr(answer->an_text, "Code: 193") != NULL ||
	    strstr(answer->an_text, "Code: 516") != NULL)
		return (prof_cure(error, "check the user name in the URL and "
		    "the secret of --secret-file"));
	if (has_no_space(answer))
		return (prof_cure(error, "free space on the server's disk, "
		    "for example with dtprof store drop-before"));
	return (prof_cure(error, "see the log of the server"));
}

static int
request_post(struct prof_store *store, const char *path,
    const struct prof_request *how, struct prof_answer *answer,
    struct prof_err *error)
{
	struct prof_request request = *how;

	*answer = (struct prof_answer){ .an_fd = -1 };
	if (path == NULL)
		return (prof_fail_nomem(error));
	request.rq_path = path;
	if (prof_network_post(store->sr_network, &request, answer, error) ==
	    -1)
		return (-1);
	return (prof_answer_is_good(answer) ? 0 : fail_answer(answer, error));
}

int
prof_store_ask(struct prof_store *store, const char *sql, uint64_t max_bytes,
    struct prof_err *error)
{
	const struct prof_request request = {
		.rq_body = sql, .rq_length = strlen(sql),
		.rq_timeout_s = QUERY_S, .rq_max_answer = max_bytes,
	};
	char *path = path_make(store->sr_database, NULL, "");
	struct prof_answer answer;
	const int rv = request_post(store, path, &request, &answer, error);

	free(path);
	if (rv == 0)
		return (answer.an_fd);
	prof_answer_free(&answer);
	return (-1);
}

/* A text, owned by caller; NULL: error is set. */
static char *
text_ask(struct prof_store *store, const char *sql, struct prof_err *error)
{
	const int fd = prof_store_ask(store, sql, LONGEST_LIST, error);
	char *text = fd == -1 ? NULL : malloc(LONGEST_LIST + 1);
	ssize_t n;

	if (fd == -1)
		return (NULL);
	if (text == NULL)
		prof_fail_nomem(error);
	else {
		n = pread(fd, text, LONGEST_LIST, 0);
		text[n < 0 ? 0 : n] = '\0';
	}
	(void)close(fd);
	return (text);
}

/* ----------------------------------------------------------------- init */

/* Without an answer that matters. */
static int
sql_run_set(struct prof_store *store, const char *database, const char *sql,
    const char *setting, struct prof_err *error)
{
	const struct prof_request request = {
		.rq_body = sql, .rq_length = strlen(sql),
		.rq_timeout_s = TIMEOUT_S,
	};
	char *path = path_make(database, NULL, setting);
	struct prof_answer answer;
	const int rv = request_post(store, path, &request, &answer, error);

	free(path);
	prof_answer_free(&answer);
	return (rv);
}

static int
sql_run(struct prof_store *store, const char *database, const char *sql,
    struct prof_err *error)
{
	if (sql_run_set(store, database, sql, "", error) == 0)
		return (0);
	return (strstr(error->pe_text, SETTING) == NULL ? -1 :
	    sql_run_set(store, database, sql, "&" SETTING "=1", error));
}

/*
 * Servers convert types, and columns that are not named become 0: rows would
 * go into tables of another version, and count wrongly.  A table that is not
 * there is no failure; an INSERT into it will be one.
 */
static int
tables_check(struct prof_store *store, struct prof_err *error)
{
	char sql[512], *text;
	size_t ours = 0;

	if (store->sr_is_checked)
		return (0);
	snprintf(sql, sizeof(sql), "SELECT table, name, type FROM "
	    "system.columns WHERE database = '%.128s' AND table IN ('stacks', "
	    "'samples', 'accounts') FORMAT TabSeparated", store->sr_database);
	text = text_ask(store, sql, error);
	if (text == NULL)
		return (-1);
	for (unsigned t = 0; t < PROF_STORE_TABLES; t++) {
		struct prof_buf wanted = { 0 };

		prof_store_columns(&wanted, (enum prof_store_table)t);
		prof_buf_bytes(&wanted, "", 1);
		if (!wanted.bf_failed &&
		    strstr(text, (const char *)wanted.bf_data) != NULL)
			ours += wanted.bf_len - 1;
		prof_buf_free(&wanted);
	}
	store->sr_is_checked = ours == strlen(text);
	free(text);
	if (store->sr_is_checked)
		return (0);
	prof_fail(error, PROF_E_IO, "the tables of database %s do not have the "
	    "columns that dtprof needs", store->sr_database);
	return (cure_version(error));
}

int
prof_store_init(struct prof_store *store, struct prof_err *error)
{
	char sql[256];
	int rv;

	snprintf(sql, sizeof(sql), "CREATE DATABASE IF NOT EXISTS %.128s",
	    store->sr_database);
	rv = sql_run(store, "default", sql, error);
	for (unsigned t = 0; rv == 0 && t < PROF_STORE_TABLES; t++) {
		struct prof_buf create = { 0 };

		prof_store_create(&create, (enum prof_store_table)t);
		prof_buf_bytes(&create, "", 1);
		rv = create.bf_failed ? prof_fail_nomem(error) :
		    sql_run(store, store->sr_database,
		    (const char *)create.bf_data, error);
		prof_buf_free(&create);
	}
	return (rv == 0 ? tables_check(store, error) : rv);
}

/* --------------------------------------------------------------- status */

static char *
list_ask(struct prof_store *store, const char *what, const char *where,
    struct prof_err *error)
{
	char sql[512];

	snprintf(sql, sizeof(sql), "SELECT %s FROM system.parts WHERE active "
	    "AND database = '%.128s' AND table IN ('stacks', 'samples', "
	    "'accounts') %s FORMAT TabSeparated", what, store->sr_database,
	    where);
	return (text_ask(store, sql, error));
}

static bool
is_day(const char *text)
{
	static const char form[] = "dddd-dd-dd";

	for (size_t n = 0; n < sizeof(form) - 1; n++)
		if (form[n] == 'd' ? !isdigit((unsigned char)text[n]) :
		    text[n] != form[n])
			return (false);
	return (true);
}

static int
table_of(const char *name, size_t length)
{
	for (int t = 0; t < PROF_STORE_TABLES; t++) {
		const char *own = prof_store_table_name(
		    (enum prof_store_table)t);

		if (strlen(own) == length && memcmp(own, name, length) == 0)
			return (t);
	}
	return (-1);
}

/* Are the tables there?  A table without rows has no parts. */
static int
tables_find(struct prof_store *store,
    struct prof_store_size sizes[PROF_STORE_TABLES], struct prof_err *error)
{
	char sql[256], *text;
	int t;

	snprintf(sql, sizeof(sql), "SELECT name FROM system.tables WHERE "
	    "database = '%.128s' FORMAT TabSeparated", store->sr_database);
	text = text_ask(store, sql, error);
	if (text == NULL)
		return (-1);
	for (const char *at = text; *at != '\0'; ) {
		const size_t length = strcspn(at, "\n");

		t = table_of(at, length);
		if (t != -1)
			sizes[t].st_is_there = true;
		at += length + (at[length] == '\n');
	}
	free(text);
	return (0);
}

int
prof_store_status(struct prof_store *store,
    struct prof_store_size sizes[PROF_STORE_TABLES], struct prof_err *error)
{
	char *text, *end;

	memset(sizes, 0, PROF_STORE_TABLES * sizeof(sizes[0]));
	if (tables_find(store, sizes, error) == -1)
		return (-1);
	text = list_ask(store, "table, sum(rows), sum(bytes_on_disk), "
	    "min(partition)", "GROUP BY table", error);
	if (text == NULL)
		return (-1);
	for (const char *at = text; *at != '\0'; ) {
		const size_t length = strcspn(at, "\t\n");
		const int t = table_of(at, length);

		if (t != -1 && at[length] == '\t') {
			sizes[t].st_rows = strtoull(at + length, &end, 10);
			sizes[t].st_bytes = strtoull(end, &end, 10);
			if (*end == '\t' && is_day(end + 1))
				memcpy(sizes[t].st_oldest, end + 1, 10);
		}
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	free(text);
	return (0);
}

int
prof_store_drop(struct prof_store *store, const char *day, unsigned *dropped,
    struct prof_err *error)
{
	char where[128], sql[256], *text;
	int rv = 0;

	*dropped = 0;
	snprintf(where, sizeof(where), "AND partition < '%.10s' GROUP BY "
	    "table, partition ORDER BY table, partition", day);
	text = list_ask(store, "table, partition", where, error);
	if (text == NULL)
		return (-1);
	for (const char *at = text; *at != '\0' && rv == 0; ) {
		const size_t length = strcspn(at, "\t\n");
		const int t = table_of(at, length);

		if (t != -1 && at[length] == '\t' && is_day(at + length + 1)) {
			snprintf(sql, sizeof(sql), "ALTER TABLE %s DROP "
			    "PARTITION '%.10s'", prof_store_table_name(
			    (enum prof_store_table)t), at + length + 1);
			rv = sql_run(store, store->sr_database, sql, error);
			*dropped += rv == 0;
		}
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	free(text);
	return (rv);
}

/* ----------------------------------------------------------------- send */

/*
 * Another one than those of others, in whose containers processes may have
 * the same numbers.  All hosts may send at the same seconds of a minute, so
 * these are hashed.  What was sent together compresses well together.
 */
static uint64_t
attempt_make(const struct prof_store_batch *batch)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(CLOCK_REALTIME, &ts);
	const uint64_t who[5] = { batch->sb_recording, batch->sb_number,
	    (uint64_t)getpid(), (uint64_t)ts.tv_sec, (uint64_t)ts.tv_nsec };
	return ((uint64_t)ts.tv_sec / 60 << HASH_BITS |
	    XXH3_64bits(who, sizeof(who)) >> (64 - HASH_BITS));
}

static int
rows_send(struct prof_store *store, enum prof_store_table table,
    const struct prof_store_rows *rows, struct prof_answer *answer,
    struct prof_err *error)
{
	const struct prof_request request = {
		.rq_body = rows->sr_bytes.bf_data,
		.rq_length = rows->sr_bytes.bf_len,
		.rq_gzip = true, .rq_timeout_s = TIMEOUT_S,
	};
	struct prof_buf sql = { 0 };
	char *path;
	int rv;

	prof_store_insert(&sql, table);
	prof_buf_bytes(&sql, "", 1);
	path = sql.bf_failed ? NULL : path_make(store->sr_database,
	    (const char *)sql.bf_data, "");
	rv = request_post(store, path, &request, answer, error);
	prof_buf_free(&sql);
	free(path);
	return (rv);
}

enum prof_store_sent
prof_store_send(struct prof_store *store, struct prof_store_batch *batch,
    struct prof_answer *answer, struct prof_err *error)
{
	*answer = (struct prof_answer){ .an_fd = -1 };
	if (tables_check(store, error) == -1)
		return (error->pe_code == PROF_E_BUSY ? PROF_STORE_LATER :
		    PROF_STORE_NEVER);
	prof_store_batch_number(batch, attempt_make(batch));
	for (unsigned t = 0; t < PROF_STORE_TABLES; t++) {
		const struct prof_store_rows *rows = &batch->sb_rows[t];

		if (rows->sr_n == 0)
			continue;
		if (rows_send(store, (enum prof_store_table)t, rows, answer,
		    error) == 0) {
			prof_answer_free(answer);
			continue;
		}
		prof_answer_free(answer);
		return (error->pe_code == PROF_E_BUSY ? PROF_STORE_LATER :
		    PROF_STORE_NEVER);
	}
	return (PROF_STORE_SENT);
}
