#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Beside a storm of processes, which have no rate to be lowered, a
# recorder with --max-overhead uses less than half of the CPU time, by /proc,
# that it uses without; it loses process events and no samples; the recording
# has a marker and reports a row for it; the accounting balances.
#
# Easy to get wrong: the rate is lowered, which helps nothing.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

ticks()		# of the recorder and its children
{
	for stat in /proc/[0-9]*/stat; do
		sed 's/.*) //' "$stat" 2>/dev/null |
		    awk -v pid="${stat#/proc/}" -v me="$recorder" \
		    '$2 == me || pid == me "/stat" { print $12 + $13 }'
	done | awk '{ sum += $1 } END { print sum + 0 }'
}

# CPU time in thousandths of the time that passes, in $used.
storm()		# recording argument ...
{
	file=$1
	shift
	record_begin -o "$file" -a -e cpu-clock -F 99 "$@"
	storms=
	for _ in $(seq "$(nproc)"); do
		"$work/storms" vfork >storms.out &
		storms="$storms $!"
		kill_at_end $!
	done
	sleep 2
	before=$(ticks) from=$(date +%s%N)
	sleep 3
	used=$((($(ticks) - before) * (1000000000 / $(getconf CLK_TCK)) * 1000 /
	    ($(date +%s%N) - from)))
	echo "$storms" | xargs kill
	record_end 0
	balance "$file"
}

storm free.dtp
free=$used
storm held.dtp --max-overhead 1
[ $((used * 2)) -lt "$free" ] ||
    fail "$used of 1000 of a CPU, without a limit $free"
"$DTPROF" script --show markers held.dtp >markers
grep 'recording is held back to keep --max-overhead 1: ' markers ||
    fail "no marker: $(cat markers)"
"$DTPROF" report --stats held.dtp >stats 2>err
grep '^degraded  *recording was held back for ' stats ||
    fail "report does not tell: $(cat stats)"
py <<'END'
import recording as rec

budget, = rec.report("held.dtp")["budgets"]
rec.check(budget["name"] == "max-overhead" and budget["limit"] == 1 and
          budget["used_max"] > 0 and "held back" in budget["action"],
          "%r" % budget)
rows = rec.accounting("held.dtp")
clock = rows["cpu-clock"]
rec.check(rows["proc"]["full"] > 0, "%r" % rows["proc"])
rec.check(clock["stored"] > 0 and clock["full"] == 0, "%r" % clock)
END
ok "$used of 1000 of a CPU, without a limit $free"
