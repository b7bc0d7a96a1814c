/* SPDX-License-Identifier: ISC */
/*
 * The tables of a store, as ClickHouse 18.16 and later have them: no type
 * that a current version lacks or that the older one had not yet.  See
 * doc/FLEET.md for what each column says; tests compare both.
 *
 * Samples lie in order of stacks, not of time: most bytes of a row are the
 * number of its stack, which then compress to nearly nothing.
 */
#include <stdio.h>
#include <string.h>

#include "store_impl.h"

struct column {
	const char	*cn_name;
	const char	*cn_type;
};

/* A text that few rows have another one of: it is stored as a number. */
#define FEW	"LowCardinality(String)"

#define NONE	{ NULL, NULL }
#define LABELS(text)							\
	{ "host", text }, { "boot", text },				\
	{ "service", text }, { "version", text },			\
	{ "build_id", text }, { "container", text },			\
	{ "pod", text }, { "label_keys", "Array(String)" },		\
	{ "label_values", "Array(String)" }

static const struct column stacks[] = {
	{ "day", "Date" }, { "stack", "UInt64" },
	{ "names", "Array(String)" }, { "modules", "Array(String)" },
	{ "build_ids", "Array(String)" }, { "kinds", "Array(String)" },
	{ "unresolved", "Array(String)" }, { "kernel_status", "String" },
	{ "user_status", "String" }, NONE
};

static const struct column samples[] = {
	{ "attempt", "UInt64" }, LABELS(FEW), { "day", "Date" },
	{ "time", "DateTime" }, { "event", FEW }, { "pid", "UInt32" },
	{ "tid", "UInt32" }, { "cpu", "UInt16" }, { "comm", FEW },
	{ "renames", "UInt32" }, { "reason", FEW },
	{ "stack", "UInt64" }, { "weight", "UInt64" }, { "n", "UInt32" },
	NONE
};

static const struct column accounts[] = {
	{ "recording", "UInt64" }, { "batch", "UInt64" },
	{ "attempt", "UInt64" }, LABELS("String"), { "day", "Date" },
	{ "minute", "DateTime" },
	{ "event", "String" }, { "number", "UInt32" }, { "probe", "String" },
	{ "provider", "String" }, { "unit", "String" },
	{ "period", "UInt64" }, { "frequency", "UInt64" },
	{ "elapsed_ns", "UInt64" }, { "from_ns", "UInt64" },
	{ "to_ns", "UInt64" }, { "is_last", "UInt8" },
	{ "batch_rows", "UInt64" }, { "batch_samples", "UInt64" },
	{ "batch_weight", "UInt64" }, { "batch_lost", "UInt64" },
	{ "info_keys", "Array(String)" }, { "info_values", "Array(String)" },
#define PROF_COUNTER(bit, name, type, role, source, text) \
	{ #name, "U" #type },
#define PROF_COUNTER_STACK(bit, name, status) { #name "_" #status, "U" },
#include "counters.def"
	NONE
};

static const struct {
	const char	*name;
	const struct column *columns;
	const char	*engine;
} tables[PROF_STORE_TABLES] = {
	[PROF_STORE_STACKS] = { "stacks", stacks,
	    "ENGINE = ReplacingMergeTree PARTITION BY day "
	    "ORDER BY (day, stack)" },
	[PROF_STORE_SAMPLES] = { "samples", samples,
	    "ENGINE = MergeTree PARTITION BY day "
	    "ORDER BY (service, event, stack, time, host)" },
	[PROF_STORE_ACCOUNTS] = { "accounts", accounts,
	    "ENGINE = MergeTree PARTITION BY day "
	    "ORDER BY (service, event, minute, host)" },
};

const char *
prof_store_table_name(enum prof_store_table table)
{
	return (tables[table].name);
}

/* ----------------------------------------------------------------- SQL */

static void
sql_put(struct prof_buf *sql, const char *text)
{
	prof_buf_bytes(sql, text, strlen(text));
}

/* Of a counter all that is in the table of counters is its type in C. */
static const char *
type_of(const struct column *column)
{
	return (strcmp(column->cn_type, "Uint64_t") == 0 ? "Int64" :
	    column->cn_type[0] == 'U' && strncmp(column->cn_type, "UInt", 4)
	    != 0 ? "UInt64" : column->cn_type);
}

static void
name_put(struct prof_buf *sql, const struct column *column)
{
	char name[64];
	size_t n = 0;

	for (; n < sizeof(name) - 1 && column->cn_name[n] != '\0'; n++)
		name[n] = column->cn_name[n] >= 'A' &&
		    column->cn_name[n] <= 'Z' ?
		    (char)(column->cn_name[n] - 'A' + 'a') :
		    column->cn_name[n];
	name[n] = '\0';
	sql_put(sql, name);
}

static void
columns_put(struct prof_buf *text, enum prof_store_table table,
    const char *first, const char *before, const char *type)
{
	const struct column *column = tables[table].columns;

	for (; column->cn_name != NULL; column++) {
		sql_put(text, column == tables[table].columns ? first :
		    before);
		name_put(text, column);
		sql_put(text, type);
		sql_put(text, type_of(column));
	}
	if (table != PROF_STORE_ACCOUNTS)
		return;
	/* When the server took it. */
	sql_put(text, before);
	sql_put(text, "committed");
	sql_put(text, type);
	sql_put(text, "DateTime");
}

void
prof_store_create(struct prof_buf *sql, enum prof_store_table table)
{
	sql_put(sql, "CREATE TABLE IF NOT EXISTS ");
	sql_put(sql, tables[table].name);
	sql_put(sql, " (");
	columns_put(sql, table, "\n    ", ",\n    ", " ");
	if (table == PROF_STORE_ACCOUNTS)
		sql_put(sql, " DEFAULT now()");
	sql_put(sql, "\n) ");
	sql_put(sql, tables[table].engine);
}

void
prof_store_columns(struct prof_buf *text, enum prof_store_table table)
{
	char before[32];

	snprintf(before, sizeof(before), "\n%s\t", tables[table].name);
	columns_put(text, table, before + 1, before, "\t");
	sql_put(text, "\n");
}

void
prof_store_insert(struct prof_buf *sql, enum prof_store_table table)
{
	const struct column *column = tables[table].columns;
	const char *before = " (";

	sql_put(sql, "INSERT INTO ");
	sql_put(sql, tables[table].name);
	for (; column->cn_name != NULL; column++, before = ",") {
		sql_put(sql, before);
		name_put(sql, column);
	}
	sql_put(sql, table == PROF_STORE_SAMPLES ? ") FORMAT Native" :
	    ") FORMAT RowBinary");
}

unsigned
prof_store_ncolumns(enum prof_store_table table)
{
	unsigned n = 0;

	while (tables[table].columns[n].cn_name != NULL)
		n++;
	return (n);
}

void
prof_store_column(enum prof_store_table table, unsigned n, const char **name,
    const char **type)
{
	*name = tables[table].columns[n].cn_name;
	*type = tables[table].columns[n].cn_type;
}

/* ---------------------------------------------------------------- rows */

void
prof_row_uint(struct prof_buf *row, uint64_t value, unsigned bytes)
{
	uint8_t le[8];

	prof_put_le(le, value, bytes);
	prof_buf_bytes(row, le, bytes);
}

void
prof_row_text(struct prof_buf *row, const char *text)
{
	const size_t length = text == NULL ? 0 : strlen(text);

	prof_buf_varint(row, length);
	prof_buf_bytes(row, text, length);
}

void
prof_row_texts(struct prof_buf *row, const char *const *texts, size_t n)
{
	prof_buf_varint(row, n);
	for (size_t i = 0; i < n; i++)
		prof_row_text(row, texts[i]);
}
