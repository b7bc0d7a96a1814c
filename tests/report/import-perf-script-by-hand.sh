#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: text of perf script becomes the samples that it shows, whatever
# fields it has: threads, CPUs, times, events, weights and stacks, inlined
# functions in the file of the function around them; lines that are none are
# counted and named, and text without a sample is refused.
# Easy to get wrong: names of threads hold blanks and numbers, names of
# functions parentheses and what looks like an address; a number before the
# event is a thread or a period.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >check.py <<'END2'
import json, subprocess, sys
dtprof = sys.argv[1]
STACK = "\t%16s leaf(int)+0x1 (/bin/my prog)\n\t%16s main+0x20 (/bin/my prog)\n"
STACK = STACK % ("1145", "55d0c0ffee00") + "\n"
MAIN = "main;leaf(int)"

# Text; lines of export with weights; what is told of the first sample.
CASES = {
"default": ("w 7 4711 [003]  12.000001:    250 cycles: \n" + STACK +
    "w 7 4711 [003]  12.000002:     50 cycles: \n" + STACK,
    ["w 7;%s 300" % MAIN],
    dict(pid=4711, tid=4711, cpu=3, time=12.000001, comm="w 7")),
"pid and mode": ("   w 4711/4712  [000] KH  12.000001:  9 cycles:u: \n" +
    STACK, ["w;%s 9" % MAIN], dict(pid=4711, tid=4712, cpu=0)),
"no cpu": ("w 4711 1.000000001: 9 cycles: \n" + STACK, ["w;%s 9" % MAIN],
    dict(tid=4711, time=1.000000001)),
"no period": ("w 4711 1.000001: cycles: \n" + STACK * 1 +
    "w 4711 1.000002: cycles: \n" + STACK, ["w;%s 2" % MAIN], {}),
"no time": ("w 4711 cycles: \n" + STACK + "w 7 4711 cycles: \n" + STACK,
    ["w 7;%s 1" % MAIN, "w;%s 1" % MAIN], dict(tid=4711)),
"no time but periods": ("w 7 4711 30 cycles: \n" + STACK, ["w 7;%s 30" % MAIN],
    dict(tid=4711)),
"no event": ("w 4711 1.000001: \n" + STACK, ["w;%s 1" % MAIN], {}),
"thread alone": ("w 4711 \n" + STACK, ["w;%s 1" % MAIN], dict(tid=4711)),
"stacks alone": (STACK + STACK, ["[no name];%s 2" % MAIN], {}),
"one line": ("   w 4711 1.000001: 3 cycles: 7f8000001000 add (/lib/x.so)\n"
    "   w 4711 1.000002: 4 cycles: 7f8000001001 f (int)+0x2 (/lib/x.so)\n",
    ["w;add 3", "w;f (int) 4"], {}),
"address behind others": ("w 1 1.000001: 3 cycles: 7ffc00001111 "
    "401136 [unknown] ([unknown])\n", ["w;[unknown] 3"], {}),
"kernel": ("w 1 1.000001: 3 cycles: \n"
    "\tffffffff81000010 do_it+0x1 ([kernel.kallsyms])\n"
    "\tffffffffc0000010 ext4_x+0x1 ([ext4])\n" + STACK,
    ["w;%s;ext4_x;do_it 3" % MAIN], {}),
"inlined": ("w 1 1.000001: 3 cycles: \n\t1150 small (inlined)\n"
    "\t1150 less (inlined)\n" + STACK, ["w;%s;less;small 3" % MAIN],
    {}),
"source": ("w 1 1.000001: 3 cycles: \n\t1150 leaf+0x1 (/bin/x)\n"
    "  /src/my file.c:12\n|12   \tx(1);\n\t1151 main+0x1 (/bin/x)\n"
    "  x.c:1\n\n", ["w;main;leaf 3"], {}),
"no offsets": ("w 1 1.000001: 3 cycles: \n\t1150 leaf\n\t1151 operator()\n"
    "\t1152 main\n\n", ["w;main;operator();leaf 3"], {}),
"C++": ("w 1 1.000001: 3 cycles: \n"
    "\t1150 a::b<c (int)>::d() const+0x1f (/x (y) (deleted))\n\n",
    ["w;a::b<c (int)>::d() const 3"], {}),
"without a name": ("w 1 1.000001: 3 cycles: \n"
    "\t1150 [unknown] (/lib/x.so)\n\t1151 main (/lib/x.so)\n\n",
    ["w;main;[x.so] 3"], {}),
"tracepoint": ("w 1 [001] 1.000001: sched:sched_switch: prev_comm=a "
    "prev_pid=1 ==> next_comm=b next_pid=12\n\t1150 f (/bin/x)\n\n"
    "w 1 [001] 1.000002: sched:sched_switch: dead beef\n\n",
    ["w;[no stack recorded] 1", "w;f 1"], {}),
"out of order": ("w 1 2.000001: 3 cycles: \n" + STACK +
    "v 2 1.000001: 5 cycles: \n" + STACK,
    ["v;%s 5" % MAIN, "w;%s 3" % MAIN], dict(comm="v", time=1.000001)),
"from 0": ("w 1 0.000000: 3 cycles: \n" + STACK, ["w;%s 3" % MAIN], {}),
"other records": ("w 0 0.000000: PERF_RECORD_COMM: w:1/1\n"
    "w 1 1.000001: 3 cycles: \n" + STACK + "w 1 1.000002: PERF_RECORD_MMAP2 "
    "1/1: [0x1(0x2) @ 0 fe:00 1 2]: r-xp /x\n", ["w;%s 3" % MAIN], {}),
"blanks for tabs, CRLF, no end": (("w 1 1.000001: 3 cycles: \n" + STACK)
    .replace("\t", "        ").replace("\n", "\r\n").rstrip(),
    ["w;%s 3" % MAIN], {}),
"header": ("# ========\n# hostname : vm\n# cmdline : /usr/bin/perf record x\n"
    "# ========\n#\nw 1 1.000001: 3 cycles: \n" + STACK, ["w;%s 3" % MAIN],
    {}),
}

def run(*words):
    return subprocess.run([dtprof, *words], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
def imported(text):
    with open("x.txt", "w", newline="") as f:
        f.write(text)
    return run("import", "-o", "x.dtp", "x.txt")
def check(name, text, wanted, first):
    done = imported(text)
    assert done.returncode == 0, (name, done.stderr)
    assert b"left out" not in done.stderr, (name, done.stderr)
    done = run("export", "--inline", "--weight", "weight", "x.dtp")
    got = sorted(done.stdout.decode().splitlines())
    assert got == sorted(wanted), (name, got, done.stderr)
    lines = run("script", "--json", "x.dtp").stdout.decode().splitlines()
    sample = next(j for j in map(json.loads, lines)
                  if j.get("type", "sample") == "sample")
    for key, value in first.items():
        if key == "time":
            key, value = "time_ns", round(value * 1e9)
        assert sample[key] == value, (name, key, sample)
for name, (text, wanted, first) in CASES.items():
    check(name, text, wanted, first)
print("%d forms are read" % len(CASES))

imported(CASES["inlined"][0])
done = json.loads(run("report", "--json", "--by", "module",
                      "x.dtp").stdout)
assert [r["module"] for r in done["rows"] if r["total"]] == [
    "/bin/my prog"], done
imported(CASES["kernel"][0])
done = json.loads(run("report", "--json", "x.dtp").stdout)
modules = {f["name"]: f["module"] for f in done["functions"]}
assert modules["do_it"] == "[kernel]" and modules["ext4_x"] == "[ext4]" and \
    modules["main"] == "/bin/my prog", modules
done = imported(CASES["default"][0].replace("w 7 4711 [003]  12.000002",
    "what is this\nw 7 4711 [003]  12.000002") + "more\n")
assert b"2 lines are not perf script output and were left out; the " \
    b"first of these lines is line 5" in done.stderr, done.stderr
done = imported("w 1 1.000001: PERF_RECORD_LOST lost 12\n" +
                CASES["default"][0])
assert b"perf lost 12 events" in done.stderr, done.stderr
for text in ("w 0 0.000000: PERF_RECORD_COMM: w:1/1\n",
             "w 1 1.000001: %d cycles: \n\n" % (2**64 - 1) +
             "w 1 1.000002: 3 cycles: \n\n"):
    done = imported(text)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 2, done
print("what is none is said or refused")
# Of an address without a symbol its module is known.
done = imported("".join(
    "w 1 1.00000%d: 3 cycles: \n\tffffffffc000001%d [unknown] ([%s])\n\n" %
    (n, n, name) for n, name in enumerate(("ext4", "bpf", "kernel"))))
assert done.returncode == 0, done.stderr
done = run("report", "--by", "module", "--csv", "x.dtp")
for name in "ext4", "bpf", "kernel":
    assert b"[%s]" % name.encode() in done.stdout, done.stdout
# A folded stack is none, though it looks like one.
for text in ("main 12 pool: 5\n", "FOO bar: 3\n", "main 12\n", "a;b 1.5: 3\n"):
    done = imported(text)
    assert done.returncode == 0, done.stderr
    done = run("export", "x.dtp")
    assert done.stdout.decode() == text, (text, done)
print("folded stacks that look like it are folded")
END2
python3 check.py "$DTPROF" >said 2>&1 || fail "$(cat said)"
while read -r line; do
	ok "$line"
done <said
