#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Where recording costs more than --max-overhead allows the rate is
# lowered and the recording says so, at the start of what follows and in its
# summary; every sample after such a mark has the weight of its new period,
# and all weights, with the periods that timers were late for, make up the
# time that the CPUs had, by the clock and by the event's own count.  Where it
# costs less nothing is changed.
#
# Easy to get wrong: the kernel gives the samples of a clock whose period was
# changed the old one, so that what comes later weighs next to nothing.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd python3
need_cmd prlimit
tmpdir

expect 0 "$DTPROF" record -o a.dtp -a --include-self -e cpu-clock -c 200000 \
    --max-overhead 0.001 --duration 5s
expect_err 'rate lowered to 1/' 'nothing is said of the rate'
expect_err 'it cost [0-9.]+ % of [0-9]+ CPUs?: recorder .*programs [0-9.]+ %' \
    'nothing is said of the cost'
"$DTPROF" script --json --no-symbols a.dtp >a.json || fail "script"
"$DTPROF" report --stats --json a.dtp >stats.json || fail "stats"
# The line of quality is the first when it is bad, else the last.
"$DTPROF" report a.dtp 2>/dev/null | sed -n '1p;$p' |
    grep 'cpu-clock: .*rate lowered to 1/' || fail "report does not tell"
"$DTPROF" flamegraph -o a.svg a.dtp 2>/dev/null
grep -q 'rate lowered to 1/' a.svg || fail "the picture does not tell"

cat >judge.py <<'END'
import json, re
PERIOD = 200000
slower, held_back, weights, changes, after = 1, 1, 0, 0, 0
for line in open("a.json"):
    r = json.loads(line)
    if r["type"] == "mark":
        m = re.match(r"rate lowered to 1/(\d+): ", r["text"])
        if m:
            assert int(m.group(1)) > slower, r
            slower, changes = int(m.group(1)), changes + 1
            held_back += slower
    elif r["type"] == "sample":
        weights += r["weight"]
        after += changes > 0
        # What lay in a ring when the mark was made has an older time.
        assert r["weight"] == slower * PERIOD, (r, slower)
assert changes > 0 and after > 0, (changes, after)
j = json.load(open("stats.json"))
info = j["recording"]["info"]
assert info["less.rate"] == "rate lowered to 1/%d" % slower, info
assert int(info["overhead.programs_ns"]) > 0
a = [a for a in j["accounting"] if a["event"] == "cpu-clock"][0]
there = j["recording"]["duration_ns"] * int(info["machine.cpus"])
known = weights + a["late"] * PERIOD
# A counter holds back less than a period when it begins and ends.
bound = 2 * int(info["machine.cpus"]) * held_back * PERIOD
print("ok: %d changes, to 1/%d: %.3f s of %.3f s, %.3f s by the count" % (
    changes, slower, known / 1e9, there / 1e9, a["count"] / 1e9))
assert abs(there - known) <= bound, (there, known, bound)
assert abs(a["enabled_ns"] - known) <= bound, (a, known, bound)
# A clock that the kernel throttles, as on a CPU that idles without a tick,
# does not count, and is late.
assert weights - bound <= a["count"] <= known + bound, (a, known, bound)
assert bound < there / 4, "the bound says too little"
assert a["unaccounted_bound"] == bound, (a, bound)
END
python3 judge.py || fail "weights and time differ"

# Not one descriptor more: it goes on as it is.
"$DTPROF" record -o c.dtp -a --include-self -e cpu-clock -c 200000 \
    --max-overhead 0.001 --duration 4s >out 2>err &
recorder=$!
kill_at_end "$recorder"
await_recording "$recorder"
prlimit --pid "$recorder" --nofile=3:3 || fail "prlimit"
record_wait 0
expect_err 'the rate cannot be lowered further: ' 'nothing is said of failing'
py <<'END'
import recording as rec
rec.balance("c.dtp", ["cpu-clock"])
# On a busy machine the limit may have come after a change or two.
slower = 1
for r in rec.records("c.dtp"):
    if r["type"] == "mark" and r["text"].startswith("rate lowered to 1/"):
        slower = int(r["text"].split("/")[1].split(":")[0])
    elif r["type"] == "sample":
        rec.check(r["weight"] == slower * 200000, "1/%d: %r" % (slower, r))
END
ok "where the rate cannot be lowered the recording goes on"

expect 0 "$DTPROF" record -o b.dtp -e cpu-clock --max-overhead 100 -- \
    "$work/spin" 100
expect_err 'it cost [0-9.]+ % of' 'nothing is said of the cost'
"$DTPROF" report --stats --json b.dtp >b.json || fail "stats of b"
[ "$(json b.json '"less.rate" in j["recording"]["info"]')" = False ] ||
    fail "the rate was lowered without need"
ok "within what is allowed nothing is changed"

expect 125 "$DTPROF" record --max-overhead 1 --no-inherit -- true
expect_err 'count exactly' "exact counts and another rate"
ok "counters that are exact are left alone"
