#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Nothing is recorded before the start nor after the stop: one
# start and one stop lie around every sample, while the workload calls all
# the time; what fires outside is counted as that, not as fired; and each
# record has one time of its own, in the order of the firings.
#
# Easy to get wrong: programs run from the moment that they are attached,
# and until the last link is gone.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

"$work/calls" -u 20 0 >/dev/null &
calls=$!
kill_at_end "$calls"
record 0 -o a.dtp -a --comm calls --call-graph none --duration 300ms \
    -e syscall::close:entry -e syscall::close:return -e cpu-clock -c 100000
kill -0 "$calls" || fail "the workload ended"
py "$calls" <<'END'
import sys
import recording as rec

pid = int(sys.argv[1])
rows = rec.balance("a.dtp", ["syscall::close:entry", "syscall::close:return"])
every = rec.in_order("a.dtp")
starts = [r["time_ns"] for r in every if r["type"] == "start"]
stops = [r["time_ns"] for r in every if r["type"] == "stop"]
rec.check(len(starts) == len(stops) == 1, "%d starts, %d stops" %
          (len(starts), len(stops)))
samples = [r for r in every if r["type"] == "sample"]
for r in samples:
    rec.check(starts[0] <= r["time_ns"] <= stops[0], "outside: %r" % r)
rec.check(rows["syscall::close:entry"]["outside"] > 0, "nothing was outside")
last, expect = 0, None
for r in samples:
    if r["pid"] != pid or r["event"] == "cpu-clock":
        continue
    rec.check(r["time_ns"] > last, "two firings have one time: %r" % r)
    last = r["time_ns"]
    if "fd" in r["args"]:
        rec.check(expect in (None, r["args"]["fd"]), "%r is not the next" % r)
        expect = r["args"]["fd"] + 1
rec.ok("%d samples, all between start and stop; %d + %d firings outside" %
       (len(samples), rows["syscall::close:entry"]["outside"],
        rows["syscall::close:return"]["outside"]))
END
