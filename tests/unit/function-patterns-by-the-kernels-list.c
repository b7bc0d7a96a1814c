/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a pattern of functions leaves out, by the kernel's own list, those
 * that it does not trace and those whose names others have: of fentry, whose
 * types are the kernel's alone, functions of modules are no others; without
 * that list a note says that nothing was left out.
 *
 * Easy to get wrong: a list that is not there taken for one that has all.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events/names.h"
#include "cli-check.h"

static char note[1024];

static int
note_take(void *arg, const char *text)
{
	(void)arg;
	snprintf(note, sizeof(note), "%s", text);
	return (0);
}

static int
no_sites(void *arg, int fd, const char *name,
    const struct prof_sites_want *want, struct prof_sites *sites)
{
	(void)arg;
	(void)fd;
	(void)name;
	(void)want;
	(void)sites;
	return (-1);
}

/* How many functions that is, by that list; the note is kept. */
static size_t
resolve(const char *text, const char *list)
{
	struct prof_event_defaults defaults = { 0 };
	struct prof_events events = { 0 };
	struct prof_err error = { 0 };
	struct prof_names *names = prof_names_open(&error);
	size_t n;

	CHECK(names != NULL, "no memory");
	names->nm_sites = no_sites;
	names->nm_note = note_take;
	names->nm_traceable_tried = true;
	names->nm_traceable = list == NULL ? NULL : strdup(list);
	note[0] = '\0';
	CHECK(prof_names_resolve(names, text, &defaults, &events,
	    &error) == 0, "%s: %s", text, error.pe_text);
	n = events.el_n;
	while (events.el_n > 0)
		prof_event_free(events.el_event[--events.el_n]);
	free(events.el_event);
	prof_names_close(names);
	return (n);
}

int
main(void)
{
	static const char list[] = "vfs_read\nvfs_readlink\n"
	    "vfs_readlink [other]\nvfs_readable\n";
	static const char twice[] = "vfs_read\nvfs_readlink\nvfs_readlink\n";
	struct prof_err error = { 0 };
	struct prof_names *names = prof_names_open(&error);

	CHECK(names != NULL, "no memory");
	if (prof_names_btf(names) == NULL) {
		printf("skip: this kernel has no types\n");
		return (0);
	}
	prof_names_close(names);
	CHECK(resolve("fentry:vfs_read*", list) == 2, "%s", note);
	CHECK(strstr(note, "have this name") == NULL, "%s", note);
	CHECK(resolve("fentry:vfs_read*", twice) == 1, "%s", note);
	CHECK(strstr(note, "1: several kernel functions have this name") !=
	    NULL, "%s", note);
	if (access("/sys/bus/event_source/devices/kprobe", F_OK) == 0)
		CHECK(resolve("kprobe:vfs_read*", list) == 1, "%s", note);
	printf("ok: those that the list has once\n");
	CHECK(resolve("fentry:vfs_read*", NULL) >= 2, "%s", note);
	CHECK(strstr(note, "matches are not checked") != NULL, "%s", note);
	printf("ok: without a list it is said\n");
	return (0);
}
