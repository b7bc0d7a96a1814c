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
# changed the old one, so that what comes later weighs next to nothing; a timer
# that fires late is due again in less than its period.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd python3
need_cmd prlimit
tmpdir

expect 0 "$DTPROF" record -o a.dtp -a --include-self -e cpu-clock -c 200000 \
    --max-overhead 0.001 --duration 5s
expect_err 'rate lowered to 1/' 'nothing is said of the rate'
expect_err 'overhead [0-9.]+% of [0-9]+ CPUs?: recorder .*programs [0-9.]+%' \
    'nothing is said of the cost'
"$DTPROF" report --stats --json a.dtp >stats.json || fail "stats"
"$DTPROF" report --stats a.dtp 2>/dev/null |
    grep '^degraded .*rate lowered to 1/' || fail "report does not tell"
"$DTPROF" flamegraph -o a.html a.dtp 2>/dev/null
grep -q '\["degraded","rate lowered to 1/' a.html ||
    fail "the page does not tell"

py <<'END'
import json
import recording as rec
PERIOD = 200000
marks, weights, after = rec.lowered("a.dtp", PERIOD)
rec.check(marks and after > 0, "%r, then %d samples" % (marks, after))
# By an odd factor, down to 10 Hz.
rec.check(all(m % 2 for m in marks if m < 500), "%r" % marks)
j = json.load(open("stats.json"))
info = j["recording"]["info"]
rec.check(info["less.rate"] == "rate lowered to 1/%d" % marks[-1], str(info))
rec.check(int(info["overhead.programs_ns"]) > 0, str(info))
a = [a for a in j["accounting"] if a["event"] == "cpu-clock"][0]
there = j["recording"]["duration_ns"] * int(info["machine.cpus"])
known = weights + a["overruns"] * PERIOD
# A counter holds back less than a period when it begins and ends.
bound = 2 * int(info["machine.cpus"]) * (1 + sum(marks)) * PERIOD
said = "%.3f s of %.3f s, %.3f s by the count, each +-%.3f s" % (
    known / 1e9, there / 1e9, a["count"] / 1e9, bound / 1e9)
rec.check(abs(there - known) <= bound, said)
rec.check(abs(a["enabled_ns"] - known) <= bound, said + ": %r" % a)
# A clock that the kernel throttles, as on a CPU that idles without a tick,
# does not count, and is late.
rec.check(weights - bound <= a["count"] <= known + bound, said + ": %r" % a)
rec.check(bound < there / 4, "the bound says too little: " + said)
rec.check(a["unaccounted_bound"] == bound, "%r" % a)
rec.ok("%d changes, to 1/%d: %s" % (len(marks), marks[-1], said))
END

# By a little, so that what idle CPUs are late for is not within the bound.
expect 0 "$DTPROF" record -o e.dtp -a --include-self --call-graph none \
    -e cpu-clock -c 100000 --duration 8s \
    --max-overhead "$(awk "BEGIN { print 0.2 / $(nproc) }")"
"$DTPROF" report --stats --json e.dtp >e.json || fail "stats"
py <<'END'
import json
import recording as rec
PERIOD = 100000
marks, weights, _ = rec.lowered("e.dtp", PERIOD)
rec.check(marks, "nothing was lowered")
j = json.load(open("e.json"))
a = next(a for a in j["accounting"] if a["event"] == "cpu-clock")
known = weights + a["overruns"] * PERIOD
bound = 2 * int(j["recording"]["info"]["machine.cpus"]) * (
    1 + sum(marks)) * PERIOD
said = "to 1/%d, %.3f s of %.3f s, +-%.3f s" % (
    marks[-1], known / 1e9, a["enabled_ns"] / 1e9, bound / 1e9)
rec.check(abs(a["enabled_ns"] - known) <= bound, said)
rec.ok(said)
END

# An event that is rare already is lowered by less, and no more is said.
expect 0 "$DTPROF" record -o d.dtp -a --include-self -e cpu-clock -c 200000 \
    -e profile:::20hz --max-overhead 0.001 --duration 3s
expect_err 'rates lowered by factors up to ' 'nothing is said of the rates'
"$DTPROF" report --stats --json d.dtp >d.json || fail "stats"
case $(json d.json 'j["recording"]["info"]["less.rate"]') in
"rates lowered by factors up to "*) ;;
*)	fail "the recording says another thing" ;;
esac

# Not one descriptor more: it goes on as it is.
"$DTPROF" record -o c.dtp -a --include-self -e cpu-clock -c 200000 \
    --max-overhead 0.001 --duration 4s >out 2>err &
recorder=$!
kill_at_end "$recorder"
await_recording "$recorder"
prlimit --pid "$recorder" --nofile=3:3 || fail "prlimit"
record_wait 0
expect_err 'cannot lower the rate further: ' 'nothing is said of failing'
py <<'END'
import recording as rec
rec.balance("c.dtp", ["cpu-clock"])
# On a busy machine the limit may have come after a change or two.
rec.lowered("c.dtp", 200000)
END
ok "where the rate cannot be lowered the recording goes on"

expect 0 "$DTPROF" record -o b.dtp -e cpu-clock --max-overhead 100 -- \
    "$work/spin" 100
expect_err 'overhead [0-9.]+% of' 'nothing is said of the cost'
"$DTPROF" report --stats --json b.dtp >b.json || fail "stats of b"
[ "$(json b.json '"less.rate" in j["recording"]["info"]')" = False ] ||
    fail "the rate was lowered without need"
ok "within what is allowed nothing is changed"

expect 125 "$DTPROF" record --max-overhead 1 --no-inherit -- true
expect_err 'cannot be used with -t' "exact counts and another rate"
ok "counters that are exact are left alone"
