/* SPDX-License-Identifier: ISC */
/*
 * hottest: run a command and print the ten functions that took most of its
 * time, with nothing but libprof.
 *
 *	cc -o hottest hottest.c $(pkg-config --cflags --libs libprof)
 *	./hottest ls -lR /usr
 *
 * First half: a session records (open, add events, arm, start, run, stop).
 * Second half: a reader, the names, and the profile, which is a tree of
 * functions with the weight of the samples that ended in each.  The result
 * goes to standard output; what the library has to say, to standard error.
 */
#include <prof.h>

#include <stdio.h>
#include <stdlib.h>

#define ROWS	10
#define OUTPUT	"hottest.dtp"

/* A function and the weight of the samples in it: nanoseconds of CPU time. */
struct row {
	const struct prof_function *rw_function;
	uint64_t	 rw_self;
};

/* libprof keeps what, why and the cure in one place; it never prints. */
static int
complain(const struct prof_err *error)
{
	fprintf(stderr, "hottest: %s\nhottest: hint: %s\n", error->pe_text,
	    error->pe_cure);
	return (-1);
}

static int
record(char **argv)
{
	const struct prof_options options = {
		.po_size = sizeof(options),
		.po_output = OUTPUT,
		.po_target = PROF_TARGET_COMMAND,
		.po_argv = argv,
		.po_frequency_hz = 999,
	};
	struct prof_err error;
	struct prof_session *session;
	const char *note;
	int more = -1;

	session = prof_session_open(&options, &error);
	if (session == NULL)
		return (complain(&error));
	if (prof_session_add_event(session, "cpu-clock") == 0 &&
	    prof_session_arm(session) == 0 &&
	    prof_session_start(session) == 0) {
		do
			more = prof_session_run(session, 100);
		while (more == 1);
	}
	if (more == -1 || prof_session_stop(session) == -1)
		more = complain(prof_session_error(session));
	for (size_t n = 0; (note = prof_session_note(session, n)) != NULL; n++)
		fprintf(stderr, "hottest: note: %s\n", note);
	prof_session_close(session);
	return (more);
}

static int
by_self(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return ((x->rw_self < y->rw_self) - (x->rw_self > y->rw_self));
}

/* Event 0 is process events; the first that we added is 1. */
static int
show(const struct prof_profile *profile)
{
	const struct prof_tree_node *nodes = prof_profile_nodes(profile);
	const uint64_t *self = prof_profile_self(profile, 1);
	const size_t nrows = prof_profile_nlabels(profile);
	struct prof_quality quality;
	struct row *rows = calloc(nrows + 1, sizeof(*rows));

	if (rows == NULL)
		return (-1);
	/* A function has a node for each way it was called; add them up. */
	for (size_t n = 0; self != NULL && n < prof_profile_nnodes(profile);
	    n++) {
		struct row *row = &rows[nodes[n].pt_label];

		row->rw_self += self[n];
		row->rw_function =
		    prof_profile_label(profile, nodes[n].pt_label)->lb_function;
	}
	qsort(rows, nrows, sizeof(*rows), by_self);
	for (size_t n = 0; n < ROWS && n < nrows && rows[n].rw_self > 0; n++)
		if (rows[n].rw_function != NULL)
			printf("%9.1f ms  %s  %s\n",
			    (double)rows[n].rw_self / 1e6,
			    rows[n].rw_function->fu_name,
			    rows[n].rw_function->fu_module);
	prof_profile_quality(profile, 1, &quality);
	if (quality.pq_is_bad)
		printf("warning: %s\n", quality.pq_text);
	free(rows);
	return (0);
}

static int
analyse(void)
{
	const struct prof_profile_options options = {
		.pl_size = sizeof(options)
	};
	const struct prof_symbols_options names = { .so_size = sizeof(names) };
	struct prof_profile *profile = NULL;
	struct prof_symbols *symbols = NULL;
	struct prof_reader *reader;
	struct prof_err error;
	int rv;

	reader = prof_reader_open(OUTPUT, &error);
	if (reader != NULL)
		symbols = prof_symbols_open(reader, &names, &error);
	if (symbols != NULL)
		profile = prof_profile_new(reader, symbols, &options, &error);
	rv = profile != NULL ? show(profile) : complain(&error);
	prof_profile_free(profile);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
	return (rv);
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: hottest COMMAND [ARGUMENT ...]\n");
		return (EXIT_FAILURE);
	}
	if (record(argv + 1) == -1 || analyse() == -1)
		return (EXIT_FAILURE);
	return (EXIT_SUCCESS);
}
