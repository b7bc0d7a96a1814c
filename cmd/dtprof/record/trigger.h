/* SPDX-License-Identifier: ISC */
/*
 * Triggers of --dump-on that look at records or at the system.  What trigger.c
 * (words), trigger_records.c (records), trigger_waits.c (threads),
 * trigger_system.c (pressure, time) and trigger_time.c share.
 */
#ifndef TRIGGER_H
#define TRIGGER_H

#include <time.h>

#include "record.h"

#define TRIGGER_SLOTS	10	/* of a window */

enum trigger_kind {
	TRIGGER_CRASH, TRIGGER_SPAN, TRIGGER_OFF_CPU, TRIGGER_RATE,
	TRIGGER_EVENT, TRIGGER_PSI, TRIGGER_AT
};

/* A sum over the last window; a slot is a part of it. */
struct trigger_window {
	uint64_t	 tw_ns;		/* 0: it has no window */
	uint64_t	 tw_slot;	/* number of the current one */
	uint64_t	 tw_count[TRIGGER_SLOTS];
};

struct trigger_wait;

/* Of pressure, at the end of a slot. */
struct trigger_stall {
	uint64_t	 st_time_ns;
	uint64_t	 st_total_us;
};

struct trigger {
	enum trigger_kind tg_kind;
	const char	*tg_text;	/* as it was written; borrowed */
	char		*tg_name;	/* of a span, event or pressure */
	char		*tg_expression;	/* of an event */
	double		 tg_limit;	/* ns, or per second, or percent */
	struct trigger_window tg_window;
	/* EVENT: of each event that the name means; NULL: not of it. */
	struct prof_filter **tg_filter;
	bool		*tg_is_of;	/* the same for RATE, by event */
	/* PSI */
	int		 tg_fd;		/* -1: none */
	const char	*tg_line;	/* "some" or "full" */
	struct trigger_stall tg_stall[TRIGGER_SLOTS + 1];
	size_t		 tg_nstalls;
	/* AT */
	int		 tg_second;	/* of the day */
	time_t		 tg_due_s;	/* by the clock that can be set */
	/* OFF_CPU: waits that go on, of which it has told */
	struct trigger_wait *tg_wait;
	size_t		 tg_nwaits;
	uint64_t	 tg_next_ns;	/* when to look; 0: never */
};

struct record_triggers {
	struct trigger	*rt_trigger;
	size_t		 rt_n;
	struct record_dumping *rt_dumping;
	struct prof_session *rt_session;
	struct prof_spans *rt_spans;	/* NULL: no trigger needs them */
	size_t		 rt_nevents;
	bool		*rt_is_wait;	/* by event: time off the CPU */
	struct prof_err	 rt_error;	/* of an expression */
};

/* ---------------------------------------------------------- trigger.c */

/* Something happened: this text is the reason of the dump. */
void	trigger_fire(struct record_triggers *triggers, uint64_t time_ns,
	    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* --------------------------------------------------- trigger_system.c */

/* Open what a trigger looks at; -1 with a message printed. */
int	trigger_psi_open(struct trigger *trigger);
void	trigger_at_begin(struct trigger *trigger);
/* Those that are due. */
void	trigger_system_look(struct record_triggers *triggers);

/* ----------------------------------------------------- trigger_time.c */

/* After now, the next time that clocks show this second of the day. */
time_t	trigger_time_next(time_t now_s, int second);

/* ---------------------------------------------------- trigger_waits.c */

/* At threads that wait now. */
void	trigger_waits_look(struct record_triggers *triggers,
	    struct trigger *trigger, uint64_t now_ns);
/* Has it told of the wait of this thread that has just ended? */
bool	trigger_waits_has(const struct trigger *trigger, uint32_t tid);

/* -------------------------------------------------- trigger_records.c */

/* What the session tells; its argument is the triggers. */
extern const struct prof_sink trigger_listener;
/* Of prof_spans_live_each. */
void	trigger_span_look(void *triggers, const char *name,
	    const struct prof_span *span);
/* All records of a round were told; -1: no memory. */
int	trigger_records_round(struct record_triggers *triggers, bool is_last);
/* Back to before the first event. */
void	trigger_records_free(struct record_triggers *triggers);

#endif /* TRIGGER_H */
