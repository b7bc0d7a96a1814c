#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: --filter by span and span.duration chooses exactly the samples
# whose thread was in such a span, by the begins and ends in the recording and
# a reader of its own: name, times, quantiles, and expressions of both.  The
# function that makes requests slow is in the slow ones alone.
#
# Easy to get wrong: threads beside each other; samples between requests;
# quantiles of samples instead of spans; spans of two kinds in each other.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

record 0 -o a.dtp -e cpu-clock -F 4999 \
    --span request=syscall:getppid:entry,syscall:getuid:entry \
    --span between=syscall:getuid:entry,syscall:getppid:entry \
    -- "$work/requests" 3000 20 7 3
cp out said
expect 0 "$DTPROF" report --by span --json a.dtp
cp out spans
py <<'END'
import collections
import json
import math
import recording as rec

spans = {s["name"]: s for s in json.load(open("spans"))["spans"]}
said = json.load(open("said"))
rec.check(spans["request"]["count"] == said["count"], "%r" % spans)

# By thread, from the events themselves.
events = rec.samples("a.dtp", None, "-e", "*")
begun, times = {}, {"request": collections.defaultdict(list),
                    "between": collections.defaultdict(list)}
for event in events:
    if event["event"] == "cpu-clock":
        continue
    starts = "getppid" in event["event"]
    name = "between" if starts else "request"
    if event["tid"] in begun:
        times[name][event["tid"]].append((begun[event["tid"]],
                                          event["time_ns"]))
    begun[event["tid"]] = event["time_ns"]


def quantile(name, share):
    all_ns = sorted(e - b for t in times[name].values() for b, e in t)
    return all_ns[math.ceil(len(all_ns) * share) - 1]


for name in times:
    for key, share in [("p50_ns", .5), ("p90_ns", .9), ("p99_ns", .99)]:
        rec.check(spans[name][key] == quantile(name, share),
                  "%s of %s: %d, not %d" % (key, name, spans[name][key],
                                            quantile(name, share)))


def within(sample, name, holds):
    return any(b <= sample["time_ns"] < e and holds(e - b)
               for b, e in times[name][sample["tid"]])


clock = [e for e in events if e["event"] == "cpu-clock"]


def either(name, holds):
    return lambda s: within(s, name, holds)


p50, p90 = quantile("request", .5), quantile("request", .9)
for text, holds in [
        ('span == "request"', either("request", lambda ns: True)),
        ('span == "between"', either("between", lambda ns: True)),
        ('span == "request" && span.duration <= p50',
         either("request", lambda ns: ns <= p50)),
        ('span == "request" && span.duration > p90 && pid > 0',
         either("request", lambda ns: ns > p90)),
        ('span == "request" && span.duration >= 300us',
         either("request", lambda ns: ns >= 300000)),
        ('!(span.duration > 0)', lambda s: not
         within(s, "request", lambda ns: True) and not
         within(s, "between", lambda ns: True))]:
    want = sum(holds(s) for s in clock)
    report = json.loads(rec.run("report", "--json", "--filter", text,
                                "a.dtp"))
    got = report["quality_by_event"][0]["samples"]
    rec.check(got == want, "%s: %d samples, not %d" % (text, got, want))
    rec.ok("%s: %d of %d samples" % (text, got, len(clock)))

own = spans["request"]["samples"]
rec.check(own == sum(either("request", lambda ns: True)(s) for s in clock),
          "%d samples in requests" % own)
rec.check(spans["request"]["ambiguous"] == 0, "%r" % spans["request"])


def share(text):
    report = json.loads(rec.run("report", "--json", "--filter", text,
                                "a.dtp"))
    return sum(f["self_share"] for f in report["functions"]
               if f["name"] == "slow_path")


rec.check(share('span == "request" && span.duration <= p50') == 0,
          "slow_path in fast requests")
rec.check(share('span == "request" && span.duration > p90') > 0.1,
          "slow_path in slow requests")
rec.ok("slow_path is in slow requests alone")
END
expect 0 "$DTPROF" flamegraph --filter 'span.duration > p90' -o a.svg a.dtp
grep -q slow_path a.svg || fail "no slow_path in the flame graph"
samples()	# filter
{
	"$DTPROF" report --json --filter "$1" a.dtp | python3 -c 'import json
import sys
print(json.load(sys.stdin)["quality_by_event"][0]["samples"])'
}
fast=$(samples 'span.duration <= p50')
slow=$(samples 'span.duration > p90')
expect 0 "$DTPROF" flamegraph --base-filter 'span.duration <= p50' \
    --filter 'span.duration > p90' -o b.svg a.dtp
grep -q '<title>a.dtp, span.duration .* against a.dtp, span.duration' b.svg ||
    fail "title: $(grep -m1 '<title>' b.svg)"
grep -q "base 1 run of .*, $fast samples; new 1 run of .*, $slow samples" err ||
    fail "not $fast and $slow samples: $(cat err)"
ok "the difference of slow and fast requests has the samples of each"
expect 1 "$DTPROF" report --filter 'span == "none"' a.dtp
grep -q "has no span 'none'" err || fail "$(cat err)"
expect 1 "$DTPROF" report --filter 'span.duration > p75' a.dtp
grep -q 'p50, p90 or p99' err || fail "$(cat err)"
expect 1 "$DTPROF" script --filter 'span == "request"' a.dtp
grep -q 'the recording has no spans' err || fail "$(cat err)"
record 0 -o c.dtp -e cpu-clock -F 4999 \
    --span request=syscall:getppid:entry,syscall:getuid:entry \
    --span between=syscall:getuid:entry,syscall:getppid:entry \
    -- "$work/requests" 100 20 7
expect 0 "$DTPROF" merge -o m.dtp a.dtp c.dtp
expect 1 "$DTPROF" report --by span m.dtp
grep -q 'one at a time' err || fail "$(cat err)"
expect 1 "$DTPROF" report --filter 'span == "request"' m.dtp
grep -q 'one at a time' err || fail "$(cat err)"
# The slashes of a file begin no settings, in which commas are no ends.
"$DTPROF" record --span 's=u:/a:f,ur:./b:g,cpu-clock,cpu-clock' -o no.dtp -- \
    true 2>err && fail "a span of four parts"
grep -q 'too many parts' err || fail "$(cat err)"
ok "the flame graph of slow requests, and what is refused"
