/* SPDX-License-Identifier: ISC */
/*
 * What tests of recording sessions share: options that record cpu-clock and
 * a system call of everybody without stacks, and how such a test ends.
 * Included by session-*.c and scripted.h; where BPF is refused tests skip.
 */
#ifndef SESSION_H
#define SESSION_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "prof.h"

static char session_file[64];

/* And the one before it, which a recording keeps. */
static inline void
session_forget_file(void)
{
	char previous[sizeof(session_file) + 4];

	snprintf(previous, sizeof(previous), "%s.old", session_file);
	unlink(previous);
	unlink(session_file);
}

static inline struct prof_options
session_options(void)
{
	struct prof_options options = { .po_size = sizeof(options) };

	if (session_file[0] == '\0') {
		snprintf(session_file, sizeof(session_file),
		    "/tmp/dtprof-unit.%d.dtp", getpid());
		atexit(session_forget_file);
	}
	options.po_output = session_file;
	options.po_target = PROF_TARGET_ALL;
	options.po_callgraph = PROF_CALLGRAPH_NONE;
	options.po_backend = PROF_BACKEND_BPF;
	options.po_buffer_bytes = 1 << 20;
	return (options);
}

/* Opened, with an event for each provider of samples that always exists. */
static inline struct prof_session *
session_open(const struct prof_options *options)
{
	struct prof_err error = { 0 };
	struct prof_session *session = prof_session_open(options, &error);

	if (session == NULL) {
		printf("FAIL: open: %s\n", error.pe_text);
		exit(1);
	}
	CHECK(prof_session_add_event(session, "cpu-clock") == 0);
	CHECK(prof_session_add_event(session, "sched:sched_switch") == 0);
	CHECK(prof_session_add_event(session, "syscalls:sys_enter_getppid") ==
	    0);
	return (session);
}

/* For what the machine may refuse: a skip, with the reason it gave. */
static inline void
session_arm_or_skip(struct prof_session *session)
{
	const struct prof_err *error;

	if (prof_session_arm(session) == 0)
		return;
	error = prof_session_error(session);
	if (error->pe_code == PROF_E_PERMISSION ||
	    error->pe_code == PROF_E_SECCOMP) {
		printf("SKIP: %s\n", error->pe_text);
		prof_session_close(session);
		exit(77);
	}
	printf("FAIL: arm: %s (%s)\n", error->pe_text, error->pe_cure);
	exit(1);
}

static inline int
session_code(const struct prof_session *session)
{
	return (prof_session_error(session)->pe_code);
}

static inline int
session_count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	CHECK(dir != NULL);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return (n);
}

#endif /* SESSION_H */
