#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A timer that comes late fires once and counts the periods that it
# left out: on each CPU samples + late is elapsed time / period, within 2,
# in a recording that pauses, too.
#
# Easy to get wrong: the delay of each firing must not add up, and the silence
# before the first firing and after the last counts, too; but not once more
# what fired before the start, in a pause or after the stop.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# shellcheck disable=SC2016 # the other shell's
pauses='for i in 1 2 3 4 5; do
	"$DTPROF" mark --recorder $PPID --pause &&
	    "$DTPROF" mark --recorder $PPID --resume || exit
done'
for load in idle paused busy busy-paused; do
	if [ $load = busy ]; then
		"$work/spin" -t 3 0 >/dev/null &
		kill_at_end $!
	fi
	case $load in
	*paused)	set -- -- sh -c "$pauses" ;;
	*)		set -- --duration 500ms ;;
	esac
	for us in 1000 50; do
		record 0 -o a.dtp -a -C 0 --call-graph none -e cpu-clock \
		    -c ${us}000 "$@"
		py $load <<'END'
import sys
import recording as rec

row = rec.balance("a.dtp", ["cpu-clock"])["cpu-clock"]
period = rec.report("a.dtp")["events"][1]["period"]
elapsed = row["enabled_ns"] / period
due = row["count"] / period
told = row["fired"] + row["outside"] + row["overruns"]
what = "%s: %.2f periods of %d ns enabled, %.2f by the count: %d fired " \
    "+ %d outside + %d late" % (sys.argv[1], elapsed, period, due,
                                row["fired"], row["outside"], row["overruns"])
# An event is on for some microseconds longer than its timer runs.
rec.check(abs(elapsed - told) <= 2 + 5e5 / period, what)
# At each start and end less than a period is held back.
begun = 6 if "paused" in what else 1
bound = row["unaccounted_bound"]
rec.check(bound == 2 * begun * period, "it claims to be within %d" % bound)
if due >= told - 2:
    unaccounted = row["unaccounted"] - row["overruns"] * period
    rec.check(abs(unaccounted) <= bound, "unaccounted %d is beyond %d" %
              (unaccounted, bound))
else:
    # An idle CPU has no tick to lift the kernel's throttle of the event:
    # its count stands still, and what passes meanwhile is late.
    what += " (throttled)"
rec.check(row["unaccounted_excess"] == 0, "%d in excess" %
          row["unaccounted_excess"])
rec.ok(what)
END
	done
done
