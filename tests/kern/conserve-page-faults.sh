#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: page-faults at period 1, with a program that faults exactly N
# pages between two marks: N samples between the marks, and unaccounted is 0,
# but for what the kernel samples for nobody.
#
# Easy to get wrong: an overflow that comes while the counter is being set
# up or torn down; the count is the kernel's own, read when it is disabled.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# Where events are the CPUs', there may be faults that the kernel counts and
# samples for nobody (two or three, in one of some 200 recordings, on a virtual
# machine).  How many there are at most is known without dtprof.
for way in --no-inherit -a -p; do
	rm -f until unsampled
	mkfifo until
	"$work/unsampled" <until >unsampled &
	looker=$!
	kill_at_end "$looker"
	exec 8>until
	await "it looks" test -s unsampled
	set -- -o a.dtp -e page-faults -c 1 --call-graph none \
	    -e syscall::close:entry
	case $way in
	-p)	rm -f go faults.json
		mkfifo go
		"$work/faults" -w 5000 >faults.json <go &
		faulter=$!
		kill_at_end "$faulter"
		exec 9>go
		await "it waits" test -s faults.json
		record_begin "$@" -p "$faulter"
		exec 9>&-
		wait "$faulter" || fail "faults"
		record_wait 0 ;;
	*)	record 0 "$@" "$way" -- "$work/faults" 5000
		cp out faults.json ;;
	esac
	exec 8>&-
	wait "$looker" || fail "unsampled"
	py "$way" "$(sed 1d unsampled)" <<'END'
import json
import sys
import recording as rec

truth = json.load(open("faults.json"))
rec.check(truth["counted"] == truth["pages"], "the workload: %r" % truth)
rows = rec.balance("a.dtp", ["page-faults"])
row = rows["page-faults"]
rec.check(row["full"] == row["nested"] == row["error"] == 0, "%r" % row)
rec.check(row["count"] == row["fired"] + row["outside"] + row["unaccounted"],
          "the kernel counted %d, fired %d + outside %d, unaccounted %d" %
          (row["count"], row["fired"], row["outside"], row["unaccounted"]))
unsampled = int(sys.argv[2]) if sys.argv[1] != "--no-inherit" else 0
rec.check(0 <= row["unaccounted"] <= unsampled, "%d unsampled, %r" %
          (unsampled, row))
inside, n = False, 0
for r in rec.in_order("a.dtp"):
    if r["type"] != "sample" or r["pid"] != truth["pid"]:
        continue
    if r["event"] == "page-faults":
        n += inside
    elif r["args"]["fd"] == 0x50000000:
        inside, n = True, 0
    elif r["args"]["fd"] == 0x50000001:
        inside = False
rec.check(n == truth["pages"], "%d pages, %d samples" % (truth["pages"], n))
rec.ok("%s: %d pages, %d samples between the marks; of %d counted %d "
       "unaccounted, %d unsampled" % (sys.argv[1], truth["pages"], n,
        row["count"], row["unaccounted"], unsampled))
END
done
