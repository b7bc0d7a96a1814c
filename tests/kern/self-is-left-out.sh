#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: The recorder leaves itself out, and says how often it would have
# been there; with --include-self it is there, and nothing is counted so.
#
# Easy to get wrong: a recorder that records its own waiting wakes itself.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

for option in "" --include-self; do
	# shellcheck disable=SC2086
	record_begin $option -o a.dtp -a --call-graph none \
	    -e syscall::epoll_wait:entry -e sched:sched_switch
	for i in 1 2 3 4 5 6 7 8; do
		await "it takes a mark" \
		    "$DTPROF" mark --recorder "$recorder" "$i"
	done
	record_end 0
	py "$recorder" "$option" <<'END'
import sys
import recording as rec

pid, option = int(sys.argv[1]), sys.argv[2]
rows = rec.balance("a.dtp")
mine = sum(r["pid"] == pid for r in rec.samples("a.dtp"))
counted = sum(rows[name]["self"] for name in rows)
if option:
    rec.check(mine > 0 and counted == 0, "%d samples of the recorder, self "
              "%d" % (mine, counted))
else:
    rec.check(mine == 0 and counted > 0, "%d samples of the recorder, self "
              "%d" % (mine, counted))
rec.ok("%s: %d samples of the recorder, self %d" % (option or "by default",
                                                   mine, counted))
END
done
