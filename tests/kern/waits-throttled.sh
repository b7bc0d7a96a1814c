#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a thread whose cgroup has used up its CPU quota waits for the
# reason 'throttled': as long as it was off the CPU by its own clock, not less
# than cpu.stat says and as often; report names the cgroup with its quota and
# with what the kernel counted.  Without a quota nothing is throttled, and a
# quota that was removed is not known.
#
# Easy to get wrong: a throttled thread is runnable, and was preempted; a thread
# waits for a CPU as well when the quota is renewed; the cgroup with the quota
# may be one above that of the thread.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# The hierarchy with the CPU controller, in version 1 or 2.
top=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' \
    /proc/self/mounts)
if [ -n "$top" ]; then
	version=1
else
	version=2
	top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	grep -qw cpu "$top/cgroup.subtree_control" 2>/dev/null ||
	    skip "no cgroup has the CPU controller"
fi
group=$top/dtprof-test-$$
mkdir "$group" 2>/dev/null || skip "no cgroup can be made"
at_end()
{
	rmdir "$group/below" "$group"
}
if [ $version = 1 ]; then
	mkdir "$group/below"
	echo 262144 >"$group/cpu.shares"
	echo 50000 >"$group/cpu.cfs_period_us"
else
	echo +cpu >"$group/cgroup.subtree_control"
	mkdir "$group/below"
	echo 10000 >"$group/cpu.weight"
fi || skip "the cgroup cannot be set up"

quota()	# microseconds of 50 ms, or none
{
	case $version/$1 in
	1/none)	echo -1 >"$group/cpu.cfs_quota_us" ;;
	1/*)	echo "$1" >"$group/cpu.cfs_quota_us" ;;
	2/none)	echo max 50000 >"$group/cpu.max" ;;
	2/*)	echo "$1" 50000 >"$group/cpu.max" ;;
	esac
}

# Runs for 1.5 s in the cgroup, and prints each time that it did not run.
cat >burn.py <<'END'
import os
import sys
import time

with open(sys.argv[1], "w") as procs:
    procs.write(str(os.getpid()))
start = before = time.monotonic_ns()
while before - start < 1500000000:
    now = time.monotonic_ns()
    if now - before > 1000000:
        print(before, now)
    before = now
END
for quota in none 10000; do
	quota $quota || fail "no quota $quota"
	cp "$group/cpu.stat" before
	record 0 -e off-cpu/min=0ns/ -o $quota.dtp -- python3 burn.py \
	    "$group/below/cgroup.procs"
	mv out $quota.gaps
	cp "$group/cpu.stat" after
	balance $quota.dtp
	"$DTPROF" report --stats --json $quota.dtp >$quota.stats ||
	    fail "no stats"
	"$DTPROF" script --json $quota.dtp >$quota.samples || fail "no script"
done
"$DTPROF" report --by reason 10000.dtp >table || fail "no report"
grep -e throttled table
grep -q "^throttled: cgroup /.*${group##*/}, quota 10 ms per 50 ms: " table ||
    fail "no row of the cgroup"
py "${group##*/}" <<'END'
import json
import sys

def throttled(quota):
    stats = json.load(open(quota + ".stats"))
    w = [a["waits"] for a in stats["accounting"] if "waits" in a][0]
    assert w["balances"], w
    samples = [json.loads(line) for line in open(quota + ".samples")]
    return w["throttled"], [
        (s["time_ns"] - s["weight"], s["time_ns"]) for s in samples
        if s["type"] == "sample" and s["args"]["reason"] == "throttled"]

assert throttled("none") == ([], []), throttled("none")
(row,), waits = throttled("10000")
print(row)
assert row["cgroup"].rsplit("/", 1)[1] == sys.argv[1], row
assert (row["quota_ns"], row["period_ns"]) == (10000000, 50000000), row
assert row["waits"] == len(waits), row
assert row["ns"] == sum(end - begin for begin, end in waits), row
# By the program's own clock.
gaps = [tuple(map(int, line.split())) for line in open("10000.gaps")]
own = 0
# While Python starts and ends, it does not look at its clock.
seen = [(begin, end) for begin, end in waits[1:-1]
        if gaps[0][0] < end and begin < gaps[-1][1]]
for begin, end in seen:
    gap, = (g for g in gaps if g[0] < end and g[1] > begin)
    own += gap[1] - gap[0]
took = sum(end - begin for begin, end in seen)
assert len(seen) >= len(waits) - 5, (len(seen), len(waits))
print("%.3f ms, by itself %.3f ms" % (took / 1e6, own / 1e6))
assert abs(took - own) <= .02 * own, own
# By the kernel.
stat = [dict(line.split() for line in open(name))
        for name in ("before", "after")]
periods = int(stat[1]["nr_throttled"]) - int(stat[0]["nr_throttled"])
kernel = sum(sign * int(of["throttled_time"]) if "throttled_time" in of else
             sign * int(of["throttled_usec"]) * 1000
             for sign, of in zip((-1, 1), stat))
print("kernel: %d periods, %.3f ms" % (periods, kernel / 1e6))
assert 20 <= periods and abs(len(waits) - periods) <= 2, periods
assert abs(row["kernel_periods"] - periods) <= 2, row
assert abs(row["kernel_ns"] - kernel) <= .02 * kernel + 50e6, row
assert row["ns"] >= .98 * kernel - 50e6, row
print("ok: throttled for %.1f ms, cpu.stat says %.1f ms" %
      (row["ns"] / 1e6, kernel / 1e6))
END

# A quota is removed while threads wait for it, nearly always.
quota 1000 || fail "no quota"
record 0 -e off-cpu/min=0ns/ -o removed.dtp -- sh -c "
python3 burn.py '$group/below/cgroup.procs' &
sleep 1
cd '$group'
case $version in
1) echo -1 >cpu.cfs_quota_us ;;
2) echo max 50000 >cpu.max ;;
esac
wait"
"$DTPROF" report --stats --json removed.dtp >stats || fail "no stats"
py <<'END'
import json

stats = json.load(open("stats"))
(row,) = [a for a in stats["accounting"] if "waits" in a][0]["waits"][
    "throttled"]
print(row)
assert row["quota_ns"] in (0, 1000000), row
END
