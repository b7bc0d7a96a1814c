#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of a profile of pprof an import claims no more than the profile
# does: a value without a count of samples is one sample a stack, code without
# a name is counted as such and gets none of the real file's lines, values
# below zero are said, and sums that no number holds, samples that are cut and
# more files than there may be are refused.  Frames beyond the deepest stack
# cost no time, nor do ids that were chosen to.  The kernel is one mapping when
# it is exported again.
# Easy to get wrong: taking bytes for samples makes intervals a hundred times
# too narrow; places of functions may lie where the real file has code.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >write.py <<'END'
import sys

def varint(n):
    n &= 2**64 - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])

def number(field, n):
    return varint(field << 3) + varint(n)

def message(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body

# Function n is at location n; those of even number have no line.  With files,
# each is in a mapping of its own.
def profile(types, samples, functions=2, file="/bin/x", build_id="",
            files=False):
    strings = ["", file, build_id]
    def text(t):
        if t not in strings:
            strings.append(t)
        return strings.index(t)
    out = b"".join(message(1, number(1, text(t)) + number(2, text(u)))
                   for t, u in types)
    for locations, values in samples:
        out += message(2, b"".join(number(1, l) for l in locations) +
                       b"".join(number(2, v) for v in values))
    out += message(3, number(1, 1) + number(5, 1) + number(6, 2))
    for n in range(1, functions + 1):
        line = message(4, number(1, n)) if n % 2 else b""
        mapping = n + 1 if files else 1
        if files:
            out += message(3, number(1, mapping) +
                           number(5, text("%s%d" % (file, n))))
        out += message(4, number(1, n) + number(2, mapping) +
                       number(3, 4096 * n) + line)
        out += message(5, number(1, n) + number(2, text("f%d" % n)))
    return out + b"".join(message(6, t.encode()) for t in strings)

def write(name, *args, **more):
    with open(name + ".pb", "wb") as f:
        f.write(profile(*args, **more))

write("bytes", [("space", "bytes")], [([1], [300000]), ([2], [100000])])
write("count", [("calls", "count")], [([1], [30]), ([2], [10])])
write("both", [("samples", "count"), ("cpu", "nanoseconds")],
      [([1], [30, 3000]), ([2], [10, 1001]), ([1], [-1, -100])])
write("many", [("t%d" % n, "count") for n in range(32)],
      [([1], [5 << 20] * 32), ([2], [5 << 20] * 32)])
write("huge", [("calls", "count")], [([1], [2**63 - 1])] * 3)
whole = profile([("calls", "count")], [([1], [30])])
for name, field, body in (("location", 2, b"\x0a\x01\x80\x10\x01"),
                          ("number", 2, b"\x08\x01\x10"),
                          ("line", 4, b"\x08\x01\x22\x02\x08\x80")):
    with open("cut-" + name + ".pb", "wb") as f:
        f.write(whole + message(field, body))
# One location of many lines, many times.
with open("deep.pb", "wb") as f:
    line = message(4, number(1, 1))
    f.write(whole + message(4, number(1, 9) + line * 100000) +
            message(2, message(1, b"\x09" * 100000) + number(2, 1)))
# Ids that a table without a seed of its own would keep in one place.
def id_at(place):
    key = place ^ place >> 29 ^ place >> 58
    key = key * pow(0x9e3779b97f4a7c15, -1, 2**64) % 2**64
    return key ^ key >> 32
with open("ids.pb", "wb") as f:
    f.write(whole + b"".join(message(5, number(1, id_at(n << 23)))
                             for n in range(1, 500000)))
for name, file in ("vdso", "[vdso]"), ("jit", "[jit]"), ("anon", "[anon]"), (
        "whole", "/lib/y"), ("bare", "y"), ("heap", "[heap]"):
    write(name, [("calls", "count")], [([1], [30]), ([2], [10])], file=file)
write("kernel", [("calls", "count")], [([1], [1]), ([3], [1]), ([5], [1])],
      functions=5, file="[kernel.kallsyms]")
for name, n in ("most", 4095), ("more", 5000):
    write(name, [("calls", "count")], [([n + 1], [1]) for n in range(n)],
          functions=n, files=True)
# So many that their places reach into the code of a real file.
write("real", [("calls", "count")], [([2 * n + 1], [1]) for n in range(2000)],
      functions=4000, file=sys.argv[1], build_id=sys.argv[2])
END
cat >real.c <<'END'
int main(void) { return (0); }
END
{
	sed 's/main/f/; s/0/1/' real.c
	seq 2000 | sed 's/.*/int real&(int a) { return (a * &); }/'
	cat real.c
} >whole.c
${CC:-cc} -g -O1 -Wl,--build-id -o real whole.c || fail cc
id=$(readelf -n real | sed -n 's/.*Build ID: //p')
python3 write.py "$PWD/real" "$id" || fail "cannot write"

rows()		# of an import: name, weight and samples of each function
{
	expect 0 "$DTPROF" import -q -o "$1.dtp" "$1.pb"
	expect 0 "$DTPROF" report --json "$1.dtp"
	json out '" ".join("%s=%d/%d" % (f["name"], f["self"], f["samples"])
	    for f in j["functions"])'
}
is()		# what, wanted
{
	[ "$1" = "$2" ] || fail "$1, not $2"
}
is "$(rows bytes)" "f1=300000/1 [x]=100000/1"
is "$(rows count)" "f1=30/30 [x]=10/10"
is "$(rows both)" "f1=3000/30 [x]=1001/10"
expect 0 "$DTPROF" report both.dtp
grep -q '25.0% of samples are at unresolved addresses' out ||
    fail "a function without a name"
ok "samples are those that the profile counts, and names those it has"
while read -r name module; do
	is "$(rows "$name" | cut -d ' ' -f 1)" f1=30/30
	is "$(json out 'j["functions"][0]["module"]')" "$module"
done <<'END'
vdso [vdso]
jit [jit]
anon [anon]
whole /lib/y
bare /y
heap /[heap]
END
ok "what is no file and has names is called what it was, and keeps them"

expect 0 "$DTPROF" import -o both.dtp both.pb
expect_err '1 values are negative' 'a difference'
expect 0 "$DTPROF" compare both.pb -- both.pb
expect_err '^dtprof: compare: note: both.pb: 1 values are negative' \
    'compared without a word'
expect 1 "$DTPROF" import -o huge.dtp huge.pb
expect_err 'exceeds 64 bits' 'values too large'
[ ! -e huge.dtp ] || fail "a recording of too much"
for cut in location number line; do
	expect 1 "$DTPROF" import -o cut.dtp "cut-$cut.pb"
	expect_err 'damaged' "a cut $cut"
done
expect 0 "$DTPROF" import -o deep.dtp deep.pb
expect_err '1 stacks are deeper' 'a stack of 10^10 frames'
ok "what is left out is said, what no number holds or is cut refused"
expect 0 timeout 60 "$DTPROF" import -o ids.dtp ids.pb
ok "ids that were chosen to take long do not"

# The kernel is one of them, whether it is in the profile or not.
expect 0 "$DTPROF" import -q -o most.dtp most.pb
expect 1 "$DTPROF" import -o more.dtp more.pb
expect_err 'more than 4096 files' 'more files than there may be'
set -- more.dtp*
[ ! -e "$1" ] || fail "more files than there may be left $1"
ok "4096 files are taken, more refused"

rows real >names
grep -q 'f1=1/1 ' names || fail "$(head -c 200 names)"
expect 0 "$DTPROF" report --by line --limit 5000 real.dtp
! grep -q 'whole\.c' out || fail "lines of the file: $(grep whole out | head)"
ok "nothing of the real file is taken for the profile's"

cat >mappings.py <<'END'
import gzip, sys

data, at, found = gzip.open(sys.argv[1]).read(), 0, 0

def varint():
    global at
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value

while at < len(data):
    key = varint()
    found += key == 3 << 3 | 2
    value = varint()
    at += value if key & 7 == 2 else 0
print(found)
END
expect 0 "$DTPROF" import -q -o kernel.dtp kernel.pb
expect 0 "$DTPROF" export --format pprof -o again.pb.gz kernel.dtp
strict_pprof again.pb.gz
is "$(python3 mappings.py again.pb.gz)" 1
ok "the kernel is one mapping"
expect 0 "$DTPROF" import -o many.dtp many.pb
is "$(grep -c 'note: t[0-9]*: too many samples' err)" 32
ok "a note for each event"
