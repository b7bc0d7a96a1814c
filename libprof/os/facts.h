/* SPDX-License-Identifier: ISC */
/*
 * What the kernel keeps from this process: capabilities, namespaces, seccomp,
 * lockdown.
 */
#ifndef PROF_FACTS_H
#define PROF_FACTS_H

#include <stdbool.h>

#include "prof.h"

bool	prof_in_user_namespace(void);
bool	prof_in_pid_namespace(void);
/* CAP_*, effective and of the machine's own user namespace. */
bool	prof_is_capable(int capability);
/* A seccomp filter keeps SYS_bpf or SYS_perf_event_open from the kernel. */
bool	prof_is_filtered(long call);
/* /proc and /sys are there, and of our PID namespace. */
bool	prof_proc_usable(struct prof_err *why);
bool	prof_is_locked_down(void);	/* as far as confidentiality */

#endif /* PROF_FACTS_H */
