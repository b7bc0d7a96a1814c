#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: page-faults at period 1, with a program that faults exactly N
# pages between two marks: N samples between the marks, and unaccounted is 0.
#
# Easy to get wrong: an overflow that comes while the counter is being set
# up or torn down; the count is the kernel's own, read when it is disabled.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# Of the whole machine a fault may fall into a bpf(2) call of anybody's that
# lost its CPU there: the kernel skips our program then, and unaccounted is
# right to say so.  It is seldom, and not so three times in a row.
for how in "--no-inherit" "-a 1" "-a 2" "-a 3" "-p"; do
	case $how in
	-a*)	[ ! -e exact ] || continue ;;
	esac
	set -- -o a.dtp -e page-faults -c 1 --call-graph none \
	    -e syscall::close:entry
	case $how in
	-p)	mkfifo go
		"$work/faults" -w 5000 >faults.json <go &
		faulter=$!
		kill_at_end "$faulter"
		exec 9>go
		await "it waits" test -s faults.json
		record_begin "$@" -p "$faulter"
		exec 9>&-
		wait "$faulter" || fail "faults"
		record_wait 0 ;;
	*)	record 0 "$@" "${how%% *}" -- "$work/faults" 5000
		cp out faults.json ;;
	esac
	py "$how" <<'END'
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
if sys.argv[1] in ("-a 1", "-a 2") and 0 < row["unaccounted"] <= 4:
    rec.ok("%s: %d unaccounted" % (sys.argv[1], row["unaccounted"]))
    sys.exit()
rec.check(row["unaccounted"] == 0, "%r" % row)
if sys.argv[1].startswith("-a"):
    open("exact", "w").close()
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
rec.ok("%s: %d pages, %d samples between the marks; of %d counted none "
       "unaccounted" % (sys.argv[1], truth["pages"], n, row["count"]))
END
done
