#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of each of SEEDS programs, whose waits a seed draws (SEED and the
# numbers after it), a convoy at a mutex, a condition variable, an idle pool,
# sleep, pipe, socket, network, epoll, a futex of another process, a process
# that is stopped, read, fsync and page fault of a slow file, and contention for
# a CPU have the reason, the waker and, within 1 % of the program's own clocks,
# the time of the function that waits; where a wait is planted absent (half of
# them), none is named.  bpftrace and strace beside it say the same of BESIDE
# seeds.
#
# TIMEOUT: 1800
# Easy to get wrong: what a thread does around a wait can be preempted, too; a
# waiter of a mutex is woken by the waiter before it; the same call waits in
# one program and not in another; the host takes time from threads that run.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd jq bpftrace strace
[ -c /dev/fuse ] || skip "no /dev/fuse"
tmpdir
: >all
: "${SEED:=1}" "${SEEDS:=200}" "${BESIDE:=3}"
touch slow
mkfifo go

# Its stacks can be walked from the first wait on.
recorded()	# seed [command that runs it]
{
	of=$1
	shift
	"$@" "$work/seeded_waits" "$of" "$tmp" <go >key &
	planted=$!
	kill_at_end $planted
	exec 9>go
	await "the program" test /proc/$planted/exe -ef "$work/seeded_waits"
	record_begin -o w.dtp -e off-cpu/min=0ns/ -p $planted
	exec 9>&-
	wait $planted || fail "seed $of: the program failed"
	record_wait 0
	stats_read
}

stats_read()
{
	"$DTPROF" report --stats --json w.dtp >stats || fail "no stats"
	jq '.accounting[] | select(.waits) | .waits' stats >waits
}

# For how long each thread was not on a CPU.
cat >off.bt <<'END2'
BEGIN { printf("ready\n"); }
tracepoint:sched:sched_switch {
	@out[args->prev_pid] = nsecs;
	if (@out[args->next_pid] != 0 && args->next_pid != 0) {
		@off[args->next_pid] = sum(nsecs - @out[args->next_pid]);
		delete(@out[args->next_pid]);
	}
}
END { clear(@out); }
END2

beside_bpftrace()	# seed
{
	bpftrace_begin off.bt off
	recorded "$1"
	bpftrace_end
	"$DTPROF" report --json --by tid,comm --limit 100000 -e 'off-cpu*' \
	    w.dtp >comms || fail "no report"
	py "$1" <<'PY'
import collections
import json
import re
import sys

off = dict(re.findall(r"@off\[(\d+)\]: (\d+)", open("off").read()))
gap = json.load(open("waits"))["gap_ns"]
names = {json.loads(line)["name"] for line in open("key")}
ours, theirs, n = (collections.Counter() for _ in range(3))
for row in json.load(open("comms"))["rows"]:
    if row["comm"] in names:
        ours[row["comm"]] += row["total"]
        theirs[row["comm"]] += int(off.get(str(row["tid"]), 0))
        n[row["comm"]] += row["total_samples"]
for name in sorted(names):
    a, b = ours[name], theirs[name]
    print("seed %s, %s: %.3f ms, bpftrace %.3f ms" %
          (sys.argv[1], name, a / 1e6, b / 1e6))
    # Before it first runs, a thread is off a CPU for us alone.
    assert abs(a - b) <= .01 * b + 20000 * n[name] + 2e6 + gap, (name, gap)
PY
}

beside_strace()		# seed
{
	recorded "$1" strace -D -f -T -o calls \
	    -e trace=epoll_wait,fsync,pread64
	await "the end of strace" grep -q "^$planted .* exited with" calls
	"$DTPROF" report --json --by function,state,reason -e 'off-cpu*' \
	    w.dtp >comms || fail "no report"
	py "$1" <<'PY'
import collections
import json
import re
import sys

calls = {"loop": "epoll_wait", "fsync": "fsync", "read": "pread64"}
reasons = {"loop": "epoll", "fsync": "fsync", "read": "read"}
theirs = collections.Counter()
for line in open("calls"):
    # Its clocks read more than a byte.
    m = re.search(r"(epoll_wait|fsync|pread64).*<(\d+\.\d+)>$", line)
    if m and (m.group(1) != "pread64" or re.search(r", 1, \d+\) += 1", line)):
        theirs[m.group(1)] += float(m.group(2))
rows = json.load(open("comms"))["rows"]
key = {row["name"]: row for row in map(json.loads, open("key"))}
for name, call in calls.items():
    of_function = [row for row in rows if row["name"] ==
                   key[name]["function"]]
    ours = sum(row["total"] for row in of_function if
               row["args"]["reason"] == reasons[name]) / 1e9
    # The tracer stops it within the call, too.
    all_off = sum(row["total"] for row in of_function) / 1e9
    print("seed %s, %s %s: %.3f ms of %.3f ms, strace %.3f ms" % (
        sys.argv[1], name, key[name]["planted"], ours * 1e3, all_off * 1e3,
        theirs[call] * 1e3))
    if key[name]["planted"]:
        assert ours <= 1.01 * theirs[call] and all_off >= .95 * theirs[call]
    else:
        assert ours == 0
PY
}

seed=$SEED
while [ "$seed" -lt $((SEED + SEEDS)) ]; do
	recorded "$seed"
	"$DTPROF" report --json -e 'off-cpu*' --limit 100000 \
	    --by function,state,reason,waker,waker_tid w.dtp >rows ||
	    fail "no report"
	jq -r --slurpfile key key --argjson waits "$(cat waits)" \
	    -f "$SRC/tests/accept/waits_key.jq" rows >compared ||
	    fail "seed $seed: jq"
	if grep ';' compared; then
		fail "seed $seed: $(jq -c . waits)"
	fi
	cat compared >>all
	seed=$((seed + 1))
done
[ "$(wc -l <all)" -eq $((14 * SEEDS)) ] || fail "not all ways were compared"
py <<'PY'
import collections

off = collections.defaultdict(list)
for line in open("all"):
    name, how, ours, theirs = line.split()
    off[name, how].append((int(ours), int(theirs)))
for (name, how), pairs in sorted(off.items()):
    print("%s %s: %d, %.1f ms, by its clock %.1f ms" % (name, how, len(pairs),
          sum(a for a, b in pairs) / 1e6, sum(b for a, b in pairs) / 1e6))
PY
ok "$SEEDS seeds from $SEED on"
for seed in $(seq "$SEED" $((SEED + BESIDE - 1))); do
	beside_bpftrace "$seed"
	beside_strace "$seed"
done
ok "bpftrace and strace beside $BESIDE of them"
