#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: However many program files were mapped, a new program's stacks are
# walked in the kernel by its tables.  The walk knows 8,192 files by number;
# where more were mapped, numbers go to those that are new, also where a
# process keeps thousands of others mapped.
#
# TIMEOUT: 600
#
# Easy to get wrong: it works for hours, and then nothing has stacks.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# Small programs, each with a build-id of its own, mapped one after the other:
# three of four at one place, the others stay.
cat >flood.py <<'END'
import mmap
import struct
import sys
import time

def program(n):
    note = struct.pack("<III4s20s", 4, 20, 3, b"GNU\0", b"%020d" % n)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0,
                         64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 4096, 4096, 4096)
    notes = struct.pack("<IIQQQQQQ", 4, 4, 176, 176, 176, len(note),
                        len(note), 4)
    return (header + load + notes + note).ljust(4096, b"\x90")

kept = []
for n in range(int(sys.argv[1])):
    with open("m%d" % n, "wb+") as file:
        file.write(program(n))
        file.flush()
        mapped = mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE,
                           prot=mmap.PROT_READ | mmap.PROT_EXEC)
    if n % 4 == 0:
        kept.append(mapped)
    else:
        mapped.close()
print("flooded", flush=True)
sys.stdin.readline()
END

mkfifo go
record_begin -a --comm spin -e cpu-clock -F 199 -o a.dtp
python3 flood.py 9000 <go >flooded &
flood=$!
kill_at_end "$flood"
exec 8>go
await "the flood" grep -q flooded flooded
# The first one's table is made while it runs.
"$work/spin" 500 >/dev/null
await "the recorder has read it all" "$DTPROF" mark --recorder "$recorder" again
"$work/spin" 2000 >/dev/null
record_end 0
"$DTPROF" report --stats --json a.dtp >s.json || fail "report"
py <<'END'
import json

j = json.load(open("s.json"))
info, names = j["recording"]["info"], j["symbols"]
copied, samples = int(info["snapshots.taken"]), names["samples"]
files = int(info["unwind.modules"])
assert files > 8600, "just %d files" % files
assert samples >= 100, "just %d samples" % samples
assert copied * 2 < samples, "%d of %d stacks had to be copied" % (
    copied, samples)
assert names["truncated"] * 50 <= names["user_stacks"], names["truncated"]
print("ok: %d files, then %d samples of a new program: %d by copies of stacks"
      % (files, samples, copied))
END
