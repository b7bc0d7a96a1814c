/* SPDX-License-Identifier: ISC */
/*
 * See privilege.h.  To the kernel capabilities are a thread's, so each thread
 * gives up its own.  Nothing goes wrong where that cannot be.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <string.h>
#include <unistd.h>

#include "privilege.h"

/* No program that is started from here on gets any. */
static void
bounds_drop(void)
{
	unsigned long n;

	for (n = 0; prctl(PR_CAPBSET_READ, n, 0, 0, 0) != -1; n++)
		(void)prctl(PR_CAPBSET_DROP, n, 0, 0, 0);
}

int
prof_privileges_keep(uint64_t capabilities)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	uint32_t keep;
	int n;

	bounds_drop();
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &head, data) == -1)
		return (-1);
	for (n = 0; n < 2; n++) {
		keep = (uint32_t)(capabilities >> (32 * n));
		data[n].permitted &= keep;
		data[n].effective &= keep;
		data[n].inheritable = 0;
	}
	return (syscall(SYS_capset, &head, data) == 0 ? 0 : -1);
}

void
prof_privileges_thread(const char *name, uint64_t capabilities)
{
	(void)prof_privileges_keep(capabilities);
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
}
