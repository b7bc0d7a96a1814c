#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: flamegraph --lines has for each sample, in page and drawing, the
# functions and lines that addr2line names for its address and for the call of
# each caller, inlined functions too; without the file it has functions alone.
# Easy to get wrong: a return address is of the line after the call, and the
# line where something was inlined is not the line of what was inlined.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 addr2line nm objdump "${CC:=gcc}"
tmpdir
"$CC" -w -O2 -g -no-pie -Wl,--build-id -o hot "$SRC/tests/work/hot.c" ||
    fail "compiling"
# A perf.data with a sample at each instruction of work(), called by main().
cat >write.py <<'END'
import re, struct, subprocess, sys

def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout \
        .decode()

def record(kind, body, misc=2):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def text(s):
    return s.encode() + b"\0" * (8 - len(s) % 8)

path = sys.argv[1] + "/hot"
call = re.search(r"\tcall .*<work[.>].*\n +([0-9a-f]+):", run("objdump",
    "-d", "--disassemble=main", path))
code = [int(m, 16) for m in re.findall(r"(?m)^ +([0-9a-f]+):\t", run(
    "objdump", "-d", "--disassemble=" + sys.argv[2], path))]
back = int(call.group(1), 16)
build_id = bytes.fromhex(re.search(r"Build ID: (\w+)", run(
    "readelf", "-n", path)).group(1))
when = struct.pack("<IIQQ", 1, 1, 5, 1)
out = record(3, struct.pack("<II", 1, 1) + text("hot") + when)
out += record(10, struct.pack("<IIQQQBBH20sII", 1, 1, 0x400000, 0x100000, 0,
    len(build_id), 0, 0, build_id, 5, 2) + text(path) + when, 2 | 1 << 14)
for n, pc in enumerate(code):
    chain = (2**64 - 512, pc, back)
    out += record(9, struct.pack("<QIIQQQQ3Q", pc, 1, 1, 10 + n, 1, 1,
        len(chain), *chain))
attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1, 1 | 2 | 4 | 32 | 64 | 256, 0,
    1 << 18 | 1 << 34) + bytes(60) + struct.pack("<H", 4) + bytes(18)
with open("x.data", "wb") as f:
    f.write(b"PERFILE2" + struct.pack("<QQQQQQ", 104, 144, 104, 144, 256,
        len(out)) + bytes(48) + attr + struct.pack("<QQQ", 248, 8, 1) + out)
print(back, *code)
END
name=$(nm hot | sed -n 's/.* t \(work[.a-z0-9]*\)$/\1/p')
python3 write.py "$PWD" "$name" >places || fail "cannot write"
expect 0 "$DTPROF" import -q -o x.dtp x.data
expect 0 "$DTPROF" flamegraph --lines -o x.html x.dtp
expect 0 "$DTPROF" flamegraph --lines -o x.svg x.dtp
cat >check.py <<'END'
import collections, subprocess, sys
import xml.etree.ElementTree as tree
sys.path.insert(0, sys.argv[1] + "/tests/browser")
import page_data

def lines(pc):
    """Function and line, the outermost first."""
    text = subprocess.run(["addr2line", "-i", "-f", "-e", "hot", hex(pc)],
        stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")
    return tuple(zip(text[-3::-2], (at.split(" (")[0]
                                    for at in text[-2::-2])))

back, *code = map(int, open("places").read().split())
want = collections.Counter(lines(back - 1) + lines(pc) for pc in code)
head, names, _, kinds, stacks, cells = page_data.read("x.html")
# What the compiler adds to a name is no part of the source's.
got = collections.Counter()
for _, node, _, samples, _ in cells:
    got[tuple((names[label].split(".")[0], head["places"][label])
              for label in stacks[node][1:])] += samples
assert got == want, (list((got - want).items())[:2],
                     list((want - got).items())[:2])
assert any(kinds[label] & 16 for s in stacks for label in s), "none inlined"
inner = {stack[-1] for stack in want}
assert len({f for f, _ in inner}) == 2 and len(inner) > 4, inner
drawn = {tuple(t.text.split("\n")[:2]) for t in tree.parse("x.svg").getroot()
         .iter("{http://www.w3.org/2000/svg}title")}
drawn = {(name.split(".")[0], at) for name, at in (d for d in drawn
                                                   if len(d) == 2)}
assert inner <= drawn, inner - drawn
print("%d samples, %d stacks of lines" % (sum(got.values()), len(got)))
END
python3 check.py "$SRC" >said 2>&1 || fail "$(cat said)"
ok "$(cat said)"
mv hot gone
expect 0 "$DTPROF" flamegraph --lines -o without.html x.dtp
expect 0 "$DTPROF" flamegraph -o functions.html x.dtp
cmp without.html functions.html || fail "lines without the file"
expect 2 "$DTPROF" flamegraph --lines --base x.dtp x.dtp
ok "without the file there are functions, beside a base no lines"
