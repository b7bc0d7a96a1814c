/* SPDX-License-Identifier: ISC */
/*
 * One run of one command: from just before it is started to its end, and
 * what the kernel says it used, of this very child (wait4), not of all.
 *
 * With a profile to be recorded a session starts the command instead.  What a
 * command writes to standard output goes nowhere; what it writes to standard
 * error is kept until the next run, for a message.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define WAIT_MS		100
#define LAST_WORDS	400
#define LOWEST_HZ	900
#define RATES		200

int
bench_become_caller(bool for_good)
{
	const char *uid_text = getenv("SUDO_UID");
	const char *gid_text = getenv("SUDO_GID");
	uint64_t uid, gid;
	const struct passwd *user;

	if (geteuid() != 0 || (uid_text == NULL && gid_text == NULL))
		return (0);
	/* A command is never root's by mistake. */
	if (uid_text == NULL || gid_text == NULL ||
	    opt_number(uid_text, &uid) == -1 || uid >= UINT32_MAX ||
	    opt_number(gid_text, &gid) == -1 || gid >= UINT32_MAX)
		return (msg_fail("bench", "unset SUDO_UID and SUDO_GID to run "
		    "commands as root",
		    "SUDO_UID and SUDO_GID do not name a user"));
	if (uid == 0)
		return (0);
	user = getpwuid((uid_t)uid);
	if ((user != NULL ? initgroups(user->pw_name, (gid_t)gid) :
	    setgroups(0, NULL)) == 0 && (for_good ?
	    setgid((gid_t)gid) == 0 && setuid((uid_t)uid) == 0 :
	    setresgid((gid_t)gid, (gid_t)-1, (gid_t)-1) == 0 &&
	    setresuid((uid_t)uid, (uid_t)-1, (uid_t)-1) == 0))
		return (0);
	return (msg_fail("bench", "run dtprof bench without sudo",
	    "cannot switch to the user who ran sudo: %s", strerror(errno)));
}

/* --------------------------------------------------------- descriptors */

/* 0, 1 and 2 become the command's; what they were is kept. */
void
bench_lend(const struct bench *bench, int saved[3])
{
	(void)!ftruncate(bench->be_words_fd, 0);
	(void)lseek(bench->be_words_fd, 0, SEEK_SET);
	for (int fd = 0; fd < 3; fd++) {
		saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		(void)dup2(fd == 2 ? bench->be_words_fd : bench->be_null_fd,
		    fd);
	}
}

void
bench_take_back(const int saved[3])
{
	for (int fd = 0; fd < 3; fd++) {
		if (saved[fd] == -1) {
			close(fd);
			continue;
		}
		(void)dup2(saved[fd], fd);
		close(saved[fd]);
	}
}

char *
bench_last_words(const struct bench *bench)
{
	char text[LAST_WORDS + 1], *line;
	const off_t end = lseek(bench->be_words_fd, 0, SEEK_END);
	const off_t from = end > LAST_WORDS ? end - LAST_WORDS : 0;
	ssize_t n = pread(bench->be_words_fd, text, LAST_WORDS, from);

	if (n <= 0)
		return (NULL);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
	line = strrchr(text, '\n');
	return (n == 0 ? NULL : strdup(line != NULL ? line + 1 : text));
}

/* ------------------------------------------------------------ the wait */

static double
timeval_seconds(struct timeval tv)
{
	return ((double)tv.tv_sec + (double)tv.tv_usec / 1e6);
}

static int
status_of(int status)
{
	return (WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status));
}

/*
 * The terminal's Ctrl-C reaches the command too; other signals are passed
 * on, and who asks twice means it.  True: the user wants it to end.
 */
bool
bench_heed_signals(pid_t pid, bool interrupted)
{
	bool by_process;
	int number;

	while ((number = signals_take(&by_process)) != 0) {
		if (interrupted)
			kill(pid, SIGKILL);
		else if (by_process || number != SIGINT)
			kill(pid, number == SIGINT ? SIGINT : SIGTERM);
		interrupted = true;
	}
	return (interrupted);
}

/* Those that came in when there was no child to pass them on to. */
bool
bench_were_signals(void)
{
	bool by_process, any = false;

	while (signals_take(&by_process) != 0)
		any = true;
	return (any);
}

/* Until the child has ended; its end is seen at once. */
static bool
wait_for(pid_t pid, struct rusage *usage, int *status, uint64_t *end_ns)
{
	struct pollfd one = { .events = POLLIN };
	bool interrupted = false;

	one.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	while (one.fd != -1 && poll(&one, 1, WAIT_MS) != 1)
		interrupted = bench_heed_signals(pid, interrupted);
	*end_ns = term_now_ns();
	while (wait4(pid, status, 0, usage) == -1 && errno == EINTR)
		interrupted = bench_heed_signals(pid, interrupted);
	if (one.fd != -1)
		close(one.fd);
	/* Ctrl-C may have ended the child before it came here. */
	return (bench_were_signals() || interrupted);
}

static void
result_fill(struct bench_result *br, const struct rusage *usage)
{
	double *value = br->br_value;

	value[BENCH_USER] = timeval_seconds(usage->ru_utime);
	value[BENCH_SYSTEM] = timeval_seconds(usage->ru_stime);
	/* Exact, where many kernels share it out by what their ticks meet. */
	value[BENCH_CPU] = value[BENCH_USER] + value[BENCH_SYSTEM];
	value[BENCH_MAX_RSS] = (double)usage->ru_maxrss * 1024;
	value[BENCH_MINOR_FAULTS] = (double)usage->ru_minflt;
	value[BENCH_MAJOR_FAULTS] = (double)usage->ru_majflt;
	value[BENCH_VOLUNTARY_SWITCHES] = (double)usage->ru_nvcsw;
	value[BENCH_INVOLUNTARY_SWITCHES] = (double)usage->ru_nivcsw;
}

/*
 * Until its exec a child shares our memory, and the kernel counts it as the
 * child's: of a program that needs less than we do nothing is known.
 */
static void
forget_own_memory(struct bench_result *br)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	if (br->br_value[BENCH_MAX_RSS] <= (double)own.ru_maxrss * 1024)
		br->br_value[BENCH_MAX_RSS] = NAN;
}

static enum bench_end
run_plain(const struct bench *bench, char *const *argv,
    struct bench_result *br)
{
	struct rusage usage;
	posix_spawnattr_t as_caller;
	uint64_t begin_ns, end_ns;
	int saved[3], status, why;
	pid_t pid;

	/* Where we had to stay root, it gets our real ids. */
	posix_spawnattr_init(&as_caller);
	posix_spawnattr_setflags(&as_caller, POSIX_SPAWN_RESETIDS);
	bench_lend(bench, saved);
	begin_ns = term_now_ns();
	why = posix_spawnp(&pid, argv[0], NULL, &as_caller, argv, environ);
	bench_take_back(saved);
	posix_spawnattr_destroy(&as_caller);
	if (why == ENOENT)
		return (BENCH_NOT_FOUND);
	if (why == EACCES || why == ENOEXEC || why == EISDIR)
		return (BENCH_NOT_EXECUTABLE);
	if (why != 0) {
		msg_fail("bench", "free memory, or end some processes",
		    "cannot start %s: %s", argv[0], strerror(why));
		return (BENCH_FAILED);
	}
	if (wait_for(pid, &usage, &status, &end_ns))
		return (BENCH_INTERRUPTED);
	result_fill(br, &usage);
	forget_own_memory(br);
	br->br_value[BENCH_WALL] = (double)(end_ns - begin_ns) / 1e9;
	br->br_status = status_of(status);
	return (BENCH_DONE);
}

/* ------------------------------------------------------------ recorded */

/*
 * A loop as long as a sampling period is sampled in the same place each time
 * and in each run, and no number of runs shows it.  So the n-th run of each
 * command has the n-th of these rates, which multiples of the golden ratio
 * spread evenly.
 */
static uint64_t
rate_of(uint32_t n)
{
	return (LOWEST_HZ + ((uint64_t)(n * 0x9e3779b9U) * RATES >> 32));
}

static struct prof_session *
session_arm(const struct bench *bench, char *const *argv, const char *profile,
    const char *event, struct prof_err *error)
{
	const struct prof_options options = {
		.po_size = sizeof(options), .po_output = profile,
		.po_target = PROF_TARGET_COMMAND, .po_argv = argv,
		.po_frequency_hz = rate_of(bench->be_nth),
		.po_callgraph = PROF_CALLGRAPH_AUTO,
	};
	struct prof_session *session = prof_session_open(&options, error);
	int saved[3], rv;

	if (session == NULL)
		return (NULL);
	if (prof_session_add_event(session, event) == 0 &&
	    (!bench->be_off_cpu ||
	    prof_session_add_event(session, "off-cpu") == 0)) {
		/* Arming starts the command, held. */
		bench_lend(bench, saved);
		rv = prof_session_arm(session);
		bench_take_back(saved);
		if (rv == 0)
			return (session);
	}
	*error = *prof_session_error(session);
	prof_session_close(session);
	return (NULL);
}

/* Where no counter overflows, the CPU's clock does. */
static struct prof_session *
set_up(const struct bench *bench, char *const *argv, const char *profile,
    struct prof_err *error)
{
	struct prof_session *session =
	    session_arm(bench, argv, profile, "cycles", error);

	if (session == NULL && (error->pe_code == PROF_E_EVENT_UNSUPPORTED ||
	    error->pe_code == PROF_E_EVENT_UNKNOWN))
		session = session_arm(bench, argv, profile, "cpu-clock", error);
	return (session);
}

enum bench_end
bench_failure(const struct prof_err *error)
{
	if (error->pe_code == PROF_E_COMMAND_NOT_FOUND)
		return (BENCH_NOT_FOUND);
	if (error->pe_code == PROF_E_COMMAND)
		return (BENCH_NOT_EXECUTABLE);
	msg_prof("bench", error);
	return (BENCH_FAILED);
}

/*
 * What all children have used, less what it was before: only one runs at a
 * time.  The largest memory of all is not that of the last.
 */
void
bench_fill_since(struct bench_result *br, const struct rusage *before)
{
	struct rusage now;

	getrusage(RUSAGE_CHILDREN, &now);
	timersub(&now.ru_utime, &before->ru_utime, &now.ru_utime);
	timersub(&now.ru_stime, &before->ru_stime, &now.ru_stime);
	now.ru_minflt -= before->ru_minflt;
	now.ru_majflt -= before->ru_majflt;
	now.ru_nvcsw -= before->ru_nvcsw;
	now.ru_nivcsw -= before->ru_nivcsw;
	result_fill(br, &now);
	br->br_value[BENCH_MAX_RSS] = NAN;
}

/* Until the command has ended.  True: the user wants it to end. */
static bool
drain_session(struct prof_session *session, struct prof_status *status,
    int *go_on)
{
	bool interrupted = false;

	do {
		*go_on = prof_session_run(session, WAIT_MS);
		prof_session_status(session, status);
		if (!status->ps_command_done)
			interrupted = bench_heed_signals(status->ps_command_pid,
			    interrupted);
	} while (*go_on == 1);
	return (bench_were_signals() || interrupted);
}

static enum bench_end
run_recorded(const struct bench *bench, char *const *argv,
    const char *profile, struct bench_result *br)
{
	struct prof_status status = { 0 };
	struct prof_err error = { 0 };
	struct prof_session *session;
	enum bench_end end = BENCH_DONE;
	struct rusage before;
	uint64_t begin_ns;
	int go_on;

	session = set_up(bench, argv, profile, &error);
	if (session == NULL)
		return (bench_failure(&error));
	getrusage(RUSAGE_CHILDREN, &before);
	begin_ns = term_now_ns();
	if (prof_session_start(session) == -1) {
		end = bench_failure(prof_session_error(session));
		goto out;
	}
	if (drain_session(session, &status, &go_on))
		end = BENCH_INTERRUPTED;
	br->br_value[BENCH_WALL] = (double)(term_now_ns() - begin_ns) / 1e9;
	bench_fill_since(br, &before);
	br->br_status = status_of(status.ps_command_status);
	if (prof_session_stop(session) == -1 || go_on == -1)
		end = bench_failure(prof_session_error(session));
out:
	prof_session_close(session);
	return (end);
}

enum bench_end
bench_run(const struct bench *bench, char *const *argv, const char *profile,
    struct bench_command *counted, struct bench_result *br)
{
	struct bench_noise before, after;
	enum bench_end end;

	memset(br, 0, sizeof(*br));
	for (int m = 0; m < BENCH_NMETRICS; m++)
		br->br_value[m] = NAN;
	bench_noise(&before);
	if (profile != NULL)
		end = run_recorded(bench, argv, profile, br);
	else if (counted != NULL && counted->bc_counting != NULL)
		end = bench_count_run(bench, counted, br);
	else
		end = run_plain(bench, argv, br);
	bench_noise(&after);
	br->br_steal_s = after.no_steal_s - before.no_steal_s;
	br->br_throttled = after.no_throttled - before.no_throttled;
	br->br_load = before.no_load;
	return (end);
}
