#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of 1,000 threads that live at once, and of 10,000 processes that
# live for a millisecond, running and runnable time are within 1 % of fields 1
# and 2 of schedstat, and the switches to them are field 3, except those that
# the kernel did not report, which are counted; running, runnable, blocked and
# unknown time are exactly the elapsed time.
#
# TIMEOUT: 600
# Easy to get wrong: threads that are born and die between two looks; what a
# thread runs after its exit was told.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# Fields of schedstat of the first thread, when it sleeps and they stand still.
asleep()
{
	await "crowd sleeps" grep -q '^State:.S' "/proc/$crowd/status"
	cat "/proc/$crowd/task/$crowd/schedstat"
}

crowd_check()	# threads|processes N
{
	rm -f go said
	mkfifo go
	"$work/crowd" "$1" "$2" <go >said &
	crowd=$!
	kill_at_end $crowd
	exec 9>go
	asleep >before
	record_begin -o c.dtp -e off-cpu --buffer 64M -p $crowd
	echo go >&9
	await "the crowd has lived" grep -q 'done' said
	asleep >after
	record_end 0
	exec 9>&-
	wait $crowd || fail "crowd failed"
	"$DTPROF" report --stats --json c.dtp >stats || fail "no stats"
	py "$@" <<'PY'
import json
import sys

how, n = sys.argv[1], int(sys.argv[2])
theirs = list(map(int, open("said").read().split()[1:]))
before, after = (list(map(int, open(name).read().split()))
                 for name in ("before", "after"))
truth = [own + b - a for own, a, b in zip(theirs, before, after)]
(w,) = [a["waits"] for a in json.load(open("stats"))["accounting"]
        if "waits" in a]
print(how, n, w, "truth", truth)
for name, mine, kernel in (("running", w["running_ns"], truth[0]),
                           ("runnable", w["runnable_ns"], truth[1])):
    print("%s: %.3f ms, of the scheduler %.3f ms: %+.3f%%" %
          (name, mine / 1e6, kernel / 1e6, 100 * (mine / kernel - 1)))
print("switches: %d, of the scheduler %d; %d not reported" %
      (w["turns"], truth[2], w["gaps"]))
assert w["balances"] and w["threads"] == n + 1 and w["unkept"] == 0
for mine, kernel in ((w["running_ns"], truth[0]),
                     (w["runnable_ns"], truth[1])):
    assert abs(mine - kernel) <= .01 * kernel + w["gap_ns"] + \
        w["unwoken_ns"], (mine, kernel)
assert abs(w["turns"] - truth[2]) <= w["gaps"], (w["turns"], truth[2])
PY
	ok "$2 $1"
}

crowd_check threads 1000
crowd_check processes 10000
