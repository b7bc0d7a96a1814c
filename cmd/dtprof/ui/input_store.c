/* SPDX-License-Identifier: ISC */
/*
 * A store in the place of a recording.  While the command still has its
 * rights, the network process asks for what the options want; the answers, of
 * which nothing has been looked at, are read like any other tool's file.
 */
#include <sys/resource.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../cmd.h"

/* What was asked for: the operand, or what compare makes of it. */
static struct answer {
	char		*an_name;
	int		 an_fd;
	int		 an_side;
} *answers;
static size_t nanswers;
static char side_name[2][160];

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
		    "minute or more, such as -1h", "--%s: for a store, TIME is "
		    "relative to now", name));
	*ago_s = number->on_value / 1000000000;
	*number = (struct opt_number){ .on_set = false };
	return (0);
}

/* The descriptor is the answer's then; -1: a message has been printed. */
static int
answer_keep(const struct prof_cmd *cmd, const char *name, int fd, int side)
{
	struct answer *answer = prof_append(&answers, &nanswers,
	    sizeof(*answer));

	if (answer == NULL || (answer->an_name = strdup(name)) == NULL) {
		nanswers -= answer != NULL;
		(void)close(fd);
		return (msg_error(cmd->cm_name, "out of memory",
		    "free memory"));
	}
	answer->an_fd = fd;
	answer->an_side = side;
	return (0);
}

/* What the store has not taken of a filter: kept until the end. */
static void
filter_set(const char **filter, struct prof_buf *rest)
{
	if (filter != NULL && rest->bf_len > 1)
		*filter = (const char *)rest->bf_data;
	else {
		prof_buf_free(rest);
		if (filter != NULL)
			*filter = NULL;
	}
}

static int
store_fetch(const struct prof_cmd *cmd, const char *url,
    const struct prof_store_want *want, const char *secret_file,
    const char **filter)
{
	struct prof_err error = { 0 };
	struct prof_buf rest = { 0 };
	struct prof_store *store = prof_store_open(url, secret_file, &error);
	int fd = -1;

	if (store != NULL)
		fd = prof_store_select(store, want, &rest, &error);
	prof_store_close(store);
	if (fd == -1) {
		prof_buf_free(&rest);
		return (msg_prof(cmd->cm_name, &error));
	}
	filter_set(filter, &rest);
	return (answer_keep(cmd, url, fd, 0));
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
			return (msg_error(cmd->cm_name, "a store must be the "
			    "only input", "push the recordings to the store, "
			    "or give only files"));
	if (url == NULL || !prof_store_is_url(url))
		return (0);
	if (ago_of(cmd, options, "from", &want.wt_from_s) == -1 ||
	    ago_of(cmd, options, "to", &want.wt_to_s) == -1)
		return (-1);
	want.wt_filter = filter != NULL ? *filter : NULL;
	return (store_fetch(cmd, url, &want, secret != NULL ? *secret : NULL,
	    filter));
}

/* ------------------------------------------------- base and new of one */

/* What is asked for base and new, and what was found. */
struct sides {
	const struct prof_cmd *si_cmd;
	const char	*si_url;
	struct prof_store *si_store;
	struct prof_store_want si_want[2];
	struct prof_store_found *si_found[2];
	size_t		 si_n[2];
	bool		 si_by_host;
};

/* "checkout 1.42", as far as all recordings of the side say the same. */
static void
side_call(const struct sides *si, int s)
{
	const struct prof_store_found *of = si->si_found[s];
	bool same[2] = { true, true };

	for (size_t n = 1; n < si->si_n[s]; n++) {
		same[0] &= strcmp(of[0].sf_service, of[n].sf_service) == 0;
		same[1] &= strcmp(of[0].sf_version, of[n].sf_version) == 0;
	}
	same[0] &= of[0].sf_service[0] != '\0';
	same[1] &= of[0].sf_version[0] != '\0';
	snprintf(side_name[s], sizeof(side_name[s]), "%.70s%s%.70s",
	    same[0] ? of[0].sf_service : "", same[0] && same[1] ? " " : "",
	    same[1] ? of[0].sf_version : same[0] ? "" : s == 0 ? "base" :
	    "new");
}

static int
sides_find(struct sides *si, int s, const char **filter)
{
	struct prof_err error = { 0 };
	struct prof_buf rest = { 0 };

	if (prof_store_find(si->si_store, &si->si_want[s], &rest,
	    &si->si_found[s], &si->si_n[s], &error) == -1) {
		si->si_n[s] = 0;
		prof_buf_free(&rest);
		return (msg_prof(si->si_cmd->cm_name, &error));
	}
	*filter = NULL;
	filter_set(filter, &rest);
	if (si->si_n[s] == 0)
		return (msg_fail(si->si_cmd->cm_name, "run dtprof store status "
		    "to see what the store has, or use another filter",
		    "the store has no samples of %s in this time range",
		    s == 0 ? "base" :
		    "new"));
	side_call(si, s);
	for (size_t n = 0; n < si->si_n[s]; n++)
		si->si_by_host |= strcmp(si->si_found[s][n].sf_host,
		    si->si_found[1][0].sf_host) != 0;
	return (0);
}

/* Of several hosts one answer each, of one host one for each recording. */
static int
side_fetch(struct sides *si, int s)
{
	const struct prof_store_found *of = si->si_found[s];
	struct prof_err error = { 0 };
	struct prof_buf rest = { 0 };
	char name[512];
	int fd;

	for (size_t n = 0; n < si->si_n[s]; n++) {
		if (si->si_by_host && n > 0 &&
		    strcmp(of[n].sf_host, of[n - 1].sf_host) == 0)
			continue;
		si->si_want[s].wt_host = of[n].sf_host;
		if (!si->si_by_host)
			si->si_want[s].wt_recording = of[n].sf_number;
		snprintf(name, sizeof(name), "%.200s, %s, %.100s, %zu",
		    si->si_url, s == 0 ? "base" : "new", of[n].sf_host, n);
		fd = prof_store_select(si->si_store, &si->si_want[s], &rest,
		    &error);
		prof_buf_free(&rest);
		rest = (struct prof_buf){ .bf_len = 0 };
		if (fd == -1)
			return (msg_prof(si->si_cmd->cm_name, &error));
		if (answer_keep(si->si_cmd, name, fd, s) == -1)
			return (-1);
	}
	return (0);
}

/* Each answer is an open file. */
static void
limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int
input_store_sides(const struct prof_cmd *cmd, void *options, const char *url)
{
	const char **filter[2] = { option_of(cmd, options, "base-filter"),
	    option_of(cmd, options, "filter") };
	const char **secret = option_of(cmd, options, "secret-file");
	struct sides si = { .si_cmd = cmd, .si_url = url };
	const uint64_t now_s = (uint64_t)time(NULL);
	struct prof_err error = { 0 };
	int rv = 0;

	for (int s = 0; s < 2 && rv == 0; s++) {
		si.si_want[s].wt_by = PROF_STORE_TIMES;
		si.si_want[s].wt_now_s = now_s;
		si.si_want[s].wt_filter = *filter[s];
	}
	if (ago_of(cmd, options, "from", &si.si_want[0].wt_from_s) == -1 ||
	    ago_of(cmd, options, "to", &si.si_want[0].wt_to_s) == -1)
		return (-1);
	si.si_want[1].wt_from_s = si.si_want[0].wt_from_s;
	si.si_want[1].wt_to_s = si.si_want[0].wt_to_s;
	si.si_store = prof_store_open(url, *secret, &error);
	if (si.si_store == NULL)
		return (msg_prof(cmd->cm_name, &error));
	limit_raise();
	for (int s = 1; s >= 0 && rv == 0; s--)
		rv = sides_find(&si, s, filter[s]);
	for (int s = 0; s < 2 && rv == 0; s++)
		rv = side_fetch(&si, s);
	for (int s = 0; s < 2; s++)
		prof_store_found_free(si.si_found[s], si.si_n[s]);
	prof_store_close(si.si_store);
	return (rv);
}

const char *
input_store_answer(int side, size_t n)
{
	for (size_t i = 0; i < nanswers; i++)
		if (answers[i].an_side == side && n-- == 0)
			return (answers[i].an_name);
	return (NULL);
}

const char *
input_store_side(int side)
{
	return (side_name[side]);
}

struct prof_reader *
input_store_read(const char *url, struct prof_import **import,
    struct prof_err *error)
{
	*import = NULL;
	for (size_t n = 0; n < nanswers; n++)
		if (strcmp(url, answers[n].an_name) == 0)
			return (prof_reader_open_answers(answers[n].an_fd,
			    url, import, error));
	error->pe_code = PROF_E_USAGE;
	snprintf(error->pe_text, sizeof(error->pe_text), "%s: this command "
	    "does not read stores", url);
	snprintf(error->pe_cure, sizeof(error->pe_cure), "use dtprof "
	    "report, flamegraph, export or compare, with the store as the only "
	    "operand");
	return (NULL);
}
