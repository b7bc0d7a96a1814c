#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A recording of everything, ten minutes long, beside storms of
# system calls, forks, vforks, executable mappings, faults, threads and signals
# does not grow: from the third minute on memory by at most 5 %, and
# descriptors by none but those of files that are kept open, of which there
# are 512 at most.  The accounting balances, and mapping and process events
# that were lost are named.
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
# The files of mappings are held open, at most 512.
descriptors()
{
	find "/proc/$recorder/fd" -type l 2>/dev/null | while read -r fd; do
		case $(readlink "$fd") in
		/*)	;;
		*)	echo "$fd" ;;
		esac
	done | wc -l
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
sleep $((SECONDS_LONG - SECONDS_LONG * 3 / 10))
later=$(memory) more=$(descriptors)
# shellcheck disable=SC2086	# several processes
kill $storms
# shellcheck disable=SC2086
wait $storms
record_end 0
balance a.dtp
[ "$later" -le $((rss + rss / 20)) ] || fail "from $rss to $later kB"
ok "$rss kB at 3/10 of $SECONDS_LONG s, $later kB at the end"
[ "$more" -le "$fds" ] || fail "from $fds to $more descriptors"
ok "$fds descriptors beside files, then $more"

"$DTPROF" report --stats a.dtp >stats || fail "report --stats"
"$DTPROF" report --stats --json a.dtp >stats.json || fail "report --stats"
lost=$(json stats.json 'j["recording"]["sideband_lost"]')
[ "$lost" -eq 0 ] || grep -Eq "$lost .*mapping and process events" stats ||
    fail "$lost events were lost, and report does not say so"
ok "$lost mapping and process events lost, beside $(cat mmap.count) mappings," \
    "$(cat vfork.count) vforks, $(cat fork.count) forks"
