#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A recording of everything beside storms of system calls, forks,
# vforks, executable mappings, faults, threads and signals does not grow: from
# a third of the time on, memory by at most 5 %, and no descriptor beyond the
# files that are kept open by design.  The accounting balances, and mappings
# that were lost are named: stored and lost together are the storm's own
# count.
#
# Easy to get wrong: what is kept of each process, file or mapping, forever,
# is nothing on the day of the test.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
: "${SECONDS_LONG:=12}"
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
	eval "pid_$kind=$!"
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
