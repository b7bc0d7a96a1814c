#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what perf script prints of a perf.data says the same as that
# file: weight and samples of each event, process, thread and CPU, and the
# stacks as perf names them; with whichever fields there are, with source,
# inlined functions, one line a sample, and text of tracepoints.
# Easy to get wrong: what two fields look like that stand next to each other.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd perf python3
need_perf
tmpdir
cat >work.c <<'END2'
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
volatile long n;
static inline __attribute__((always_inline)) void inlined(void)
{
	for (int i = 0; i < 100000; i++)
		n += i;
}
static void __attribute__((noinline)) add(void)
{
	inlined();
}
int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;
	prctl(PR_SET_NAME, "a 7 (b)");
	while (clock() < end) {
		add();
		free(malloc(1 << 20));
	}
	return (0);
}
END2
${CC:-cc} -g -O1 -fno-omit-frame-pointer -o work work.c || fail cc
perf record -q --buildid-mmap --sample-cpu -g -F 997 -e cpu-clock \
    -e page-faults -o both.data -- ./work >perf.err 2>&1 ||
    skip "perf cannot record here: $(cat perf.err)"
cat >check.py <<'END2'
import collections, json, os, subprocess, sys
DIES = 75
dtprof = sys.argv[1]
printed = "python3", os.environ["SRC"] + "/tests/interop/perf_script.py"
def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        print(words, done.returncode, done.stderr[-300:])
        raise subprocess.CalledProcessError(done.returncode, words)
    return done.stdout
def samples(path, keys):
    out = collections.Counter()
    for line in run(dtprof, "script", "--json", path).splitlines():
        j = json.loads(line)
        if j.get("type", "sample") == "sample":
            out[tuple(j.get(k) for k in keys)] += 1
    return out
def imported(path, to):
    run(dtprof, "import", "-q", "-o", to, path)
# As perf says it itself: from the innermost frame on.
def perf_stacks():
    out = collections.Counter()
    for block in run(*printed, "-i", "both.data", "--no-inline", "-F",
                     "event,ip,sym").split("\n\n"):
        head, *frames = block.strip("\n").split("\n")
        if frames:
            names = [f.split(None, 1)[1].strip() for f in frames]
            out[head.strip().rstrip(":"), ";".join(names[::-1])] += 1
    return out
def our_stacks(path):
    out = collections.Counter()
    for event in "cpu-clock", "page-faults":
        for line in run(dtprof, "export", "-e", event, path).splitlines():
            stack, count = line.rsplit(" ", 1)
            out[event, stack.split(";", 1)[1]] += int(count)
    return out
imported("both.data", "both.dtp")
wanted = samples("both.dtp", KEYS := ("event", "time_ns", "tid", "weight"))
assert len(wanted) > 50, wanted
n = 0
for fields, keys in (
        ("", ("event", "tid", "weight", "comm", "cpu")),
        ("--ns", KEYS),
        ("-F comm,pid,tid,time,period,event,ip,sym,dso,symoff --ns",
         KEYS + ("pid", "comm")),
        ("-F tid,time,event,ip,sym --ns", ("event", "time_ns", "tid")),
        ("-F comm,tid,period,event,ip,sym,dso", ("event", "tid", "weight",
                                                  "comm")),
        ("-F comm,tid,event,ip,sym,dso", ("event", "tid", "comm")),
        ("-F +srcline,+srccode", ("event", "tid", "weight")),
        ("-F +misc", ("event", "tid", "weight", "comm")),
        ("-G --ns", KEYS),
        ("--header --show-mmap-events --show-task-events --ns", KEYS)):
    try:
        text = run(*printed, "-i", "both.data", "--no-inline",
                   *fields.split())
    except subprocess.CalledProcessError as error:
        # perf's own reader of source dies over some recordings.
        if "+srccode" in fields and error.returncode == DIES:
            continue
        raise
    with open("x.txt", "w") as f:
        f.write(text)
    imported("x.txt", "x.dtp")
    a, b = samples("both.dtp", keys), samples("x.dtp", keys)
    assert a == b, (fields, list((a - b).items())[:3],
                    list((b - a).items())[:3])
    if "-G" not in fields:
        a, b = perf_stacks(), our_stacks("x.dtp")
        a = collections.Counter({(e, ";".join(
            w if w != "[unknown]" else "?" for w in s.split(";"))): c
            for (e, s), c in a.items() if "[unknown]" not in s})
        assert not a - b and sum(a.values()) > 50, (
            fields, list((a - b).items())[:3])
    n += 1
assert n >= 9, n
print("%d forms, %d samples" % (n, sum(wanted.values())))
with open("x.txt", "w") as f:
    f.write(run(*printed, "-i", "both.data", "--inline"))
imported("x.txt", "x.dtp")
if "(inlined)" in open("x.txt").read():
    assert ";add;inlined " in run(dtprof, "export", "-e", "cpu-clock",
                                  "x.dtp")
    print("inlined functions")
END2
python3 check.py "$DTPROF" >said 2>&1 || fail "$(cat said)"
while read -r line; do
	ok "$line"
done <said
