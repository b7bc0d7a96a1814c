/* SPDX-License-Identifier: ISC */
/*
 * How record, stat and trace come to an end before their targets have: by a
 * signal, or after --duration.  While a command runs, Ctrl-C is the command's
 * business (the terminal sends it to both; from kill(1) it is passed on), and
 * all goes on until the command has ended, or until the second Ctrl-C.  After
 * other signals and after --duration the command gets SIGTERM, once, since
 * nobody else would end it, and is given a while.
 *
 * Called by the loops of record.c, trace.c, count_run.c and by.c.
 */
#include <signal.h>

#include "../cmd.h"

#define WAIT_MS		1000
#define GRACE_NS	2000000000ULL	/* for a command to heed SIGTERM */

static void	 end_command(struct ending *ending, pid_t command,
		    bool is_done);

int
ending_status(const struct prof_err *error)
{
	if (error->pe_code == PROF_E_COMMAND_NOT_FOUND)
		return (EXIT_NOT_FOUND);
	if (error->pe_code == PROF_E_COMMAND)
		return (EXIT_NOT_EXECUTABLE);
	return (EXIT_DTPROF);
}

static void
end_command(struct ending *ending, pid_t command, bool is_done)
{
	if (ending->en_give_up_ns != 0)
		return;
	ending->en_give_up_ns = term_now_ns() + GRACE_NS;
	if (!is_done)
		kill(command, SIGTERM);
}

bool
ending_by_signal(struct ending *ending, pid_t command, bool is_done)
{
	bool by_process;
	int number;

	while ((number = signals_take(&by_process)) != 0) {
		ending->en_signalled = true;
		if (command == 0)
			return (true);
		if (number != SIGINT) {
			end_command(ending, command, is_done);
			continue;
		}
		if (++ending->en_interrupts > 1)
			return (true);
		if (by_process && !is_done)
			kill(command, SIGINT);
	}
	return (false);
}

bool
ending_by_time(struct ending *ending, pid_t command, bool is_done)
{
	const uint64_t now_ns = term_now_ns();

	if (ending->en_give_up_ns != 0)
		return (now_ns >= ending->en_give_up_ns);
	if (ending->en_end_ns == 0 || now_ns < ending->en_end_ns)
		return (false);
	if (command == 0)
		return (true);
	end_command(ending, command, is_done);
	return (false);
}

int
ending_wait_ms(const struct ending *ending, uint64_t due_ns)
{
	const uint64_t now_ns = term_now_ns();
	const uint64_t ends[2] = { ending->en_give_up_ns != 0 ?
	    ending->en_give_up_ns : ending->en_end_ns, due_ns };
	uint64_t ms = WAIT_MS;

	for (int i = 0; i < 2; i++) {
		if (ends[i] == 0)
			continue;
		if (ends[i] <= now_ns)
			return (0);
		if ((ends[i] - now_ns) / 1000000 + 1 < ms)
			ms = (ends[i] - now_ns) / 1000000 + 1;
	}
	return ((int)ms);
}
