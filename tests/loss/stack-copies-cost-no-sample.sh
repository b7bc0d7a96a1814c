#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Copies of stacks that find no room cost the copy, never a sample:
# no sample is refused though the ring is many times too small for them, what
# was cut is counted, and its samples say that their stacks are not whole.
#
# Easy to get wrong: a copy that takes the last room of the next sample.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

"$work/deep" 30 &
kill_at_end $!
deep=$!
"$work/deep" 30 &
other=$!
kill_at_end $other
# 64 KiB of ring: four copies, and thousands of samples.
record_begin -o a.dtp --buffer 64K --call-graph dwarf,16K -e cpu-clock \
    -c 2000000 -p "$deep,$other"
kill -STOP "$recorder"
await "it stopped" stopped "$recorder"
# While nobody empties the rings, some 80 samples come for each CPU: beside
# other work one of the two may run and the other wait.  There is room for many
# more, should our own look be late.
ticks()
{
	cut -d' ' -f14 "/proc/$deep/stat" "/proc/$other/stat" | paste -sd' '
}
enough()
{
	ticks | awk -v from="$from" '{ split(from, was)
	    exit !($1 - was[1] >= 16 || $2 - was[2] >= 16) }'
}
from=$(ticks)
await "one of them ran" enough
kill -CONT "$recorder"
nap
record_end 0
balance a.dtp
py <<'END'
import collections
import recording as rec

row = rec.accounting("a.dtp")["cpu-clock"]
info = rec.report("a.dtp")["recording"]["info"]
by = collections.Counter(s["user_status"] for s in rec.samples("a.dtp"))
print(dict(by), {k: v for k, v in info.items() if "snap" in k})
rec.check(row["full"] == 0, "%d samples were refused" % row["full"])
rec.check(int(info["snapshots.cut"]) >= 10, "nothing was cut")
rec.check(by["busy"] + by["short"] >= 10, "cut stacks look whole")
rec.check({k: v for k, v in row["user_stacks"].items() if v} ==
          {k: v for k, v in by.items() if k != "none" or k in
           row["user_stacks"]}, "the accounting differs from the samples")
rec.ok("%d samples, none refused; %s copies cut, and it shows" %
       (row["stored"], info["snapshots.cut"]))
END
