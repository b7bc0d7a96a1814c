/* SPDX-License-Identifier: ISC */
/*
 * Names of errors that system calls return.  Called by script and stat.
 */
#include <string.h>

#include "../cmd.h"

#define MAX_ERRNO	4095

const char *
error_name(int64_t value)
{
	/* Which user space never sees: the kernel begins the call again. */
	static const struct {
		int		 number;
		const char	*name;
	} restarts[] = {
		{ 512, "ERESTARTSYS" }, { 513, "ERESTARTNOINTR" },
		{ 514, "ERESTARTNOHAND" }, { 516, "ERESTART_RESTARTBLOCK" },
	};

	if (value >= 0 || value < -MAX_ERRNO)
		return (NULL);
	for (size_t n = 0; n < sizeof(restarts) / sizeof(restarts[0]); n++)
		if (restarts[n].number == -value)
			return (restarts[n].name);
#if defined(__GLIBC__)
	return (strerrorname_np((int)-value));
#else
	return (NULL);
#endif
}
