#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the share without a name is that of samples whose innermost
# function has none, however the stacks are shown: by function or by line,
# from the root or reversed.
# Easy to get wrong: reversed, a path ends with the outermost caller; a line
# is no function, but has one.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 nm readelf
tmpdir
cat >work.c <<'END'
int main(void) { return (0); }
END
${CC:-cc} -g -O1 -Wl,--build-id -o work work.c || fail cc
cat >write.py <<'END'
import os, struct, subprocess, sys

IP, TID, TIME, CHAIN, PERIOD, USER = 1, 2, 4, 32, 256, 2**64 - 512
MMAP2, SAMPLE, BY_BUILD_ID, SAMPLE_ID_ALL = 10, 9, 1 << 14, 1 << 18
BASE, NOWHERE = 0x10000000, 0x1234

def said(*command):
    return subprocess.check_output(command, text=True).splitlines()

path = os.path.realpath("work")
main = next(int(line.split()[0], 16) for line in said("nm", path)
            if line.endswith(" T main"))
load = next(line.split() for line in said("readelf", "-lW", path)
            if "LOAD" in line and "R E" in line)
offset, address = int(load[1], 16), int(load[2], 16)
build_id = bytes.fromhex(next(line.split()[-1] for line in said(
    "readelf", "-n", path) if "Build ID" in line))
pc = BASE + main - address + offset

def record(kind, body, misc):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def sample(time, *chain):
    return record(SAMPLE, struct.pack("<QIIQQ%dQ" % (2 + len(chain)),
                  chain[0], 1, 1, time, 1, 1 + len(chain), USER, *chain), 2)

name = path.encode() + bytes(8 - len(path) % 8)
records = record(MMAP2, struct.pack("<IIQQQB3x20sII", 1, 1, BASE, 1 << 20, 0,
                 len(build_id), build_id, 5, 2) + name +
                 struct.pack("<IIQ", 1, 1, 1), 2 | BY_BUILD_ID)
# Of four one has no name, and of three the caller has none.
records += sample(2, NOWHERE, pc) + b"".join(
    sample(3 + n, pc, NOWHERE) for n in range(3))
attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1, IP | TID | TIME | PERIOD | CHAIN,
                   0, SAMPLE_ID_ALL) + bytes(80)
begin = 104 + 144
with open("x.data", "wb") as f:
    f.write(b"PERFILE2" + struct.pack("<QQQQQQ", 104, 144, 104, 144, begin,
            len(records)) + bytes(48) + attr + bytes(16) + records)
END
python3 write.py || fail "cannot write"
expect 0 "$DTPROF" import -o x.dtp x.data
expect 0 "$DTPROF" report x.dtp
grep -q '25.0 % without a name' out err || fail "a report: $(cat out err)"
for how in '' --lines --reverse '--reverse --lines'; do
	# shellcheck disable=SC2086 # several options
	expect 0 "$DTPROF" flamegraph $how -o x.svg x.dtp
	grep -q '25\.0 % without a name' x.svg ||
	    fail "flamegraph $how: $(grep -o '[0-9.]* % without' x.svg)"
done
grep -q 'work\.c:1' x.svg || fail "no lines in it"
ok "the same share however stacks are shown"
