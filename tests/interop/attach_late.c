/* SPDX-License-Identifier: ISC */
/*
 * Records a process, and attaches one more event when it has recorded for so
 * many seconds: attach_late FILE PID EVENT AFTER FOR.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "prof.h"

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

static void
must(struct prof_session *session, int rv)
{
	if (rv != -1)
		return;
	fprintf(stderr, "%s\n", prof_session_error(session)->pe_text);
	exit(1);
}

static void
run(struct prof_session *session, double seconds)
{
	const double until = now() + seconds;

	while (now() < until)
		must(session, prof_session_run(session, 100));
}

int
main(int argc, char **argv)
{
	struct prof_options options = { .po_size = sizeof(options) };
	struct prof_session *session;
	struct prof_err error = { 0 };
	int pid;

	if (argc != 6)
		return (2);
	pid = atoi(argv[2]);
	options.po_output = argv[1];
	options.po_callgraph = PROF_CALLGRAPH_AUTO;
	options.po_target = PROF_TARGET_PIDS;
	options.po_ids = &pid;
	options.po_nids = 1;
	session = prof_session_open(&options, &error);
	if (session == NULL) {
		fprintf(stderr, "%s\n", error.pe_text);
		return (1);
	}
	must(session, prof_session_add_event(session, "cpu-clock"));
	must(session, prof_session_arm(session));
	must(session, prof_session_start(session));
	run(session, atof(argv[4]));
	must(session, prof_session_attach(session, argv[3]));
	run(session, atof(argv[5]));
	must(session, prof_session_stop(session));
	prof_session_close(session);
	return (0);
}
