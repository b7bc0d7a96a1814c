/* SPDX-License-Identifier: ISC */
/*
 * What is asked of a store.  A filter is split at its outer &&: terms on
 * labels become SQL, all others are evaluated on the samples as in any
 * recording.  Times are whole minutes, so that samples and accounts are of the
 * same batches.  Called by reading commands, before they give up their rights.
 *
 *	or:	and { "||" and }	and:	not { "&&" not }
 *	not:	"!" not | "(" or ")" | label ("==" | "!=") text
 */
#include <sys/mman.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/grow.h"
#include "client.h"
#include "store_impl.h"

#define DEPTH	32
#define WORD	128
#define PROF_STORE_LIST	(64u << 20)	/* bytes of a list of recordings */

struct labels {
	const char	*la_at;
	const char	*la_begin;
	struct prof_buf	*la_sql;
	struct prof_err	*la_error;
	unsigned	 la_depth;
};

static int	labels_or(struct labels *labels);

static void
sql_add(struct prof_buf *sql, const char *text)
{
	prof_buf_bytes(sql, text, strlen(text));
}

static int
fail_at(struct labels *labels, const char *what)
{
	return (prof_fail(labels->la_error, PROF_E_FILTER, "filter column "
	    "%zu: %s", (size_t)(labels->la_at - labels->la_begin) + 1, what));
}

static void
blanks_skip(struct labels *labels)
{
	while (isspace((unsigned char)*labels->la_at))
		labels->la_at++;
}

static bool
sign_take(struct labels *labels, const char *sign)
{
	blanks_skip(labels);
	if (strncmp(labels->la_at, sign, strlen(sign)) != 0)
		return (false);
	labels->la_at += strlen(sign);
	return (true);
}

static size_t
word_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_' ||
	    (n > 0 && (at[n] == '.' || at[n] == '-')))
		n++;
	return (n);
}

/* A column, or the value of a key. */
static const char *
column_of(const char *word, size_t length)
{
	static const char *const columns[] = { "host", "boot", "service",
	    "version", "container", "pod" };

	for (size_t n = 0; n < sizeof(columns) / sizeof(columns[0]); n++)
		if (strlen(columns[n]) == length &&
		    memcmp(columns[n], word, length) == 0)
			return (columns[n]);
	return (length > 6 && length < WORD && memcmp(word, "label.", 6) ==
	    0 ? "" : NULL);
}

static void
text_add(struct prof_buf *sql, const char *text, size_t length)
{
	sql_add(sql, "'");
	for (size_t n = 0; n < length; n++) {
		if (text[n] == '\'' || text[n] == '\\')
			sql_add(sql, "\\");
		prof_buf_bytes(sql, text + n, 1);
	}
	sql_add(sql, "'");
}

static int
labels_test(struct labels *labels)
{
	const size_t length = word_length(labels->la_at);
	const char *column = column_of(labels->la_at, length), *end;
	struct prof_buf *sql = labels->la_sql;

	if (column == NULL) {
		fail_at(labels, "not a label of the store");
		return (prof_cure(labels->la_error, "join labels (host, boot, "
		    "service, version, label.NAME) and other fields with &&"));
	}
	if (column[0] != '\0')
		sql_add(sql, column);
	else {
		sql_add(sql, "label_values[indexOf(label_keys, ");
		text_add(sql, labels->la_at + 6, length - 6);
		sql_add(sql, ")]");
	}
	labels->la_at += length;
	if (sign_take(labels, "=="))
		sql_add(sql, " = ");
	else if (sign_take(labels, "!="))
		sql_add(sql, " != ");
	else
		return (fail_at(labels, "expected == or != after a label"));
	blanks_skip(labels);
	end = *labels->la_at != '"' && *labels->la_at != '\'' ? NULL :
	    strchr(labels->la_at + 1, *labels->la_at);
	if (end == NULL)
		return (fail_at(labels, "expected a string in quotes"));
	text_add(sql, labels->la_at + 1, (size_t)(end - labels->la_at) - 1);
	labels->la_at = end + 1;
	return (0);
}

static int
labels_not(struct labels *labels)
{
	int rv;

	if (labels->la_depth++ == DEPTH)
		return (fail_at(labels, "too deep"));
	if (sign_take(labels, "!")) {
		sql_add(labels->la_sql, "NOT ");
		rv = labels_not(labels);
	} else if (sign_take(labels, "(")) {
		sql_add(labels->la_sql, "(");
		rv = labels_or(labels);
		sql_add(labels->la_sql, ")");
		if (rv == 0 && !sign_take(labels, ")"))
			rv = fail_at(labels, "expected )");
	} else
		rv = labels_test(labels);
	labels->la_depth--;
	return (rv);
}

static int
labels_and(struct labels *labels)
{
	int rv = labels_not(labels);

	while (rv == 0 && sign_take(labels, "&&")) {
		sql_add(labels->la_sql, " AND ");
		rv = labels_not(labels);
	}
	return (rv);
}

static int
labels_or(struct labels *labels)
{
	int rv = labels_and(labels);

	while (rv == 0 && sign_take(labels, "||")) {
		sql_add(labels->la_sql, " OR ");
		rv = labels_and(labels);
	}
	return (rv);
}

/* --------------------------------------------------------------- terms */

/* Behind the term that begins here, outside of quotes and parentheses. */
static const char *
term_end(const char *at, bool *has_label, bool *has_or)
{
	bool is_word = false;
	int depth = 0;

	*has_label = *has_or = false;
	for (; *at != '\0'; at++) {
		const size_t length = is_word ? 0 : word_length(at);

		if (length > 0) {
			*has_label |= column_of(at, length) != NULL;
			at += length - 1;
			continue;
		}
		is_word = false;
		if ((*at == '"' || *at == '\'') && strchr(at + 1, *at) != NULL)
			at = strchr(at + 1, *at);
		else if (*at == '(')
			depth++;
		else if (*at == ')')
			depth--;
		else if (depth <= 0 && strncmp(at, "||", 2) == 0)
			*has_or = true;
		else if (depth <= 0 && strncmp(at, "&&", 2) == 0)
			break;
	}
	return (at);
}

static bool
has_outer_or(const char *filter)
{
	bool has_label, has_or, any = false;

	for (const char *at = filter; *at != '\0'; at += *at != '\0' ? 2 : 0) {
		at = term_end(at, &has_label, &has_or);
		any |= has_or;
	}
	return (any);
}

/* A term on labels, as SQL. */
static int
term_take(const char *filter, const char *at, const char *end,
    struct prof_buf *sql, struct prof_err *error)
{
	struct labels labels = { at, filter, sql, error, 0 };
	int rv;

	sql_add(sql, " AND (");
	rv = has_outer_or(filter) ? labels_or(&labels) : labels_not(&labels);
	sql_add(sql, ")");
	if (rv == 0) {
		blanks_skip(&labels);
		if (labels.la_at != end)
			rv = fail_at(&labels, "labels of the store and "
			    "other fields can be joined only with &&");
	}
	return (rv);
}

/* Without blanks around it, as reports show it. */
static void
rest_add(struct prof_buf *rest, const char *at, const char *end)
{
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	while (end > at && isspace((unsigned char)*at))
		at++;
	if (rest->bf_len > 0)
		sql_add(rest, " && ");
	prof_buf_bytes(rest, at, (size_t)(end - at));
}

int
prof_store_filter(const char *filter, struct prof_buf *sql,
    struct prof_buf *rest, struct prof_err *error)
{
	const bool has_or = has_outer_or(filter);
	bool has_label, any_or;
	const char *end;

	for (const char *at = filter; ; at = end + 2) {
		end = term_end(at, &has_label, &any_or);
		if (has_or)	/* all of it is one term, or none */
			while (*end != '\0') {
				bool more;

				end = term_end(end + 2, &more, &any_or);
				has_label |= more;
			}
		if (has_label) {
			if (term_take(filter, at, end, sql, error) == -1)
				return (-1);
		} else
			rest_add(rest, at, end);
		if (*end == '\0')
			break;
	}
	prof_buf_bytes(rest, "", 1);
	return (sql->bf_failed || rest->bf_failed ? prof_fail_nomem(error) :
	    0);
}

/* -------------------------------------------------------------- queries */

/* What is left of a filter looks at samples, too: see filter/compile.c. */
static unsigned
by_filter(const struct prof_buf *rest)
{
	const char *text = rest->bf_len == 0 ? "" : (const char *)
	    rest->bf_data;

	return ((strstr(text, "span") != NULL ? PROF_STORE_ALL : 0) |
	    (strstr(text, "cpu") != NULL ? PROF_STORE_CPUS : 0) |
	    (strstr(text, "pid") != NULL || strstr(text, "tid") != NULL ?
	    PROF_STORE_THREADS : 0));
}

/* A condition on both tables, and the one on accounts that is exact. */
static void
when_add(struct prof_buf *days, struct prof_buf *minutes, const char *op,
    uint64_t ago_s, uint64_t now_s)
{
	const uint64_t at_s = now_s > ago_s ? now_s - ago_s : 0;
	char text[64];

	snprintf(text, sizeof(text), " AND day %s toDate(%llu)",
	    op[0] == '<' ? "<=" : ">=", (unsigned long long)(at_s / 86400));
	sql_add(days, text);
	snprintf(text, sizeof(text), " AND intDiv(batch, 256) %s %llu", op,
	    (unsigned long long)(at_s / 60));
	sql_add(minutes, text);
}

/*
 * " WHERE ...": the committed attempts of the time and the labels.  All
 * questions have the same minutes, however long they take.
 */
static int
where_make(const struct prof_store_want *want, const char *labels,
    struct prof_buf *where, struct prof_err *error)
{
	const uint64_t now_s = want->wt_now_s != 0 ? want->wt_now_s :
	    (uint64_t)time(NULL);
	struct prof_buf days = { 0 }, minutes = { 0 };
	char text[64];
	bool failed;

	if (want->wt_from_s != 0)
		when_add(&days, &minutes, ">=", want->wt_from_s, now_s);
	if (want->wt_to_s != 0)
		when_add(&days, &minutes, "<", want->wt_to_s, now_s);
	if (want->wt_recording != 0) {
		snprintf(text, sizeof(text), " AND recording = %llu",
		    (unsigned long long)want->wt_recording);
		sql_add(&minutes, text);
	}
	prof_buf_bytes(&days, "", 1);
	prof_buf_bytes(&minutes, "", 1);
	failed = days.bf_failed || minutes.bf_failed;
	if (!failed) {
		sql_add(where, " WHERE attempt IN (SELECT min(attempt) FROM "
		    "accounts WHERE 1");
		sql_add(where, (const char *)days.bf_data);
		sql_add(where, (const char *)minutes.bf_data);
		sql_add(where, " GROUP BY recording, batch)");
		sql_add(where, (const char *)days.bf_data);
		sql_add(where, labels);
		if (want->wt_host != NULL) {
			sql_add(where, " AND host = ");
			text_add(where, want->wt_host, strlen(want->wt_host));
		}
		prof_buf_bytes(where, "", 1);
	}
	prof_buf_free(&days);
	prof_buf_free(&minutes);
	return (where->bf_failed || failed ? prof_fail_nomem(error) : 0);
}

/* The rows of one question, behind how many bytes they are. */
static int
part_append(struct prof_store *store, const char *sql, uint64_t most, int to,
    struct prof_err *error)
{
	static char room[1 << 16];
	const int from = prof_store_ask(store, sql, most, error);
	uint64_t length = from == -1 ? 0 : (uint64_t)lseek(from, 0, SEEK_END);
	bool is_good = from != -1 &&
	    write(to, &length, sizeof(length)) == (ssize_t)sizeof(length);
	ssize_t n;

	for (off_t at = 0; is_good && (uint64_t)at < length; at += n) {
		n = pread(from, room, sizeof(room), at);
		is_good = n > 0 && write(to, room, (size_t)n) == n;
	}
	if (from == -1)
		return (-1);
	(void)close(from);
	return (is_good ? 0 : prof_fail_nomem(error));
}

static int
question_ask(struct prof_store *store, const char *const *parts, int to,
    struct prof_err *error)
{
	struct prof_buf sql = { 0 };
	int rv;

	for (; *parts != NULL; parts++)
		sql_add(&sql, *parts);
	sql_add(&sql, " FORMAT RowBinary");
	prof_buf_bytes(&sql, "", 1);
	rv = sql.bf_failed ? prof_fail_nomem(error) : part_append(store,
	    (const char *)sql.bf_data, PROF_STORE_MOST, to, error);
	prof_buf_free(&sql);
	return (rv);
}

/*
 * Samples, as few rows as will do: the server adds up what is not told apart.
 * Threads are then three: 0 is idle, 2 has no name, and 1 is all others.
 */
static int
samples_ask(struct prof_store *store, unsigned by, const char *where, int to,
    struct prof_err *error)
{
	static const char one[] = "toUInt32(if(a_idle, 0, if(comm = '', 2, "
	    "1)))", rest[] = ", comm, stack, weight, sum(n) FROM samples",
	    group[] = " GROUP BY event, comm, stack, weight, ";
	const bool threads = (by & PROF_STORE_THREADS) != 0;
	const bool times = (by & PROF_STORE_TIMES) != 0;
	const bool cpus = (by & PROF_STORE_CPUS) != 0;

	return (question_ask(store, (const char *const []){ "SELECT ",
	    times ? "toUInt32(time)" : "toUInt32(0)", ", event, ",
	    threads ? "pid" : one, ", ", threads ? "tid" : one, ", ",
	    cpus ? "cpu" : "toUInt16(0)", rest, where, group,
	    times ? "time, " : "", cpus ? "cpu, " : "",
	    threads ? "pid, tid, renames" : "tid = 0 AS a_idle",
	    " ORDER BY ", times ? "time, " : "",
	    threads ? "tid, renames, pid, " : "a_idle, ",
	    cpus ? "cpu, " : "", "event, comm, stack, weight", NULL }, to,
	    error));
}

/* In the order in which import/store.c takes them. */
static int
questions_ask(struct prof_store *store, unsigned by, const char *where,
    int to, struct prof_err *error)
{
#define PROF_COUNTER(bit, name, type, role, source, text) ", sum(" #name ")"
#define PROF_COUNTER_STACK(bit, name, status) \
	", sum(" #name "_" #status ")"
	static const char counters[] = ""
#include "counters.def"
	;
	char *lower = strdup(counters);
	int rv;

	if (lower == NULL)
		return (prof_fail_nomem(error));
	for (char *at = lower; *at != '\0'; at++)
		*at = (char)tolower((unsigned char)*at);
	rv = question_ask(store, (const char *const []){ "SELECT k, any(v) "
	    "FROM accounts ARRAY JOIN info_keys AS k, info_values AS v",
	    where, " GROUP BY k HAVING uniqExact(v) = 1 ORDER BY k", NULL },
	    to, error);
	if (rv == 0)
		rv = question_ask(store, (const char *const []){
		    "SELECT event, toUInt32(min(number)), any(probe), "
		    "any(provider), any(unit), min(period), max(period), "
		    "any(frequency), toUInt64(min(from_ns)), "
		    "toUInt64(max(to_ns)), toUInt64(uniqExact(recording)), "
		    "toUInt64(uniqExact(host)), sum(batch_samples), "
		    "sum(batch_weight)", lower, " FROM accounts", where,
		    " GROUP BY event ORDER BY min(number), event", NULL },
		    to, error);
	free(lower);
	if (rv == 0)
		rv = samples_ask(store, by, where, to, error);
	if (rv == 0)
		rv = question_ask(store, (const char *const []){
		    "SELECT stack, any(names), any(modules), any(build_ids), "
		    "any(kinds), any(unresolved), any(kernel_status), "
		    "any(user_status) FROM stacks WHERE stack IN (SELECT "
		    "stack FROM samples", where, ") GROUP BY stack ORDER BY "
		    "stack", NULL }, to, error);
	return (rv);
}

/* The WHERE of what is wanted, and what is left of its filter. */
static int
wanted_make(const struct prof_store_want *want, struct prof_buf *where,
    struct prof_buf *rest, struct prof_err *error)
{
	struct prof_buf labels = { 0 };
	int rv = want->wt_filter == NULL ? 0 : prof_store_filter(
	    want->wt_filter, &labels, rest, error);

	prof_buf_bytes(&labels, "", 1);
	if (rv == 0)
		rv = labels.bf_failed ? prof_fail_nomem(error) : where_make(
		    want, (const char *)labels.bf_data, where, error);
	prof_buf_free(&labels);
	return (rv);
}

int
prof_store_select(struct prof_store *store,
    const struct prof_store_want *want, struct prof_buf *rest,
    struct prof_err *error)
{
	struct prof_buf where = { 0 };
	int fd = -1;

	if (wanted_make(want, &where, rest, error) == -1)
		goto out;
	fd = memfd_create("store", MFD_CLOEXEC);
	if (fd == -1 || write(fd, PROF_STORE_MAGIC, PROF_STORE_MAGIC_LEN) !=
	    PROF_STORE_MAGIC_LEN)
		prof_fail_nomem(error);
	else if (questions_ask(store, want->wt_by | by_filter(rest),
	    (const char *)where.bf_data, fd, error) == 0)
		goto out;
	if (fd != -1)
		(void)close(fd);
	fd = -1;
out:
	prof_buf_free(&where);
	return (fd);
}

/* ------------------------------------------------------------ recordings */

static char *
text_take(struct cursor *cursor)
{
	const uint64_t length = cursor_uleb(cursor);
	const char *at = (const char *)cursor->cu_at;

	cursor_skip(cursor, length);
	return (cursor->cu_over ? NULL : strndup(at, length));
}

/* All of an answer; it is closed.  NULL: no memory. */
static uint8_t *
answer_take(int fd, size_t *length)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *bytes = size < 0 ? NULL : malloc((size_t)size + 1);

	if (bytes != NULL && pread(fd, bytes, (size_t)size, 0) != size) {
		free(bytes);
		bytes = NULL;
	}
	*length = bytes == NULL ? 0 : (size_t)size;
	(void)close(fd);
	return (bytes);
}

static int
found_take(struct cursor *cursor, struct prof_store_found **found, size_t *n)
{
	struct prof_store_found *one;

	while (cursor->cu_at < cursor->cu_end) {
		one = prof_append(found, n, sizeof(*one));
		if (one == NULL)
			return (-1);
		one->sf_host = text_take(cursor);
		one->sf_number = cursor_fixed(cursor, 8);
		one->sf_service = text_take(cursor);
		one->sf_version = text_take(cursor);
		if (one->sf_host == NULL || one->sf_service == NULL ||
		    one->sf_version == NULL || cursor->cu_over)
			return (-1);
	}
	return (0);
}

int
prof_store_find(struct prof_store *store, const struct prof_store_want *want,
    struct prof_buf *rest, struct prof_store_found **found, size_t *n,
    struct prof_err *error)
{
	struct prof_buf where = { 0 }, sql = { 0 };
	struct cursor cursor = { NULL, NULL, false };
	uint8_t *bytes = NULL;
	size_t length;
	int fd = -1, rv = -1;

	*found = NULL;
	*n = 0;
	if (wanted_make(want, &where, rest, error) == -1)
		goto out;
	sql_add(&sql, "SELECT host, recording, any(service), any(version) "
	    "FROM accounts");
	sql_add(&sql, (const char *)where.bf_data);
	sql_add(&sql, " GROUP BY host, recording HAVING sum(batch_samples) > "
	    "0 ORDER BY host, min(from_ns), recording FORMAT RowBinary");
	prof_buf_bytes(&sql, "", 1);
	if (!sql.bf_failed)
		fd = prof_store_ask(store, (const char *)sql.bf_data,
		    PROF_STORE_LIST, error);
	if (fd == -1)
		goto out;
	bytes = answer_take(fd, &length);
	cursor.cu_at = bytes;
	cursor.cu_end = bytes + length;
	rv = bytes == NULL ? prof_fail_nomem(error) :
	    found_take(&cursor, found, n) == 0 ? 0 : prof_fail(error,
	    PROF_E_FORMAT, "the answer of the store is malformed");
out:
	if (sql.bf_failed)
		prof_fail_nomem(error);
	if (rv == -1) {
		prof_store_found_free(*found, *n);
		*found = NULL;
		*n = 0;
	}
	prof_buf_free(&where);
	prof_buf_free(&sql);
	free(bytes);
	return (rv);
}

void
prof_store_found_free(struct prof_store_found *found, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(found[i].sf_host);
		free(found[i].sf_service);
		free(found[i].sf_version);
	}
	free(found);
}
