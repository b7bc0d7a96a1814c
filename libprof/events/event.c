/* SPDX-License-Identifier: ISC */
/*
 * Resolved events and lists of them: made by the providers (events/provider/),
 * held by the session until it is closed, read by whoever attaches, describes
 * or filters.  Only memory is handled here; what the members mean is in
 * event.h, and how a name becomes an event in names.c.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "instrument.h"
#include "names.h"

struct prof_event *
prof_event_new(const char *name, const char *probe, const char *unit,
    const struct prof_provider *provider,
    const struct prof_instrument *instrument)
{
	struct prof_event *event;

	if ((event = calloc(1, sizeof(*event))) == NULL)
		return (NULL);
	event->ev_name = strdup(name);
	event->ev_probe = strdup(probe);
	event->ev_unit = strdup(unit);
	event->ev_provider = provider;
	event->ev_instrument = instrument;
	event->ev_has_period = instrument->im_has_period;
	event->ev_is_timer = instrument->im_is_timer;
	event->ev_is_syscall = instrument->im_is_syscall;
	event->ev_is_value = instrument->im_is_value;
	event->ev_brings_tasks = instrument->im_brings_tasks;
	event->ev_cpu = -1;
	event->ev_attr.size = sizeof(event->ev_attr);
	if (event->ev_name == NULL || event->ev_probe == NULL ||
	    event->ev_unit == NULL) {
		prof_event_free(event);
		return (NULL);
	}
	return (event);
}

void
prof_arg_fini(struct prof_arg *arg)
{
	free(arg->ag_name);
	free(arg->ag_type);
	memset(arg, 0, sizeof(*arg));
}

void
prof_event_free(struct prof_event *event)
{
	if (event == NULL)
		return;
	for (uint32_t n = 0; n < event->ev_nargs; n++)
		prof_arg_fini(&event->ev_args[n]);
	for (size_t n = 0; n < event->ev_nhooks; n++)
		close(event->ev_hooks[n].hk_fd);
	free(event->ev_hooks);
	free(event->ev_preload);
	free(event->ev_pattern);
	free(event->ev_refused);
	free(event->ev_tracepoint);
	free(event->ev_expression);
	free(event->ev_unit);
	free(event->ev_probe);
	free(event->ev_name);
	free(event);
}

uint32_t
prof_event_arg(const struct prof_event *event, const char *name)
{
	uint32_t n = 0;

	while (n < event->ev_nargs &&
	    strcmp(event->ev_args[n].ag_name, name) != 0)
		n++;
	return (n);
}

struct prof_hook *
prof_event_add_hook(struct prof_event *event, int fd, uint64_t offset)
{
	const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct prof_hook *hook;

	if (own == -1)
		return (NULL);
	hook = prof_append(&event->ev_hooks, &event->ev_nhooks, sizeof(*hook));
	if (hook == NULL) {
		close(own);
		return (NULL);
	}
	*hook = (struct prof_hook){ .hk_fd = own, .hk_offset = offset };
	return (hook);
}

/* The list owns the event from here, also when there is no memory. */
int
prof_events_add(struct prof_events *events, struct prof_event *event)
{
	struct prof_event **slot;

	if (event == NULL)
		return (-1);
	slot = prof_grow(&events->el_event, &events->el_n, &events->el_cap,
	    sizeof(struct prof_event *));
	if (slot == NULL) {
		prof_event_free(event);
		return (-1);
	}
	*slot = event;
	return (0);
}

void
prof_events_free(struct prof_events *events)
{
	for (size_t n = 0; n < events->el_n; n++)
		prof_event_free(events->el_event[n]);
	free(events->el_event);
	memset(events, 0, sizeof(*events));
}
