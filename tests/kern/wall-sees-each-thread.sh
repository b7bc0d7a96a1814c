#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of 2,000 threads that sleep 100 ms again and again, more than a
# pass over all threads can walk, each has wall-clock samples that add up to the
# same time, and those of the first and the last have as many samples.  A thread
# that begins between two passes has them, too, and so has the first thread of
# an awaited program.  Of a cgroup all threads have samples, and no others.  The
# reason is the call that sleeps.
#
# Easy to get wrong: a pass in the order of pids has always time for the first;
# a pass that looks only at threads which it knows.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

record 143 -e wall -o w.dtp --duration 3s -- "$work/idle_threads" 0 2000 100
"$DTPROF" script --json w.dtp >samples || fail "no script"
py <<'END'
import collections
import json
import statistics

count, whole = collections.Counter(), collections.Counter()
reasons = collections.Counter()
for s in map(json.loads, open("samples")):
    if s["type"] == "sample":
        count[s["tid"]] += 1
        whole[s["tid"]] += s["weight"]
        if s["args"]["state"] == "blocked":
            reasons[s["args"]["reason"]] += 1
tids = sorted(count)
print(len(tids), "threads", reasons.most_common(3))
assert len(tids) == 2001
third = len(tids) // 3
first, last = (statistics.mean(count[t] for t in part)
               for part in (tids[:third], tids[-third:]))
print("samples of a thread: %.1f of the first, %.1f of the last" %
      (first, last))
assert last > first / 2 and first > last / 2
assert reasons["sleep"] >= .9 * sum(reasons.values())
# From their start, which takes the program a while, to the last pass.
longest = max(whole.values())
assert all(whole[t] > longest / 3 for t in tids), min(whole.values())
END
ok "each of 2,000 threads has samples"

cp "$work/idle_threads" awaited || fail "no copy"
record_begin -e wall -o w.dtp --wait-for awaited
./awaited 1 1 10 >ready &
pids=$!
kill_at_end "$pids"
await "threads" grep -q ready ready
sleep 1
kill "$pids"
record_wait 0
"$DTPROF" script --json w.dtp >samples || fail "no script"
py "$pids" <<'END'
import collections
import json
import sys

whole = collections.Counter()
for s in map(json.loads, open("samples")):
    if s["type"] == "sample":
        whole[s["tid"]] += s["weight"]
print(whole)
assert len(whole) == 3
assert whole[int(sys.argv[1])] > max(whole.values()) / 2
END
pids=
ok "of an awaited program the first thread has its time"

cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
group=$cgroups/dtprof-test.$$
[ -n "$cgroups" ] && mkdir -p "$group/below" 2>/dev/null || exit 0
at_end()
{
	rmdir "$group/below" "$group" 2>/dev/null
}
for where in "$group" "$group/below" "$cgroups"; do
	"$work/idle_threads" 20 3 10 >ready &
	kill_at_end $!
	pids="${pids:-} $!"
	await "threads" grep -q ready ready
	echo $! >"$where/cgroup.procs"
done
record 0 -e wall -o w.dtp --cgroup "$group" -- sleep 2
"$DTPROF" script --json w.dtp >samples || fail "no script"
for pid in $pids; do
	kill "$pid"
done
wait
python3 - "$pids" <<'END' || fail "see above"
import json
import sys

here, below, outside = map(int, sys.argv[1].split())
seen = {}
for s in map(json.loads, open("samples")):
    if s["type"] == "sample":
        seen.setdefault(s["pid"], set()).add(s["tid"])
print({pid: len(tids) for pid, tids in seen.items()})
assert set(seen) == {here, below}
assert all(len(tids) == 24 for tids in seen.values())
END
ok "of a cgroup its threads have samples"
