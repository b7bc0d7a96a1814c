#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the first line of report says what was recorded, how many threads
# or processes were sampled, how long, and what each event came to, and these
# are the figures of the recording and of a program that measures itself;
# idle CPUs have no CPU time; below it are a table and nothing else when all is
# well.
# Easy to get wrong: the length of a part (--from, --to), who is counted, and
# the name of a process, which no row needs.
. "${SRC:=$PWD}/tests/report/lib-known.sh"
tmpdir
cp "$SRC"/tests/report/known.dtp . || fail "no recording"
expect 0 "$DTPROF" report known.dtp
[ ! -s err ] || fail "messages: $(cat err)"
[ "$(head -n 1 out)" = "known 20 (2 processes sampled), 253 ms: 131.0 ms \
of CPU time, 0.52 CPUs; 600 syscall::getpgid:entry" ] ||
	fail "says $(head -n 1 out)"
[ -z "$(sed -n 2p out)" ] || fail "not a headline and a table: $(cat out)"
expect 0 "$DTPROF" report --json known.dtp
rows=$(json out 'len({(r["name"], r["module"]) for r in j["functions"]})')
expect 0 "$DTPROF" report known.dtp
[ "$(wc -l <out)" -eq $((rows + 4)) ] ||
    fail "$rows rows, but $(wc -l <out) lines: $(cat out)"
ok "a kept recording has a headline, a table of $rows rows, and no more"
expect 0 "$DTPROF" report --by event known.dtp
expect_out ' amount +event$' 'a head for time and counts at once'

cat >check.py <<'PY'
import json, re, subprocess, sys
dtprof = sys.argv[1]
UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}

def run(*words):
    return subprocess.run([dtprof, "report", *words], check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

def seconds(text):
    number, unit = text.split()
    return float(number) * UNIT[unit]

def near(a, b, by=.006):
    return abs(a - b) <= by * max(abs(a), abs(b))

HEAD = re.compile(r"^(.*?)(?: \((\d+) (threads|processes) sampled\))?"
                  r"(, \w+==\w+)?, ([\d.]+ \w+): ([\d.]+ \w+) of CPU time"
                  r"( \(idle left out\))?, ([\d.]+) CPUs(.*)$")

def headline(*words):
    line = run(*words).split("\n")[0]
    found = HEAD.match(line)
    assert found, line
    return found

def rows(*words):
    return [r for r in json.loads(run("--json", *words))["functions"]]

def weight(*words):
    return sum(r["self"] for r in rows(*words) if r["event"] == "cpu-clock")

for part in [], ["--from", "50ms"], ["--to", "90ms"], \
        ["--from", "40ms", "--to", "110ms"], ["--filter", "cpu==1"]:
    told = json.loads(run("--json", *part, "known.dtp"))
    length = told["recording"]["duration_ns"] / 1e9
    if "--to" in part:
        length = .09 if part[0] == "--to" else .07
    elif "--from" in part:
        length -= .05
    found = headline(*part, "known.dtp")
    used = weight(*part, "known.dtp") / 1e9
    assert near(seconds(found[5]), length), (part, found[0], length)
    assert near(seconds(found[6]), used), (part, found[0], used)
    assert abs(float(found[8]) - used / length) <= .006, (part, found[0])
    assert (found[4] == ", cpu==1") == ("--filter" in part), found[0]
print("ok: figures are those of JSON, and of a part its own")
text = "".join("%s %d [000] 1.%06d: 1000000 cpu-clock: \n\t%x f (/bin/x)\n\n" %
               (comm, pid, 1000 * n, 0x401000 + pid) for n in range(1000)
               for comm, pid in [("swapper" if n % 4 else "busy",
                                  0 if n % 4 else 7)])
with open("idle.txt", "w") as file:
    file.write(text)
found = headline("idle.txt")
assert found[7] and near(seconds(found[6]), .25) and not found[2], found[0]
assert near(float(found[8]), .25, .02), found[0]
assert found[1] == "busy", found[0]
print("ok: 750 of 1000 samples are idle, and no CPU time")
with open("x.folded", "w") as file:
    file.write("main;f 300\nmain;g 100\n")
text = run("x.folded")
assert text.split("\n")[0] == "x.folded: 400 samples", text
assert "native" not in text and "kind" not in text, text
print("ok: of stacks without times no time, and no kind of code")
PY
python3 check.py "$DTPROF" || fail "see above"

record_known 60
cat >real.py <<'PY'
import json, sys
sys.argv[1:] = [sys.argv[1]]
exec(open("check.py").read().split("for part in")[0])
truth = [json.loads(line) for line in open("truth")]
found = headline("x.dtp")
told = json.loads(run("--json", "x.dtp"))
assert found[1] == "known 60", found[0]
assert (int(found[2]), found[3]) == (len({t["pid"] for t in truth}),
                                     "processes"), found[0]
used = sum(t[f] for t in truth for f in ("seventy", "twenty", "ten")) / 1e9
# Its start, its end and what its clock is not read around come on top.
assert used * .95 <= seconds(found[6]) <= used * 1.3 + .05, (found[0], used)
assert near(seconds(found[5]), told["recording"]["duration_ns"] / 1e9)
pid = str(truth[0]["pid"])
one = headline("--filter", "pid==" + pid, "x.dtp")
assert (one[2], one[3]) == ("2", "threads"), one[0]
print("ok: %s of CPU time, %.3f s by its own clocks" % (found[6], used))
PY
python3 real.py "$DTPROF" || fail "not what the program says of itself"
