#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Two recordings at once see the same as each would alone: every
# call of the workload, and one may end without the other noticing.
#
# Easy to get wrong: anything with a name of its own in the kernel, and the
# state word that starts and stops the programs, has to be one's own.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

begin()		# file event
{
	record_begin -o "$1" -a --comm calls --call-graph none -e "$2" \
	    -e page-faults -c 1
}
begin a.dtp syscall::close:entry
first=$recorder
begin b.dtp syscall::close:entry
second=$recorder
"$work/calls" -t 2 5000 >both.json || fail "calls"
recorder=$first
record_end 0
"$work/calls" -t 2 5000 >one.json || fail "calls"
recorder=$second
record_end 0
py <<'END'
import json
import recording as rec


def calls(path, pid):
    """Calls of each thread of a process, in order."""
    got = {}
    for r in rec.samples(path, "syscall::close:entry"):
        if r["pid"] == pid and r["args"]["fd"] >= 0x40000000:
            got.setdefault(r["tid"], []).append(r["args"]["fd"] - 0x40000000)
    return got


both, one = (json.load(open(f))["pid"] for f in ("both.json", "one.json"))
for path in "a.dtp", "b.dtp":
    rows = rec.balance(path, ["syscall::close:entry", "page-faults"])
    # While the other arms, bpf(2) hides faults from this one, also those of
    # others that run while the call is preempted: unaccounted is for that.
    faults = rows["page-faults"]
    rec.check(0 <= faults["unaccounted"] <= faults["count"] // 2,
              "%r" % faults)
    got = calls(path, both)
    rec.check(len(got) == 2 and all(g == list(range(5000))
                                    for g in got.values()),
              "%s: not all calls of both threads" % path)
rec.check(calls("a.dtp", both) == calls("b.dtp", both), "they differ")
rec.check(not calls("a.dtp", one), "the first recorded after its end")
got = calls("b.dtp", one)
rec.check(len(got) == 2 and all(g == list(range(5000))
                                for g in got.values()),
          "the second lost calls when the first ended")
rec.ok("10000 calls in both recordings, 10000 more in the one that went on")
END
