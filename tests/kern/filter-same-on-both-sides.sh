#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What --filter lets pass in the kernel is what script --filter
# lets pass of a recording without a filter, call for call.
#
# Easy to get wrong: signs, widths and the order of && and || are decided
# twice, in the kernel and on what was recorded.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

record 0 -o all.dtp --call-graph none -e syscall::close:entry -e \
    syscall::close:return -- "$work/calls" -c 0 3000
n=0
while read -r event filter; do
	record 0 -o a.dtp --call-graph none -e "$event" \
	    --filter "$filter" -- "$work/calls" -c 0 3000
	py "$event" "$filter" <<'END' || fail "$filter"
import sys
import recording as rec

event, text = sys.argv[1:]


def decisions(samples):
    """What tells calls of two runs from each other: all but who and when."""
    return [(r["comm"], tuple(sorted(r["args"].items()))) for r in samples
            if r["args"].get("fd", 0x40000000) >= 0x40000000 and
            r["comm"] == "calls"]


kernel = decisions(rec.samples("a.dtp", event))
user = decisions([r for r in rec.records("all.dtp", "samples", "--filter",
                                         text, "-e", event)
                  if r["type"] == "sample"])
everything = decisions(rec.samples("all.dtp", event))
rec.check(kernel == user, "%s: %d in the kernel, %d afterwards" %
          (text, len(kernel), len(user)))
row = rec.accounting("a.dtp")[event]
rec.balance_row(event, row)
rec.ok("%s %s: %d of %d, the same in the kernel and afterwards" %
       (event, text, len(kernel), len(everything)))
END
	n=$((n + 1))
done <<'END'
syscall::close:entry fd == 0x40000005
syscall::close:entry fd != 1073741829 && fd < 0x40000010
syscall::close:entry fd >= 0x40000010 && (fd <= 0x40000020 || fd > 0x40000b00)
syscall::close:entry !(fd < 0x40000100) && cpu == 0
syscall::close:entry comm == "calls" && fd & 1
syscall::close:entry comm != "calls" || fd == 0x40000001
syscall::close:entry cpu == 0 && kernel == 0 && nr == 3
syscall::close:return ret < 0
syscall::close:return ret == -9
syscall::close:return ret > -10 && ret <= -9
syscall::close:return ret >= 0
syscall::close:entry arg0 == 0x40000007 || arg0 == 0x40000009
END
[ "$n" -eq 12 ] || fail "$n expressions were tried"
