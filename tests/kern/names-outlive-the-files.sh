#!/bin/sh
# ASSERTION: a recording names what was hit by itself: programs that were
# deleted, containers that are gone with their mounts (two with different
# programs at one path), children that never exec, a pid that came again,
# and the kernel; on another machine, too.  All as nm and kallsyms have it.
. "${SRC:=$PWD}/tests/kern/lib-names.sh"
need_cmd unshare
cat >spin.c <<'END'
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sum;
#define FN(n) __attribute__((noinline)) void NAME(n)(void) \
	{ for (int i = 0; i < 20000; i++) sum += i * n; getppid(); }
#define CAT(a, b) a##b
#define CAT2(a, b) CAT(a, b)
#define NAME(n) CAT2(WHO, _##n)
#define STR(a) #a
#define STR2(a) STR(a)
FN(1) FN(2) FN(3)
static unsigned long now(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000UL + ts.tv_nsec;
}
/* Compute, and tell who this was, as which process, and when. */
static void spin(const char *log, void (*fn)(void), const char *what)
{
	unsigned long from = now(CLOCK_MONOTONIC);
	unsigned long cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	char line[256];
	FILE *out;

	do
		fn();
	while (now(CLOCK_PROCESS_CPUTIME_ID) - cpu < 40000000);
	snprintf(line, sizeof(line), "%d %s %s %lu %lu\n", getpid(),
	    STR2(WHO), what, from, now(CLOCK_MONOTONIC));
	out = fopen(log, "a");
	fputs(line, out);
	fclose(out);
}
/* The same pid again, for another program; needs the pid to be free. */
static void again(const char *log, pid_t pid, char **argv)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
	    .set_tid = (unsigned long)&pid, .set_tid_size = 1 };
	long child = syscall(SYS_clone3, &args, sizeof(args));

	if (child == 0) {
		execl(argv[0], argv[0], log, "plain", NULL);
		_exit(1);
	}
	if (child > 0)
		waitpid((pid_t)child, NULL, 0);
}
int main(int argc, char **argv)
{
	const char *log = argv[1], *mode = argv[2];
	pid_t pid;

	if (strcmp(mode, "delete") == 0)
		unlink(argv[0]);
	if (strcmp(mode, "fork") == 0 || strcmp(mode, "again") == 0) {
		if ((pid = fork()) == 0) {
			if (mode[0] == 'a')
				execl(argv[0], argv[0], log, "plain", NULL);
			spin(log, NAME(3), "child");
			_exit(0);
		}
		if (mode[0] == 'f')
			spin(log, NAME(2), "parent");
		waitpid(pid, NULL, 0);
		if (mode[0] == 'a')
			again(log, pid, argv + 3);
	} else
		spin(log, NAME(1), mode);
	return argc > 3 && mode[0] != 'a' ? system(argv[3]) != 0 : 0;
}
END
# Bound at once: what a first call would go through, ahead of the first stub of
# the table of calls, is no function.
for who in alpha beta; do
	cc -O1 -no-pie -fno-pie -Wl,--build-id,-z,now -DWHO=$who -o $who \
	    spin.c || fail "cc"
	nm $who >$who.nm
done
cp alpha gone
mkdir box
# A container: its program is nowhere else.  Three marks later the recorder has
# looked at all that was mapped before the first.
cat >inside.sh <<'END'
mount -t tmpfs none box && cp "$1" box/prog &&
    box/prog log box "sh seen.sh $2"
END
cat >seen.sh <<'END'
for n in 1 2 3; do
	tries=100	# a busy recorder may answer too late
	until "$DTPROF" mark --recorder "$1" seen; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || exit 1
	done
done
END
cat >work.sh <<'END'
recorder=$PPID
unshare -m sh inside.sh alpha $recorder || exit 1
unshare -m sh inside.sh beta $recorder || exit 1
./gone log delete "sh seen.sh $recorder" || exit 1
./alpha log fork || exit 1
for n in 1 2 3; do
	./alpha log again ./beta || exit 1
done
END
export DTPROF
record 0 -o a.dtp -F 4999 -- sh work.sh
mv alpha alpha.was
"$names" a.dtp >names || fail "the tool"
"$DTPROF" script --json --show samples a.dtp >script.json || fail "script"
cat >check.py <<'END'
import bisect
import collections
import json
from recording import check, ok


def table(path, kinds):
    found = {}
    for line in open(path):
        field = line.split()
        if len(field) > 2 and field[1] in kinds:
            found.setdefault(int(field[0], 16), set()).add(field[2])
    return sorted(found), found


def name_at(symbols, pc):
    starts, names = symbols
    at = bisect.bisect_right(starts, pc) - 1
    return names[starts[at]] if at >= 0 else set()


nm = {who: table(who + ".nm", "tTwW") for who in ("alpha", "beta")}
kernel = table("/proc/kallsyms", "tTwW")
lives = collections.defaultdict(list)
for line in open("log"):
    pid, who, what, start, end = line.split()
    lives[int(pid)].append((int(start), int(end), who, what))
own = {}
for who in nm:
    one = [a for a in nm[who][0]
           if any(n.startswith(who + "_") for n in nm[who][1][a])]
    own[who] = min(one), min(a for a in nm[who][0] if a > max(one))
seen, kernels, strange = collections.Counter(), 0, 0
for line in open("names"):
    _, pid, time, side, depth, pc, module, why, name = line.rstrip(
        "\n").split("\t")
    pid, time, pc = int(pid), int(time), int(pc, 16) - (depth != "0")
    if side == "k":
        # kallsyms may have changed since, by a program of BPF.
        kernels += 1
        strange += name not in name_at(kernel, pc)
        continue
    for start, end, who, what in lives[pid]:
        if start <= time <= end and own[who][0] <= pc < own[who][1]:
            check(name in name_at(nm[who], pc),
                  "%x of %s (%s, pid %d) is %s in %s, for nm %s" % (
                      pc, who, what, pid, name, module,
                      name_at(nm[who], pc)))
            seen[who, what] += 1
again = [pid for pid in lives if {w for _, _, w, t in lives[pid]
                                  if t == "plain"} == {"alpha", "beta"}]
for key in (("alpha", "box"), ("beta", "box"), ("alpha", "delete"),
            ("alpha", "child"), ("alpha", "parent"), ("alpha", "plain")):
    check(seen[key] > 10, "%s: %d frames" % (key, seen[key]))
ok("as nm has it, by the recording alone: %s" % dict(seen))
if again and seen["beta", "plain"] > 10:
    ok("%d pids came again as another program" % len(again))
else:
    print("# no pid could be had again here")
if max(kernel[0] + [0]) > 0:
    check(kernels > 20, "%d frames of the kernel" % kernels)
    check(strange * 100 <= kernels,
          "%d of %d frames are not as in kallsyms" % (strange, kernels))
    ok("%d frames of the kernel as kallsyms has them" % kernels)
named, bare = 0, []
for line in open("script.json"):
    r = json.loads(line)
    for frame in (r.get("user_frames") or [])[:1]:
        if frame["module"].endswith(("/prog", "/gone", "/alpha")):
            if frame["function"] is not None:
                named += 1
            else:
                bare.append((r["comm"], r["user"][0], frame))
check(named > 50 and not bare, "script names %d, but not %s" % (named, bare))
ok("script names all %d of files that are not there" % named)
END
python3 check.py
