#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of BPF programs that come and go while two recordings are made
# of everything, both have each at its time.
#
# Easy to get wrong: the kernel makes the record of such a symbol larger for
# each further event that wants it, and behind it stands what was in the ring.
# Read from its end, its time is 0 or ages away, and nothing that comes after
# is read before that time: no more mappings, so no names.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

record_begin -o a.dtp -a -F 99 -e cpu-clock
first=$recorder
record_begin -o b.dtp -a -F 99 -e cpu-clock
second=$recorder
for _ in 1 2 3 4; do
	"$DTPROF" record -q -o c.dtp -e cpu-clock -- true || fail "a third"
done
recorder=$first
record_end 0
recorder=$second
record_end 0
for name in a b; do
	expect 0 "$DTPROF" script --show all --json --no-symbols $name.dtp
	mv out $name.json
done
python3 - <<'END' || fail "see above"
import collections, json, os

def records(path):
    with open(path) as file:
        return [json.loads(line) for line in file]

both = [records("a.json"), records("b.json")]
begin = max(r["time_ns"] for rs in both for r in rs if r["type"] == "start")
end = min(r["time_ns"] for rs in both for r in rs if r["type"] == "stop")
seen = []
for rs in both:
    stop = next(r["time_ns"] for r in rs if r["type"] == "stop")
    code = [r for r in rs if r["type"] == "ksymbol"]
    odd = [r for r in code if r["cpu"] >= os.cpu_count() or
           not 0 < r["time_ns"] < stop + 10**9]
    assert not odd, odd[:3]
    seen.append(collections.Counter((r["path"], r["addr"], r["len"])
        for r in code if begin < r["time_ns"] < end))
assert seen[0] == seen[1], (seen[0] - seen[1], seen[1] - seen[0])
assert sum(seen[0].values()) >= 40, seen[0]
print("ok: %d comings and goings, the same in both" % sum(seen[0].values()))
END
