#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of one and the same perf.data each frame has the name that perf
# script gives it, user's and kernel's, or another name of the same function;
# where they differ it is of a kind that is known and listed below.
#
# Easy to get wrong: which of the tables of a file counts, where a function
# without a size ends, what an address of a shared library means; and whether
# the kernel is the one that was recorded, which depends on perf's options.
#
#	another name	the function begins at the same place
#	last call	perf looks up where a call returns to: the
#			next function, when the call was the last
#	only ours	stubs of the PLT, which perf may not name; BPF
#			programs, which come and go
#	only perf's	where an exec has just thrown away what was mapped
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd perf python3 git g++ perl
need_perf
tmpdir
seed=${SEED:-$(date +%s)}
echo "# seed $seed"
cat >work.py <<'END'
import random
import subprocess
import sys

PYTHON = """
import json, re, zlib
for n in range(12):
    t = json.dumps([{"a": i, "b": str(i)} for i in range(2000)])
    json.loads(t); re.findall(r"(\\d+)", t); zlib.compress(t.encode())
"""
PERL = "my %s; $s{$_ * 7919 % 1009}++ for 1 .. 200000; print scalar keys %s"
work = [
    (["python3", "-c", PYTHON], None),
    (["g++", "-O2", "-x", "c++", "-c", "-o", "/dev/null", "-"],
     b"#include <map>\n#include <string>\nint main() { return 0; }\n"),
    (["git", "-C", sys.argv[2], "grep", "-c", "return"], None),
    (["perl", "-e", PERL], None),
    (["ls", "-lR", "/usr/lib/python3"], None),
]
random.Random(int(sys.argv[1])).shuffle(work)
for words, text in work:
    subprocess.run(words, input=text, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
END
rate=$((2000 + seed % 1000))
# perf 6.1 may crash when it looks for build-ids at the end.
for ids in "" "" --buildid-mmap; do
	# shellcheck disable=SC2086 # an option or none
	perf record -q -o plain.data $ids -e cpu-clock -F $rate -g -- \
	    python3 work.py "$seed" "$SRC" >out 2>&1 && break
done
perf record -q -o ids.data --buildid-mmap -e cpu-clock -F $rate -g -- \
    python3 work.py "$seed" "$SRC" >out 2>&1 || fail "perf: $(cat out)"
cat >compare.py <<'END'
import collections
import json
import re
import sys

head = re.compile(r"\s*(\d+)\s+(\d+)\.(\d{9}):")
frame = re.compile(r"\s*([0-9a-f]+) (.*) \((.*)\)$")
symbol = re.compile(r"(.*)\+0x([0-9a-f]+)$")
wanted, now = {}, []
for line in open("perf.txt", errors="replace"):
    m = head.match(line)
    if m:
        now = wanted[int(m[1]), int(m[2]) * 10**9 + int(m[3])] = []
        continue
    m = frame.match(line)
    if m:
        s = symbol.match(m[2])
        now.append((int(m[1], 16), s[1] if s else None,
                    int(s[2], 16) if s else None, m[3]))
kinds, strange, samples, kernel = collections.Counter(), [], 0, 0
for line in open("ours.json"):
    r = json.loads(line)
    if r["type"] != "sample":
        continue
    ours = [(int(pc, 16), f) for side in ("kernel", "user") for pc, f in
            zip(r.get(side) or [], r.get(side + "_frames") or [])]
    theirs = wanted.get((r["tid"], r["time_ns"]), [])
    samples += bool(theirs)
    for n, ((pc, f), (ip, name, off, dso)) in enumerate(zip(ours, theirs)):
        if (pc - ip) % 4096 != 0:
            kinds["another frame"] += 1
            break
        if f["function"] == name:
            kind = "same" if name else "none has one"
            kernel += bool(name) and dso.startswith("[kernel")
        elif name is None:
            kind = "only ours"
            if not f["function"].endswith("@plt") and f["module"] != "[bpf]":
                strange.append((kind, dso, hex(ip), f))
        elif n > 0 and off == 0:
            kind = "last call"
        elif f["function"] is None:
            kind = "only perf's"
            if "exec" not in name:
                strange.append((kind, dso, name, off))
        elif f["offset"] == off:
            kind = "another name"
        else:
            kind = "different"
            strange.append((kind, dso, name, off, f))
        kinds[kind] += 1
said = ", ".join("%s %d" % pair for pair in sorted(kinds.items()))
for s in strange[:10]:
    print(*s)
total = sum(kinds.values())
# Without the kernel's frames, few that a bare machine has names for are left.
least = int(sys.argv[1])
if kinds["different"] or len(strange) * 200 > total or samples < 100 or \
        kinds["another frame"] * 200 > total or \
        kinds["same"] < 100 + 8 * least or kernel < least:
    sys.exit("%d samples: %s; %d of the kernel" % (samples, said, kernel))
print("%d samples: %s" % (samples, said))
END
least=0
[ "$(sed -n 's/^\([0-9a-f]*\) . _stext$/\1/p' /proc/kallsyms | tr -d 0)" ] &&
    least=50
for name in plain ids; do
	python3 "$SRC/tests/interop/perf_script.py" -i $name.data --no-inline \
	    --ns -F tid,time,ip,sym,symoff,dso \
	    >perf.txt 2>/dev/null || fail "perf script"
	"$DTPROF" import -q -o $name.dtp $name.data || fail "import"
	"$DTPROF" script --json --show samples $name.dtp >ours.json \
	    2>/dev/null || fail "script"
	python3 compare.py $least >said 2>&1 || {
		cat said
		fail "$name: names differ"
	}
	cat said
	ok "$name"
done
