#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of ten million switches of threads that switch often, the stack is
# walked at as many as the probability says, whether it is the same for all or
# follows the rate of switches (walk=auto, with which few are walked); each
# sample says of how many it is one, and those that were walked, multiplied by
# this, weigh what all weigh; reports divide the time of all waits among the
# functions in which the program's own clock says that it waited, and every
# total is the time that was measured.  All of this within four standard
# deviations.  With walk=1 every stack is walked.
#
# TIMEOUT: 1800
# Easy to get wrong: a thread that waits long after many short waits; what is
# decided by the length of a wait walks too few or too many of the long ones.
# A walk takes microseconds, in which others wait: waits that are that short do
# not tell what they would have been without it, and have no sample.  For the
# same reason a thread that is walked is preempted a little more often than one
# that is not, so the program runs at a priority at which few preempt it.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# A program that has few switches more than it passes bytes.
times=${WAITS_TIMES:-5000000}

wait_by_chance()	# walk times every
{
	record 0 -e "off-cpu/walk=$1/" -o c.dtp --buffer 64M -- nice -n -15 \
	    taskset -c 0 "$work/mixed_waits" "$2" "$3"
	mv "$tmp/out" truth
	balance c.dtp
	"$DTPROF" report --stats --json c.dtp >stats || fail "no stats"
	"$DTPROF" script --json c.dtp >samples || fail "no script"
	"$DTPROF" report --json --by tid,reason,function c.dtp >functions ||
		fail "no functions"
	"$DTPROF" report --json --by tid,reason c.dtp >reasons ||
		fail "no reasons"
}

cat >check.py <<'PY'
import collections
import json
import sys

# The probability, as if it were so many times what it is.
times, least = float(sys.argv[1]), int(sys.argv[2])
(a,) = [a for a in json.load(open("stats"))["accounting"] if "waits" in a]
w = a["waits"]
print(w)
assert w["balances"] and w["eligible"] >= .9 * least, w["eligible"]
off = (w["drawn"] - times * w["expected"]) / w["variance"] ** .5
print("walked %d of %d, expected %.0f: %+.2f standard deviations" %
      (w["drawn"], w["eligible"], times * w["expected"], off))
assert abs(off) <= 4
# Horvitz and Thompson: each stands for one_of.
measured, one_of = collections.Counter(), 1
by_chance = estimated = variance = 0
for s in map(json.loads, open("samples")):
    if s["type"] != "sample":
        continue
    measured[s["tid"], s["args"]["reason"]] += s["weight"]
    by_chance += s["weight"] if "one_of" in s else 0
    if "one_of" in s and "kernel" in s:
        estimated += s["one_of"] * s["weight"]
        variance += s["one_of"] * (s["one_of"] - 1) * s["weight"] ** 2
        one_of = max(one_of, s["one_of"])
assert by_chance == w["chance_ns"], by_chance
off = (estimated - by_chance) / variance ** .5
print("%.3f s by those walked, %.3f s measured: %+.2f standard deviations" %
      (estimated / 1e9, by_chance / 1e9, off))
assert abs(off) <= 4
rows = json.load(open("reasons"))["rows"]
assert {(r["tid"], r["args"]["reason"]): r["total"] for r in rows} == \
    measured, "totals differ"
rows = json.load(open("functions"))["rows"]
found, whole = collections.Counter(), collections.Counter()
for r in rows:
    whole[r["tid"], r["args"]["reason"]] += r["self"]
    found[r["name"]] += r["total"]
assert whole == measured, "functions do not add up"
for line in open("truth"):
    name, ns, n = line.split()
    # A share of a third of the sleeps, of which one in one_of was walked.
    allowed = 4 * (2 * (one_of - 1) / int(n)) ** .5 + .02
    off = found[name] / int(ns) - 1
    print("%s: %.3f s, by its own clock %.3f s: %+.2f%%, allowed %.2f%%" %
          (name, found[name] / 1e9, int(ns) / 1e9, 100 * off, 100 * allowed))
    assert abs(off) <= allowed
PY
wait_by_chance 8 "$times" 300
py 1 $((2 * times)) <check.py
ok "one of eight is walked"

# The check knows another probability.
python3 - .9 $((2 * times)) <check.py >wrong 2>&1 &&
	fail "a tenth fewer walks are not seen"
ok "a tenth fewer walks would be seen"

wait_by_chance auto $((times / 5)) 300
py 1 $((2 * times / 5)) <check.py
py <<'PY'
import json

(a,) = [a for a in json.load(open("stats"))["accounting"] if "waits" in a]
w, seconds = a["waits"], a["waits"]["elapsed_ns"] / 1e9 / a["waits"]["threads"]
print("%.0f walks a second on one CPU" % (w["drawn"] / seconds))
assert w["drawn"] <= 600 * seconds, seconds
PY
ok "as many are walked as a CPU may"

wait_by_chance 1 20000 300
py <<'PY'
import json

(a,) = [a for a in json.load(open("stats"))["accounting"] if "waits" in a]
w = a["waits"]
print(w)
assert w["eligible"] == w["drawn"] == w["chance_ns"] == 0
samples = [s for s in map(json.loads, open("samples"))
           if s["type"] == "sample" and s["args"]["reason"] == "sleep"]
assert len(samples) >= 60 and all(s["user_frames"] for s in samples)
PY
ok "each is walked"
