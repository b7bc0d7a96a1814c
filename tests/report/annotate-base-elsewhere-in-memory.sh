#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: annotate --base shows the same rows with the same instructions
# wherever either side had the program in memory, and whichever side has the
# first of the places.
# Easy to get wrong: a place of the base looked up in what the new side mapped;
# without address randomisation, both have all at the same address.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 objdump readelf "${CC:=gcc}"
tmpdir
"$CC" -w -O2 -g -no-pie -Wl,--build-id -o hot "$SRC/tests/work/hot.c" ||
    fail "compiling"
# perf.data with three samples at each instruction of work, but the first.
cat >write.py <<'END'
import os, re, struct, subprocess, sys

def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout

def record(kind, body, misc=2):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def text(s):
    return s + b"\0" * (8 - len(s) % 8)

name, at, skip = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3])
path = os.path.realpath("hot").encode()
code = [int(m, 16) for m in re.findall(rb"(?m)^ +([0-9a-f]+):\t", run(
    "objdump", "-d", "--disassemble=work", path))][skip:]
assert len(code) > 10, code
build_id = bytes.fromhex(re.search(rb"Build ID: (\w+)", run(
    "readelf", "-n", path)).group(1).decode())
when = struct.pack("<IIQQ", 1, 1, 5, 1)
out = record(3, struct.pack("<II", 1, 1) + text(b"hot") + when)
out += record(10, struct.pack("<IIQQQBBH20sII", 1, 1, at, 0x100000, 0,
    len(build_id), 0, 0, build_id, 5, 2) + text(path) + when, 2 | 1 << 14)
for n, pc in enumerate(3 * code):
    pc += at - 0x400000
    out += record(9, struct.pack("<QIIQQQQ2Q", pc, 1, 1, 10 + n, 1, 1, 2,
        2**64 - 512, pc))
attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1, 1 | 2 | 4 | 32 | 64 | 256, 0,
    1 << 18) + bytes(60) + struct.pack("<H", 4) + bytes(18)
with open(name + ".data", "wb") as f:
    f.write(b"PERFILE2" + struct.pack("<QQQQQQ", 104, 144, 104, 144, 256,
        len(out)) + bytes(48) + attr + struct.pack("<QQQ", 248, 8, 1) + out)
END
for side in 'new 400000 4' 'here 400000 0' 'elsewhere 500000 0'; do
	# shellcheck disable=SC2086 # a name and two numbers
	python3 write.py $side || fail "writing"
	expect 0 "$DTPROF" import -q -o "${side%% *}.dtp" "${side%% *}.data"
done
rows()		# base new
{
	expect 0 "$DTPROF" annotate --json --base "$1.dtp" work "$2.dtp"
	json out '"\n".join(map(str, j["rows"]))'
}
rows here new >wanted
rows elsewhere new >got
n=$(grep -c "'code'.*'text'" wanted)
[ "$n" -gt 10 ] || fail "instructions: $(cat wanted)"
cmp wanted got || fail "a base elsewhere: $(diff wanted got | head -n 4)"
rows new here >wanted
rows new elsewhere >got
cmp wanted got || fail "what is new elsewhere: $(diff wanted got | head -n 4)"
ok "$n instructions, wherever they lay"
