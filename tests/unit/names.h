/* SPDX-License-Identifier: ISC */
/*
 * What the tests of names, globs, filters and the catalog share: a checked
 * condition, a seeded generator, and one -e resolved to one event.
 */
#ifndef TESTS_NAMES_H
#define TESTS_NAMES_H

#include <sys/wait.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events/names.h"

static unsigned long checks_held;

#define CHECK(cond, ...) do {						\
	if (!(cond)) {							\
		printf("FAIL: %s:%d: %s: ", __FILE__, __LINE__, #cond);	\
		printf(__VA_ARGS__);					\
		printf("\n");						\
		exit(1);						\
	}								\
	checks_held++;							\
} while (0)

/* The last line of main: a test that checked nothing has not passed. */
static inline int
passed(void)
{
	printf("%lu conditions held\n", checks_held);
	return (checks_held == 0);
}

static inline void
skip(const char *why)
{
	printf("SKIP: %s\n", why);
	exit(77);
}

/* Deterministic, so that a failure can be repeated. */
static inline uint32_t
random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((uint32_t)(*state >> 33) % limit);
}

static inline struct prof_names *
open_names(void)
{
	struct prof_err error;
	struct prof_names *names = prof_names_open(&error);

	CHECK(names != NULL, "%s", error.pe_text);
	return (names);
}

/* Exactly one event must come of it; the caller frees the list. */
static inline struct prof_event *
resolve_one(struct prof_names *names, const char *text,
    const struct prof_event_defaults *defaults, struct prof_events *events)
{
	struct prof_err error;
	int rv;

	memset(events, 0, sizeof(*events));
	memset(&error, 0, sizeof(error));
	rv = prof_names_resolve(names, text, defaults, events, &error);
	CHECK(rv == 0, "%s: %s", text, error.pe_text);
	CHECK(events->el_n == 1, "%s: %zu events", text, events->el_n);
	return (events->el_event[0]);
}

#endif /* TESTS_NAMES_H */
