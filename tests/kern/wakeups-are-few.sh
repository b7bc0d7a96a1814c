#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: The recorder wakes far less often than events come, and with
# nothing to do it uses next to no CPU time: less than 4 % of the time that
# passes, with counters armed that never fire and never wake it.  Where only
# timers fire, it wakes no more than 6 times a second, once the target has
# been quiet for a while: also an idle CPU pays for each wake-up.
#
# Easy to get wrong: a wakeup for each record.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

wakes()
{
	cat "/proc/$recorder/task/"*/status |
	    awk '/^voluntary_ctxt/ { n += $2 } END { print n }'
}
ticks()
{
	awk '{ print $14 + $15 }' "/proc/$recorder/stat"
}

record_begin -o a.dtp -a --comm calls --call-graph none \
    -e syscall::close:entry -e syscall::close:return
before=$(wakes)
"$work/calls" -t 2 20000 >/dev/null || fail "calls"
after=$(wakes)
record_end 0
balance a.dtp
samples=$("$DTPROF" report --json a.dtp >r.json && json r.json \
    'sum(row["stored"] for row in j["accounting"])')
[ "$samples" -ge 80000 ] || fail "just $samples samples"
[ $(((after - before) * 20)) -lt "$samples" ] ||
    fail "$((after - before)) wake-ups for $samples samples"
ok "$((after - before)) wake-ups for $samples samples"

sleep 1000 &
sleeper=$!
kill_at_end "$sleeper"
record_begin -o b.dtp -p "$sleeper" -e syscall::close:entry \
    -e sched:sched_process_hang -e page-faults -c 1
before=$(wakes) ticks=$(ticks) from=$(date +%s%N)
sleep 2
passed=$(($(date +%s%N) - from)) used=$(($(ticks) - ticks))
woke=$(($(wakes) - before))
record_end 0
hz=$(getconf CLK_TCK)
[ $((used * 1000000000 / hz)) -le $((passed / 25)) ] ||
    fail "idle for $passed ns it used $used ticks of 1/$hz s"
"$DTPROF" report --json b.dtp >r.json
stored=$(json r.json 'sum(r["stored"] for r in j["accounting"][1:])')
[ "$stored" -eq 0 ] || fail "$stored samples of a sleeper"
ok "idle for $passed ns: $used ticks of 1/$hz s, $woke wake-ups"

"$work/spin" 0 >spin.out &
spinner=$!
kill_at_end "$spinner"
record_begin -o c.dtp -p "$spinner" -e cpu-clock -F 997
sleep 3
before=$(wakes) from=$(date +%s%N)
sleep 3
passed=$(($(date +%s%N) - from)) woke=$(($(wakes) - before))
record_end 0
balance c.dtp
[ $((woke * 1000000000)) -le $((passed * 6)) ] ||
    fail "$woke wake-ups in $passed ns beside timers"
ok "beside timers $woke wake-ups in $passed ns"
