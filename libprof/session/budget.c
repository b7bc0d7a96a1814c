/* SPDX-License-Identifier: ISC */
/*
 * The limits that a recording keeps, and how much of each was used.  That of
 * overhead is kept here; the others by the program, which tells.  The recording
 * has a line of each, and so has the answer of a recorder:
 *
 *	NAME LIMIT MOST-USED ACTION
 *
 * Called by describe.c whenever a file ends, and by the program.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "session_impl.h"

int
prof_session_budget(struct prof_session *session, const char *name,
    double limit, double used_max, const char *action)
{
	struct prof_budget *budget = session->se_budget;
	size_t n;

	for (n = 0; n < PROF_BUDGETS && budget->bu_name[0] != '\0' &&
	    strcmp(budget->bu_name, name) != 0; n++)
		budget++;
	if (n == PROF_BUDGETS || strlen(name) >= sizeof(budget->bu_name))
		return (prof_fail(&session->se_error, PROF_E_LIMIT,
		    "too many limits"));
	strcpy(budget->bu_name, name);
	snprintf(budget->bu_text, sizeof(budget->bu_text), "%s %.15g %.15g %s",
	    name, limit, used_max, action);
	return (0);
}

const char *
prof_session_budget_text(struct prof_session *session, size_t n)
{
	if (prof_overhead_budget(session) == -1 || n >= PROF_BUDGETS ||
	    session->se_budget[n].bu_name[0] == '\0')
		return (NULL);
	return (session->se_budget[n].bu_text);
}

int
prof_budgets_say(struct prof_session *session)
{
	const char *text;
	char key[32];

	for (size_t n = 0; (text = prof_session_budget_text(session,
	    n)) != NULL; n++) {
		snprintf(key, sizeof(key), "budget.%zu", n);
		if (prof_describe_say(session, key, text) == -1)
			return (-1);
	}
	return (0);
}
