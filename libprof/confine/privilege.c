/* SPDX-License-Identifier: ISC */
/*
 * See privilege.h.  To the kernel capabilities are a thread's, so each thread
 * gives up its own.  Nothing goes wrong where that cannot be.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <stdbool.h>
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

static bool
caps_get(struct __user_cap_header_struct *head,
    struct __user_cap_data_struct data[2])
{
	memset(head, 0, sizeof(*head));
	memset(data, 0, 2 * sizeof(data[0]));
	head->version = _LINUX_CAPABILITY_VERSION_3;
	return (syscall(SYS_capget, head, data) == 0);
}

int
prof_privileges_limit(uint64_t capabilities)
{
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct data[2];
	uint32_t keep;
	int n;

	if (prof_privileges_fault != NULL)
		capabilities &= ~prof_privileges_fault();
	if (!caps_get(&head, data))
		return (-1);
	for (n = 0; n < 2; n++) {
		keep = (uint32_t)(capabilities >> (32 * n));
		data[n].permitted &= keep;
		data[n].effective &= keep;
		data[n].inheritable = 0;
	}
	return (syscall(SYS_capset, &head, data) == 0 ? 0 : -1);
}

int
prof_privileges_keep(uint64_t capabilities)
{
	bounds_drop();
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (prof_privileges_limit(capabilities));
}

void
prof_privileges_drop(void)
{
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct data[2];

	if (caps_get(&head, data) &&
	    (data[0].permitted | data[1].permitted) != 0)
		(void)prof_privileges_keep(PROF_CAPS_NONE);
}

void
prof_privileges_thread(const char *name, uint64_t capabilities)
{
	(void)prof_privileges_keep(capabilities);
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
}
