/* SPDX-License-Identifier: ISC */
/*
 * What dtprof(1) uses of the library beside its public interface.  It is
 * linked from libprof.a, not exported by libprof.so, and may change with any
 * commit.  Included by cmd/dtprof and by the files that define it.
 */
#ifndef PROF_COMMAND_H
#define PROF_COMMAND_H

#include "filter/filter.h"
#include "process/stack.h"
#include "recording/query.h"

/* --------------------------------------------- recording/accounting.c */

/* Of the identity fired = ...: the right side, and how it reads; static. */
uint64_t	prof_accounting_sum(const struct prof_accounting *accounting);
const char	*prof_accounting_terms(void);

#endif /* PROF_COMMAND_H */
