#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of ten million switches of threads that switch often, the stack is
# walked at as many as the probability says; the time of samples whose stacks
# were walked, divided by the probability, is that of all of them; reports
# divide the time of all waits among the functions in which the program's own
# clock says that it waited, and every total is the time that was measured.  All
# of this within four standard deviations.  With walk=1 every stack is walked.
#
# TIMEOUT: 1800
# Easy to get wrong: a thread that waits long after many short waits; what is
# decided by the length of a wait walks too few or too many of the long ones.
# A walk takes microseconds, in which others wait: waits that are that short do
# not tell what they would have been without it, and have no sample.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# A program that has few switches more than it passes bytes.
times=${WAITS_TIMES:-5000000}

wait_by_chance()	# walk times every
{
	record 0 -e "off-cpu/walk=$1/" -o c.dtp --buffer 64M -- taskset -c 0 \
	    "$work/mixed_waits" "$2" "$3"
	mv "$tmp/out" truth
	balance c.dtp
	"$DTPROF" report --stats --json c.dtp >stats || fail "no stats"
	"$DTPROF" script --json c.dtp >samples || fail "no script"
	"$DTPROF" report --json --by tid,reason,function c.dtp >functions ||
		fail "no functions"
	"$DTPROF" report --json --by tid,reason c.dtp >reasons ||
		fail "no reasons"
}

wait_by_chance 8 "$times" 300
cat >check.py <<'PY'
import collections
import json
import sys

one_of, least = float(sys.argv[1]), int(sys.argv[2])
p = 1 / one_of
(a,) = [a for a in json.load(open("stats"))["accounting"] if "waits" in a]
w = a["waits"]
print(w)
assert w["balances"] and w["eligible"] >= .9 * least, w["eligible"]
deviation = (w["eligible"] * p * (1 - p)) ** .5
off = (w["drawn"] - w["eligible"] * p) / deviation
print("walked %d of %d: %+.2f standard deviations" %
      (w["drawn"], w["eligible"], off))
assert abs(off) <= 4
# Horvitz and Thompson: each stands for 1 / p.
deviation = (w["drawn_us2"] * 1e6 * (1 - p)) ** .5 / p
off = (w["drawn_ns"] / p - w["chance_ns"]) / deviation
print("%.3f s by those walked, %.3f s measured: %+.2f standard deviations" %
      (w["drawn_ns"] / p / 1e9, w["chance_ns"] / 1e9, off))
assert abs(off) <= 4
measured, walked = collections.Counter(), 0
for s in map(json.loads, open("samples")):
    if s["type"] == "sample":
        measured[s["tid"], s["args"]["reason"]] += s["weight"]
rows = json.load(open("reasons"))["rows"]
assert {(r["tid"], r["args"]["reason"]): r["total"] for r in rows} == \
    measured, "totals differ"
rows = json.load(open("functions"))["rows"]
found, whole = collections.Counter(), collections.Counter()
for r in rows:
    whole[r["tid"], r["args"]["reason"]] += r["self"]
    if r["args"]["reason"] == "sleep":
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
py 8 $((2 * times)) <check.py
ok "one of eight is walked"

# The check knows another probability.
python3 - 9 $((2 * times)) <check.py >wrong 2>&1 &&
	fail "one of eight passes for one of nine"
ok "one of nine would be seen"

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
