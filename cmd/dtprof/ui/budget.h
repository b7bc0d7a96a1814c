/* SPDX-License-Identifier: ISC */
/* A limit that a recorder kept; see budget.c. */
#ifndef BUDGET_H
#define BUDGET_H

#include "emit.h"

#define BUDGET_MOST	1e18	/* a file may be hostile */

struct budget {
	char	 bu_name[24];	/* of its option */
	double	 bu_limit;	/* bytes, or percent of all CPUs */
	double	 bu_used_max;
	char	 bu_action[256]; /* what was done to keep it, or "none" */
};

/* Nothing where the line is none of a limit. */
void	budget_text(const char *line, const char *head, struct out *out);
void	budget_emit(const char *line, struct emit *emit);

#endif /* BUDGET_H */
