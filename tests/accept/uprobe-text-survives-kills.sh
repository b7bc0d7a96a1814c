#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: After 100 recorders that were killed at a random moment, and after
# 1,000 that attached probes and detached them, all of a program that executes
# the probed functions all the time has the text that its file has, byte for
# byte by /proc/PID/mem, and the program goes on with right results.
#
# Easy to get wrong: a thread is in the breakpoint, or executes the instruction
# elsewhere, while the breakpoint goes; a recorder dies between its probes.
# TIMEOUT: 1800
#
# KILLS and ATTACHES shorten it, SEED draws the moments.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gcc
tmpdir
kills=${KILLS:-100} attaches=${ATTACHES:-1000} seed=${SEED:-42}

cat >busy.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static volatile sig_atomic_t ends;
static void stop(int sig) { ends = sig; }
__attribute__((noinline)) long
f(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += i * (i & 3);
	__asm__ volatile("" : "+r"(sum) : : "memory");
	return (sum);
}
__attribute__((noinline)) long g(long n) { return (f(n) + f(n / 2)); }
static void *
turn(void *arg)
{
	const long wanted = g(100);

	while (!ends)
		if (g(100) != wanted)
			abort();
	return (arg);
}
int
main(void)
{
	pthread_t other;

	signal(SIGTERM, stop);
	pthread_create(&other, NULL, turn, NULL);
	turn(NULL);
	pthread_join(other, NULL);
	return (puts("right to the end") == EOF);
}
END
gcc -O2 -g -pthread -o busy busy.c || fail "gcc"
./busy >said 9>&- &
target=$!
kill_at_end $target

py $target "$kills" "$attaches" "$seed" <<'END'
import random
import subprocess
import sys
import time
import recording as rec

target, kills, attaches, seed = (int(word) for word in sys.argv[1:])
draw = random.Random(seed)
BATCH = 10
PROBES = ["uprobe:./busy:f", "uprobe:./busy:g/arg0/", "uretprobe:./busy:f",
          "uprobe:./busy:f@13", "uretprobe:./busy:g"]
time.sleep(0.2)
for line in open("/proc/%d/maps" % target):
    if " r-xp " in line and line.rstrip().endswith("/busy"):
        span, _, offset = line.split()[:3]
low, high = (int(word, 16) for word in span.split("-"))
with open("busy", "rb") as file:
    file.seek(int(offset, 16))
    there = file.read(high - low).ljust(high - low, b"\0")


def text():
    """Of the process, as the kernel has it."""
    with open("/proc/%d/mem" % target, "rb") as mem:
        mem.seek(low)
        return mem.read(high - low)


def settles(what):
    """The kernel takes breakpoints back a little later."""
    for _ in range(500):
        if text() == there:
            return
        time.sleep(0.01)
    rec.fail("%s: the text is another one at %r" % (what, [
        i for i, (a, b) in enumerate(zip(text(), there)) if a != b]))


def command(n, *more):
    """A count of some of the probes."""
    events = [word for probe in draw.sample(PROBES, n)
              for word in ("-e", probe)]
    return [rec.DTPROF, "stat", *events, "-p", str(target), *more]


settles("before")
attached = 0
for kill in range(kills):
    recorder = subprocess.Popen(command(draw.randint(1, 5)),
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    until = time.monotonic() + draw.uniform(0, 1)
    while time.monotonic() < until:
        time.sleep(0.002)
    attached += text() != there
    recorder.kill()
    recorder.wait()
    settles("kill %d" % kill)
rec.check(kills < 20 or attached > kills // 10, "%d of %d had a breakpoint" %
          (attached, kills))
rec.ok("seed %d: %d kills, %d of them with breakpoints in the text" %
       (seed, kills, attached))
# Several at once, which wait for the kernel together.
counted = 0
for attach in range(0, attaches, BATCH):
    batch = [subprocess.Popen(command(draw.randint(1, 3), "--csv",
                                      "--duration", "5ms"),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
             for _ in range(min(BATCH, attaches - attach))]
    for recorder in batch:
        out, err = recorder.communicate()
        rec.check(recorder.returncode == 0, err)
        counted += sum(int(line.rsplit(",", 1)[1])
                       for line in out.splitlines()[1:])
    settles("attach %d" % attach)
rec.check(counted > 0, "no probe has fired")
rec.ok("%d times attached and detached, %d events counted" %
       (attaches, counted))
END
kill $target
wait $target || fail "the program: $?"
grep -q "right to the end" said || fail "the program did not end well"
ok "the program went on, and its results are right"
