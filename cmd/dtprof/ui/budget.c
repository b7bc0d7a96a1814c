/* SPDX-License-Identifier: ISC */
/*
 * A limit that a recorder kept, and how much of it was used: a line of the
 * recording, or of a recorder's answer, for people and for programs.
 *
 * Called by report --stats and ctl status.
 */
#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "terminal.h"

#define MOST	1e18	/* a file may be hostile */

struct budget {
	char	 bu_name[24];	/* of its option */
	double	 bu_limit;	/* bytes, or percent of all CPUs */
	double	 bu_used_max;
	char	 bu_action[256]; /* what was done to keep it, or "none" */
};

/* False: it is no such line. */
static bool
budget_parse(const char *text, struct budget *budget)
{
	return (text != NULL && sscanf(text, "%23s %lf %lf %255[^\n]",
	    budget->bu_name, &budget->bu_limit, &budget->bu_used_max,
	    budget->bu_action) == 4 && budget->bu_limit >= 0 &&
	    budget->bu_limit < MOST && budget->bu_used_max >= 0 &&
	    budget->bu_used_max < MOST);
}

static bool
is_percent(const struct budget *budget)
{
	return (strcmp(budget->bu_name, "max-overhead") == 0);
}

static void
amount_put(const struct budget *budget, double amount, struct out *out)
{
	char text[32];

	if (is_percent(budget)) {
		out_fmt(out, "%.3g%%", amount);
		return;
	}
	term_bytes(text, sizeof(text), (uint64_t)amount);
	out_str(out, text);
}

void
budget_text(const char *line, const char *head, struct out *out)
{
	struct budget budget;

	if (!budget_parse(line, &budget))
		return;
	OUT(out, head, budget.bu_name, ": at most ");
	amount_put(&budget, budget.bu_used_max, out);
	out_str(out, " of ");
	amount_put(&budget, budget.bu_limit, out);
	if (is_percent(&budget))
		out_str(out, " of all CPUs");
	else if (strcmp(budget.bu_name, "max-size") == 0)
		out_str(out, " before symbols");
	if (strcmp(budget.bu_action, "none") != 0)
		OUT(out, "; ", budget.bu_action, "");
	out_char(out, '\n');
}

void
budget_emit(const char *line, struct emit *em)
{
	struct budget budget;

	if (!budget_parse(line, &budget))
		return;
	EMIT_ROW(em, NULL, TEXT("name", budget.bu_name),
	    NUMBER("limit", budget.bu_limit),
	    NUMBER("used_max", budget.bu_used_max),
	    TEXT("action", budget.bu_action));
}
