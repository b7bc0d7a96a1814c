/* SPDX-License-Identifier: ISC */
/* What cmd_list.c (probes) and list_counters.c share. */
#ifndef LIST_H
#define LIST_H

#include "../cmd.h"

struct list_options {
	const char	*lo_pmu;
	struct opt_ids	 lo_pids;
	bool		 lo_counters;
	bool		 lo_json;
	bool		 lo_verbose;
};

/* ---------------------------------------------------- list_counters.c */

/* The counters that the words ask for; the exit status. */
int	list_counters(const struct list_options *lo, int n, char **words);

#endif /* LIST_H */
