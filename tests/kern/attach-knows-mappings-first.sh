#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Attached to a running process, the recording holds every
# executable mapping that the process has, before its first sample; and one
# that comes later, when it comes.
#
# Easy to get wrong: the mappings are read from /proc while the process goes
# on mapping, and samples may already arrive.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

cat >target.py <<'END'
import ctypes, json, sys, zlib, bz2, lzma
print("ready", flush=True)
sys.stdin.read()
import _ctypes, decimal, _decimal
for i in range(300):
    json.dumps(list(range(1000)))
print("done", getattr(_decimal, "__file__", ""), flush=True)
END
mkfifo go
python3 target.py <go >target.out &
target=$!
kill_at_end "$target"
exec 9>go
await "it is ready" grep -q ready target.out
cp "/proc/$target/maps" maps
record_begin -o a.dtp -p "$target" -e cpu-clock -c 100000
exec 9>&-
wait "$target" || fail "the target"
record_wait 0
py "$target" <<'END'
import sys
import recording as rec

pid = int(sys.argv[1])
wanted = {}
for line in open("maps"):
    fields = line.split(None, 5)
    if "x" in fields[1] and len(fields) == 6 and fields[5][0] == "/":
        start, end = (int(x, 16) for x in fields[0].split("-"))
        wanted[start, end - start] = (int(fields[2], 16),
                                      fields[5].rstrip("\n"))
rec.check(len(wanted) >= 4, "the target maps %d files" % len(wanted))
samples = later = 0
seen = set()
every = rec.in_order("a.dtp")
for r in every:
    if r["type"] == "mmap" and r["pid"] == pid:
        place = (int(r["addr"], 16), r["len"])
        if samples == 0 and place in wanted:
            rec.check((r["offset"], r["path"]) == wanted[place], "%r" % r)
            rec.check(r.get("build_id"), "no build-id: %r" % r)
            seen.add(place)
        later += "_decimal" in r["path"]
    elif r["type"] == "sample" and r["pid"] == pid:
        samples += 1
missing = [wanted[p] for p in wanted if p not in seen]
rec.check(samples > 0, "no sample")
rec.check(not missing, "not there before the first sample: %r" % missing)
own_file = open("target.out").read().strip().endswith(".so")
rec.check(later == own_file, "what was loaded later is there %d times" % later)
rec.ok("%d mappings, all of them before the first of %d samples; one that "
       "came later too" % (len(wanted), samples))
END
