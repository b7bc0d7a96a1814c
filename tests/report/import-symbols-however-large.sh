#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a kernel's symbol in perf.data has the time that stands behind
# its name, whatever follows there.
# Easy to get wrong: where several recorders want it the kernel makes the
# record larger, and what is at its end is what was in the ring.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 nm readelf
tmpdir
echo 'int main(void) { return (0); }' >work.c
${CC:-cc} -O1 -Wl,--build-id -o work work.c || fail cc
PYTHONPATH=$SRC/tests/report python3 - <<'END' || fail "cannot write"
import struct
from perfdata import Program, record

def symbol(n, behind):
    name = b"bpf_prog_%d" % n
    return record(17, struct.pack("<QIHH", 0xffffffffc0000000 + n, 64, 1, 0) +
                  name + bytes(8 - len(name) % 8) +
                  struct.pack("<IIQ", 1, 1, 1000 + n) + behind, 0)

Program("work").write("x.data", [[("main", 0)]] * 3,
    symbol(1, b"") + symbol(2, b"\xee" * 16) + symbol(3, bytes(32)) +
    symbol(12345678, b"\1" * 64))
END
expect 0 "$DTPROF" import -o x.dtp x.data
expect 0 "$DTPROF" script --show all --json x.dtp
python3 - <<'END' || fail "see above"
import json
got = {r["path"]: r["time_ns"] for r in map(json.loads, open("out"))
       if r["type"] == "ksymbol"}
assert got == {"bpf_prog_%d" % n: 1000 + n for n in (1, 2, 3, 12345678)}, got
print("ok: %d symbols, each at its time" % len(got))
END
