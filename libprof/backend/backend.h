/* SPDX-License-Identifier: ISC */
/*
 * Back end: where a session's records come from.  BPF and perf fill this
 * interface, tests fill it from a script; a session has one or more of them
 * and merges what they hand over by time (merge.h).
 *
 * A back end gets a plan, what is to be recorded, and a host, whom it hands
 * records; it knows nothing else of the session.  Called in this order:
 *
 *	detect, try		would it do here, and for this plan?
 *	load			made, nothing started
 *	enter ...		who is recorded, as they are found
 *	arm			targets are known
 *	ready			what is known of them is published: all
 *				that start needs is made
 *	enable  pause		as often as recording goes on and stops
 *	  look			what has come, and up to when that is all
 *	  next, drain_until	hand it over
 *	  tend			each round: places, rates, multiplexing
 *	stop			nothing starts any more; then look and drain
 *				until is_empty
 *	account			at any time: one row of each event
 *	end  close
 *
 * Slots that a back end has no use for are NULL.
 */
#ifndef PROF_BACKEND_H
#define PROF_BACKEND_H

#include "abi/dtp_abi.h"
#include "base/error.h"
#include "base/record.h"
#include "events/event.h"

struct prof_broker;
struct prof_codes;
struct prof_groups;
struct prof_snapshots;

/* Recording time.  Set by whoever enables first. */
struct prof_clock {
	uint64_t	 ck_start_ns;	/* 0: not yet */
	uint64_t	 ck_resumed_ns;	/* the last time */
	uint64_t	 ck_pause_ns;	/* since when; 0: it records */
	uint64_t	 ck_paused_ns;	/* in earlier pauses */
	uint64_t	 ck_stop_ns;
	uint64_t	 ck_begun;	/* at the start, after each pause */
};

/* It goes on now, unless it does already; since when. */
uint64_t prof_clock_go_on(struct prof_clock *clock);
/* How long it recorded, without pauses. */
uint64_t prof_clock_ran_ns(const struct prof_clock *clock);
/* The end, or now. */
uint64_t prof_clock_until_ns(const struct prof_clock *clock);

/* What a back end asks of its session. */
struct prof_host {
	prof_record_fn	*ho_take;	/* the next of what is drained */
	prof_record_fn	*ho_tell;	/* what else it has to say: losses */
	/*
	 * Before the user stack of a sample is finished with what is mapped,
	 * and after: 1: more is known now, it is worth another try.  Before
	 * also when it is seen that may be handed over much later.
	 */
	prof_record_fn	*ho_before;
	prof_record_fn	*ho_after;
	/* Into the recording; and for the user, too. */
	int	(*ho_info)(void *arg, const char *key, const char *value);
	int	(*ho_note)(void *arg, const char *text);
};

/* What is recorded.  Fixed once a back end is loaded, but for the events. */
struct prof_plan {
	const struct prof_options *pn_options;
	const struct prof_events *pn_events;	/* [0]: proc */
	size_t		 pn_values;	/* the first of the counters ... */
	size_t		 pn_nvalues;	/* ... and how many there are */
	struct prof_names *pn_names;
	int		*pn_online;	/* CPUs that are online: processes */
	size_t		 pn_nonline;
	int		*pn_cpus;	/* those of them that take samples */
	size_t		 pn_ncpus;
	uint64_t	 pn_ring_bytes;
	uint64_t	 pn_cgroup_id;
	uint32_t	 pn_cgroup_level;
	int		 pn_command;	/* its pid; 0: none */
	struct prof_snapshots *pn_snapshots; /* NULL: none are taken */
	struct prof_broker *pn_broker;
	struct prof_codes *pn_codes;	/* of script frames */
	/* Of what comes of mappings some may be of others than the targets. */
	bool		 pn_hears_others;
	bool		 pn_is_wide;	/* and all of it: of the machine */
	bool		 pn_tells_losses; /* in the round in which they are */
	struct prof_clock pn_clock;
	struct prof_err	*pn_error;
	const struct prof_host *pn_host;
	void		*pn_arg;	/* the host's */
};

int	prof_host_take(const struct prof_plan *plan,
	    const struct prof_record *record);
int	prof_host_tell(const struct prof_plan *plan,
	    const struct prof_record *record);
int	prof_host_info(const struct prof_plan *plan, const char *key,
	    const char *value);
int	prof_host_number(const struct prof_plan *plan, const char *key,
	    uint64_t number);
int	prof_host_note(const struct prof_plan *plan, const char *fmt, ...)
	    PROF_PRINTF(2, 3);
/* A counter of one task, which others do not inherit: -t, --no-inherit. */
bool	prof_plan_is_exact(const struct prof_plan *plan);
/* Is it recorded for its first argument's task, not for the current one? */
bool	prof_event_is_about(const struct prof_plan *plan,
	    const struct prof_event *event);
/* What a sample of this event holds, in the words of the ABI. */
uint32_t prof_event_parts(const struct prof_plan *plan,
	    const struct prof_event *event);
/* At most so many samples a second on a CPU, without copies; 0: not known. */
uint64_t prof_events_rate(const struct prof_plan *plan);

/*
 * Of the buffers of a CPU, what mapping events can use where CPU time is
 * limited, and process events likewise.  Where it may take long to read them,
 * samples would wait behind them until their processes are gone.
 */
#define PROF_PACED_BYTES	(128UL << 10)

/* Mapping and process events. */
struct prof_side {
	uint64_t	 sd_read;
	uint64_t	 sd_lost;	/* is_last: as exactly as can be */
	bool		 sd_was_full;	/* a buffer, nearly, since asked */
};

/* By how much rates are to be lowered, and are. */
struct prof_slower {
	uint64_t	 sl_wanted;	/* times the first period */
	uint64_t	 sl_reached;	/* by the slowest event */
	bool		 sl_is_uneven;	/* not all events are as slow */
	bool		 sl_failed;	/* the plan's error says why */
};

/* A blocked thread, and when its wait began. */
typedef void	prof_waiting_fn(void *arg, uint32_t pid, uint32_t tid,
		    uint64_t since_ns);

/* What a session does next; drawn above. */
enum prof_step {
	PROF_STEP_ARM, PROF_STEP_READY, PROF_STEP_ENABLE, PROF_STEP_PAUSE,
	PROF_STEP_TEND,
	PROF_STEP_LOOK,		/* at each thread, where a plan asks for it */
	PROF_STEP_STOP,
	PROF_STEP_END,		/* after the last record */
	PROF_STEP_N
};

/* Of a back end, for the session. */
#define PROF_BACKEND_MAPS	1	/* it brings mappings, too */
#define PROF_BACKEND_EXEC_FIRST	2	/* an exec comes before its mappings */
/* Samples and the others share buffers: either may be what is lost. */
#define PROF_BACKEND_SHARES	4
/* It may ask the kernel for addresses of its functions. */
#define PROF_BACKEND_ASKS	8

struct prof_backend {
	const char	*bk_name;
	unsigned	 bk_flags;	/* PROF_BACKEND_* */
	int		 bk_wait_ms;	/* between rounds; 0: by its fill */
	bool	(*bk_detect)(const struct prof_plan *plan,
		    struct prof_err *why);
	/* Nothing is made yet: can the plan's events be had here? */
	int	(*bk_try)(struct prof_plan *plan);
	/* Owned by the caller, until close; NULL: the plan's error. */
	void	*(*bk_load)(struct prof_plan *plan);
	void	(*bk_enter)(void *state, uint32_t id, bool waits_for_exec);
	int	(*bk_step[PROF_STEP_N])(void *state);
	/*
	 * While it records: for how many events there is room; one more event
	 * of the plan, and one no longer.  1:
	 * it could not be attached, but stays an event of the recording.
	 */
	size_t	(*bk_room)(const void *state);
	int	(*bk_attach)(void *state, struct prof_event *event);
	int	(*bk_detach)(void *state, struct prof_event *event);
	/* Descriptors that are readable when there is something to take. */
	size_t	(*bk_fds)(const void *state, const int **fds);
	/*
	 * See what has come: up to *until_ns it is all that will.  *fill: of
	 * its buffers, in percent.  Up to handed_ns records were handed over
	 * already: what is older comes late, and is given that time.
	 */
	int	(*bk_look)(void *state, uint64_t handed_ns,
		    uint64_t *until_ns, unsigned *fill);
	/* See what has come, and only say what samples there are; or NULL. */
	int	(*bk_peek)(void *state);
	/* Time of the oldest that waits; UINT64_MAX: none. */
	uint64_t (*bk_next)(const void *state);
	/* Hand over, in order of time, what is not younger. */
	int	(*bk_drain_until)(void *state, uint64_t until_ns);
	bool	(*bk_is_empty)(const void *state);
	/*
	 * Add to the rows of a CPU, or (-1) of no CPU in particular.  1: they
	 * are worth keeping, 0: nothing is known, -1: failed.
	 */
	int	(*bk_account)(void *state, int cpu,
		    struct prof_accounting *rows);
	/* What was aggregated so far; after stop, all. */
	int	(*bk_groups)(const void *state, struct prof_groups *groups);
	/* Each thread that is blocked now; -1: not known. */
	int	(*bk_waiting)(const void *state, prof_waiting_fn *fn,
		    void *arg);
	/* Samples that were lost so far. */
	uint64_t (*bk_lost)(const void *state);
	/* Add what is known of mapping and process events. */
	void	(*bk_side)(void *state, bool is_last,
		    struct prof_side *side);
	/*
	 * The mappings of a process were read again: forget those known before
	 * time_ns; bk_observe brings the new ones.  any_exec: an exec of it may
	 * have been missed.
	 */
	int	(*bk_renew)(void *state, uint32_t pid, uint64_t time_ns,
		    bool any_exec);
	/* Each record that is taken, of any back end. */
	int	(*bk_observe)(void *state, const struct prof_record *record);
	/* What was observed is put where stacks are walked; true: not all. */
	bool	(*bk_publish)(void *state);
	/* What it costs is measured from now on; -1: it cannot be. */
	int	(*bk_measure)(void *state);
	/* Since it was loaded: all; of one event; of those with a clock. */
	uint64_t (*bk_spent_ns)(const void *state);
	uint64_t (*bk_event_ns)(const void *state, uint32_t event);
	uint64_t (*bk_clocks_ns)(const void *state);
	/* Process events are no longer stored, or again: they are lost. */
	void	(*bk_hold)(void *state, bool is_held);
	/* Lowers or raises rates; returns how many events have another one. */
	int	(*bk_change_rate)(void *state, struct prof_slower *slower);
	/* The capabilities that it needs while recording. */
	uint64_t (*bk_caps)(const void *state);
	void	(*bk_close)(void *state);
};

/* What waits of threads add up to, into the recording. */
int	prof_waits_say(const struct prof_plan *plan,
	    const struct prof_event *event,
	    const struct dtp_wait_counts *counts);

/* From an event as it is sampled to one that is counted, or say why not. */
int	prof_values_make(struct prof_event *event, struct prof_err *error);

extern const struct prof_backend prof_backend_bpf;
extern const struct prof_backend prof_backend_perf;
/* Perf rings with mappings alone, beside a back end without. */
extern const struct prof_backend prof_backend_maps;

#endif /* PROF_BACKEND_H */
