#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: sums, means, ends, quantiles and histograms of arguments are those
# of the raw stream that a recording of the same process has, and histograms
# by powers of 2 and in steps have the lines of bpftrace's hist() and lhist();
# intervals of -I add up to the total, in text and CSV.
#
# Easy to get wrong: edges of buckets, what lies outside of the steps, values
# that are negative, a table that is read while it grows.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd bpftrace
tmpdir

# Writes of many sizes, and reads that fail, after a line has come.
cat >writes.py <<'END'
import os
import random
import sys
import time

seed = int(sys.argv[1])
draw = random.Random(seed)
null = os.open("/dev/null", os.O_WRONLY)
open("there", "w").close()
with open("gate") as gate:
    gate.readline()
for n in range(3000):
    os.write(null, b"x" * int(2 ** draw.uniform(0, 17) - 1))
    if n % 100 == 0:
        time.sleep(0.01)
        try:
            os.read(null, 1)
        except OSError:
            pass
END

mkfifo gate
seed=$$
python3 writes.py $seed &
target=$!
kill_at_end $target
await "the program waits" test -e there
stat_begin a.json -p $target --json -e syscall:write --by fd --hist count \
    --sum count --avg ret --min ret --max ret
stat_begin b.json -p $target --json -e syscall:write \
    --hist count,lin=1000:9000:500
stat_begin hist.txt -p $target -e syscall:write --hist count
stat_begin lhist.txt -p $target -e syscall:write --hist count,lin=1000:9000:500
stat_begin c.json -p $target --json -e syscall:read --by fd --hist ret --sum ret
stat_begin i.csv -p $target --csv -I 50 -e syscall --by syscall
stat_begin i.txt -p $target -I 50 -e syscall --by syscall
record_begin -o a.dtp -e syscall:write -e syscall:read -p $target
cat >count.bt <<END
BEGIN { printf("ready\n"); }
tracepoint:syscalls:sys_enter_write /pid == $target/ {
	@h = hist(args->count);
	@l = lhist(args->count, 1000, 9000, 500);
}
END
bpftrace_begin count.bt theirs
echo go >gate
wait $target || fail "the program failed"
stats_wait
wait "$recorder" || fail "record: $(cat err)"
kill -INT "$bpftrace"
wait "$bpftrace"
py <<'END'
import collections
import csv
import json
import math
import re
import recording as rec

calls = rec.samples("a.dtp")
writes = [c for c in calls if c["syscall"] == "write"]
reads = [c for c in calls if c["syscall"] == "read"]
rec.check(len(writes) >= 3000 and any(c["ret"] < 0 for c in reads), "calls")


def load(path):
    out = json.load(open(path))
    rec.check(out["dropped_groups"] == 0 and out["accounting"][0]["missed"] ==
              0, "%r" % out["accounting"])
    return out["groups"]


def look(value, raw, has_steps=False):
    """A measure, against the values themselves."""
    rec.check(value["count"] == len(raw) and value["sum"] == sum(raw) and
              value["min"] == min(raw) and value["max"] == max(raw),
              "%r of %d values" % (value, len(raw)))
    if "buckets" not in value:
        return
    left = collections.Counter(raw)
    for bucket in value["buckets"]:
        inside = [v for v in left if bucket["low"] <= v <= bucket["high"]]
        rec.check(sum(left.pop(v) for v in inside) == bucket["count"],
                  "bucket %r" % bucket)
    rec.check(not left, "in no bucket: %r" % left)
    for name, share in (("p50", .5), ("p90", .9), ("p99", .99)):
        true = sorted(raw)[math.ceil(share * len(raw)) - 1]
        got = value["quantiles"][name]
        rec.check(has_steps or true <= got <= true + abs(true) * 0.032,
                  "%s is %d, not %d" % (name, got, true))


groups = {g["keys"]["fd"]: g for g in load("a.json")}
rec.check(set(groups) == {c["args"]["fd"] for c in writes}, "descriptors")
for fd, group in groups.items():
    count, ret = group["values"]
    rec.check((count["field"], ret["field"]) == ("count", "ret"), "fields")
    mine = [c for c in writes if c["args"]["fd"] == fd]
    look(count, [c["args"]["count"] for c in mine])
    look(ret, [c["ret"] for c in mine])
rec.ok("sum, ends, histogram, quantiles of %d writes, as recorded" %
       len(writes))
look(load("b.json")[0]["values"][0], [c["args"]["count"] for c in writes],
     True)
rec.ok("a histogram in steps, as recorded")
negative = 0
for group in load("c.json"):
    raw = [c["ret"] for c in reads if c["args"]["fd"] == group["keys"]["fd"]]
    look(group["values"][0], raw)
    negative += sum(v < 0 for v in raw)
rec.check(negative > 0, "no negative value")
rec.ok("%d negative values" % negative)

theirs = open("theirs").read().split("@l:")


def lines(text):
    return [(label.replace("-0", "0"), int(count)) for label, count in
            re.findall(r"^([\[(][^|]*?[\])]) +(\d+) \|", text, re.M)]


for name, path, text in (("hist()", "hist.txt", theirs[0]),
                         ("lhist()", "lhist.txt", theirs[1])):
    ours, other = lines(open(path).read()), lines(text)
    rec.check(len(ours) > 10 and ours == other, "%s: we %r, bpftrace %r" %
              (name, ours, other))
    rec.ok("%d lines as of bpftrace's %s" % (len(ours), name))

rows = list(csv.DictReader(open("i.csv")))
rec.check(len({r["time_s"] for r in rows}) >= 3, "intervals: %r" % rows)
of = collections.Counter()
for row in rows:
    rec.check(row["syscall"] and int(row["count"]) > 0 and
              float(row["p50"] or 0) <= float(row["max"] or 0), "%r" % row)
    of[row["syscall"]] += int(row["count"])
rec.check(of["write"] == len(writes) and of["read"] == len(reads),
          "%r" % of)
parts = re.split(r"\n\n(?=\S.*: \d+ system calls)", open("i.txt").read())
sums = collections.Counter()
for part in parts:
    for name, count in re.findall(r"^ (\w+) +(\d+) ", part, re.M):
        if part is parts[-1]:
            rec.check(sums[name] == int(count), "%s: %d, in all %s" %
                      (name, sums[name], count))
        else:
            sums[name] += int(count)
rec.check(len(parts) >= 4 and sums["write"] == len(writes), "%d" %
          len(parts))
rec.ok("%d intervals add up to the total" % (len(parts) - 1))
END

"$DTPROF" stat -q --csv -e sched:sched_process_exit,syscall:close --by comm \
    -- true >two.csv || fail "two events"
grep -q '^time_s,event,comm,count,errors,total,avg,' two.csv ||
    fail "columns: $(cat two.csv)"
ok "CSV has the columns of all events"

# A title is as long as its field.
deep=p.group_leader.real_parent.signal.nr_threads
expect 0 "$DTPROF" stat -e "sched:sched_process_exit/$deep/" --by comm \
    --max $deep --sort "max($deep)" -- true
expect_err "^ comm +count +max\\($deep\\)\$"
ok "a column of a long field is one to sort by"

expect 0 "$DTPROF" stat -o all.json --json -e syscall --by syscall -- true
expect 0 "$DTPROF" stat -o some.json --json -e syscall --by syscall \
    --limit 3 -- true
py <<'END'
import json
import recording as rec

all_, some = (json.load(open(name)) for name in ("all.json", "some.json"))
rec.check(all_["accounting"][0]["hidden_groups"] == 0 and
          len(some["groups"]) == 3 and 3 + some["accounting"][0]
          ["hidden_groups"] == len(all_["groups"]), "%r of %d groups" %
          (some["accounting"], len(all_["groups"])))
rec.ok("--limit hides all but 3 of %d groups, and says so" %
       len(all_["groups"]))
END

# What makes no sense is refused before anything runs.
for bad in "--hist ret,lin=1:2:3" "--hist ret,lin=5:1:1" "--sum nothing" \
    "--hist filename" "--by ret --sort nothing" "--by a,b,c,d,e" \
    "--by filename,filename" "--hist ret --hist ret" "--sum ret -I 10 --json" \
    "--hist duration,lin=-10:10:5"
do
	# shellcheck disable=SC2086 # words
	expect 125 "$DTPROF" stat -e syscall:openat $bad -- touch ran
	expect_err '^dtprof: hint: '
done
expect 125 "$DTPROF" stat -e syscall --hist ret,lin=0:10:4 -- touch ran
expect_err 'steps of 4 from 0 do not end at 10'
expect 125 "$DTPROF" stat -e syscall --hist ret,lin=0:1001:1 -- touch ran
expect_err 'more than 1000 steps of 1 from 0 to 1001'
expect 125 "$DTPROF" stat -e cpu-clock --by comm -- touch ran
expect_err 'only probes can be aggregated'
[ ! -e ran ] || fail "the command ran"
ok "what makes no sense is refused, with a hint, before the command runs"
