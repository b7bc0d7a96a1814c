/* SPDX-License-Identifier: ISC */
/*
 * A store in the place of a recording.  While the command still has its
 * rights, the network process asks for what the options want; the answers, of
 * which nothing has been looked at, are read like any other tool's file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cmd.h"

/* What was asked for; there is at most one. */
static const char *fetched_url;
static int fetched = -1;

/* The value of an option; NULL: the command has none of that name. */
static void *
option_of(const struct prof_cmd *cmd, void *options, const char *name)
{
	const struct opt_row *row;

	for (row = cmd->cm_options; row->op_type != OPT_END; row++)
		if (strcmp(row->op_name, name) == 0)
			return ((char *)options + row->op_at);
	return (NULL);
}

/* Seconds before now, whole minutes; 0: not set. */
static int
ago_of(const struct prof_cmd *cmd, void *options, const char *name,
    uint64_t *ago_s)
{
	struct opt_number *number = option_of(cmd, options, name);

	*ago_s = 0;
	if (number == NULL || !number->on_set)
		return (0);
	if (!number->on_from_end || number->on_value < 60000000000ULL)
		return (msg_fail(cmd->cm_name, "use a negative time of a "
		    "minute or more, such as -1h", "--%s: times of a store "
		    "count from now", name));
	*ago_s = number->on_value / 1000000000;
	*number = (struct opt_number){ .on_set = false };
	return (0);
}

static int
store_fetch(const struct prof_cmd *cmd, const char *url,
    const struct prof_store_want *want, const char *secret_file,
    const char **filter)
{
	struct prof_err error = { 0 };
	struct prof_buf rest = { 0 };
	struct prof_store *store = prof_store_open(url, secret_file, &error);

	if (store != NULL)
		fetched = prof_store_select(store, want, &rest, &error);
	prof_store_close(store);
	fetched_url = url;
	if (fetched == -1) {
		prof_buf_free(&rest);
		return (msg_prof(cmd->cm_name, &error));
	}
	/* Kept: the options have it until the end. */
	if (filter != NULL)
		*filter = rest.bf_len > 1 ? (const char *)rest.bf_data : NULL;
	return (0);
}

int
input_store_begin(const struct prof_cmd *cmd, void *options, int n,
    char *const *operands, unsigned by)
{
	const char **filter = option_of(cmd, options, "filter");
	const char **input = option_of(cmd, options, "input");
	const char **secret = option_of(cmd, options, "secret-file");
	const char *url = n > 0 ? operands[0] : input != NULL ? *input : NULL;
	struct prof_store_want want = { .wt_by = by };

	for (int i = 1; i < n; i++)
		if (prof_store_is_url(operands[i]) || prof_store_is_url(url))
			return (msg_error(cmd->cm_name, "a store is read by "
			    "itself", "push the recordings, or give files "
			    "alone"));
	if (url == NULL || !prof_store_is_url(url))
		return (0);
	if (ago_of(cmd, options, "from", &want.wt_from_s) == -1 ||
	    ago_of(cmd, options, "to", &want.wt_to_s) == -1)
		return (-1);
	want.wt_filter = filter != NULL ? *filter : NULL;
	return (store_fetch(cmd, url, &want, secret != NULL ? *secret : NULL,
	    filter));
}

struct prof_reader *
input_store_read(const char *url, struct prof_import **import,
    struct prof_err *error)
{
	*import = NULL;
	if (fetched != -1 && strcmp(url, fetched_url) == 0)
		return (prof_reader_open_answers(fetched, url, import, error));
	error->pe_code = PROF_E_USAGE;
	snprintf(error->pe_text, sizeof(error->pe_text), "%s: a store is "
	    "no operand here", url);
	snprintf(error->pe_cure, sizeof(error->pe_cure), "read it with report, "
	    "flamegraph or export, as the only operand");
	return (NULL);
}
