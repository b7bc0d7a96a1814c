#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: spans of requests that interleave on one thread (asyncio) are
# paired by their key: as many as there were requests, each duration within the
# program's own clock, by rank; a sample counts for a request where it alone is
# open, and is ambiguous where several are, by a reader of the begins and ends.
#
# Easy to get wrong: the last begin taken for the first end; a key used again;
# the sample of a thread counted for the request that began last.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

cat >span.c <<'END'
void	span_begin(long);
void	span_end(long);

void
span_begin(long key)
{
	__asm__ volatile("" : : "r" (key));
}

void
span_end(long key)
{
	__asm__ volatile("" : : "r" (key));
}
END
compile -shared -fPIC -o span.so span.c || fail "no library"
cat >server.py <<'END'
import asyncio
import ctypes
import json
import random
import time

lib = ctypes.CDLL("./span.so")
clock = time.monotonic_ns
brackets = []


async def request(key):
    """Both calls between two looks at the clock."""
    begin = clock(), lib.span_begin(ctypes.c_long(key)), clock()
    for _ in range(3):
        await asyncio.sleep(random.uniform(0, 0.004))
        until = clock() + random.randrange(300000)
        while clock() < until:
            pass
    end = clock(), lib.span_end(ctypes.c_long(key)), clock()
    brackets.append((begin[0], begin[2], end[0], end[2]))


async def main():
    """Many at once, then some by themselves; keys are used again."""
    random.seed(7)
    for _ in range(4):
        await asyncio.gather(*map(request, range(20)))
    for key in range(10):
        await request(key)

asyncio.run(main())
print(json.dumps(brackets))
END
span=uprobe:$PWD/span.so:span_begin
expect 125 "$DTPROF" record -o no.dtp \
    --span "x=$span,uprobe:$PWD/span.so:span_end,key=arg0" -- touch ran
expect_err "hint: name the argument: $span/arg0/"
[ ! -e ran ] || fail "the command ran"
record 0 -o a.dtp -e cpu-clock -F 4999 \
    --span "request=$span/arg0/,uprobe:$PWD/span.so:span_end/arg0/,key=arg0" \
    -- python3 server.py
cp out said
expect 0 "$DTPROF" report --by span --json a.dtp
py <<'END'
import json
import recording as rec

said = json.load(open("said"))
span = json.load(open("out"))["spans"][0]
rec.check(span["count"] == len(said) and span["key"] == "arg0", "%r" % span)
rec.check(span["open"] == span["orphan"] == span["lost"] == 0, "%r" % span)
rec.check(sum(end[2] - end[1] for end in said) <= span["total_ns"] <=
          sum(end[3] - end[0] for end in said), "%r" % span)
for key, share in [("p50_ns", .5), ("p90_ns", .9), ("p99_ns", .99)]:
    rank = -int(-len(said) * share // 1) - 1
    least = sorted(end[2] - end[1] for end in said)[rank]
    most = sorted(end[3] - end[0] for end in said)[rank]
    rec.check(least <= span[key] <= most,
              "%s: %d <= %d <= %d" % (key, least, span[key], most))
rec.ok("%d requests, each by the clock of the program" % len(said))

alone = ambiguous = 0
begun = set()
last_ns, inside_ns, shared_ns = 0, 0, 0
for event in rec.samples("a.dtp", None, "-e", "*"):
    if event["event"] != "cpu-clock":
        inside_ns += bool(begun) * (event["time_ns"] - last_ns)
        shared_ns += (len(begun) > 1) * (event["time_ns"] - last_ns)
        last_ns = event["time_ns"]
    if event["event"] == "cpu-clock":
        alone += len(begun) == 1
        ambiguous += len(begun) > 1
    elif "begin" in event["event"]:
        begun.add(event["args"]["arg0"])
    else:
        begun.remove(event["args"]["arg0"])
rec.check((span["samples"], span["ambiguous"]) == (alone, ambiguous),
          "%r, not %d and %d" % (span, alone, ambiguous))
rec.check(alone > 0 and ambiguous > 0, "%d, %d" % (alone, ambiguous))
rec.check((span["inside_ns"], span["ambiguous_ns"]) == (inside_ns, shared_ns),
          "%r, not %d and %d" % (span, inside_ns, shared_ns))
rec.check(span["running_ns"] + span["not_running_ns"] ==
          inside_ns - shared_ns - span["difference_ns"] and
          span["running_ns"] > 0 and span["not_running_ns"] > 0, "%r" % span)
rec.ok("%d samples in one request, %d among several" % (alone, ambiguous))
END
