#!/bin/sh
# ASSERTION: on a real counter, samples = floor(count / period), in every boot.
# SPDX-License-Identifier: ISC
# TIMEOUT: 600
#
# One task, not inherited.  Its first samples fall between exec and the moment
# when that is seen, its last after its exit: both are easily lost to a gate
# that looks for targets.  ACCEPT=1: ten boots, else two.  Should the very
# last overflow come within the last cycles, when the scheduler takes the task
# off the CPU for good, the kernel's driver drops it: that much is allowed.

. "${SRC:=$PWD}/tests/guest/lib.sh"

periods='1000000 200000 100000 50000'
boots=2
[ -z "${ACCEPT:-}" ] || boots=10
boot=1
while [ $boot -le $boots ]; do
	guest_boot <<-END
	for period in $periods; do
		dtprof record -q --no-inherit --call-graph fp -e cycles \\
		    -c \$period -o \$period.dtp -- guest_burn -f 50 || exit
	done
	END
	for period in $periods; do
		accounting "results/$period.dtp"
		verify stats "$period" $boot <<-'END'
		a, period = j["accounting"][1], int(argv[0])
		show = "boot %s period %d: %%s (count %d, stored %d)" % (
		    argv[1], period, a["count"], a["stored"])
		need(a["count"] > 290000000, show % "the counter counts")
		last = 1000
		need(a["stored"] in (a["count"] // period,
		    (a["count"] - last) // period),
		    show % "stored is floor(count / period)")
		need(a["in_file"] == a["fired"] == a["stored"],
		    show % "nothing else happened to a firing")
		need(a["unaccounted"] == a["count"] - a["fired"] * period and
		    a["unaccounted"] < a["unaccounted_bound"] + last,
		    show % "unaccounted is the remainder, within its bound")
		END
	done
	boot=$((boot + 1))
done
