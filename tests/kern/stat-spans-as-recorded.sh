#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: stat --span counts and times spans while they happen: as many as
# a program counts and as report --by span has of a recording of it, each
# within the program's own clock, quantiles within a bucket; intervals add up
# to the whole; counters of --with count in spans alone, as the program's own
# page faults; with a full ring no span has a duration that is not its own.
#
# Easy to get wrong: a loss that is told after what it touches; spans that go
# on from one interval to the next; what a thread counts between spans.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# Spans of some time and some page faults each, by its own clock and counts.
cat >spans.py <<'END'
import json, mmap, os, resource, sys, time
def faults():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
own = {"ns": [], "faults": 0}
os.getuid()
for n in range(int(sys.argv[1])):
    pages = 1 + n % 7
    memory = mmap.mmap(-1, 4096 * pages)
    outside = mmap.mmap(-1, 4096 * 9)
    begin, before = time.monotonic_ns(), faults()
    os.getppid()
    for page in range(pages):
        memory[4096 * page] = 1
    if n % 10 == 0:
        time.sleep(0.002)
    os.getuid()
    own["faults"] += faults() - before
    own["ns"].append(time.monotonic_ns() - begin)
    for page in range(9):
        outside[4096 * page] = 1
    memory.close()
    outside.close()
os.getppid()	# open
json.dump(own, open("own", "w"))
END
span=r=syscall:getppid:entry,syscall:getuid:entry

expect 0 "$DTPROF" stat -o a.json --json --span "$span" --with page-faults \
    -- python3 spans.py 500
mv own a.own
record 0 -o b.dtp -e cpu-clock --span "$span" -- python3 spans.py 500
mv own b.own
expect 0 "$DTPROF" report --by span --json b.dtp
cp out b.json
py <<'END'
import json
import recording as rec

stat = json.load(open("a.json"))
span, = stat["spans"]
report, = json.load(open("b.json"))["spans"]
own = json.load(open("a.own"))
theirs = json.load(open("b.own"))
for key in ("name", "key", "count", "open", "lost", "lost_begins", "lost_ends",
            "unpaired_begins", "unpaired_ends", "missed", "late"):
    rec.check(span[key] == report[key], "%s: %r, %r" % (key, span, report))
rec.check(span["count"] == len(own["ns"]) == 500 and span["open"] == 1,
          "%r" % span)
rec.check(span["orphan"] == report["orphan"] >= 1, "%r" % span)
rec.ok("500 spans, 1 open, as the program made and report has them")

for said, clock, slack in ((span, own, 32 / 31), (report, theirs, 1)):
    ns = sorted(clock["ns"])
    rec.check(said["total_ns"] <= sum(ns), "%r" % said)
    for key, rank in (("p50_ns", 250), ("p90_ns", 450), ("p99_ns", 495),
                      ("max_ns", 500)):
        rec.check(said[key] <= ns[rank - 1] * slack, "%s: %r, %d" % (
            key, said, ns[rank - 1]))
    rec.check(said["total_ns"] > 0.5 * sum(ns), "%r, %d" % (said, sum(ns)))
    rec.check(said["max_ns"] >= 2000000, "%r" % said)
rec.ok("none longer than by the program's own clock")

counted, = stat["span_counters"]
rec.check(counted["span"] == "r" and counted["counter"] == "page-faults" and
          counted["spans"] == 500, "%r" % counted)
rec.check(0 <= own["faults"] - counted["count"] <= 5 and
          counted["count"] >= 500 * 4 * 0.99, "%r, %d" % (
              counted, own["faults"]))
rec.ok("%d page faults in spans, %d by the program's count; those outside "
       "are not in it" % (counted["count"], own["faults"]))
END

# Beside what the kernel aggregates, and in intervals.
expect 0 "$DTPROF" stat -o c.csv --csv -I 100 --span "$span" \
    -- python3 spans.py 500
expect 0 "$DTPROF" stat -o d.json --json -e syscall:getppid --by syscall \
    --span "$span" -- python3 spans.py 50
py <<'END'
import csv
import json
import recording as rec

rows = list(csv.DictReader(open("c.csv")))
rec.check(len(rows) > 1 and sum(int(r["count"]) for r in rows) == 500 and
          rows[-1]["open"] == "1", "%r" % rows)
rec.ok("%d intervals add up" % len(rows))
both = json.load(open("d.json"))
rec.check(both["spans"][0]["count"] == 50 and
          both["groups"][0]["count"] == 51, "%r" % both)
rec.ok("with groups of the kernel at once")
END

# The reader stops for as long as more happens than the ring of a CPU holds.
cat >storm.py <<'END'
import os, signal, time
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
reader = os.getppid()
os.getuid()
begin = time.monotonic_ns()
for n in range(400000):
    if n == 100000:
        os.kill(reader, signal.SIGSTOP)
    if n == 350000:
        os.kill(reader, signal.SIGCONT)
    os.getppid()
    os.getuid()
open("own", "w").write(str(time.monotonic_ns() - begin))
END
expect 0 "$DTPROF" stat -o e.json --json --span "$span" -- python3 storm.py
py <<'END'
import json
import recording as rec

span, = json.load(open("e.json"))["spans"]
rec.check(span["count"] + span["open"] + span["unpaired_begins"] +
          span["lost_begins"] == 400001, "%r" % span)
rec.check(0 < span["count"] < 400000 and span["lost_begins"] > 0 and
          span["lost"] == span["lost_begins"] + span["unpaired_begins"],
          "%r" % span)
# They follow each other, so wrong pairs would take more in sum.
rec.check(span["total_ns"] < int(open("own").read()), "%r" % span)
rec.ok("400001 begins: %d spans, %d lost, %d beside a loss" % (
    span["count"], span["lost_begins"], span["unpaired_begins"]))
END

refused()	# text argument ...
{
	refused_text=$1
	shift
	expect 125 "$DTPROF" stat "$@" -- true
	grep -q -e "$refused_text" err || fail "$*: $(cat err)"
}
refused "--with counts in spans" --with page-faults
refused "cannot be counted as well" -e syscall:getppid:entry --span "$span"
refused "either spans or events" --csv -e syscall --span "$span"
refused "exclude each other" --json -I 100 --span "$span"
refused "cannot be used with -r" -r 2 --span "$span"
refused "a span is a pair of events" -e span:r --span "$span"
refused "END is missing" --span a=sched:sched_switch
expect 1 "$DTPROF" report -e span:r b.dtp
grep -q "filter 'span == \"r\"'" err || fail "report -e span:r: $(cat err)"
expect 0 "$DTPROF" report --filter 'span == "r"' b.dtp
ok "what cannot be is refused, with a cure that works"
