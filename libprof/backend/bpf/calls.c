/* SPDX-License-Identifier: ISC */
/*
 * System calls of a session: describes each call that is met, once, gives its
 * arguments their types, and counts at the end what has become of the calls
 * that did not return.
 *
 * Called by the drain for samples of the syscall provider, by attach.c and
 * backend.c at stop.  What the programs do is in sys/prov_call.bpf.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "backend/bpf/bpf_impl.h"
#include "base/error.h"
#include "events/call.h"
#include "events/names.h"

#define FIRST_ARG	2	/* behind number and return value */

/* Also for system calls that are attached later. */
int
prof_calls_init(struct prof_bpf *bpf)
{
	bpf->bp_calls = calloc(1, sizeof(*bpf->bp_calls));
	return (bpf->bp_calls == NULL ? prof_fail_nomem(bpf->bp_error) : 0);
}

void
prof_calls_fini(struct prof_bpf *bpf)
{
	for (size_t n = 0; bpf->bp_calls != NULL && n < DTP_MAX_SYSCALL;
	    n++)
		free(bpf->bp_calls->sc_call[n]);
	free(bpf->bp_calls);
	bpf->bp_calls = NULL;
}

/* A call without a name has no description. */
static int
describe_call(struct prof_bpf *bpf, unsigned number)
{
	const char *name = prof_syscall_name(number);
	char key[32], *text;
	int rv;

	bpf->bp_calls->sc_told[number / 64] |= 1ULL << number % 64;
	if (name == NULL)
		return (0);
	text = prof_syscall_describe(bpf->bp_plan->pn_names, name);
	if (text == NULL)
		return (prof_fail_nomem(bpf->bp_error));
	bpf->bp_calls->sc_call[number] = prof_syscall_parse(text);
	snprintf(key, sizeof(key), PROF_CALL_KEY "%u", number);
	rv = prof_host_info(bpf->bp_plan, key, text);
	free(text);
	return (rv);
}

int
prof_calls_take(struct prof_bpf *bpf, const struct prof_event *event,
    struct prof_record *record)
{
	const struct prof_syscall *call;
	uint64_t number = record->pr_args[0];

	if (record->pr_nargs == 0 || number >= DTP_MAX_SYSCALL)
		return (0);
	if ((bpf->bp_calls->sc_told[number / 64] >> number % 64 & 1) ==
	    0 && describe_call(bpf, (unsigned)number) == -1)
		return (-1);
	call = bpf->bp_calls->sc_call[number];
	if (!event->ev_is_call || call == NULL || !call->cl_args_known)
		return (0);
	if (record->pr_nargs > FIRST_ARG + call->cl_nargs)
		record->pr_nargs = FIRST_ARG + call->cl_nargs;
	/* Registers after an exec are the new program's. */
	if (record->pr_weight == 0 && record->pr_args[1] == 0 &&
	    (event->ev_call[number] & DTP_CALL_EXECS) != 0)
		record->pr_nargs = FIRST_ARG;
	for (uint32_t n = FIRST_ARG; n < record->pr_nargs; n++)
		if (record->pr_strs[n] == NULL)
			record->pr_args[n] = prof_syscall_cut(call,
			    n - FIRST_ARG, record->pr_args[n]);
	return (0);
}

/* ------------------------------------------------------------- at stop */

/* Run the program that looks at each thread: reading makes it go. */
int
prof_calls_count_of(struct prof_bpf *bpf, const struct prof_event *event)
{
	return (prof_bpf_iterate(bpf, event, "each_call", 0) == 0 ? 0 :
	    prof_fail(bpf->bp_error, PROF_E_KERNEL,
	    "%s: cannot find the system calls in progress: %s",
	    event->ev_name, strerror(errno)));
}

/* Of one event: sums, and the calls by name, "read 2, futex 1". */
struct ended {
	uint64_t	 en_running;
	uint64_t	 en_ended;
	FILE		*en_running_names;
	FILE		*en_ended_names;
};

static void
name_one(FILE *names, unsigned number, uint64_t count, uint64_t *sum)
{
	const char *name = prof_syscall_name(number);

	if (count == 0)
		return;
	if (*sum != 0)
		fputs(", ", names);
	*sum += count;
	if (name != NULL)
		fprintf(names, "%s %llu", name, (unsigned long long)count);
	else
		fprintf(names, "syscall_%u %llu", number,
		    (unsigned long long)count);
}

static int
read_ends(const struct prof_bpf *bpf, const struct prof_event *event,
    struct ended *ended)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(
	    bpf->bp_instance[event->ev_id].in_obj, "call_ends");
	struct dtp_call_ends ends;

	for (uint32_t n = 0; n < DTP_MAX_SYSCALL; n++) {
		if (map == NULL || bpf_map_lookup_elem(bpf_map__fd(map), &n,
		    &ends) != 0)
			return (-1);
		name_one(ended->en_running_names, n, ends.ce_running,
		    &ended->en_running);
		name_one(ended->en_ended_names, n, ends.ce_ended,
		    &ended->en_ended);
	}
	return (0);
}

/* "calls.N.WHAT", N being the event's number. */
static int
say_count(struct prof_bpf *bpf, const struct prof_event *event,
    const char *what, uint64_t count)
{
	char key[64];

	snprintf(key, sizeof(key), "calls.%u.%s", event->ev_id, what);
	return (prof_host_number(bpf->bp_plan, key, count));
}

static int
say_counts(struct prof_bpf *bpf, const struct prof_event *event)
{
	static const struct {
		const char	*name;
		size_t		 at;
	} what[] = {
#define COUNT(name)	{ #name, offsetof(struct dtp_counts, cn_call_##name) }
		COUNT(begun), COUNT(returned), COUNT(paused), COUNT(unseen),
		COUNT(unbegun), COUNT(born), COUNT(unkept), COUNT(compat),
#undef COUNT
	};

	for (size_t n = 0; n < sizeof(what) / sizeof(what[0]); n++) {
		uint64_t sum = 0;

		for (uint32_t cpu = 0; cpu < bpf->bp_ncpus; cpu++)
			sum += *(const uint64_t *)(const void *)
			    ((const char *)prof_bpf_counts(bpf,
			    cpu, event->ev_id) + what[n].at);
		if (say_count(bpf, event, what[n].name, sum) == -1)
			return (-1);
	}
	return (0);
}

static int
say_ends(struct prof_bpf *bpf, const struct prof_event *event)
{
	struct ended ended = { 0 };
	char key[64], *running = NULL, *dead = NULL;
	size_t length;
	int rv = -1;

	ended.en_running_names = open_memstream(&running, &length);
	ended.en_ended_names = open_memstream(&dead, &length);
	if (ended.en_running_names == NULL || ended.en_ended_names == NULL)
		prof_fail_nomem(bpf->bp_error);
	else if (read_ends(bpf, event, &ended) == -1)
		prof_fail(bpf->bp_error, PROF_E_KERNEL, "%s: cannot read "
		    "the system calls in progress", event->ev_name);
	else
		rv = 0;
	if (ended.en_running_names != NULL &&
	    fclose(ended.en_running_names) != 0)
		rv = -1;
	if (ended.en_ended_names != NULL && fclose(ended.en_ended_names) != 0)
		rv = -1;
	if (rv == 0)
		rv = say_count(bpf, event, "running", ended.en_running);
	if (rv == 0)
		rv = say_count(bpf, event, "ended", ended.en_ended);
	snprintf(key, sizeof(key), "calls.%u.running.names", event->ev_id);
	if (rv == 0 && ended.en_running != 0)
		rv = prof_host_info(bpf->bp_plan, key, running);
	snprintf(key, sizeof(key), "calls.%u.ended.names", event->ev_id);
	if (rv == 0 && ended.en_ended != 0)
		rv = prof_host_info(bpf->bp_plan, key, dead);
	free(running);
	free(dead);
	return (rv);
}

int
prof_describe_calls(struct prof_bpf *bpf)
{
	for (size_t n = 1; n < bpf->bp_events->el_n; n++) {
		const struct prof_event *event =
		    bpf->bp_events->el_event[n];

		if (event->ev_is_call && (say_counts(bpf, event) == -1 ||
		    say_ends(bpf, event) == -1))
			return (-1);
	}
	return (0);
}
