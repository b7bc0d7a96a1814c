/* SPDX-License-Identifier: ISC */
/*
 * dtprof ctl: ask recorders that are running to do something.  Requests and
 * answers go through the control channel (session/control.h); what a recorder
 * does is record_control.c's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"

struct ctl_options {
	struct opt_number	 co_pid;
	struct opt_number	 co_from;
	const char		*co_output;
	const char		*co_socket;
	bool			 co_json;
};

static int	 check_ctl(const void *options, int n, char *const *operands);
static int	 run_ctl(void *options, int n, char **operands);

static const struct opt_row options_of_ctl[] = {
	{ 0, "from", "TIME", OPT_TIME, 1, INT64_MAX, NULL,
	    "dump: only samples from this long ago on, e.g. -10s",
	    offsetof(struct ctl_options, co_from), "-10s" },
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL, "status: print JSON",
	    offsetof(struct ctl_options, co_json), NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, NULL,
	    "dump: write FILE (default: the recorder's pattern)",
	    offsetof(struct ctl_options, co_output), NULL },
	{ 0, "recorder", "PID", OPT_COUNT, 1, OPT_MAX_PID, NULL,
	    "ask only dtprof process PID (default: all recorders of this user)",
	    offsetof(struct ctl_options, co_pid), NULL },
	{ 0, "socket", "PATH", OPT_STRING, 0, 0, NULL,
	    "ask only the recorder that listens on this socket",
	    offsetof(struct ctl_options, co_socket), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof ctl status", "list the recorders of this user",
	"dtprof ctl dump -o slow.dtp", "write what record --ring has kept",
	"dtprof ctl set dump-max=20", "allow more dumps",
	"dtprof ctl --recorder 4711 stop", "end a recording",
	NULL
};

const struct prof_cmd cmd_ctl = {
	.cm_name = "ctl",
	.cm_summary = "control running recorders",
	.cm_operands = "mark TEXT | pause | resume | dump | status | set "
	    "KEY=VALUE | stop",
	.cm_options = options_of_ctl,
	.cm_size = sizeof(struct ctl_options),
	.cm_min = 1,
	.cm_max = 2,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "pause and resume take a TEXT, too.  set knows dump-after, "
	    "a time, and dump-max, a number.",
	.cm_check = check_ctl,
	.cm_run = run_ctl,
};

static const struct ctl_action {
	const char	*ac_name;
	unsigned	 ac_type;	/* of a request or a marker */
	int		 ac_least;	/* arguments */
	int		 ac_most;
	bool		 ac_is_one;	/* for one recorder alone */
	const char	*ac_done;	/* verb of what was done, or NULL */
} actions[] = {
	{ "mark", PROF_R_MARK, 1, 1, false, "marked" },
	{ "pause", PROF_R_PAUSE, 0, 1, false, "paused" },
	{ "resume", PROF_R_RESUME, 0, 1, false, "resumed" },
	{ "dump", PROF_ASK_DUMP, 0, 0, true, NULL },
	{ "status", PROF_ASK_STATUS, 0, 0, false, NULL },
	{ "set", PROF_ASK_SET, 1, 1, true, NULL },
	{ "stop", PROF_ASK_STOP, 0, 0, true, NULL },
};
#define NACTIONS	(sizeof(actions) / sizeof(actions[0]))

static const struct ctl_action *
action_of(const char *word)
{
	for (size_t n = 0; n < NACTIONS; n++)
		if (strcmp(actions[n].ac_name, word) == 0)
			return (&actions[n]);
	return (NULL);
}

static int
check_ctl(const void *options, int n, char *const *operands)
{
	const struct ctl_action *action = action_of(operands[0]);
	const struct ctl_options *co = options;

	if (action == NULL)
		return (msg_fail("ctl", "use mark, pause, resume, dump, "
		    "status, set or stop", "%s: unknown request",
		    operands[0]));
	if (n - 1 < action->ac_least || n - 1 > action->ac_most)
		return (msg_fail("ctl", "see dtprof ctl --help",
		    n - 1 < action->ac_least ? "%s: missing argument" :
		    "%s: too many arguments", operands[0]));
	if ((co->co_output != NULL || co->co_from.on_set) &&
	    action->ac_type != PROF_ASK_DUMP)
		return (msg_error("ctl", "-o and --from are for dump alone",
		    "leave them out"));
	if (co->co_json && action->ac_type != PROF_ASK_STATUS)
		return (msg_error("ctl", "--json is for status alone",
		    "leave out --json"));
	if (co->co_pid.on_set && co->co_socket != NULL)
		return (msg_error("ctl", "--recorder and --socket exclude each "
		    "other", "leave out one of these options"));
	return (0);
}

/* A % of a directory is none of a pattern. */
static void
put_directory(FILE *stream, const char *path)
{
	for (; *path != '\0'; path++) {
		if (*path == '%')
			putc('%', stream);
		putc(*path, stream);
	}
	putc('/', stream);
}

/*
 * Of a dump: how much of the history, and the whole path, as the recorder may
 * have another directory.  NULL: said why.
 */
static char *
dump_text(const struct ctl_options *co)
{
	const char *path = co->co_output == NULL ? "" : co->co_output;
	const bool is_whole = *path == '\0' || *path == '/';
	char *here = is_whole ? NULL : getcwd(NULL, 0), *text = NULL;
	FILE *stream;
	size_t length;

	if (here == NULL && !is_whole) {
		msg_fail("ctl", "use -o with a path that begins with /",
		    "cannot find the current directory: %s", strerror(errno));
		return (NULL);
	}
	stream = open_memstream(&text, &length);
	if (stream != NULL) {
		fprintf(stream, "%llu ",
		    (unsigned long long)co->co_from.on_value);
		if (here != NULL)
			put_directory(stream, here);
		fputs(path, stream);
	}
	free(here);
	if (stream != NULL && fclose(stream) == 0)
		return (text);
	free(text);
	msg_error("ctl", "out of memory", "free memory");
	return (NULL);
}

static void
refusal_show(int pid, const char *text)
{
	(void)msg_fail("ctl", "", "recorder %d: %s", pid, text);
}

/* An answer that is a line. */
static void
line_show(void *arg, int pid, bool is_done, const char *text)
{
	struct out *out = arg;

	if (!is_done) {
		refusal_show(pid, text);
		return;
	}
	if (text[0] == '\0')
		return;
	out_fmt(out, "recorder %d: ", pid);
	OUT(out, "", text, "\n");
}

static void
status_keep(void *arg, int pid, bool is_done, const char *text)
{
	struct ctl_answers *answers = arg;
	struct ctl_answer *answer;

	if (!is_done) {
		refusal_show(pid, text);
		return;
	}
	answer = prof_append(&answers->cs_answer, &answers->cs_n,
	    sizeof(*answer));
	if (answer == NULL) {
		refusal_show(pid, "out of memory for its answer");
		return;
	}
	answer->ca_pid = pid;
	answer->ca_text = strdup(text);
	if (answer->ca_text == NULL) {
		answers->cs_n--;
		refusal_show(pid, "out of memory for its answer");
	}
}

static int
status_run(const struct prof_recorders *to, bool is_json)
{
	struct ctl_answers answers = { 0 };
	struct prof_err error = { 0 };
	struct out out;
	int rv = prof_control_send(to, PROF_ASK_STATUS, "", status_keep,
	    &answers, &error);

	out_init(&out, STDOUT_FILENO);
	if (rv == -1)
		msg_prof("ctl", &error);
	else if (rv > 0)
		(is_json ? ctl_status_json : ctl_status_text)(&answers, &out);
	for (size_t n = 0; n < answers.cs_n; n++)
		free(answers.cs_answer[n].ca_text);
	free(answers.cs_answer);
	return (rv <= 0 ? EXIT_FAILED : out_end(&out, "ctl"));
}

static int
action_run(const struct ctl_action *action, const struct prof_recorders *to,
    const char *text)
{
	struct prof_err error = { 0 };
	struct out out;
	int done, status;

	out_init(&out, STDOUT_FILENO);
	done = prof_control_send(to, action->ac_type, text, line_show, &out,
	    &error);
	if (done == -1)
		msg_prof("ctl", &error);
	else if (action->ac_done != NULL)
		out_fmt(&out, "%d recording%s %s\n", done, done == 1 ? "" :
		    "s", action->ac_done);
	status = out_end(&out, "ctl");
	return (done > 0 ? status : EXIT_FAILED);
}

static int
run_ctl(void *options, int n, char **operands)
{
	const struct ctl_options *co = options;
	const struct ctl_action *action = action_of(operands[0]);
	const struct prof_recorders to = { .rr_is_one = action->ac_is_one,
	    .rr_pid = (int)co->co_pid.on_value, .rr_socket = co->co_socket };
	char *text = NULL;
	int status;

	if (action->ac_type == PROF_ASK_STATUS)
		return (status_run(&to, co->co_json));
	if (action->ac_type == PROF_ASK_DUMP && (text = dump_text(co)) == NULL)
		return (EXIT_FAILED);
	status = action_run(action, &to, text != NULL ? text : n > 1 ?
	    operands[1] : "");
	free(text);
	return (status);
}
