/* SPDX-License-Identifier: ISC */
/*
 * What dtprof(1) uses of the library beside its public interface.  It is
 * linked from libprof.a, not exported by libprof.so, and may change with any
 * commit.  Included by cmd/dtprof alone.
 */
#ifndef PROF_COMMAND_H
#define PROF_COMMAND_H

#include "base/grow.h"
#include "base/text.h"
#include "compare/hosts.h"
#include "compare/names.h"
#include "compare/statistics.h"
#include "confine/privilege.h"
#include "confine/reading.h"
#include "count/groups.h"
#include "elf/build_id.h"
#include "events/call.h"
#include "events/names.h"
#include "filter/filter.h"
#include "import/merge.h"
#include "network/network.h"
#include "os/permission.h"
#include "output/send.h"
#include "process/stack.h"
#include "process/symbols.h"
#include "process/symbols_live.h"
#include "profile/blocked.h"
#include "profile/chains.h"
#include "profile/latency.h"
#include "recording/accounting.h"
#include "recording/frame.h"
#include "recording/query.h"
#include "recording/queue.h"
#include "recording/sink.h"
#include "session/direct.h"
#include "session/recorder.h"
#include "session/threads.h"
#include "session/verified.h"
#include "spans/live.h"
#include "store/client.h"

#endif /* PROF_COMMAND_H */
