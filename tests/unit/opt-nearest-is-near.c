/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a misspelt name is answered with the nearest one, and a foreign
 * one with none.  Easy to get wrong for short names, to which everything is
 * near.
 */
#include <string.h>

#include "../../cmd/dtprof/opt/habits.c"
#include "../../cmd/dtprof/opt/opt.c"
#include "../../cmd/dtprof/opt/opt_value.c"
#include "cli-check.h"

static const char *const names[] = {
	"record", "report", "script", "list", "mark", "help", NULL
};

static void
suggests(const char *name, const char *want)
{
	const char *got = opt_nearest(name, names);

	CHECK((got == NULL) == (want == NULL) &&
	    (want == NULL || strcmp(got, want) == 0), "%s gives %s", name,
	    got == NULL ? "nothing" : got);
}

int
main(void)
{
	suggests("recrod", "record");
	suggests("reprot", "report");
	suggests("lits", "list");
	suggests("marc", "mark");
	suggests("x", NULL);
	suggests("stat", NULL);
	suggests("start", NULL);
	suggests("flamegraph", NULL);
	suggests("", NULL);
	OK("near names are suggested, foreign ones are not");
	return (0);
}
