/* SPDX-License-Identifier: ISC */
/* See parser.h.  Runs in the child alone; called by keeper.c. */
#include <malloc.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "confine/confine.h"
#include "confine/wire.h"
#include "parser.h"
#include "throttle.h"

#define MAX_REQUEST	(64u << 20)
/* What is large is soon wanted again, by the next file: it is kept so far. */
#define LARGE		(32 << 20)
#define KEPT		(32 << 20)

static void
parse_nothing(struct prof_task *task)
{
	(void)task;
}

static void (*const parse[PROF_PARSE_KINDS])(struct prof_task *) = {
	[PROF_PARSE_NOTHING] = parse_nothing,
	[PROF_PARSE_TABLE] = prof_parse_table,
	[PROF_PARSE_NAMES] = prof_parse_names,
	[PROF_PARSE_MAP] = prof_parse_map,
	[PROF_PARSE_FRAMES] = prof_parse_frames,
	[PROF_PARSE_SITES] = prof_parse_sites,
	[PROF_PARSE_RUNTIME] = prof_parse_runtime,
	[PROF_PARSE_SCRIPTS] = prof_parse_scripts,
};

void
prof_task_send(const struct prof_task *task, const void *bytes, size_t size)
{
	if (size > 0 && !prof_wire_send(task->ta_sock, bytes, size, -1, NULL))
		_exit(PROF_PARSER_LOST);
}

void
prof_task_answer(struct prof_task *task, uint64_t bytes)
{
	const struct prof_wire head = { PROF_WIRE_DONE, 0, bytes };

	prof_task_send(task, &head, sizeof(head));
	task->ta_answered = true;
}

int
prof_task_ask(const struct prof_task *task, void *want, size_t size)
{
	struct prof_wire head = { PROF_WIRE_ASK, 0, size };
	int fd;

	prof_task_send(task, &head, sizeof(head));
	prof_task_send(task, want, size);
	if (!prof_wire_recv(task->ta_sock, &head, sizeof(head), &fd, NULL) ||
	    !prof_wire_recv(task->ta_sock, want, size, NULL, NULL))
		_exit(PROF_PARSER_LOST);
	return (fd);
}

static void
parser_serve(struct prof_task *task, uint32_t kind)
{
	if (task->ta_fd != -1 && prof_parser_fault != NULL)
		prof_parser_fault(task->ta_fd);
	task->ta_answered = false;
	if (kind < PROF_PARSE_KINDS)
		parse[kind](task);
	/* What could not be done has an empty answer. */
	if (!task->ta_answered)
		prof_task_answer(task, 0);
}

/* Close to its limit it makes room for a new one, which costs no file. */
static bool
is_old(void)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (ts.tv_sec > PROF_PARSER_CPU_S / 2);
}

void
prof_parser_main(int sock)
{
	struct prof_task task = { .ta_sock = sock };
	struct prof_wire head;
	void *bytes;

	(void)mallopt(M_MMAP_THRESHOLD, LARGE);
	(void)mallopt(M_TRIM_THRESHOLD, KEPT);
	while (!is_old() && prof_wire_recv(sock, &head, sizeof(head),
	    &task.ta_fd, NULL)) {
		bytes = NULL;
		if (head.wi_bytes > MAX_REQUEST || (head.wi_bytes > 0 &&
		    (bytes = malloc(head.wi_bytes)) == NULL) ||
		    !prof_wire_recv(sock, bytes, head.wi_bytes, NULL, NULL))
			_exit(PROF_PARSER_LOST);
		task.ta_bytes = bytes;
		task.ta_size = head.wi_bytes;
		prof_throttle_begin(head.wi_can_wait);
		parser_serve(&task, head.wi_kind);
		free(bytes);
		if (task.ta_fd != -1)
			(void)close(task.ta_fd);
	}
	_exit(0);
}
