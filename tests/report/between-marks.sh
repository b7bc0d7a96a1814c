#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: --between A,B of report, flamegraph, export, script and annotate
# takes the samples from the first mark A to before the first B after it, to the
# sample, also where a mark's text has commas or stands twice; and what is no
# two marks is refused with the marks that there are.  script --from and --to
# print as many samples as report counts.
# Easy to get wrong: the comma that parts two texts, and the second mark of
# two that have one text.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
# The kept recording with marks at times of its samples, by the format's page.
cat >mark.py <<'END'
import json, struct, sys
sys.path.insert(0, sys.argv[1] + "/tests/interop")
import read_dtp

def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])

def marks(all_):
    strings = records = b""
    last = 0
    for n, (time, text) in enumerate(all_, 1):
        strings += varint(len(text)) + text + b"\0"
        one = varint(8) + varint(time - last << 1) + varint(1 << 10) + \
            varint(n)
        records += varint(len(one)) + one
        last = time
    body = varint(1) + varint(len(strings)) + strings + \
        varint(2) + varint(len(records)) + records
    return varint(len(all_)), body

def chunk(kind, codec, stored, head, raw, number):
    first = struct.pack("<4sHBBIIII", bytes.fromhex("d7545043"), kind, codec,
                        0, len(stored), head, raw, number)
    return first + struct.pack("<Q", read_dtp.xxh64(first + stored)) + stored

data = open(sys.argv[1] + "/tests/report/known.dtp", "rb").read()
times = sorted(json.loads(line)["time_ns"] for line in open("script.json"))
texts = [b"a,b", b"begin", b"again", b"end", b"again", b"late"]
place = [times[len(times) * n // 7] for n in range(1, 7)]
head, body = marks(sorted(zip(place, texts)))
at, number, out = struct.unpack_from("<I", data, 16)[0], 0, b""
out += data[:at]
while at < len(data):
    _, kind, codec, _, stored, inner, raw = struct.unpack_from(
        "<4sHBBIII", data, at)
    if kind == read_dtp.END:
        out += chunk(read_dtp.LIFE, 0, head + body, len(head), len(body),
                     number)
        number += 1
    if kind != read_dtp.INDEX:      # it says where the chunks were
        out += chunk(kind, codec, data[at + 32:at + 32 + stored], inner, raw,
                     number)
        number += 1
    at += 32 + stored
open("x.dtp", "wb").write(out)
END
"$DTPROF" script --json --show samples "$SRC/tests/report/known.dtp" \
    >script.json || fail script
python3 mark.py "$SRC" || fail "cannot write"
expect 0 "$DTPROF" script --show markers x.dtp
[ "$(wc -l <out)" -eq 6 ] || fail "no six marks: $(cat out err)"
cat >check.py <<'END'
import collections, json, subprocess, sys
sys.path.insert(0, sys.argv[1] + "/tests/browser")
import page_data
dtprof = sys.argv[2]

def run(*words):
    done = subprocess.run([dtprof, *words, "x.dtp"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.decode()

lines = [json.loads(line) for line in run("script", "--json").splitlines()]
samples = [r for r in lines if r["type"] == "sample"]
marks = [(r["text"], r["time_ns"]) for r in lines if r["type"] == "marker"]
assert [m[0] for m in marks] == ["a,b", "begin", "again", "end", "again",
                                 "late"], marks

def time(text, n=0):
    return [t for name, t in marks if name == text][n]

for between, low, high in (
        ("begin,end", time("begin"), time("end")),
        ("a,b,begin", time("a,b"), time("begin")),
        ("again,again", time("again"), time("again", 1)),
        ("end,again", time("end"), time("again", 1)),
        ("a,b,late", time("a,b"), time("late"))):
    mine = [r for r in samples if low <= r["time_ns"] < high]
    assert 0 < len(mine) < len(samples)
    want = collections.Counter(r["event"] for r in mine)
    told = json.loads(run("report", "--json", "--between", between))
    got = collections.Counter()
    for f in told["functions"]:
        got[f["event"]] += f["samples"]
    assert got == want, (between, got, want)
    run("flamegraph", "--between", between, "-o", "x.html")
    head, *_, cells = page_data.read("x.html")
    got = collections.Counter()
    for _, _, event, n, _ in cells:
        got[head["events"][event]["name"]] += n
    assert got == want, (between, got, want)
    for event in want:
        n = sum(int(line.rsplit(" ", 1)[1]) for line in run("export", "-e",
            event, "--between", between).splitlines())
        assert n == want[event], (between, event, n, want)
    got = [json.loads(line) for line in run("script", "--json", "--between",
           between).splitlines()]
    assert got == [r for r in lines if low <= r["time_ns"] < high], between
    # Those in which it stands, whatever it called.
    mine = sum(any(f["function"] == "work" for f in r["user_frames"])
               for r in mine)
    rows = json.loads(run("annotate", "--total", "--json", "--between",
                          between, "work"))["rows"]
    n = sum(e["samples"] for row in rows if row["kind"] == "code"
            for e in row["events"])
    assert n == mine, (between, n, mine)
    print("ok: --between %s: %d samples" % (between, sum(want.values())))

for low, high in ((0, 20), (20, 40), (40, 10000)):
    told = json.loads(run("report", "--json", "--from", "%dms" % low, "--to",
                          "%dms" % high))
    got = [json.loads(line) for line in run("script", "--json", "--show",
           "samples", "--from", "%dms" % low, "--to",
           "%dms" % high).splitlines()]
    assert sum(f["samples"] for f in told["functions"]) == len(got), low
    assert got and got[-1]["time_ns"] - got[0]["time_ns"] < (high - low) * 1e6
print("ok: --from and --to: %d and %d ms" % (low, high))
END
python3 check.py "$SRC" "$DTPROF" || fail "other samples"
for wrong in end,begin begin,none begin ","; do
	for command in report flamegraph export script; do
		expect 1 "$DTPROF" $command --between "$wrong" x.dtp
		expect_err 'its markers: "a,b" "begin"' "$command $wrong"
	done
done
ok "what is no two marks is refused, with the marks that there are"
