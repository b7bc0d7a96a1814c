/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of several looks at a thread dtprof stacks prints the first with a
 * complete stack, else the last of those that tell most.  A thread that was
 * switched during each look has neither state nor stack.  Samples of processes
 * that were not asked for are left out.  Of a process without samples a message
 * says whether it has ended.
 *
 * Easy to get wrong: a look during which the thread was switched has frames of
 * two points in time; a thread that runs has its stack from another event.
 */
#include <sys/syscall.h>

#include <unistd.h>

#include "../../cmd/dtprof/ui/msg.c"
#include "../../cmd/dtprof/ui/out.c"
#include "../../cmd/dtprof/stacks/stacks.c"
#include "recording-lib.h"

/* No process has the number, so no file of /proc is read. */
#define PID	4194303

#define READ	SYS_read

static struct prof_writer *writer;
static uint64_t now_ns = 1000;

static void
describe(void)
{
	static const char *const names[] = { "proc", "cpu-clock", "thread" };

	for (uint32_t e = 0; e < 3; e++) {
		struct prof_event_info info = { .pi_provider = "static",
		    .pi_unit = "events", .pi_name = names[e],
		    .pi_probe = names[e] };

		info.pi_nargs = e == STACKS_LOOK ? DTP_TH_ARGS : 0;
		for (uint32_t n = 0; n < info.pi_nargs; n++) {
			info.pi_arg_names[n] = "word";
			info.pi_arg_types[n] = "long";
		}
		CHECK_OK(prof_writer_event(writer, &info),
		    prof_writer_error(writer));
	}
}

/* Its frames are its time, by which it is known again. */
static uint64_t
look(uint32_t event, uint32_t pid, uint32_t tid, uint64_t about,
    unsigned status)
{
	const uint64_t frames[] = { now_ns, now_ns + 1 };
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = event, .pr_pid = pid, .pr_tid = tid, .pr_ptid = tid,
	    .pr_time_ns = now_ns, .pr_comm = "it", .pr_path = "",
	    .pr_weight = 1, .pr_nuser = 2, .pr_user = frames,
	    .pr_ustatus = status };

	if (event == STACKS_LOOK) {
		record.pr_nargs = DTP_TH_ARGS;
		record.pr_args[DTP_TH_ABOUT] = about;
		record.pr_args[DTP_TH_CALL] = READ;
		record.pr_args[DTP_TH_STATE] = 1;
	}
	CHECK_OK(prof_writer_add(writer, &record), prof_writer_error(writer));
	return (now_ns++);
}

static const struct stacks_thread *
thread_at(const struct stacks *stacks, uint32_t tid)
{
	for (size_t n = 0; n < stacks->sa_n; n++)
		if (stacks->sa_thread[n].th_record.pr_tid == tid)
			return (&stacks->sa_thread[n]);
	return (NULL);
}

static void
check(const struct stacks *stacks, uint32_t tid, enum stacks_state state,
    uint64_t frame)
{
	const struct stacks_thread *thread = thread_at(stacks, tid);

	CHECK(thread != NULL);
	CHECK(thread->th_state == state);
	CHECK((thread->th_reason != NULL) == (state == STACKS_BLOCKED));
	CHECK(thread->th_record.pr_nuser == (frame == 0 ? 0 : 2));
	CHECK(frame == 0 || thread->th_record.pr_user[0] == frame);
	CHECK(frame != 0 || thread->th_record.pr_ustatus == PROF_STACK_NONE);
}

/* Messages of what was gathered go to the file. */
static void
gather(struct stacks *stacks, struct prof_reader *reader, const char *path,
    int rv)
{
	const int error = dup(STDERR_FILENO);

	CHECK(error != -1 && freopen(path, "w", stderr) != NULL);
	CHECK(stacks_gather(stacks, reader) == rv);
	CHECK(dup2(error, STDERR_FILENO) != -1);
	close(error);
}

static void
check_message(const char *path, const char *kind, int pid, const char *why)
{
	char message[256], text[1024] = "";
	FILE *file = fopen(path, "r");

	CHECK(file != NULL);
	CHECK(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	snprintf(message, sizeof(message), "%sno thread of process %d %s: %s",
	    kind, pid, kind[0] == '\0' ? "was seen" : "is shown", why);
	CHECK(strstr(text, message) != NULL);
}

/* Processes without samples: beside another one, and alone. */
static void
check_unseen(struct prof_reader *reader)
{
	static const char gone[] = "the process has ended", there[] =
	    "the process exists, but BPF does not find it";
	const char *path = work_path("messages");
	const int pids[] = { PID, getpid(), PID - 2 };
	struct stacks some = { .sa_pid = pids, .sa_npids = 3 };
	struct stacks none = { .sa_pid = pids + 1, .sa_npids = 2 };

	gather(&some, reader, path, 0);
	CHECK(some.sa_n == 5);
	check_message(path, "warning: ", getpid(), there);
	check_message(path, "warning: ", PID - 2, gone);
	stacks_fini(&some);
	gather(&none, reader, path, -1);
	check_message(path, "", getpid(), there);
	check_message(path, "", PID - 2, gone);
	stacks_fini(&none);
}

int
main(void)
{
	const char *path = work_path("threads.dtp");
	const int pid = PID;
	struct stacks stacks = { .sa_pid = &pid, .sa_npids = 1 };
	struct prof_reader *reader;
	struct prof_err error;
	uint64_t at[4];

	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	describe();
	look(STACKS_LOOK, PID, 1, DTP_TH_MOVED, PROF_STACK_OK);
	look(STACKS_LOOK, PID, 1, DTP_TH_MOVED | DTP_TH_QUEUED, PROF_STACK_OK);
	look(STACKS_LOOK, PID, 2, DTP_TH_MOVED, PROF_STACK_OK);
	at[0] = look(STACKS_LOOK, PID, 2, 0, PROF_STACK_OK);
	look(STACKS_LOOK, PID, 2, 0, PROF_STACK_OK);
	look(STACKS_LOOK, PID, 2, DTP_TH_MOVED, PROF_STACK_OK);
	look(STACKS_LOOK, PID, 3, DTP_TH_ON_CPU, PROF_STACK_NONE);
	at[1] = look(STACKS_CLOCK, PID, 3, 0, PROF_STACK_OK);
	look(STACKS_LOOK, PID, 3, DTP_TH_ON_CPU, PROF_STACK_NONE);
	look(STACKS_LOOK, PID, 4, 0, PROF_STACK_FAULT);
	at[2] = look(STACKS_LOOK, PID, 4, DTP_TH_QUEUED, PROF_STACK_FAULT);
	look(STACKS_LOOK, PID, 4, DTP_TH_MOVED, PROF_STACK_OK);
	at[3] = look(STACKS_LOOK, PID, 5, DTP_TH_EXITED, PROF_STACK_OK);
	look(STACKS_LOOK, PID - 1, 6, 0, PROF_STACK_OK);
	CHECK_OK(prof_writer_close(writer, &error), &error);
	reader = prof_reader_open(path, &error);
	CHECK(reader != NULL);
	CHECK(stacks_gather(&stacks, reader) == 0);
	CHECK(stacks.sa_n == 5);
	check(&stacks, 1, STACKS_UNKNOWN, 0);
	printf("ok: a thread that was switched has no stack\n");
	check(&stacks, 2, STACKS_BLOCKED, at[0]);
	check(&stacks, 3, STACKS_RUNNING, at[1]);
	check(&stacks, 4, STACKS_RUNNABLE, at[2]);
	check(&stacks, 5, STACKS_EXITED, at[3]);
	stacks_fini(&stacks);
	printf("ok: of others the best look\n");
	check_unseen(reader);
	prof_reader_close(reader);
	printf("ok: a process without samples is reported\n");
	return (0);
}
