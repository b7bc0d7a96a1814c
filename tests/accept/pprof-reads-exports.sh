#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: go tool pprof reads what export --format pprof writes, and says
# the self and total figures of the report, of each event and function, to the
# unit, in -top; the same stacks and weights in -traces and -raw; and a file
# in which one weight is other by one does not pass.
# Easy to get wrong: -top leaves out what is small, and rounds.
. "${SRC:=$PWD}/tests/interop/lib-export.sh"
need_cmd go
HOME=$tmp PPROF_TMPDIR=$tmp
export HOME PPROF_TMPDIR
"$DTPROF" export --format pprof -o x.pb.gz x.dtp 2>/dev/null || fail pprof
strict_pprof x.pb.gz

pprof()		# argument ... file
{
	go tool pprof -symbolize=none -nodecount=1000000 -nodefraction=0 \
	    -edgefraction=0 "$@" 2>pprof.err ||
	    fail "$(cat pprof.err)" >&2
}
read_all()	# file
{
	for event in cpu-clock page-faults; do
		pprof -sample_index=$event -unit=nanoseconds -top "$1" \
		    >$event.top
		pprof -sample_index=$event -unit=nanoseconds -traces "$1" \
		    >$event.traces
	done
	pprof -raw "$1" >all.raw
}
cat >check.py <<'END'
import collections, re, sys
from lib import compare, report
dtprof = sys.argv[1]

def number(text):
    text = re.sub("(ns|nanoseconds)$", "", text)
    assert re.fullmatch("[0-9]+", text), text
    return int(text)
def top(event):
    rows, begun = {}, False
    for line in open(event + ".top"):
        fields = line.split(None, 5)
        if begun:
            name = fields[5].rstrip("\n").removesuffix(" (inline)")
            rows[name] = (number(fields[0]), number(fields[3]))
        begun = begun or fields[:2] == ["flat", "flat%"]
    return rows
def traces(event):
    for part in open(event + ".traces").read().split("-----------+")[1:]:
        value, frames = None, []
        for line in part.split("\n")[1:]:
            if re.match(r" *comm: ", line) or not line.strip():
                continue
            if value is None:
                first, line = line.split(None, 1)
                value = number(first)
            frames.append(line.strip())
        if value:
            yield frames[::-1], value
def raw():
    text = open("all.raw").read()
    samples, rest = text.split("\nLocations\n")
    names = {n: line for n, line in re.findall(
        r"^ *(\d+): 0x\S+ (?:M=\d+ )?(.*) :\d+(?::\d+)? s=\d+$", rest, re.M)}
    kinds = samples.split("\nSamples:\n")[1].split("\n")[0]
    for line in samples.split("\n"):
        m = re.match(r"^ +([\d ]+): ([\d ]+)$", line)
        if m:
            yield [names[n] for n in m[2].split()][::-1], \
                list(map(int, m[1].split()))
for n, event in enumerate(["cpu-clock", "page-faults"]):
    wanted, got = report(dtprof, event), top(event)
    bad = [(name, w[0], got.get(name)) for name, w in wanted.items()
           if (w[0] or w[2]) and (name not in got or got[name][0] != w[0] or
               (w[3] == 1 and got[name][1] != w[2]))]
    if bad or not got:
        sys.exit("-top, %s: %s" % (event, bad[:5]))
    print("-top, %s: %d functions" % (event, len(got)))
    compare(dtprof, event, list(traces(event)), 0, "-traces")
    for column, value in ((0, 2 * n + 1), (1, 2 * n)):
        compare(dtprof, event, [(s, v[value]) for s, v in raw()
            if v[value]], column, "-raw")
END
read_all x.pb.gz
python3 check.py "$DTPROF" >said 2>&1 || fail "$(cat said)"
ok "$(cat said)"
# The lowest bit of the first weight of cpu-clock that there is.
cat >other.py <<'END'
import gzip
data = bytearray(gzip.open("x.pb.gz").read())

def varint(at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at
def fields(at, end):
    """Number, and where what is in it begins and ends."""
    while at < end:
        key, at = varint(at)
        size, after = varint(at)
        if key & 7 == 2:
            yield key >> 3, after, after + size
            at = after + size
        else:
            yield key >> 3, at, after
            at = after
def change():
    for field, begin, end in fields(0, len(data)):
        for inner, at, _ in fields(begin, end) if field == 2 else ():
            if inner == 2:
                _, at = varint(at)
                if varint(at)[0] > 1:
                    data[at] ^= 1
                    return
    raise SystemExit("no weight")
change()
gzip.open("other.pb.gz", "wb").write(data)
END
python3 other.py || fail "cannot change the file"
read_all other.pb.gz
python3 check.py "$DTPROF" >said 2>&1 &&
    fail "a weight that is other by one is not noticed: $(cat said)"
# It is the comparison that says so, and not something that broke.
grep -q '^-[a-z]*, cpu-clock: \[(' said || fail "$(cat said)"
ok "a weight that is other by one is noticed: $(tail -n 1 said)"
