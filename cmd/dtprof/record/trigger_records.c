/* SPDX-License-Identifier: ISC */
/*
 * Triggers that look at records, as the session tells them:
 *
 *	events -> which of them a trigger means, its expression compiled
 *	samples, exits -> compared; spans: paired first (spans/live.h)
 *
 * Called by the session (as its listener) and by trigger.c.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/terminal.h"
#include "base/error.h"
#include "trigger.h"

static int	 info_take(void *arg, const char *key, const char *value);
static int	 event_take(void *arg, const struct prof_event_info *info);
static int	 sample_take(void *arg, const struct prof_record *record);
static int	 task_take(void *arg, const struct prof_record *record);
static int	 other_take(void *arg, const struct prof_record *record);

const struct prof_sink trigger_listener = {
	.sk_info = info_take,
	.sk_event = event_take,
	.sk_sample = sample_take,
	.sk_task = task_take,
	.sk_mark = other_take,
	.sk_lost = other_take,
};

/* ---------------------------------------------------------------- events */

static bool
has_kind(const struct record_triggers *triggers, enum trigger_kind kind)
{
	for (size_t n = 0; n < triggers->rt_n; n++)
		if (triggers->rt_trigger[n].tg_kind == kind)
			return (true);
	return (false);
}

static int
info_take(void *arg, const char *key, const char *value)
{
	struct record_triggers *triggers = arg;

	if (strcmp(key, "path") == 0 && strcmp(value, "bpf") != 0 &&
	    has_kind(triggers, TRIGGER_CRASH)) {
		prof_fail(&triggers->rt_error, PROF_E_USAGE, "--dump-on crash: "
		    "how a process ended is not known without BPF");
		prof_cure(&triggers->rt_error, "record with BPF (see dtprof "
		    "doctor), or leave out --dump-on crash");
	}
	return (triggers->rt_spans == NULL ? 0 :
	    prof_spans_live_info(triggers->rt_spans, key, value));
}

/* By its name, or all that a glob means. */
static bool
is_event_of(const struct trigger *trigger, const struct prof_event_info *info)
{
	return (strcmp(trigger->tg_name, info->pi_name) == 0 ||
	    strcmp(trigger->tg_name, info->pi_probe) == 0);
}

/* Its expression for one more event; -1: no memory. */
static int
filter_add(struct record_triggers *triggers, struct trigger *trigger,
    const struct prof_event_info *info)
{
	const size_t n = triggers->rt_nevents;
	struct prof_filter **grown = reallocarray(trigger->tg_filter, n + 1,
	    sizeof(*grown));

	if (grown == NULL)
		return (-1);
	trigger->tg_filter = grown;
	grown[n] = NULL;
	if (!is_event_of(trigger, info))
		return (0);
	grown[n] = prof_filter_new(trigger->tg_expression, info,
	    &triggers->rt_error);
	return (0);
}

static int
mark_add(bool **marks, size_t n, bool is_of)
{
	bool *grown = reallocarray(*marks, n + 1, sizeof(*grown));

	if (grown == NULL)
		return (-1);
	grown[n] = is_of;
	*marks = grown;
	return (0);
}

static int
event_take(void *arg, const struct prof_event_info *info)
{
	struct record_triggers *triggers = arg;

	for (size_t n = 0; n < triggers->rt_n; n++) {
		struct trigger *trigger = &triggers->rt_trigger[n];

		if ((trigger->tg_kind == TRIGGER_EVENT &&
		    filter_add(triggers, trigger, info) == -1) ||
		    (trigger->tg_kind == TRIGGER_RATE &&
		    mark_add(&trigger->tg_is_of, triggers->rt_nevents,
		    is_event_of(trigger, info)) == -1))
			return (-1);
	}
	if (mark_add(&triggers->rt_is_wait, triggers->rt_nevents,
	    strcmp(info->pi_probe, "off-cpu") == 0) == -1)
		return (-1);
	triggers->rt_nevents++;
	return (triggers->rt_spans == NULL ? 0 :
	    prof_spans_live_event(triggers->rt_spans, info));
}

/* --------------------------------------------------------------- records */

static const char *
comm_of(const struct prof_record *record)
{
	return (record->pr_comm == NULL || record->pr_comm[0] == '\0' ? "?" :
	    record->pr_comm);
}

/* One more; how many there are in the window that ends with it. */
static uint64_t
window_add(struct trigger_window *window, uint64_t time_ns)
{
	const uint64_t slot = time_ns / (window->tw_ns / TRIGGER_SLOTS);
	uint64_t sum = 0;

	if (slot > window->tw_slot + TRIGGER_SLOTS)
		window->tw_slot = slot - TRIGGER_SLOTS;
	while (window->tw_slot < slot)
		window->tw_count[++window->tw_slot % TRIGGER_SLOTS] = 0;
	window->tw_count[slot % TRIGGER_SLOTS]++;
	for (size_t n = 0; n < TRIGGER_SLOTS; n++)
		sum += window->tw_count[n];
	return (sum);
}

/* Samples count, whatever their period. */
static void
rate_look(struct record_triggers *triggers, struct trigger *trigger,
    const struct prof_record *record)
{
	const double window_s = (double)trigger->tg_window.tw_ns / 1e9;
	double rate;

	if (!trigger->tg_is_of[record->pr_event])
		return;
	rate = (double)window_add(&trigger->tg_window, record->pr_time_ns) /
	    window_s;
	if (rate <= trigger->tg_limit)
		return;
	/* The next one needs a window of its own. */
	memset(trigger->tg_window.tw_count, 0,
	    sizeof(trigger->tg_window.tw_count));
	trigger_fire(triggers, record->pr_time_ns, "rate %s %.0f/s > %g/s",
	    trigger->tg_name, rate, trigger->tg_limit);
}

static void
wait_look(struct record_triggers *triggers, const struct trigger *trigger,
    const struct prof_record *record)
{
	char waited[32], limit[32];

	if (!triggers->rt_is_wait[record->pr_event] ||
	    (double)record->pr_weight <= trigger->tg_limit ||
	    trigger_waits_has(trigger, record->pr_tid))
		return;
	weight_time(waited, sizeof(waited), record->pr_weight);
	weight_time(limit, sizeof(limit), (uint64_t)trigger->tg_limit);
	trigger_fire(triggers, record->pr_time_ns,
	    "off-cpu %s > %s in thread %u", waited, limit, record->pr_tid);
}

static void
event_look(struct record_triggers *triggers, const struct trigger *trigger,
    const struct prof_record *record)
{
	const struct prof_filter *filter =
	    trigger->tg_filter[record->pr_event];

	if (filter != NULL && prof_filter_holds(filter, record,
	    comm_of(record)) == 1)
		trigger_fire(triggers, record->pr_time_ns,
		    "%.150s in thread %u", trigger->tg_text, record->pr_tid);
}

static int
sample_take(void *arg, const struct prof_record *record)
{
	struct record_triggers *triggers = arg;

	if (record->pr_event >= triggers->rt_nevents)
		return (0);
	for (size_t n = 0; n < triggers->rt_n; n++) {
		struct trigger *trigger = &triggers->rt_trigger[n];

		if (trigger->tg_kind == TRIGGER_RATE)
			rate_look(triggers, trigger, record);
		else if (trigger->tg_kind == TRIGGER_OFF_CPU)
			wait_look(triggers, trigger, record);
		else if (trigger->tg_kind == TRIGGER_EVENT)
			event_look(triggers, trigger, record);
	}
	return (other_take(arg, record));
}

/* By a signal that nobody sends to end a program in good order. */
static bool
is_crash(const struct prof_record *record)
{
	static const int orderly[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
	const int number = record->pr_code & 0x7f;

	if (record->pr_type != PROF_R_EXIT || !record->pr_group_dead ||
	    number == 0)
		return (false);
	for (size_t n = 0; n < sizeof(orderly) / sizeof(orderly[0]); n++)
		if (number == orderly[n])
			return (false);
	return (true);
}

static int
task_take(void *arg, const struct prof_record *record)
{
	struct record_triggers *triggers = arg;
	const char *name = sigabbrev_np(record->pr_code & 0x7f);

	if (has_kind(triggers, TRIGGER_CRASH) && is_crash(record))
		trigger_fire(triggers, record->pr_time_ns,
		    "crash of process %u (%s): SIG%s", record->pr_pid,
		    comm_of(record), name == NULL ? "?" : name);
	return (other_take(arg, record));
}

/* ----------------------------------------------------------------- spans */

static int
other_take(void *arg, const struct prof_record *record)
{
	const struct record_triggers *triggers = arg;

	return (triggers->rt_spans == NULL ? 0 :
	    prof_spans_live_record(triggers->rt_spans, record));
}

void
trigger_span_look(void *arg, const char *name, const struct prof_span *span)
{
	struct record_triggers *triggers = arg;
	char took[32], limit[32];

	for (size_t n = 0; n < triggers->rt_n; n++) {
		const struct trigger *trigger = &triggers->rt_trigger[n];

		if (trigger->tg_kind != TRIGGER_SPAN ||
		    strcmp(trigger->tg_name, name) != 0 ||
		    (double)span->sp_duration_ns <= trigger->tg_limit)
			continue;
		weight_time(took, sizeof(took), span->sp_duration_ns);
		weight_time(limit, sizeof(limit), (uint64_t)trigger->tg_limit);
		trigger_fire(triggers, span->sp_begin_ns +
		    span->sp_duration_ns, "span %s %s > %s", name, took,
		    limit);
	}
}

int
trigger_records_round(struct record_triggers *triggers, bool is_last)
{
	struct prof_err error;

	if (triggers->rt_spans == NULL)
		return (0);
	return (prof_spans_live_round(triggers->rt_spans, is_last, &error));
}

void
trigger_records_free(struct record_triggers *triggers)
{
	for (size_t n = 0; n < triggers->rt_n; n++) {
		struct trigger *trigger = &triggers->rt_trigger[n];

		for (size_t e = 0; trigger->tg_filter != NULL &&
		    e < triggers->rt_nevents; e++)
			prof_filter_free(trigger->tg_filter[e]);
		free(trigger->tg_filter);
		free(trigger->tg_is_of);
		trigger->tg_filter = NULL;
		trigger->tg_is_of = NULL;
	}
	free(triggers->rt_is_wait);
	triggers->rt_is_wait = NULL;
	triggers->rt_nevents = 0;
	prof_spans_free(triggers->rt_spans);
	triggers->rt_spans = NULL;
	triggers->rt_error = (struct prof_err){ 0 };
}
