/* SPDX-License-Identifier: ISC */
/* What the files of dtprof script share: cmd_script.c, script_comm.c. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "../cmd.h"
#include "../ui/line.h"

/* ------------------------------------------------------ script_comm.c */

/*
 * What each thread is called, as the records tell in order of time.  A name
 * outlives its thread: the last sample of a thread comes after its exit.
 */
struct script_comms {
	struct script_comm *sc_slot;	/* 2^n, open addressing */
	size_t		 sc_size;
	size_t		 sc_used;
	const char	*sc_task_0;	/* of number 0; nobody forks it */
	uint64_t	 sc_until_ns;	/* from then on no names are known */
};

/* 0, or -1: no memory. */
int	script_comms_take(struct script_comms *comms,
	    const struct prof_record *record);
/* "" when the name is not known; borrowed until the next take. */
const char *script_comms_get(const struct script_comms *comms, uint32_t tid);
void	script_comms_free(struct script_comms *comms);

#endif /* SCRIPT_H */
