#!/bin/sh
# ASSERTION: what stat counts is what happened: exactly the faults, the calls
# and the switches of the command, from its exec on, children included; the
# counts of intervals add up to the total, those of processes too.
# SPDX-License-Identifier: ISC
#
# Easy to get wrong: counting what happens between fork and exec, losing the
# end of a child, or the part of a CPU's count after its last switch.

. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_root
need_cmd python3 setarch taskset
tmpdir
work=$B/tests/work

# JSON of a stat; its status must be 0.
stat_json()	# file argument ...
{
	file=$1
	shift
	"$DTPROF" stat --json -o "$file" "$@" >/dev/null 2>err ||
	    fail "status $?: $(cat err)"
}

# Without randomisation a program faults the same number of times.
for pages in 1000 6000; do
	for try in 1 2 3; do
		setarch -R "$DTPROF" stat --json -o $pages.$try.json \
		    -e page-faults:u -- "$work/faults" $pages >/dev/null ||
		    fail "status $?"
	done
	# What now and then happens beside makes it more, never less.
	python3 - $pages <<-'END' >>base || fail "no count"
	import json, sys
	print(min(json.load(open('%s.%d.json' % (sys.argv[1], t)))
	    ['events'][0]['values'][0] for t in (1, 2, 3)))
	END
done
[ $(($(sed -n 2p base) - $(sed -n 1p base))) -eq 5000 ] ||
    fail "5000 faults more are not 5000: $(cat base)"
ok "5000 more page faults are counted as 5000"

# On one CPU each pass of the byte is a write and a switch.
passes=2000
stat_json ping.json -e '{context-switches,sched:sched_switch}' \
    -e syscall::write:entry,syscalls:sys_exit_write -- \
    taskset -c 0 "$work/guest_pingpong" $passes
python3 - $passes <<'END' || fail "ping-pong"
import json, sys
n = int(sys.argv[1])
v = {e['name']: e['values'][0] for e in json.load(open('ping.json'))['events']}
print(v)
assert v['syscall::write:entry'] == v['syscalls:sys_exit_write'] == 2 * n, v
assert v['context-switches'] == v['sched:sched_switch'] >= 2 * n - 2, v
END
ok "$passes passes: so many writes, and switches as the tracepoint counts"

# Who keeps firings back from all others is not passed over in silence.
if "$work/hide" true >/dev/null 2>&1; then
	expect 0 "$work/hide" "$DTPROF" stat -e syscall::write:entry -- echo x
	expect_err "note: syscall::write:entry: another tracer's BPF program"
	expect 0 "$DTPROF" stat -e syscall::write:entry -- echo x
	! grep -q 'another tracer' err || fail "nobody is there: $(cat err)"
	ok "a foreign program on the tracepoint is said"
fi

# Intervals, with children and an end that comes in the middle of one.
stat_json interval.json -I 20 -e task-clock,page-faults,context-switches -- \
    sh -c 'for i in 1 2 3 4 5; do ls -R /usr/include; sleep 0.053; done'
python3 - <<'END' || fail "intervals"
import json
j = json.load(open('interval.json'))
assert len(j['intervals']) >= 4, len(j['intervals'])
last = 0
for i in j['intervals']:
    assert i['from_s'] == last and i['until_s'] > last, i
    last = i['until_s']
for n, e in enumerate(j['events']):
    parts = [i['events'][n]['value'] for i in j['intervals']]
    assert all(p >= 0 for p in parts) and e['running_pct'] == 100, e
    assert sum(parts) == e['values'][0] == e['counts'][0] > 0, (sum(parts), e)
END
ok "intervals add up to the total"

need_bpf
# Each process of a command, by two that differ in a known number of faults.
stat_json split.json --per-process -e page-faults,context-switches,task-clock \
    -- sh -c "$work/faults 1000 & $work/faults 4000 & wait"
python3 - <<'END' || fail "processes of a command"
import json
j = json.load(open('split.json'))
for n, e in enumerate(j['events']):
    assert sum(t['counts'][n] for t in j['tasks']) == e['values'][0] > 0, e
two = sorted(t['counts'][0] for t in j['tasks'] if t['comm'] == 'faults')
assert len(two) == 2 and 2990 <= two[1] - two[0] <= 3010, j['tasks']
assert all(t['ended'] for t in j['tasks']), j['tasks']
assert len({t['pid'] for t in j['tasks']}) == len(j['tasks']) >= 3
END
ok "the counts of processes are those of the command"

# And with --no-inherit those of the one that is named alone.
stat_json alone.json --per-process --no-inherit -e page-faults -- \
    sh -c "$work/faults 4000; $work/faults 1000; :"
python3 - <<'END' || fail "a process without what it starts"
import json
j = json.load(open('alone.json'))
print(j['tasks'])
assert [t['comm'] for t in j['tasks']] == ['sh'], j['tasks']
assert j['tasks'][0]['counts'][0] == j['events'][0]['values'][0], j['events']
assert 0 < j['tasks'][0]['counts'][0] < 4000, j['tasks']
END
ok "--no-inherit leaves out the children of the process"

# The whole machine: what the CPUs counted is what somebody had, or nobody.
stat_json all.json -a --per-process -e cpu-clock,context-switches,page-faults \
    -- sh -c 'n=0; while [ $n -lt 100 ]; do n=$((n + 1)); true & done; wait
    i=0; while [ $i -lt 40 ]; do i=$((i + 1)); ls /; done'
python3 - <<'END' || fail "processes of the machine"
import json
j = json.load(open('all.json'))
for n, e in enumerate(j['events']):
    s, total = sum(t['counts'][n] for t in j['tasks']), e['counts'][0]
    assert s == total > 0, (e['name'], s, total)
assert sum(t['comm'] == 'ls' for t in j['tasks']) == 40, len(j['tasks'])
assert sum(t['pid'] == 0 for t in j['tasks']) <= 1
clock = j['events'][0]
assert abs(clock['counts'][0] / (clock['enabled_ns'][0]) - 1) < 0.01, clock
END
grep 'attributed to a process' err && fail "not all was told apart"
ok "the counts of all processes and idle are those of the machine"

# Threads of one process.
stat_json threads.json --per-thread -e task-clock,context-switches -- \
    python3 -c 'import threading
t = [threading.Thread(target=sum, args=(range(10 ** 6),)) for _ in range(3)]
[x.start() for x in t]; [x.join() for x in t]'
python3 - <<'END' || fail "threads"
import json
j = json.load(open('threads.json'))
for n, e in enumerate(j['events']):
    assert sum(t['counts'][n] for t in j['tasks']) == e['values'][0], e
most = max(j['tasks'], key=lambda t: t['counts'][0])['pid']
assert sum(t['pid'] == most for t in j['tasks']) >= 4 or \
    len({t['tid'] for t in j['tasks']}) >= 4, j['tasks']
END
ok "the counts of threads are those of their processes"
