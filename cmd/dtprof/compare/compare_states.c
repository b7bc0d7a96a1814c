/* SPDX-License-Identifier: ISC */
/*
 * Whether recordings are compared by the time of their threads on and off the
 * CPU: each function once for each state of threads that it has time in; and
 * how such a row is called.
 *
 * Called by cmd_compare.c, and by all that shows rows.
 */
#include <stdio.h>

#include "compare.h"

/* Can its waits be compared?  -1: not, and error says why; 0: it has none. */
static int
has_elapsed(const char *path, struct prof_err *error)
{
	struct prof_reader *reader;
	int rv = 0;

	if (prof_store_is_url(path) || !compare_is_recording(path))
		return (0);
	file_narrow(path);
	reader = prof_reader_open(path, error);
	/* Whatever is wrong with it, it is said when its costs are read. */
	if (reader == NULL || !choose_has_waits(reader))
		rv = 0;
	else if (prof_reader_elapsed(reader) != -1)
		rv = 1;
	else {
		*error = *prof_reader_error(reader);
		rv = -1;
	}
	prof_reader_close(reader);
	return (rv);
}

/* In all recordings or in none: costs of all runs are of the same event. */
static bool
have_elapsed(const char *command, const struct series *const series[2])
{
	struct prof_err error = { 0 };
	size_t with = 0, without = 0;
	int has = 0;

	for (int s = 0; s < 2; s++)
		for (size_t r = 0; r < series[s]->se_nruns && has != -1; r++) {
			const char *path = series[s]->se_run[r].sr_profile;

			if (path == NULL)
				continue;
			has = has_elapsed(path, &error);
			with += has == 1;
			without += has == 0;
		}
	if (has == -1)
		msg_note(command, "waits are not compared: %s",
		    error.pe_text);
	else if (with > 0 && without > 0)
		msg_note(command, "waits are not compared: %zu of %zu "
		    "recordings have none", without, with + without);
	return (with > 0 && without == 0 && has != -1);
}

void
compare_choose_states(struct costs *ct, const struct series *const series[2])
{
	static const char *const args[] = { "state" };

	if (ct->ct_events->os_n > 0 || !have_elapsed(ct->ct_command, series))
		return;
	ct->ct_states = CHOOSE_ALL_STATES;
	ct->ct_profile.pl_roots = PROF_ROOT_ARGS;
	ct->ct_profile.pl_args = args;
	ct->ct_profile.pl_nargs = sizeof(args) / sizeof(args[0]);
}

const char *
compare_name(char *buffer, size_t size, const struct prof_change *cg)
{
	snprintf(buffer, size, "%s%s%s", cg->cg_state,
	    *cg->cg_state == '\0' ? "" : " in ", cg->cg_name);
	return (buffer);
}
