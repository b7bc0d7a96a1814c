#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A recording of everything, ten minutes long, beside storms of
# system calls, forks, vforks, executable mappings, faults, threads and signals
# does not grow: from the third minute on memory by at most 5 %, and
# descriptors by none but those of files that are kept open, of which there
# are 512 at most.  The accounting balances, and mapping and process events
# that were lost are named.
# Programs that others start meanwhile bring files of their own, whose call
# frame information is kept in other tables: four times its size is allowed
# for each file that came after the third minute.
# TIMEOUT: 1200
#
# Easy to get wrong: what is kept of each process, file or mapping, forever,
# is nothing on the day of the test.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
: "${SECONDS_LONG:=600}"
need_recording
tmpdir

memory()	# kB
{
	awk '/^VmRSS/ { print $2 }' "/proc/$recorder/status"
}
# What the recorder has open, a line each.
opened()
{
	find "/proc/$recorder/fd" -type l -exec readlink {} + 2>/dev/null |
	    sort -u
}
# The files of mappings are held open, at most 512; a process that is just
# being read has one for a moment, so the fewest of ten looks count.
descriptors()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		find "/proc/$recorder/fd" -type l -exec readlink {} + \
		    2>/dev/null | grep -vc '^/'
		sleep 0.1
	done | sort -n | head -n 1
}
# kB that the tables of files may take which came since BEFORE was written
tables()	# BEFORE AFTER
{
	comm -13 "$1" "$2" | grep '^/' | while read -r file; do
		size -A -d "$file" 2>/dev/null
	done | awk '
	$1 == ".eh_frame" { n += $2 }
	END { print int(4 * n / 1024) }'
}

record_begin -a -o a.dtp -e cpu-clock -F 99
storms=
for kind in syscall fork vfork mmap map fault thread signal; do
	"$work/storms" "$kind" >"$kind.count" &
	storms="$storms $!"
	kill_at_end "$!"
done
sleep $((SECONDS_LONG * 3 / 10))
rss=$(memory) fds=$(descriptors)
opened >before
sleep $((SECONDS_LONG - SECONDS_LONG * 3 / 10))
later=$(memory) more=$(descriptors)
opened >after
# shellcheck disable=SC2086	# several processes
kill $storms
# shellcheck disable=SC2086
wait $storms
record_end 0
balance a.dtp
others=$(tables before after)
[ "$later" -le $((rss + rss / 20 + others)) ] ||
    fail "from $rss to $later kB, of which $others are others' files"
ok "$rss kB at 3/10 of $SECONDS_LONG s, $later kB at the end," \
    "of which at most $others are tables of others' files"
[ "$more" -le "$fds" ] || fail "from $fds to $more descriptors"
ok "$fds descriptors beside files, then $more"

"$DTPROF" report --stats a.dtp >stats || fail "report --stats"
"$DTPROF" report --stats --json a.dtp >stats.json || fail "report --stats"
lost=$(json stats.json 'j["recording"]["sideband_lost"]')
[ "$lost" -eq 0 ] || grep -Eq "$lost .*mapping and process events" stats ||
    fail "$lost events were lost, and report does not say so"
ok "$lost mapping and process events lost, beside $(cat mmap.count) mappings," \
    "$(cat vfork.count) vforks, $(cat fork.count) forks"
