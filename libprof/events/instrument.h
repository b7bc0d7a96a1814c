/* SPDX-License-Identifier: ISC */
/*
 * Instrument: what makes an event fire, and what its samples are.  Each
 * provider has one for each kind of event that it offers, beside its names;
 * back ends read the facts and call the functions, and test no kinds.  What is
 * NULL is done in the usual way.
 */
#ifndef PROF_INSTRUMENT_H
#define PROF_INSTRUMENT_H

#include <bpf/libbpf.h>

#include "base/record.h"
#include "events/event.h"

/* A BPF object of sys/, as bpftool wraps it. */
struct prof_program {
	/* Its configuration is where *cfg says, until it is loaded. */
	void	*(*pg_open)(const struct bpf_object_open_opts *opts,
		    struct bpf_object **obj, struct dtp_config **cfg);
	void	 (*pg_destroy)(void *skel);
};

/* prof_program_NAME, from NAME.skel.h. */
#define PROF_PROGRAM(name)						\
	static void *							\
	open_##name(const struct bpf_object_open_opts *opts,		\
	    struct bpf_object **obj, struct dtp_config **cfg)		\
	{								\
		struct name##_bpf *skel = name##_bpf__open_opts(opts);	\
									\
		if (skel == NULL)					\
			return (NULL);					\
		*obj = skel->obj;					\
		*cfg = (struct dtp_config *)&skel->rodata->cfg;		\
		return (skel);						\
	}								\
									\
	static void							\
	destroy_##name(void *skel)					\
	{								\
		name##_bpf__destroy(skel);				\
	}								\
									\
	static const struct prof_program prof_program_##name = {	\
		open_##name, destroy_##name				\
	}

/* What the back end does for an instrument, on an event that it has loaded. */
struct prof_attacher {
	const struct prof_event *at_event;
	const struct bpf_object *at_obj;
	/* It need fire in these processes alone; none: in any. */
	const int	*at_pids;
	size_t		 at_npids;
	/* Takes a link over, to be closed at detach; -1: no memory. */
	int	(*at_keep)(struct prof_attacher *attacher, int link);
	struct prof_err	*at_error;
	void		*at_arg;	/* the back end's */
};

struct prof_instrument {
	/*
	 * perf_event_open(2) makes it fire, every so often: it is opened, on
	 * CPUs or tasks, by whoever samples.
	 */
	bool	im_has_period;
	bool	im_is_timer;	/* and it may come late */
	bool	im_is_syscall;	/* the first argument is a call's number */
	bool	im_is_value;	/* it is counted; others' samples have it */
	bool	im_brings_tasks; /* process events, no samples */
	bool	im_is_anywhere;	/* it may fire with any lock held */
	bool	im_counts;	/* perf counts it without samples, too */
	/* It is about the task that is its first argument. */
	bool	im_is_of_argument;
	bool	im_has_weight;	/* its program says how much a sample is */
	bool	im_is_of_next;	/* about a thread that is not the current one */
	bool	im_has_switches; /* perf's records of switches do, too */
	/* Arguments that become text: its last ones (dtp_object.h). */
	bool	im_has_object;
	/*
	 * It fires in the context of the task that it is about, and never
	 * within itself: its programs begin with dtp_turn (sys/turn.bpf.h).
	 */
	bool	im_is_in_task;
	/* What a firing costs at least beside its program: a trap. */
	uint32_t im_trap_ns;
	const struct prof_program *im_program;
	/* It fires for each thread when it is looked at: the program. */
	const char *im_iterator;
	/* It fires for each thread, every ev_interval: the iterator. */
	const char *im_pass;
	/* The iterator that runs once over all threads, after stop. */
	const char *im_at_end;
	/* Is this one of its programs wanted?  twice: a second time. */
	bool	(*im_loads)(const struct prof_event *event,
		    const char *section, bool twice);
	/* Its maps, before it is loaded; -1: errno. */
	int	(*im_prepare)(const struct prof_event *event,
		    struct bpf_object *obj);
	/* What the program has to know beside what each has. */
	void	(*im_configure)(const struct prof_event *event,
		    struct dtp_config *cfg);
	/*
	 * NULL: each program where its section says, raw_tp/NAME or
	 * tp_btf/NAME; raw_tp alone: at the event's tracepoint.
	 */
	int	(*im_attach)(const struct prof_event *event,
		    struct prof_attacher *attacher);
	/* Before its links are closed. */
	void	(*im_detach)(const struct prof_event *event,
		    struct prof_attacher *attacher);
	/* A process has mapped something, while it is attached. */
	int	(*im_on_mapping)(const struct prof_event *event,
		    struct prof_attacher *attacher,
		    const struct prof_record *record);
	/* Why it could not be loaded or attached; 0: as for all others. */
	int	(*im_explain)(const struct prof_event *event,
		    int error_number, struct prof_err *error);
};

extern const struct prof_instrument prof_instrument_tasks;
extern const struct prof_instrument prof_instrument_counter;
extern const struct prof_instrument prof_instrument_timer;
extern const struct prof_instrument prof_instrument_clock;
extern const struct prof_instrument prof_instrument_tracepoint;
extern const struct prof_instrument prof_instrument_reaped;
extern const struct prof_instrument prof_instrument_half;
extern const struct prof_instrument prof_instrument_call;
extern const struct prof_instrument prof_instrument_uprobe;
extern const struct prof_instrument prof_instrument_function;
extern const struct prof_instrument prof_instrument_alloc;
extern const struct prof_instrument prof_instrument_thread;

#endif /* PROF_INSTRUMENT_H */
