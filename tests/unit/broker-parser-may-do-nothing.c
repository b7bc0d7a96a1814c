/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever a parser is made to do by the file that it reads, it
 * can open nothing, speak to nobody, trace, signal or fork nobody and become
 * nobody else; if it crashes, runs on or lies, that costs this one file, which
 * is named and not tried again, and the next file is read by a new parser.
 *
 * Easy to get wrong: a filter that names what is forbidden forgets what the
 * next kernel has; and one parser that is lost takes all files with it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "../interop/parser_fault.c"

/* This very program, with a mark behind it. */
static int
marked(const char *what)
{
	char path[] = "/tmp/dtprof-broker.XXXXXX", bytes[65536];
	char mark[MARK_BYTES] = MARK;
	int from = open("/proc/self/exe", O_RDONLY), fd = mkstemp(path);
	ssize_t n;

	CHECK(from != -1 && fd != -1, "%s", path);
	unlink(path);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		CHECK(write(fd, bytes, (size_t)n) == n, "%s", path);
	memcpy(mark + sizeof(MARK) - 1, what, strlen(what));
	CHECK(write(fd, mark, sizeof(mark)) == sizeof(mark), "%s", path);
	close(from);
	return (fd);
}

static enum prof_called
call(struct prof_broker *broker, int fd, const char *name)
{
	struct prof_call request = { .ca_what = PROF_PARSE_TABLE,
	    .ca_fd = fd, .ca_name = name, .ca_most = 64 << 20,
	    .ca_cpu_s = 1 };

	return (prof_broker_call(broker, &request));
}

static bool
is_read(struct prof_broker *broker, int fd)
{
	struct prof_unwind_table *table;
	struct prof_runtime runtime;
	bool is = prof_table_ask(broker, fd, "good", &table,
	    &runtime) == PROF_TABLED;

	prof_unwind_table_free(table);
	return (is);
}

/* The n-th file lost, and what it is named for. */
static void
lose(struct prof_broker *broker, const char *what, const char *why, size_t n)
{
	int bad = marked(what), good = marked("");
	struct prof_broker_stats before, after;
	const char *text;

	CHECK(is_read(broker, good), "a good file before %s", what);
	if (strcmp(what, "lie") == 0)
		CHECK(!is_read(broker, bad), "%s", what);
	else
		CHECK(call(broker, bad, what) == PROF_CALLED_LOST, "%s",
		    what);
	text = prof_broker_lost(broker, n);
	CHECK(text != NULL && strstr(text, why) != NULL, "%s: %s", what,
	    text == NULL ? "not named" : text);
	prof_broker_stats(broker, &before);
	CHECK(before.bs_lost == n + 1, "%llu files lost",
	    (unsigned long long)before.bs_lost);
	CHECK(is_read(broker, good), "a good file behind %s", what);
	CHECK(call(broker, bad, what) == PROF_CALLED_LOST, "%s again", what);
	prof_broker_stats(broker, &after);
	CHECK(after.bs_lost == n + 1 &&
	    after.bs_started == before.bs_started + 1,
	    "%s was tried again", what);
	OK("%s", text);
	/* A bad one stays open: the next must not be the same inode. */
	close(good);
}

int
main(void)
{
	struct prof_err error;
	struct prof_broker *broker = prof_broker_new(&error);
	struct prof_broker_stats stats;
	size_t n = 0;

	CHECK(broker != NULL, "%s", error.pe_text);
	CHECK(is_read(broker, marked("")), "a good file");
	prof_broker_stats(broker, &stats);
	if (stats.bs_lacks & PROF_LACKS_SECCOMP)
		OK("no filter of system calls here");
	else {
		lose(broker, "try", "exited with status 40", n++);
		lose(broker, "memory", "exited with status 40", n++);
	}
	lose(broker, "crash", "killed by signal 4", n++);
	lose(broker, "lie", "invalid answer", n++);
	lose(broker, "spin", "reading this file takes too long", n++);
	prof_broker_free(broker);
	return (0);
}
