#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: folded stacks, pprof, speedscope and Firefox Profiler files, read
# here by their formats' own descriptions, have the same self and total figures
# as the report, for each event, to the unit; and so has what folded stacks and
# pprof files become when they are imported again.  The times in a Firefox
# Profiler file are those that script prints, of each thread, and its waits
# begin and end when threads waited.
# Easy to get wrong: recursion, equal names in different modules, stacks that
# stand leaf first in one format and root first in another.
. "${SRC:=$PWD}/tests/interop/lib-export.sh"
"$DTPROF" export x.dtp >x.folded 2>/dev/null || fail folded
"$DTPROF" export --weight weight -e page-faults x.dtp >faults.folded \
    2>/dev/null || fail folded
"$DTPROF" export --format pprof -o x.pb.gz x.dtp 2>/dev/null || fail pprof
strict_pprof x.pb.gz
"$DTPROF" export --format pprof x.dtp 2>/dev/null | cmp - x.pb.gz ||
    fail "pprof: other bytes"
"$DTPROF" export --format speedscope -o x.json x.dtp 2>/dev/null ||
    fail speedscope
"$DTPROF" export --format firefox -o x.firefox x.dtp 2>/dev/null ||
    fail firefox
"$DTPROF" script --json x.dtp >x.script 2>/dev/null || fail script
"$B/tests/browser/make_waits" 10 1 500 waits.dtp waits.txt >/dev/null ||
    fail make_waits
"$DTPROF" export --format firefox -o waits.firefox waits.dtp 2>/dev/null ||
    fail "firefox, waits"
cat >check.py <<'END'
import collections, decimal, gzip, json, sys
from lib import compare
dtprof = sys.argv[1]
EVENTS = ["cpu-clock", "page-faults"]

def folded(path):
    for line in open(path):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        yield stack.split(";")[1:], int(count)      # without the thread
compare(dtprof, "cpu-clock", list(folded("x.folded")), 1, "folded")
compare(dtprof, "page-faults", list(folded("faults.folded")), 0, "folded")

def fields(data):
    """A message: (number of the field, integer or bytes)."""
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 2:
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
        else:
            assert key & 7 == 0, key
            yield key >> 3, varint()

def packed(data):
    return [v for _, v in fields(b"".join(
        bytes([8]) + bytes(chunk) for chunk in split_varints(data)))]
def split_varints(data):
    chunk = []
    for byte in data:
        chunk.append(byte)
        if byte < 128:
            yield chunk
            chunk = []

strings, functions, locations, types, samples = [], {}, {}, [], []
mappings = {}
for field, value in fields(gzip.open("x.pb.gz").read()):
    if field == 6:
        strings.append(value.decode())
    elif field == 1:
        types.append(dict(fields(value)))
    elif field == 5:
        message = dict(fields(value))
        functions[message[1]] = message[2]
    elif field == 3:
        message = dict(fields(value))
        mappings[message[1]] = message
    elif field == 4:
        lines = [dict(fields(v)) for f, v in fields(value) if f == 4]
        message = dict((f, v) for f, v in fields(value) if f != 4)
        assert message.get(2, 1) in mappings, "no such mapping"
        locations[message[1]] = [line[1] for line in lines]
    elif field == 2:
        message = {}
        for f, v in fields(value):
            message.setdefault(f, []).append(v)
        samples.append((packed(message[1][0]), packed(message[2][0]),
                        dict(fields(message[3][0]))))
assert strings[0] == "", "string 0"
assert len(types) == 4 and all(len(s[1]) == 4 for s in samples), types
names = [strings[t[1]] for t in types]
assert names == ["samples", "cpu-clock", "samples of page-faults",
                 "page-faults"], names
assert strings[types[1][2]] == "nanoseconds"
assert {strings[s[2][2]] for s in samples if s[2]} <= {"demo", "dtprof"}
ids = [strings[m[6]] for m in mappings.values() if 6 in m]
assert ids and all(len(i) == 40 for i in ids), ids
for n, event in enumerate(EVENTS):
    for column, kind in ((1, 0), (0, 1)):
        stacks = [([strings[functions[f]] for location in reversed(locs)
                    for f in reversed(locations[location])],
                   values[2 * n + kind]) for locs, values, _ in samples]
        compare(dtprof, event, [s for s in stacks if s[1]], column, "pprof")

scope = json.load(open("x.json"))
frames = [f["name"] for f in scope["shared"]["frames"]]
for profile, event in zip(scope["profiles"], EVENTS):
    assert profile["name"] == event
    assert len(profile["samples"]) == len(profile["weights"])
    assert sum(profile["weights"]) == profile["endValue"]
    compare(dtprof, event, [([frames[i] for i in s[1:]], w) for s, w in
            zip(profile["samples"], profile["weights"])], 0, "speedscope")

fox = json.load(open("x.firefox"), parse_float=decimal.Decimal)
assert fox["meta"]["preprocessedProfileVersion"] == 60
tables = fox["shared"]
for name, table in tables.items():
    if name != "stringArray":
        assert all(len(c) == table["length"] for c in table.values()
                   if isinstance(c, list)), name
texts, frame_of = tables["stringArray"], tables["frameTable"]["func"]
def frames_of(stack):
    path = []
    while stack is not None:
        func = frame_of[tables["stackTable"]["frame"][stack]]
        path.append(texts[tables["funcTable"]["name"][func]])
        stack = tables["stackTable"]["prefix"][stack]
    return path[::-1]
def ns(ms):
    return int(ms * 1000000)
stacks, times = ([], []), collections.defaultdict(list)
for thread in fox["threads"]:
    samples, markers = thread["samples"], thread["markers"]
    assert samples["weightType"] == "tracing-ms"
    for stack, time, weight in zip(samples["stack"], samples["time"],
                                   samples["weight"]):
        stacks[0].append((frames_of(stack), ns(weight)))
        times[thread["pid"], thread["tid"]].append(ns(time))
    for name, data, time in zip(markers["name"], markers["data"],
                                markers["startTime"]):
        assert texts[name] == "page-faults", texts[name]
        stacks[1].append((frames_of(data["cause"]["stack"]), data["weight"]))
        times[thread["pid"], thread["tid"]].append(ns(time))
for n, event in enumerate(EVENTS):
    compare(dtprof, event, stacks[n], 0, "firefox")
said = collections.defaultdict(list)
for line in open("x.script"):
    record = json.loads(line)
    if record.get("type") == "sample":
        said[str(record["pid"]), record["tid"]].append(record["time_ns"])
# Both are since some time of their own.
of = min(min(t) for t in times.values()) - min(min(t) for t in said.values())
assert {k: sorted(v) for k, v in times.items()} == {
    k: sorted(t + of for t in v) for k, v in said.items()}, "times"
print("firefox: %d times of %d threads" % (sum(map(len, said.values())),
                                           len(said)))
wanted = sorted((int(tid), int(begin), int(end), state) for tid, state, begin,
                end, _ in map(str.split, open("waits.txt")))
fox = json.load(open("waits.firefox"), parse_float=decimal.Decimal)
names, waits = fox["shared"]["stringArray"], []
_, *pause, reason = wanted.pop(0)
for thread in fox["threads"]:
    assert [[r["reason"], ns(r["startTime"]), ns(r["endTime"])] for r in
            thread["pausedRanges"]] == [["profiler-" + reason] + pause]
    m = thread["markers"]
    waits += [(thread["tid"], ns(begin), ns(end), data["state"])
              for name, begin, end, data, phase in zip(
                  m["name"], m["startTime"], m["endTime"], m["data"],
                  m["phase"])
              if phase == 1 and names[name] == data.get("state")]
waits.sort()
assert len(waits) == len(wanted) > 500, (len(waits), len(wanted))
for before, wait, true in zip([None] + waits, waits, wanted):
    # It may have been stored up to 300 ns after its end.
    late = wait[2] - true[2]
    assert 0 <= late <= 300 and wait == (
        true[0], true[1] + late, true[2] + late, true[3]), (wait, true)
    assert not before or before[0] != wait[0] or before[2] <= wait[1], wait
print("firefox: %d waits as threads waited" % len(waits))
END
python3 check.py "$DTPROF" >said 2>&1 || {
	cat said
	fail "figures differ"
}
ok "$(cat said)"
"$DTPROF" import -q -o again.dtp x.folded || fail import
"$DTPROF" export again.dtp >again.folded || fail "export again"
stacks()	# sums by stack, in order, without the name of a thread
{
	sed 's/^[^;]*;//' | awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n }
	END { for (s in sum) print s, sum[s] }' | sort
}
# Functions of one name in two files are one in folded stacks.
for file in x again; do
	stacks <$file.folded >$file.sums
done
cmp x.sums again.sums || fail "folded stacks differ after a round trip"
printf 'main;a b;_Zc 3\nx 5000000\n' >odd
"$DTPROF" import -o odd.dtp odd 2>odd.err || fail "import odd"
"$DTPROF" export --weight weight odd.dtp | sort | cmp - odd ||
    fail "odd stacks differ"
ok "folded, recording, folded: $(wc -l <x.folded) lines stay as they are"
"$DTPROF" import -q -o pprof.dtp x.pb.gz || fail "import pprof"
returns()	# event recording, as imported
{
	for file in "$2" "$3"; do
		"$DTPROF" export --weight weight -e "$1" "$file" \
		    2>/dev/null | stacks >"$(basename "$file").stacks"
	done
	diff "$(basename "$2").stacks" "$3.stacks" ||
	    fail "$1 of $2: stacks differ after a round trip by pprof"
	[ -s "$3.stacks" ] || fail "$1: no stacks"
}
returns page-faults x.dtp pprof.dtp
returns cpu-clock x.dtp pprof.dtp
# There a BPF program, which the kernel called, has called the kernel.
amid=$SRC/tests/interop/bpf-amid-kernel.dtp
"$DTPROF" export --format pprof -o demo.pb.gz "$amid" \
    2>/dev/null || fail "export $amid"
strict_pprof demo.pb.gz
"$DTPROF" import -q -o demo2.dtp demo.pb.gz || fail "import $amid"
returns cpu-clock "$amid" demo2.dtp
grep -q ';bpf_trace_run2;bpf_prog_[^;]*;bpf_get_stack' demo2.dtp.stacks ||
    fail "no BPF program amid the kernel: $(cat demo2.dtp.stacks)"
for file in x pprof; do
	"$DTPROF" report --json --by module -e cpu-clock "$file.dtp" \
	    >by.json || fail "modules of $file"
	json by.json '"\n".join("%s %d" % (r["module"], r["self"])
	    for r in j["rows"])' | grep ' [1-9]' >"$file.modules"
done
cmp x.modules pprof.modules ||
    fail "modules: $(cat x.modules) and $(cat pprof.modules)"
grep -q '/demo ' x.modules || fail "modules: $(cat x.modules)"
head -c 900 x.pb.gz >cut.gz
expect 1 "$DTPROF" import -o no.dtp cut.gz
ok "recording, pprof, recording: $(wc -l <x.dtp.stacks) stacks, modules"
expect 2 script -qec "$DTPROF export --format pprof x.dtp" /dev/null
ok "a terminal gets no pprof file"
