/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: without tracefs, tracepoints are found by their name in the
 * kernel's types with the group believed, syscalls have generic arguments,
 * and globs over groups, which nobody knows, find nothing; and reading
 * tracefs as root leaves the table of mounts as it was.
 *
 * Easy to get wrong: an ordinary user may not mount, and tracefs is commonly
 * not mounted at all.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <grp.h>

#include "names.h"

static size_t
mounts(char *text, size_t size)
{
	int fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	CHECK(fd != -1, "/proc/self/mounts");
	while ((got = read(fd, text + used, size - used)) > 0)
		used += (size_t)got;
	close(fd);
	return (used);
}

static void
as_root(void)
{
	static char before[65536], after[65536];
	size_t nbefore = mounts(before, sizeof(before)), nafter;
	struct prof_names *names = open_names();
	struct stat st;
	int dir;

	if ((dir = prof_names_tracefs(names)) == -1)
		skip("tracefs cannot be read, even as root");
	CHECK(fstatat(dir, "events/sched/sched_switch/format", &st, 0) == 0,
	    "the format of sched_switch");
	nafter = mounts(after, sizeof(after));
	CHECK(nbefore == nafter && memcmp(before, after, nafter) == 0,
	    "the table of mounts has changed");
	prof_names_close(names);
}

static void
as_nobody(void)
{
	struct prof_names *names = open_names();
	struct prof_events events = { 0 };
	struct prof_event *event;
	struct prof_err error;

	if (prof_names_tracefs(names) != -1)
		skip("tracefs can be read by everybody here");
	CHECK(names->nm_tracefs_error.pe_cure[0] != '\0', "no cure");
	if (prof_names_btf(names) == NULL)
		skip("this kernel has no BTF");
	event = resolve_one(names, "sched:sched_switch", NULL, &events);
	CHECK(event->ev_nargs == 7 &&
	    strcmp(event->ev_probe, "static:::sched_switch") == 0, "%s: %u",
	    event->ev_probe, event->ev_nargs);
	prof_events_free(&events);
	event = resolve_one(names, "static:::sched_switch", NULL, &events);
	prof_events_free(&events);
	CHECK(prof_names_resolve(names, "sched:*", NULL, &events, &error) ==
	    -1 && error.pe_code == PROF_E_EVENT_UNKNOWN, "sched:*");
	event = resolve_one(names, "syscall::read:entry", NULL, &events);
	CHECK(event->ev_nargs == 7 &&
	    strcmp(event->ev_args[1].ag_name, "arg0") == 0, "arguments");
	prof_events_free(&events);
	prof_names_close(names);
}

int
main(void)
{
	if (geteuid() == 0) {
		as_root();
		CHECK(setgroups(0, NULL) == 0 && setgid(65534) == 0 &&
		    setuid(65534) == 0, "become an ordinary user");
	}
	as_nobody();
	return (passed());
}
