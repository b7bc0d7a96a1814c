#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: how many stacks are whole is said of what --with brings in samples
# as of the samples themselves, and where few are, as a warning above its table.
#
# Easy to get wrong: a value has no stack, only its sample has; a share of
# nothing is then 1, beside a tree of which most has no callers.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
cat >deep.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define FRAME __attribute__((noinline, noclone)) static
#define HERE() __asm__ volatile("" ::: "memory")
FRAME void spin(double seconds)
{
	double until = seconds + (double)clock() / CLOCKS_PER_SEC;

	while ((double)clock() / CLOCKS_PER_SEC < until)
		for (int i = 0; i < 100000; i++)
			HERE();
}
FRAME void down(int depth)
{
	char frame[64];

	memset(frame, depth, sizeof(frame));
	__asm__ volatile("" :: "r"(frame) : "memory");
	if (depth > 0)
		down(depth - 1);
	else
		spin(0.3);
	HERE();
}
int main(void)
{
	spin(0.1);
	down(1000);
	return 0;
}
END
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O1 -o deep deep.c ||
    fail "the program does not compile"
# Of the deep stacks the copies hold but a part.
record 0 -o d.dtp --call-graph dwarf,8K -e cpu-clock -c 1000000 --user-only \
    --with task-clock -- ./deep
"$DTPROF" report -e task-clock d.dtp >table 2>err || fail "report"
py table <<'END'
import sys
import recording as rec

counts = {"cpu-clock": [0, 0], "task-clock": [0, 0]}
for s in rec.samples("d.dtp"):
    status = s.get("user_status")
    if status in (None, "none"):
        continue
    for name in ["cpu-clock"] + list(s.get("with", {})):
        counts[name][0] += status == "ok"
        counts[name][1] += 1
whole, stacks = counts["task-clock"]
rec.check(stacks > 100 and 0 < whole < stacks / 2, "stacks: %r" % counts)
qualities = {q["event"]: q for q in
             rec.report("d.dtp")["quality_by_event"]}
for name, (whole, stacks) in counts.items():
    quality = qualities[name]
    rec.check(abs(quality["complete_stacks"] - whole / stacks) < 1e-5,
              "%s: %r, not %d of %d" % (name, quality, whole, stacks))
says = [line for line in open(sys.argv[1]) if
        line.startswith("warning: task-clock: ")]
rec.check(any("%.1f%% of user stacks are complete" % (100 * whole / stacks) in
              line for line in says), "says %r" % says)
rec.ok("of task-clock's stacks %d of %d are whole, and it says so" %
       (whole, stacks))
END
