/* SPDX-License-Identifier: ISC */
/*
 * Comparisons of many machines, for dtprof(1): the runs are what a host did in
 * a window of time, and the host is the unit.  See hosts.c.
 */
#ifndef PROF_COMPARE_HOSTS_H
#define PROF_COMPARE_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_comparison;

/* What else differs where the sides do, so that nothing can be said. */
enum prof_confounder {
	PROF_CONFOUNDER_NONE,
	PROF_CONFOUNDER_TIME,	/* base and new never ran at the same time */
	PROF_CONFOUNDER_KIND	/* nor on hosts of the same kind */
};

/* By prof_comparison_finish. */
struct prof_hosts {
	enum prof_confounder ph_confounder;
	bool	 ph_is_paired;	/* each host is compared with itself */
	bool	 ph_is_share;	/* costs are shares of their run */
	size_t	 ph_hosts[2];
	size_t	 ph_windows[2];
	size_t	 ph_both;	/* hosts that ran both */
	size_t	 ph_mixed;	/* windows of hosts that had both: left out */
	double	 ph_units[2];
};

#define PROF_HOSTS_WINDOWS	400	/* more are too many */

/*
 * In the place of prof_comparison_run, for all runs: that of a host in a
 * window of time, the same one for the same arguments.  Windows have numbers
 * in order of time.  kind: what a host is, as hosts of other kinds are not; one
 * that changes its kind is another host.
 */
long	prof_comparison_window(struct prof_comparison *comparison, int side,
	    const char *host, const char *kind, uint32_t window);
/*
 * Costs of a run are divided by this, which adds up; given for one run it is
 * for all.  Without, costs of hosts are shares.
 */
int	prof_comparison_units(struct prof_comparison *comparison, long run,
	    double units);
/* Name and unit of the total. */
int	prof_comparison_call_total(struct prof_comparison *comparison,
	    const char *name, const char *unit);
/* NULL: the runs are not of hosts. */
const struct prof_hosts *prof_comparison_hosts(
	    const struct prof_comparison *comparison);

#endif /* PROF_COMPARE_HOSTS_H */
