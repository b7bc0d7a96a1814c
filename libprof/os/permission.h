/* SPDX-License-Identifier: ISC */
/* Opens perf events, and explains what perf_event_open and bpf refuse. */
#ifndef PROF_PERMISSION_H
#define PROF_PERMISSION_H

#include <linux/perf_event.h>

#include <stdbool.h>
#include <stddef.h>

#include "prof.h"

/* Raises the soft limit of open files when it is reached; sets errno. */
int	prof_perf_open(const struct perf_event_attr *attr, int pid, int cpu,
	    int group, unsigned long flags);
/* May this thread open it for itself?  0, or an errno. */
int	prof_perf_probe(const struct perf_event_attr *attr);
/*
 * For each event CAP_SYS_ADMIN may be needed: kernels of Debian and Ubuntu,
 * with perf_event_paranoid above 2.  CAP_PERFMON does for all others.
 */
bool	prof_perf_wants_admin(void);
/* It happens in the kernel, and user space alone is asked for. */
bool	prof_perf_always_zero(const struct perf_event_attr *attr);
/* What was tried, for the sentence about its refusal. */
struct prof_perf_try {
	const char	*pt_name;
	const struct perf_event_attr *pt_attr; /* NULL: the sideband */
	int		 pt_pid, pt_cpu;
};
/* Turn errno of a failed perf_event_open into sentence and cure; -1. */
int	prof_perf_refused(struct prof_err *error,
	    const struct prof_perf_try *try, int error_number);
/* Sentences and cures of single causes; -1. */
int	prof_seccomp_explain(struct prof_err *error, const char *calls);
int	prof_lockdown_explain(struct prof_err *error, const char *what);
int	prof_user_namespace_explain(struct prof_err *error);
int	prof_pid_namespace_explain(struct prof_err *error);
int	prof_open_files_explain(struct prof_err *error, const char *what);
int	prof_locked_memory_cure(struct prof_err *error);

/* Would n events, tried on ourselves as a group, count at the same time? */
bool	prof_perf_group_fits(const struct perf_event_attr *attrs, size_t n);
#define PROF_FIT_MAX	64
/* How many of the first of these count at the same time, on ourselves. */
size_t	prof_attrs_fitting(const struct perf_event_attr *attrs, size_t n);
/* Behind a cure: that the NMI watchdog holds a counter, or "". */
const char *prof_watchdog_cure(void);

/* As prof_perf_refused, of bpf(2). */
int	prof_bpf_explain(struct prof_err *error, int error_number);
/* Tries with the smallest map and program; why says what is in the way. */
bool	prof_bpf_allowed(struct prof_err *why);
/* The kernel's types, without which no program of ours can be loaded. */
#define PROF_BTF	"/sys/kernel/btf/vmlinux"
bool	prof_btf_there(struct prof_err *why);
/* All of that, and it would record what it should. */
bool	prof_bpf_usable(struct prof_err *why);

/*
 * What record reaches here, in words: with BPF or through perf rings, of
 * everybody or of the processes that are named.  Static.
 */
const char *prof_record_reach(int with_bpf, enum prof_target target);

#endif /* PROF_PERMISSION_H */
