/* SPDX-License-Identifier: ISC */
/*
 * dtprof push: send recordings to a server.  Reads the options and finds the
 * kind of server by the URL; push_*.c know the kinds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ui/emit.h"
#include "push.h"

#define LOOK_NS		100000000
#define TRIES		100	/* looks, at the begin of a recording */

struct push_options {
	struct push		 ps_push;	/* of cm_begin, and later */
	struct opt_strings	 ps_labels;
	struct opt_number	 ps_timeout;
	const char		*ps_secret_file;
	bool			 ps_dry_run;
	bool			 ps_follow;
	bool			 ps_json;
};

static int	 check_push(const void *options, int n,
		    char *const *operands);
static int	 begin_push(const struct prof_cmd *cmd, void *options, int n,
		    char *const *operands);
static int	 run_push(void *options, int n, char **operands);

static const struct push_kind *const kinds[] = {
	&push_clickhouse, &push_otlp, &push_pyroscope, &push_parca, NULL
};

static const struct opt_row options_of_push[] = {
	{ 0, "dry-run", NULL, OPT_FLAG, 0, 0, NULL,
	    "print how much data would be sent, but send nothing",
	    offsetof(struct push_options, ps_dry_run), NULL },
	{ 0, "follow", NULL, OPT_FLAG, 0, 0, NULL,
	    "send a recording to a store while it is written",
	    offsetof(struct push_options, ps_follow), NULL },
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL, "print JSON",
	    offsetof(struct push_options, ps_json), NULL },
	{ 0, "label", "KEY=VALUE", OPT_STRINGS, 0, 0, NULL,
	    "add a label to all data sent; the keys service, version, host, "
	    "boot and build-id replace values from the recording; may be "
	    "repeated",
	    offsetof(struct push_options, ps_labels), NULL },
	{ 0, "secret-file", "FILE", OPT_STRING, 0, 0, NULL,
	    "file with the password of the URL's user, or a bearer token",
	    offsetof(struct push_options, ps_secret_file), NULL },
	{ 0, "timeout", "TIME", OPT_TIME, 0, 86400000000000ULL, "30s",
	    "how long to retry while the server is unreachable or busy",
	    offsetof(struct push_options, ps_timeout), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof push clickhouse+http://ch:8123/dtprof x.dtp",
	"send a recording to a ClickHouse server",
	"dtprof push otlp+http://collector:4318 x.dtp",
	"send a profile to an OpenTelemetry Collector",
	"dtprof push --label version=1.42 clickhouse+http://ch/dtprof x.dtp",
	"send a recording with a label",
	NULL
};

const struct prof_cmd cmd_push = {
	.cm_name = "push",
	.cm_summary = "send recordings to a store or a receiver of profiles",
	.cm_operands = "URL FILE ...",
	.cm_options = options_of_push,
	.cm_size = sizeof(struct push_options),
	.cm_min = 2,
	.cm_max = -1,
	.cm_reads = true,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "Before the first push, create the store's tables with "
	    "dtprof store init.  Batches that the store already has are not "
	    "sent again.",
	.cm_check = check_push,
	.cm_begin = begin_push,
	.cm_run = run_push,
};

/* -------------------------------------------------------------- labels */

const char *
push_label(const struct push_labels *labels, const char *key)
{
	for (size_t n = 0; n < labels->pl_n; n++)
		if (strcmp(labels->pl_key[n], key) == 0)
			return (labels->pl_value[n]);
	return (NULL);
}

static bool
is_label(const char *text)
{
	const char *equals = strchr(text, '=');

	return (equals != NULL && equals > text && equals - text <= 64 &&
	    strlen(equals) <= 256);
}

/* Does one of the first n labels have the key of text? */
static bool
has_key(const struct opt_strings *labels, size_t n, const char *text)
{
	const size_t length = strcspn(text, "=") + 1;

	while (n-- > 0)
		if (strncmp(labels->os_text[n], text, length) == 0)
			return (true);
	return (false);
}

static int
labels_take(struct push_options *po)
{
	struct push_labels *labels = &po->ps_push.pu_labels;

	for (size_t n = 0; n < po->ps_labels.os_n; n++) {
		char *text = strdup(po->ps_labels.os_text[n]);

		if (text == NULL)
			return (msg_error("push", "out of memory",
			    "free memory"));
		labels->pl_texts[labels->pl_n] = text;
		labels->pl_key[labels->pl_n] = text;
		text = strchr(text, '=');
		*text = '\0';
		labels->pl_value[labels->pl_n++] = text + 1;
	}
	return (0);
}

/* ------------------------------------------------------------- command */

static const struct push_kind *
kind_of(const char *url)
{
	for (size_t n = 0; kinds[n] != NULL; n++)
		if (strncmp(url, kinds[n]->pk_prefix,
		    strlen(kinds[n]->pk_prefix)) == 0)
			return (kinds[n]);
	return (NULL);
}

static int
check_push(const void *options, int n, char *const *operands)
{
	const struct push_options *po = options;

	/* Messages do not repeat a URL: it may hold a password. */
	if (kind_of(operands[0]) == NULL)
		return (msg_error("push", "the first operand is not the URL of "
		    "a store or receiver", "use a URL such as "
		    "clickhouse+http://HOST:8123/DATABASE or "
		    "otlp+http://HOST:4318"));
	if (po->ps_follow && kind_of(operands[0]) != &push_clickhouse)
		return (msg_error("push", "--follow needs a store",
		    "push the recording after it has ended"));
	if (po->ps_follow && n != 2)
		return (msg_error("push", "--follow takes exactly one "
		    "recording",
		    "run dtprof push for each recording"));
	if (po->ps_labels.os_n > PUSH_LABELS)
		return (msg_fail("push", "use fewer", "more than %d labels",
		    PUSH_LABELS));
	for (size_t i = 0; i < po->ps_labels.os_n; i++) {
		const char *text = po->ps_labels.os_text[i];

		if (!is_label(text))
			return (msg_fail("push", "write --label KEY=VALUE; KEY "
			    "has at most 64 bytes, VALUE at most 255",
			    "--label %s: invalid label", text));
		if (has_key(&po->ps_labels, i, text))
			return (msg_fail("push", "give each key one value",
			    "--label %s: duplicate key", text));
	}
	return (0);
}

static int
begin_push(const struct prof_cmd *cmd, void *options, int n,
    char *const *operands)
{
	struct push_options *po = options;
	struct push *push = &po->ps_push;

	(void)cmd;
	(void)n;
	push->pu_url = operands[0];
	push->pu_secret_file = po->ps_secret_file;
	push->pu_try_ns = po->ps_timeout.on_value;
	push->pu_is_dry = po->ps_dry_run;
	push->pu_follows = po->ps_follow;
	return (labels_take(po) == -1 ? -1 : kind_of(operands[0])->pk_open(
	    push));
}

static int
counts_show(const struct push_options *po, const char *rows)
{
	const struct push_counts *counts = &po->ps_push.pu_counts;
	struct emit em;
	struct out out;

	out_init(&out, STDOUT_FILENO);
	if (po->ps_json) {
		emit_json(&em, &out);
		EMIT(&em, COUNT("schema_version", JSON_SCHEMA),
		    COUNT("samples", counts->pc_samples),
		    COUNT("rows_sent", counts->pc_rows),
		    COUNT("rows_spooled", counts->pc_rows_spooled),
		    COUNT("rows_dropped", counts->pc_rows_dropped),
		    COUNT("batches_sent", counts->pc_batches),
		    COUNT("batches_duplicate", counts->pc_duplicates),
		    COUNT("bytes", counts->pc_bytes));
		emit_end(&em);
		return (out_end(&out, "push"));
	}
	out_fmt(&out, "%" PRIu64 " samples: %" PRIu64 " %s in %" PRIu64
	    " batches %s", counts->pc_samples, counts->pc_rows, rows,
	    counts->pc_batches, po->ps_dry_run ? "to send" : "sent");
	if (counts->pc_duplicates > 0)
		out_fmt(&out, ", %" PRIu64 " batches were sent before",
		    counts->pc_duplicates);
	if (counts->pc_rows_spooled + counts->pc_rows_dropped > 0)
		out_fmt(&out, ", %" PRIu64 " %s not sent",
		    counts->pc_rows_spooled + counts->pc_rows_dropped, rows);
	out_char(&out, '\n');
	return (out_end(&out, "push"));
}

/* One that is just beginning says what it is when its first chunk is there. */
static struct prof_reader *
file_open(struct push *push, const char *path, struct prof_err *error)
{
	const struct timespec look = { 0, LOOK_NS };
	struct prof_reader *reader;

	for (int tries = push->pu_follows ? TRIES : 1; ; tries--) {
		push->pu_opened = time(NULL);
		reader = input_read("push", path, error);
		if (tries == 1 || (reader != NULL && prof_reader_info(reader,
		    "time.realtime_ns") != NULL))
			return (reader);
		prof_reader_close(reader);
		(void)nanosleep(&look, NULL);
	}
}

/* Each is tried, also when one before it could not be read. */
static int
files_push(struct push *push, const struct push_kind *kind, int n,
    char **paths)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader;
	int status = 0;

	for (int i = 0; i < n; i++) {
		reader = file_open(push, paths[i], &error);
		if (reader == NULL) {
			msg_prof("push", &error);
			status = EXIT_FAILED;
			continue;
		}
		if (!push->pu_follows)
			input_say_cut("push", reader);
		if (kind->pk_file(push, reader, paths[i]) == -1)
			status = EXIT_FAILED;
		prof_reader_close(reader);
	}
	return (status);
}

static int
run_push(void *options, int n, char **operands)
{
	struct push_options *po = options;
	struct push *push = &po->ps_push;
	const struct push_kind *kind = kind_of(operands[0]);
	int status = files_push(push, kind, n - 1, operands + 1);

	if (counts_show(po, kind->pk_rows) != 0)
		status = EXIT_FAILED;
	kind->pk_close(push);
	while (push->pu_labels.pl_n > 0)
		free(push->pu_labels.pl_texts[--push->pu_labels.pl_n]);
	return (status);
}
