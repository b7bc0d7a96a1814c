#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: strict receivers take what export --format pprof writes: each id is
# the place in its table, from 1; mappings have the ranges and offsets that
# were recorded and do not overlap, also where two programs had the same
# addresses; a location's address was sampled, and is in its function; all by
# a reader of the message that takes nothing else.  A file in which one of the
# rules is broken does not pass.
# Easy to get wrong: go tool pprof minds none of this, and of two processes
# one must be shown where it was not.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 nm
need_perf
tmpdir
rules=$SRC/tests/interop/pprof_rules.py
n=0
for file in "$SRC/doc/demo.dtp" "$SRC/tests/report/known.dtp" \
    "$SRC/tests/report/hostile.dtp"; do
	for how in --weight=auto --inline --lines; do
		expect 0 "$DTPROF" export --format pprof "$how" -o x.pb.gz \
		    "$file"
		strict_pprof x.pb.gz
		n=$((n + 1))
	done
done
printf 'a;b \xff;c 3\na;d 1\n' >x.folded
expect 0 "$DTPROF" import -q -o folded.dtp x.folded
expect 0 "$DTPROF" import -q -o pprof.dtp x.pb.gz
for file in folded pprof; do
	expect 0 "$DTPROF" export --format pprof -o $file.pb.gz $file.dtp
	strict_pprof $file.pb.gz
	n=$((n + 1))
done
ok "$n exports keep the rules"

# Two programs at one address, of which neither has moved by itself.
cat >spin.c <<'END2'
#include <time.h>
volatile long n;
static void __attribute__((noinline)) NAME(void)
{
	for (int i = 0; i < 1000000; i++)
		n += i;
}
int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;
	while (clock() < end)
		NAME();
	return (0);
}
END2
for name in first second; do
	${CC:-cc} -O1 -no-pie -fno-pie -DNAME=$name -Wl,--build-id \
	    -o $name spin.c || fail cc
done
expect 0 "$DTPROF" record -q -e cpu-clock -o two.dtp -- \
    sh -c './first; ./second'
expect 0 "$DTPROF" export --format pprof -o two.pb.gz two.dtp
strict_pprof two.pb.gz
python3 "$rules" --print two.pb.gz >two.txt
nm first second >nm.txt
cat >check.py <<'END2'
import re
maps, seen, symbols = {}, {}, {}
for line in open("nm.txt"):
    if line.rstrip().endswith(":"):
        program = line.rstrip()[:-1]
    elif re.search(" [tT] (first|second|main)$", line):
        symbols[program, line.split()[2]] = int(line.split()[0], 16)
for line in open("two.txt"):
    word = line.split()
    if word[0] == "mapping":
        maps[word[1]] = [int(w, 16) for w in word[2:5]] + [word[5]]
    elif word[4:] and word[4] in ("first", "second"):
        start, limit, offset, path = maps[word[2]]
        program = path.split("/")[-1]
        assert program == word[4], (program, word[4])
        # The text of a program for a fixed address begins at 0x400000.
        address = int(word[3], 16) - start + offset + 0x400000
        begin = symbols[program, word[4]]
        assert begin <= address < begin + 80, (line, hex(begin))
        seen.setdefault(word[4], set()).add(address)
        if start - offset == 0x400000:
            seen["real"] = program
assert len(seen["first"]) > 1 and len(seen["second"]) > 1, seen
assert seen["real"] in ("first", "second"), seen
print("%d and %d places" % (len(seen["first"]), len(seen["second"])))
END2
python3 check.py >said 2>&1 || fail "$(cat said two.txt)"
ok "two programs at one address do not overlap: $(cat said)"

cat >break.py <<'END2'
import gzip, sys
sys.path.insert(0, sys.argv[1])
from pprof_rules import fields
def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def put(parts):
    out = b""
    for f, v in parts:
        out += varint(f << 3) + varint(v) if isinstance(v, int) else \
            varint(f << 3 | 2) + varint(len(v)) + v
    return out
data = gzip.open("two.pb.gz").read()
def change(name, field, inner, value, which=0):
    parts, n = list(fields(data)), 0
    for i, (f, v) in enumerate(parts):
        if f == field:
            if n == which:
                parts[i] = (f, value if inner is None else put(
                    [(a, value if a == inner else b)
                     for a, b in fields(v)]))
            n += 1
    gzip.open(name, "wb").write(put(parts))
change("same", 99, None, 0)
for field, what in (3, "mapping"), (4, "location"), (5, "function"):
    change(what + "-id", field, 1, 77)
change("overlap", 3, 3, 2**64 - 2)
change("mapping-string", 3, 5, 9999)
change("location-mapping", 4, 2, 9999)
change("location-address", 4, 3, 16)
change("function-name", 5, 2, 9999)
change("no-location", 2, 1, b"\xff\x7f")
change("string-0", 6, None, b"x")
change("utf8", 6, None, b"\xff", 3)
END2
python3 break.py "$SRC/tests/interop" || fail "cannot break a file"
strict_pprof same
for file in mapping-id location-id function-id overlap mapping-string \
    location-mapping location-address function-name no-location string-0 \
    utf8; do
	python3 "$rules" $file >rules.out && fail "$file passes"
	grep -q "^$file: " rules.out || fail "$file: $(cat rules.out)"
	grep -q 'not a profile' rules.out && fail "$file: $(cat rules.out)"
done
ok "11 ways to break a rule are seen"
