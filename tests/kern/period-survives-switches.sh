#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What a task has counted towards a period is kept while it does
# not run: with N events in one task there are floor(N / period) samples,
# however often it was switched out in between.
#
# Easy to get wrong: a counter that starts its period anew at each switch
# never fires for a task that is switched often.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

"$work/calls" -c 0 0 >/dev/null &
kill_at_end $!
for period in 1 7 199; do
	record 0 -o a.dtp --no-inherit --call-graph none -e page-faults \
	    -c "$period" -- "$work/faults" -c 0 -y 800
	py "$period" <<'END'
import sys
import recording as rec

period = int(sys.argv[1])
row = rec.balance("a.dtp", ["page-faults"])["page-faults"]
rec.check(row["count"] >= 800, "counted %d" % row["count"])
rec.check(row["fired"] + row["outside"] == row["count"] // period,
          "%d events at period %d fired %d + %d times" %
          (row["count"], period, row["fired"], row["outside"]))
rec.check(row["unaccounted"] == row["count"] % period,
          "unaccounted %d" % row["unaccounted"])
rec.ok("%d faults, period %d: %d samples" % (row["count"], period,
                                            row["fired"]))
END
done
