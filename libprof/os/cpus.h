/* SPDX-License-Identifier: ISC */
/* CPUs, and single numbers of /proc and /sys. */
#ifndef PROF_CPUS_H
#define PROF_CPUS_H

#include <stddef.h>

#include "prof.h"

/* Online CPUs; owned by caller. */
int	prof_cpus_online(int **cpus, size_t *n, struct prof_err *error);
int	prof_cpus_possible(void);	/* largest id + 1 */
/* "0-1,4"; owned by caller.  -1: not a list, or no memory (errno). */
int	prof_cpu_list_parse(const char *text, int **cpus, size_t *n);
long	prof_proc_number(const char *path, long otherwise);

#endif /* PROF_CPUS_H */
