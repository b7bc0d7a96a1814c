#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: With --dump-on 'off-cpu > TIME' and 10,000 threads that wait, the
# looks for waits that never end take little of a CPU: the recorder with the
# trigger takes less than 5% of a CPU more than one without it.
#
# Easy to get wrong: a look at 10,000 threads takes several milliseconds, so
# looks at fixed times keep a CPU busy for a short TIME.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# Each runs again every four seconds, so the recorder gets to know it.
"$work/idle_threads" 0 10000 4000 >made &
idle=$!
kill_at_end $idle
await "all threads" test -s made

# The CPU time of the recorder and its threads over ten seconds, in ms.
spent()		# option ...
{
	record_begin --ring 1M --off-cpu -o 'd.%n.dtp' "$@" -p $idle
	sleep 6
	before=$(spent_ms)
	sleep 10
	spent=$(($(spent_ms) - before))
	kill $recorder
	wait $recorder || fail "record: status $?: $(cat err)"
}

spent_ms()
{
	cat /proc/$recorder/task/*/schedstat |
	    awk '{ ns += $1 } END { printf "%d", ns / 1000000 }'
}

spent
without=$spent
spent --dump-max 1 --dump-on 'off-cpu > 400ms'
[ $((spent - without)) -lt 500 ] ||
    fail "$spent ms of 10,000, and $without without the trigger"
ok "$spent ms of 10,000, and $without without the trigger"
