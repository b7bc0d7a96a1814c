#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Without BPF a burst of samples with copied stacks is kept where
# memory may be locked, as many as without copies, and of one event of the
# kernel's own nothing is said to be multiplexed.
#
# Easy to get wrong: a task has an event on each CPU, all of them enabled while
# it runs on one; a copy of 16 KiB fills the ring of samples without copies
# after 31.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

for how in fp auto; do
	record 0 --backend perf --call-graph $how -e page-faults -c 1 -o a.dtp \
	    -- "$work/storms" fault 1000
	"$DTPROF" report a.dtp >table 2>&1 || fail "$(cat table)"
	grep -i -e 'not counted' -e multiplex table && fail "see above"
	py $how <<'END'
import sys
import recording as rec

row = rec.balance("a.dtp", ["page-faults"])["page-faults"]
rec.check(row["stored"] >= 1000, "%d stored, %d refused by a full ring" %
          (row["stored"], row["full"]))
rec.check(row["full"] == 0, "%d were refused" % row["full"])
rec.check(row["unaccounted"] == 0, "%d unaccounted" % row["unaccounted"])
rec.check(row["enabled_ns"] <= row["running_ns"] * 1.02,
          "it ran for %d ns of %d ns" % (row["running_ns"],
                                         row["enabled_ns"]))
rec.ok("--call-graph %s: %d samples" % (sys.argv[1], row["stored"]))
END
done
