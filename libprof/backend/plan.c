/* SPDX-License-Identifier: ISC */
/*
 * What follows from a plan: how long it records, what a sample of an event
 * holds.  And what back ends tell their host.
 *
 * Called by the session and by back ends.
 */
#include <stdarg.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "events/instrument.h"

#define NS_PER_S	1000000000ULL

uint64_t
prof_clock_go_on(struct prof_clock *clock)
{
	const uint64_t now_ns = prof_now_ns();

	if (clock->ck_start_ns != 0 && clock->ck_pause_ns == 0)
		return (clock->ck_resumed_ns);
	if (clock->ck_start_ns == 0)
		clock->ck_start_ns = now_ns;
	else
		clock->ck_paused_ns += now_ns - clock->ck_pause_ns;
	clock->ck_pause_ns = 0;
	clock->ck_resumed_ns = now_ns;
	clock->ck_begun++;
	return (now_ns);
}

uint64_t
prof_clock_until_ns(const struct prof_clock *clock)
{
	return (clock->ck_stop_ns != 0 ? clock->ck_stop_ns : prof_now_ns());
}

uint64_t
prof_clock_ran_ns(const struct prof_clock *clock)
{
	if (clock->ck_start_ns == 0)
		return (0);
	return ((clock->ck_pause_ns != 0 ? clock->ck_pause_ns :
	    prof_clock_until_ns(clock)) - clock->ck_start_ns -
	    clock->ck_paused_ns);
}

int
prof_host_take(const struct prof_plan *plan, const struct prof_record *record)
{
	return (plan->pn_host->ho_take(plan->pn_arg, record));
}

int
prof_host_tell(const struct prof_plan *plan, const struct prof_record *record)
{
	return (plan->pn_host->ho_tell(plan->pn_arg, record));
}

int
prof_host_info(const struct prof_plan *plan, const char *key,
    const char *value)
{
	return (plan->pn_host->ho_info(plan->pn_arg, key, value));
}

int
prof_host_number(const struct prof_plan *plan, const char *key,
    uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return (prof_host_info(plan, key, text));
}

int
prof_host_note(const struct prof_plan *plan, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return (plan->pn_host->ho_note(plan->pn_arg, text));
}

bool
prof_plan_is_exact(const struct prof_plan *plan)
{
	const struct prof_options *po = plan->pn_options;

	return (po->po_target == PROF_TARGET_TIDS ||
	    (po->po_target == PROF_TARGET_COMMAND && po->po_no_inherit));
}

bool
prof_event_is_about(const struct prof_plan *plan,
    const struct prof_event *event)
{
	const enum prof_target target = plan->pn_options->po_target;

	return (target != PROF_TARGET_ALL && target != PROF_TARGET_CGROUP &&
	    plan->pn_nvalues == 0 &&
	    event->ev_instrument->im_is_of_argument);
}

/* Where nothing is stored only for a key, or for the filter. */
static bool
wants_texts(const struct prof_event *event)
{
	const struct dtp_filter *filter = &event->ev_filter;
	bool wants = event->ev_grouping.gp_is_on ?
	    event->ev_grouping.gp_has_texts : event->ev_has_texts;

	for (uint32_t n = 0; n < filter->fi_ntexts; n++)
		wants |= filter->fi_text[n].fx_how == DTP_KEY_CALL;
	return (wants);
}

/* What a sample of this event holds, in the words of the ABI. */
uint32_t
prof_event_parts(const struct prof_plan *plan,
    const struct prof_event *event)
{
	const struct prof_options *po = plan->pn_options;
	uint32_t parts = 0;

	if (event->ev_brings_tasks)
		return (0);
	if (event->ev_is_value)
		return (DTP_P_COUNTER);
	if (event->ev_has_period || event->ev_instrument->im_has_weight)
		parts |= DTP_P_WEIGHT;
	if (event->ev_nargs > 0)
		parts |= DTP_P_ARGS;
	if (wants_texts(event))
		parts |= DTP_P_TEXTS;
	if (po->po_record_comm)
		parts |= DTP_P_COMM;
	if (plan->pn_nvalues > 0)
		parts |= DTP_P_VALUES;
	/* The current thread's, whatever it is about. */
	if (event->ev_has_clock && !prof_event_is_about(plan, event))
		parts |= DTP_P_CLOCK;
	if (event->ev_is_of_span)
		return (parts | DTP_P_SPAN);
	if (po->po_callgraph == PROF_CALLGRAPH_NONE)
		return (event->ev_has_period ?
		    parts | DTP_P_IP : parts);
	/* The stack in user space is another task's. */
	if (!prof_event_is_about(plan, event))
		parts |= DTP_P_USTACK;
	/* Below a system call there is but the way from its tracepoint. */
	if (!event->ev_attr.exclude_kernel && !po->po_no_kernel &&
	    !event->ev_is_syscall)
		parts |= DTP_P_KSTACK;
	return (parts);
}

uint64_t
prof_events_rate(const struct prof_plan *plan)
{
	const struct prof_options *po = plan->pn_options;
	uint64_t hz = 0;

	if (po->po_verify || po->po_callgraph == PROF_CALLGRAPH_DWARF)
		return (0);
	for (size_t n = 1; n < plan->pn_events->el_n; n++) {
		const struct prof_event *event =
		    plan->pn_events->el_event[n];

		if (event->ev_is_value)
			continue;
		if (!event->ev_has_period)
			return (0);
		if (event->ev_attr.freq)
			hz += event->ev_attr.sample_freq;
		else if (strcmp(event->ev_unit, "ns") == 0)
			hz += NS_PER_S / event->ev_attr.sample_period + 1;
		else
			return (0);
	}
	return (hz);
}
