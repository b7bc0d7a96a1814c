/* SPDX-License-Identifier: ISC */
/*
 * What dtprof(1) uses of the library beside its public interface.  It is
 * linked from libprof.a, not exported by libprof.so, and may change with any
 * commit.  Included by cmd/dtprof alone.
 */
#ifndef PROF_COMMAND_H
#define PROF_COMMAND_H

#include "filter/filter.h"
#include "process/stack.h"
#include "recording/accounting.h"
#include "recording/query.h"
#include "recording/sink.h"

#endif /* PROF_COMMAND_H */
