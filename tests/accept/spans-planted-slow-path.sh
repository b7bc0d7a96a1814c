#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: on a server with a slow path in 0.5 % of its requests, which burns
# CPU time, compare of slow spans with fast ones names it first in RUNS of RUNS
# recordings, its part within 5 points of the program's own clock, and parts add
# up to 100 %; without the path no function is named in any of them, where each
# function has a heavy tail of its own, nor where all have the same.  If they
# wait for a lock instead, the function that waits is named first, as often,
# with the thread that holds the lock and the function in which it sleeps
# meanwhile; without the lock no function that waits is named.  SEED is the
# first of RUNS.
#
# TIMEOUT: 1200
# The kernel stops real-time threads for 50 ms of each second: a wait without a
# function, which is a row, too, and can be the largest.
# Easy to get wrong: whatever varies differs between slow spans and fast ones,
# so a test that asks whether it differs would name it.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
runs=${RUNS:-20} seed=${SEED:-1}
chrt -f 1 true 2>/dev/null || skip "no real-time priority here"

compared()	# requests per-mille seed apart|together scale [lock]
{
	record 0 -o a.dtp -e cpu-clock -F 4999 --off-cpu \
	    --span request=syscall:getppid:entry,syscall:getuid:entry \
	    -- chrt -f 1 "$work/requests" "$1" "$2" "$3" 1 "$4" "$5" \
	    ${6:+"$6"}
	mv out said
	"$DTPROF" compare --base-filter 'span.duration <= p50' --json \
	    --filter 'span.duration > p99' a.dtp >got 2>err ||
	    fail "compare: $(cat err)"
}

n=0
while [ "$n" -lt "$runs" ]; do
	compared 8000 5 $((seed + n)) apart 1 lock
	python3 - $((seed + n)) <<'END' || fail "see above"
import json
import sys

got = json.load(open("got"))
row = next(r for r in got["rows"] if r["name"])
print("seed %s: %s %s, part %.1f%%, lock %s held by %s, %s in %s" % (
      sys.argv[1], row["state"], row["name"], 100 * row["part"], got["lock"],
      got["holder"], got["holder_state"], got["holder_function"]))
sys.exit(not (got["named"] == row["name"] == "wait_for_lock" and
              row["state"] == "blocked" and
              got["holder"].startswith("requests ") and
              got["holder_state"] == "blocked" and
              got["holder_function"] == "nap" and
              abs(sum(r["part"] for r in got["rows"]) - 1) < 1e-9))
END
	compared 2500 5 $((seed + n)) apart 4
	python3 - $((seed + n)) <<'END' || fail "see above"
import json
import sys

got, said = json.load(open("got")), json.load(open("said"))
row = next(r for r in got["rows"] if r["name"])
true = said["slow_ns"] / got["new"]["spans"] / got["change_ns"]
print("seed %s: %s, part %.1f%%, by its clock %.1f%%" %
      (sys.argv[1], row["name"], 100 * row["part"], 100 * true))
sys.exit(not (got["named"] == row["name"] == "slow_path" and
              abs(row["part"] - true) <= .05 and
              abs(sum(r["part"] for r in got["rows"]) - 1) < 1e-9))
END
	for how in apart together; do
		compared 2000 0 $((seed + n)) $how 4
		python3 - $((seed + n)) $how <<'END' || fail "see above"
import json
import sys

rows = json.load(open("got"))["rows"]
more = [r["name"] for r in rows if r["more_than_share"] and r["name"]]
assert json.load(open("got"))["holder"] is None
print("seed %s, %s: %d rows tested, named: %s" % (*sys.argv[1:], sum(
    r["tested"] for r in rows), " ".join(more) or "none"))
with open("tested", "a") as file:
    file.write("tested\n" if any(r["tested"] for r in rows) else "")
sys.exit(bool(more))
END
	done
	n=$((n + 1))
done
# A control with too few windows claims nothing, and shows nothing.
tested=$(wc -l <tested)
[ $((10 * tested)) -ge $((18 * runs)) ] || fail "only $tested were tested"
ok "$runs of $runs with the slow path, $((2 * runs)) without, $tested tested"
