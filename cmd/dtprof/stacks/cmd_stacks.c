/* SPDX-License-Identifier: ISC */
/*
 * dtprof stacks: each thread of a process as it is now, with its stack.  A
 * session looks at the threads a few times, since a thread may move while it
 * is looked at, and samples those that run: only an interrupt has the stack
 * of a thread that is on a CPU.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "../ui/terminal.h"
#include "stacks.h"

#define LOOKS		5
#define LOOK_NS		20000000	/* between two of them */

struct stacks_options {
	struct opt_ids	 so_pids;
	bool		 so_json;
};

static int	 check_stacks(const void *options, int n,
		    char *const *operands);
static int	 run_stacks(void *options, int n, char **operands);

static const struct opt_row options_of_stacks[] = {
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL, "print JSON",
	    offsetof(struct stacks_options, so_json), NULL },
	{ 'p', "pid", "PIDS", OPT_IDS, 1, OPT_MAX_PID, NULL,
	    "print the threads of these processes",
	    offsetof(struct stacks_options, so_pids), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof stacks -p 4711", "show what each thread of a process does",
	"dtprof stacks --json -p 4711 | jq '.threads[].reason'",
	"show what each thread of a process waits for",
	NULL
};

const struct prof_cmd cmd_stacks = {
	.cm_name = "stacks",
	.cm_summary = "print the stack of each thread of a process",
	.cm_operands = "",
	.cm_options = options_of_stacks,
	.cm_size = sizeof(struct stacks_options),
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "The process is neither stopped nor traced.  This command "
	    "needs BPF.",
	.cm_check = check_stacks,
	.cm_run = run_stacks,
};

static int
check_stacks(const void *options, int n, char *const *operands)
{
	const struct stacks_options *so = options;

	(void)n;
	(void)operands;
	return (so->so_pids.oi_n > 0 ? 0 : msg_error("stacks",
	    "no process", "name a process with -p PID"));
}

/* Look, and let run what runs; 0, or -1 with the session's error set. */
static int
threads_look(struct prof_session *session)
{
	int go_on = 1;

	for (int n = 0; n < LOOKS && go_on == 1; n++) {
		const uint64_t until_ns = term_now_ns() + LOOK_NS;

		if (prof_session_look(session) == -1)
			return (-1);
		do
			go_on = prof_session_run(session, 1);
		while (go_on == 1 && term_now_ns() < until_ns);
	}
	return (go_on == -1 ? -1 : 0);
}

static void
show_notes(struct prof_session *session)
{
	struct prof_status ps;
	const char *note;

	for (size_t n = 0; (note = prof_session_note(session, n)) != NULL; n++)
		msg_note("stacks", "%s", note);
	prof_session_status(session, &ps);
	if (ps.ps_lost != 0)
		msg_note("stacks", "%llu of %llu samples lost: threads may be "
		    "missing", (unsigned long long)ps.ps_lost,
		    (unsigned long long)(ps.ps_lost + ps.ps_samples));
}

static int
looks_record(const struct stacks_options *so, const char *path)
{
	const struct prof_options po = {
		.po_size = sizeof(po), .po_output = path,
		.po_target = PROF_TARGET_PIDS, .po_ids = so->so_pids.oi_id,
		.po_nids = so->so_pids.oi_n, .po_record_comm = 1,
		.po_backend = PROF_BACKEND_BPF,
		.po_callgraph = PROF_CALLGRAPH_AUTO,
	};
	static const char *clock = "cpu-clock";
	const struct opt_strings events = { &clock, 1 };
	struct prof_session *session = session_open("stacks", &po, &events);
	int rv = -1;

	if (session == NULL)
		return (-1);
	if (prof_session_add_threads(session) == 0 &&
	    prof_session_arm(session) == 0 &&
	    prof_session_start(session) == 0)
		rv = threads_look(session);
	if (rv == 0 && (rv = prof_session_stop(session)) == 0)
		show_notes(session);
	else
		msg_prof("stacks", prof_session_error(session));
	prof_session_close(session);
	return (rv);
}

static int
looks_print(const struct stacks_options *so, const char *path)
{
	struct stacks stacks = { .sa_pid = so->so_pids.oi_id,
	    .sa_npids = so->so_pids.oi_n };
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(path, &error);
	int status = EXIT_FAILED;

	if (reader == NULL) {
		msg_prof("stacks", &error);
		return (EXIT_FAILED);
	}
	if (stacks_gather(&stacks, reader) == 0) {
		/* Names are others', and all else is known. */
		(void)prof_privileges_keep(0);
		status = stacks_print(&stacks, reader, so->so_json);
	}
	stacks_fini(&stacks);
	prof_reader_close(reader);
	return (status);
}

static int
run_stacks(void *options, int n, char **operands)
{
	const struct stacks_options *so = options;
	char folder[FILE_SCRATCH], path[FILE_SCRATCH + 16];
	int status = EXIT_FAILED;

	(void)n;
	(void)operands;
	if (file_scratch("stacks", folder) == -1)
		return (EXIT_FAILED);
	snprintf(path, sizeof(path), "%s/threads.dtp", folder);
	if (looks_record(so, path) == 0)
		status = looks_print(so, path);
	(void)unlink(path);
	(void)rmdir(folder);
	return (status);
}
