/* SPDX-License-Identifier: ISC */
/* Resolved events, the providers that make them, and names of events. */
#ifndef PROF_EVENT_H
#define PROF_EVENT_H

#include <linux/perf_event.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/dtp_abi.h"
#include "prof.h"

/* State that names need: BTF, tracefs, libpfm4, tables; opened on demand. */
struct prof_names;
struct prof_spec;
struct prof_instrument;
struct prof_pmu_kinds;

/* One argument that the event records. */
struct prof_arg {
	char		*ag_name;	/* "next->pid" */
	char		*ag_type;	/* "int", as C writes it */
	bool		 ag_is_text;	/* of a call: text behind ag_load */
	bool		 ag_is_later;	/* the recorder makes text of ag_load */
	struct dtp_arg	 ag_load;	/* how BPF gets it */
};

/* Where a probe of a program is: at an offset of a file that is open. */
struct prof_hook {
	int		 hk_fd;
	uint64_t	 hk_offset;
	uint64_t	 hk_semaphore;	/* counted up while it is there; 0 */
	struct dtp_operands hk_args;	/* as ev_args */
};

/* One event, resolved: all that is needed to attach and to describe it. */
struct prof_event {
	char		*ev_name;	/* as the user wrote it */
	char		*ev_probe;	/* provider:module:function:name */
	char		*ev_unit;	/* of the weight */
	char		*ev_pattern;	/* that it matched, or NULL */
	struct prof_err	*ev_refused;	/* why, by the kernel, or NULL */
	const struct prof_provider *ev_provider;
	const struct prof_instrument *ev_instrument;
	/* The instrument's facts; see instrument.h. */
	bool		 ev_has_period;
	bool		 ev_is_timer;	/* count late periods */
	bool		 ev_is_syscall;
	bool		 ev_is_value;
	bool		 ev_brings_tasks;
	bool		 ev_is_of_span;	/* there is no other use for it */
	bool		 ev_has_clock;	/* a span begins or ends here */
	bool		 ev_is_detached; /* nothing is recorded any more */
	bool		 ev_is_alone;	/* in the processes that are named */
	uint32_t	 ev_id;		/* index, given by the session */
	/* Type, config, period or frequency, exclude_*, precise_ip */
	struct perf_event_attr ev_attr;
	int		 ev_cpu;	/* interval: the one CPU; else -1 */
	/* Tracepoints, system calls */
	char		*ev_tracepoint;	/* "sched_switch" */
	bool		 ev_is_return;
	bool		 ev_is_call;	/* from the entry to the return */
	bool		 ev_has_texts;	/* some of its calls have */
	uint8_t		 ev_call[DTP_MAX_SYSCALL]; /* DTP_CALL_* */
	uint64_t	 ev_sysmask[DTP_MAX_SYSCALL / 64];
	/* Probes in programs: all of them fire the same event */
	struct prof_hook *ev_hooks;
	size_t		 ev_nhooks;
	/* Allocations: bytes that one stands for; what a command loads */
	uint64_t	 ev_interval;
	uint32_t	 ev_step;	/* off-cpu: see DTP_WALK_PACED */
	char		*ev_preload;	/* NULL: nothing */
	uint32_t	 ev_nargs;
	struct prof_arg	 ev_args[DTP_MAX_ARGS];
	char		*ev_expression;	/* its own filter; or NULL */
	struct dtp_filter ev_filter;	/* compiled by the session */
	struct dtp_grouping ev_grouping; /* likewise */
};

/* A growing array of events; the events are owned. */
struct prof_events {
	struct prof_event **el_event;
	size_t		 el_n;
	size_t		 el_cap;
};

/* What events get whose name says nothing about it. */
struct prof_event_defaults {
	uint64_t	 ed_frequency_hz;
	uint64_t	 ed_period;
	bool		 ed_user_only;
};

/* Called for each probe that a provider lists; nonzero ends the listing. */
typedef int prof_list_fn(void *arg, const struct prof_probe *probe);

/*
 * A provider: a source of probes, one file each (provider/NAME.c).  A provider
 * that this kernel lacks offers no probes and a reason.
 */
struct prof_provider {
	const char	*pv_name;
	/*
	 * Called when an event is added whose provider part is this one's, or
	 * is empty.  1: added to the list, 0: the name is not one of ours,
	 * -1: it is, but it cannot be had (error says why).
	 */
	int	(*pv_resolve)(struct prof_names *names,
		    const struct prof_spec *spec,
		    const struct prof_event_defaults *defaults,
		    struct prof_events *events, struct prof_err *error);
	/* Called by the catalog; none: "why" (borrowed, static) is set. */
	int	(*pv_list)(struct prof_names *names, prof_list_fn *fn,
		    void *arg, const char **why);
};

/*
 * Is it one that only a program of ours can count: a probe, or an event with a
 * filter of its own?  Whether there is such an event is not looked at.
 */
bool	prof_event_needs_program(const char *text);

/* Is it a probe of a program, by the name of the probe? */
bool	prof_event_is_site(const char *probe);

struct prof_names *prof_names_open(struct prof_err *error);
void	prof_names_close(struct prof_names *names);
/* Resolve one -e; appends; all or nothing; suggests the nearest name. */
int	prof_names_resolve(struct prof_names *names, const char *text,
	    const struct prof_event_defaults *defaults,
	    struct prof_events *events, struct prof_err *error);

/* Owned by the caller; NULL: no memory. */
struct prof_event *prof_event_new(const char *name, const char *probe,
	    const char *unit, const struct prof_provider *provider,
	    const struct prof_instrument *instrument);
/* That of sessions that look at threads, in dtp_abi.h DTP_TH_*. */
struct prof_event *prof_event_threads(void);
void	prof_event_free(struct prof_event *event);
int	prof_events_add(struct prof_events *events, struct prof_event *event);
/* One more; the descriptor stays the caller's.  NULL: errno. */
struct prof_hook *prof_event_add_hook(struct prof_event *event, int fd,
	    uint64_t offset);
/* The number of an argument, or that of all if it has none of this name. */
uint32_t prof_event_arg(const struct prof_event *event, const char *name);
void	prof_events_free(struct prof_events *events);

/* -------------------------------------------------------------- perf.c */

/*
 * Turn errno of a failed perf_event_open into sentence and cure; -1.  event
 * NULL: the sideband.
 */
int	prof_perf_explain(struct prof_err *error,
	    const struct prof_event *event, int error_number, int pid, int cpu);
int	prof_counting_refuse_zero(const struct prof_event *of,
	    struct prof_err *error);	/* -1 */
/* "pmc:::PMU/terms/": the PMU's name, and what is between the slashes. */
bool	prof_event_pmu(const struct prof_event *event, char *pmu, size_t size,
	    char *terms, size_t terms_size);
/* One PMU serves several CPUs, so counts are nobody's; its name. */
bool	prof_event_is_shared(const struct prof_event *event, char *pmu,
	    size_t size);

#endif /* PROF_EVENT_H */
