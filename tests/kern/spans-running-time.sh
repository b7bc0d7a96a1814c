#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of spans that sleep, that spin beside a hog on the same CPU, that
# recurse, and that another thread ends, running time is no less than the
# program's own CPU time in them, time not running no less than what it slept
# and waited for a CPU (as the kernel's schedstat has it), and both, each summed
# at its own place, are exactly the duration; what belongs to no single thread
# counts for neither.
#
# Easy to get wrong: a thread that is preempted is not blocked, but does not run
# either; the time before the first switch; a recursion counted at each depth; a
# span that is open, or ends elsewhere.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

cat >turns.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SPANS	8
#define DEPTH	3

/* What a thread knows of a stretch: least values of what it took. */
struct sum {
	uint64_t cpu_ns, off_ns, delay_ns;
};

static int schedstat;
static unsigned long key;

static uint64_t
now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (ts.tv_sec * 1000000000ULL + ts.tv_nsec);
}

/* For how long it has waited for a CPU. */
static uint64_t
delayed(void)
{
	char text[128] = "";
	unsigned long long ran, waited = 0;

	if (pread(schedstat, text, sizeof(text) - 1, 0) > 0)
		sscanf(text, "%llu %llu", &ran, &waited);
	return (waited);
}

static uint64_t
spin(uint64_t ns)
{
	const uint64_t from = now(CLOCK_THREAD_CPUTIME_ID);

	while (now(CLOCK_THREAD_CPUTIME_ID) - from < ns)
		;
	return (now(CLOCK_THREAD_CPUTIME_ID) - from);
}

static void
work(struct sum *sum, uint64_t spin_ns, uint64_t sleep_ns)
{
	const struct timespec ts = { 0, sleep_ns };
	const uint64_t delay = delayed();

	sum->cpu_ns += spin(spin_ns);
	if (sleep_ns != 0)
		nanosleep(&ts, NULL);
	sum->off_ns += sleep_ns;
	sum->delay_ns += delayed() - delay;
}

__attribute__((noinline, noclone)) int
recurse(struct sum *sum, int depth)
{
	volatile int below = 0;

	work(sum, 500000, 500000);
	if (depth > 0)
		below = recurse(sum, depth - 1);
	return (below + 1);
}

__attribute__((noinline, noclone)) void
key_begin(unsigned long n)
{
	__asm__ volatile("" : : "r" (n));
}

__attribute__((noinline, noclone)) void
key_end(unsigned long n)
{
	__asm__ volatile("" : : "r" (n));
}

static void *
end_elsewhere(void *arg)
{
	key_end(++*(unsigned long *)arg);
	return (NULL);
}

static void
say(const char *name, const struct sum *sum, const char *behind)
{
	printf("\"%s\": {\"cpu\": %llu, \"off\": %llu, \"delay\": %llu}%s",
	    name, (unsigned long long)sum->cpu_ns,
	    (unsigned long long)sum->off_ns,
	    (unsigned long long)sum->delay_ns, behind);
}

int
main(void)
{
	struct sum sleeps = { 0 }, spins = { 0 }, calls = { 0 };
	cpu_set_t here, all;
	pthread_t other;
	volatile int deep;
	pid_t hog;

	schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
	for (int n = 0; n < SPANS; n++) {
		(void)getppid();
		work(&sleeps, 50000, 2000000);
		(void)getuid();
	}
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	if ((hog = fork()) == 0)
		for (;;)
			spin(1000000000);
	for (int n = 0; n < SPANS; n++) {
		(void)getgid();
		work(&spins, 6000000, 0);
		(void)getegid();
	}
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	sched_setaffinity(0, sizeof(all), &all);
	for (int n = 0; n < SPANS; n++)
		deep = recurse(&calls, DEPTH - 1);
	for (unsigned long n = 0; n < SPANS; n++) {
		key_begin(n + 1);
		pthread_create(&other, NULL, end_elsewhere, &key);
		pthread_join(other, NULL);
	}
	(void)getppid();
	printf("{");
	say("sleep", &sleeps, ", ");
	say("spin", &spins, ", ");
	say("call", &calls, "}\n");
	return (deep == 0);
}
END
compile -pthread -o turns turns.c || fail "no program"
at=uprobe:$PWD/turns
# Kernels have been seen to switch without telling, which is counted: then once
# more.
tries=0
until [ "$tries" -gt 0 ] && ! grep -q 'unknown whether threads ran' err; do
	tries=$((tries + 1))
	[ "$tries" -le 5 ] || fail "gaps: $(cat err)"
	record 0 -o a.dtp -e cpu-clock \
	    --span sleep=syscall:getppid:entry,syscall:getuid:entry \
	    --span spin=syscall:getgid:entry,syscall:getegid:entry \
	    --span "call=$at:recurse" \
	    --span "cross=$at:key_begin/arg0/,$at:key_end/arg0/,key=arg0" \
	    -- ./turns
	cp out said
	expect 0 "$DTPROF" report --by span --json a.dtp
done
py <<'END'
import json
import recording as rec

said = json.load(open("said"))
spans = {s["name"]: s for s in json.load(open("out"))["spans"]}
for name, count in ("sleep", 8), ("spin", 8), ("call", 24), ("cross", 8):
    span = spans[name]
    rec.check(span["count"] == count and span["lost"] == 0, "%r" % span)
    rec.check(span["running_ns"] + span["not_running_ns"] +
              span["ambiguous_ns"] == span["inside_ns"] and
              span["difference_ns"] == span["gaps"] ==
              span["clockless"] == 0,
              "does not add up: %r" % span)
rec.ok("running and not running are the duration, to the nanosecond")

for name, own in said.items():
    span = spans[name]
    rec.check(span["running_ns"] >= own["cpu"],
              "%s: %r, %r" % (name, span, own))
    # The scheduler's clock stands still within a switch.
    waited = own["off"] + own["delay"]
    rec.check(span["not_running_ns"] >= waited - 0.01 * waited,
              "%s: %r, %r" % (name, span, own))
    rec.ok("%s: ran %d us, %d by its own clock; did not %d, %d by schedstat" %
           (name, span["running_ns"] / 1e3, own["cpu"] / 1e3,
            span["not_running_ns"] / 1e3, waited / 1e3))
rec.check(said["spin"]["delay"] > 0, "no hog: %r" % said)
rec.check(spans["spin"]["ambiguous_ns"] == 0 and
          spans["spin"]["inside_ns"] == spans["spin"]["total_ns"],
          "%r" % spans["spin"])
rec.check(spans["call"]["inside_ns"] < spans["call"]["total_ns"],
          "a recursion counts once: %r" % spans["call"])
rec.check(spans["sleep"]["open"] == 1 and spans["sleep"]["ambiguous_ns"] > 0 and
          spans["sleep"]["inside_ns"] == spans["sleep"]["total_ns"] +
          spans["sleep"]["ambiguous_ns"], "%r" % spans["sleep"])
rec.check(spans["cross"]["running_ns"] == spans["cross"]["not_running_ns"] ==
          0 and spans["cross"]["ambiguous_ns"] > 0, "%r" % spans["cross"])
rec.ok("a recursion counts once, what is open or ends elsewhere for neither")
END
expect 0 "$DTPROF" report --by span a.dtp
grep -q '^span .* running  *not running$' out &&
    grep -q '^note: cross: .* is in neither column, .running. or ' out ||
    fail "$(cat out)"
[ "$(wc -l <err)" -eq 0 ] || fail "warned: $(cat err)"
ok "the table has both"
