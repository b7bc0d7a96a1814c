/* SPDX-License-Identifier: ISC */
/* Time of threads on and off the CPU as one event; see elapsed.c. */
#ifndef PROF_ELAPSED_H
#define PROF_ELAPSED_H

#include "decode.h"

struct prof_elapsed {
	uint32_t	el_event;	/* elapsed; 0: nobody asked for it */
	uint32_t	el_running;	/* its parts; 0: there is none */
	uint32_t	el_waits;
	bool		el_has_idle;	/* process 0 is the idle task */
	double		el_factor;	/* of weights of el_running to ns */
};

const struct prof_elapsed *prof_elapsed_of(const struct prof_reader *reader);
/* The event of waits, if possible one that records all; 0: there is none. */
uint32_t prof_wait_event(const struct prof_reader *reader);
/* True if a filter, as that of lock, leaves out waits of any length. */
bool	prof_wait_is_part(const struct prof_event_info *info);
/* -1: samples of this event have no arguments; event 0: there is none. */
int	prof_wait_arguments(const struct prof_reader *reader, uint32_t event,
	    struct prof_err *error);
/* A sample of a part becomes one of elapsed time; false: the idle task's. */
bool	prof_elapsed_convert(const struct prof_reader *reader,
	    struct prof_record *record);

static inline bool
prof_elapsed_is_idle(const struct prof_elapsed *elapsed,
    const struct prof_record *record)
{
	return (elapsed->el_has_idle && record->pr_pid == 0);
}

#endif /* PROF_ELAPSED_H */
