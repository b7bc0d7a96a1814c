#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: With trace --stack each line has the stack of its event, with
# names, while the program still runs: frame by frame what a program knows of
# itself, at changing depths, in a library that it loads later, and of Python,
# as Python has it; in JSON as script's.  A file that -o names stays as it was
# where no trace begins.
#
# Easy to get wrong: names that are asked for when the process is gone; what is
# mapped after its first sample; a second sample at a place that has a name
# already; lines that wait for names after the last event.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gcc
tmpdir

cat >later.c <<'END'
__attribute__((noinline)) long
later(long (*leaf)(long), long n)
{
	return (leaf(n) + 1);
}
END
cat >known.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) long
leaf(long n)
{
	__asm__ volatile("" : "+r"(n) : : "memory");
	return (n);
}
__attribute__((noinline)) long
down(long n)
{
	long sum = n == 0 ? leaf(0) : down(n - 1);

	__asm__ volatile("" : "+r"(sum) : : "memory");
	return (sum + 1);
}
int
main(void)
{
	long sum = 0, (*later)(long (*)(long), long);
	char line[8];
	void *so;

	for (long n = 0; n < 30; n++)
		sum += down(n % 7);
	printf("%ld\n", sum);
	fflush(stdout);
	/* Names are there by now, or never. */
	if (fgets(line, sizeof(line), stdin) == NULL ||
	    (so = dlopen("./later.so", RTLD_NOW)) == NULL)
		return (1);
	*(void **)&later = dlsym(so, "later");
	for (long n = 0; n < 5; n++)
		sum += later(leaf, n);
	return (sum == 0);
}
END
gcc -O2 -g -fno-optimize-sibling-calls -fno-inline -o known known.c -ldl &&
    gcc -O2 -shared -fPIC -fno-optimize-sibling-calls -o later.so later.c ||
    fail "gcc"

mkfifo gate
"$DTPROF" trace --stack --json -e uprobe:./known:leaf -- ./known <gate \
    >lines 2>err 9>&- &
tracer=$!
kill_at_end $tracer
exec 9>gate
await "30 stacks before the program goes on" \
    sh -c '[ "$(grep -c "\"raw\":\"leaf\"" lines)" -eq 30 ]'
ok "30 stacks were printed while the program waits"
echo go >&9
exec 9>&-
wait $tracer || fail "trace: $? $(cat err)"

# An interpreter is known soon after its first sample.
cat >deep.py <<'END'
import os
import time
def inner(n):
    os.stat("/tok/%d" % n)
def outer(n):
    inner(n)
for n in range(50):
    time.sleep(0.02)
    try:
        outer(n)
    except OSError:
        pass
END
expect 0 "$DTPROF" trace --stack --json -o python \
    -e 'syscall:newfstatat{ret == -2}' -- python3 deep.py
expect 0 "$DTPROF" trace --stack -o text -e uprobe:./known:leaf -- \
    sh -c 'echo go | ./known'
py <<'END'
import json
import re
import recording as rec

def stacks(path):
    return [[frame["function"] for frame in record["user_frames"]]
            for record in map(json.loads, open(path))
            if record["type"] == "sample"]

got = stacks("lines")
rec.check(len(got) == 35, "%d stacks" % len(got))
for n, stack in enumerate(got):
    wanted = ["leaf"] + (["down"] * (n % 7 + 1) if n < 30 else ["later"]) + \
        ["main"]
    rec.check(stack[:len(wanted)] == wanted and len(stack) > len(wanted) and
              stack[-1] == "_start", "%d: %r" % (n, stack))
rec.ok("35 stacks are what the program knows")
text = re.split(r"^known \d+/.*\n", open("text").read(), flags=re.M)[1:]
rec.check([re.findall(r"^\t[0-9a-f]+ (\w+)\+0x", one, re.M)
           for one in text] == got, "the text: %r" % text[:2])
rec.ok("and in text")
python = stacks("python")
found = [name for name in python[-1]
         if name in ("inner", "outer", "<module>")]
rec.check(len(python) >= 50 and found == ["inner", "outer", "<module>"],
          "python: %r" % python[-1])
rec.ok("Python's functions have names")
END

echo old >kept
for file in kept new; do
	expect 125 "$DTPROF" trace -o $file -e uprobe:./known:nothing -- true
done
[ "$(cat kept)" = old ] && [ ! -e new ] || fail "kept: $(cat kept); $(ls)"
expect 0 "$DTPROF" trace -q -o kept -e syscall:getppid -- true
[ ! -s kept ] || fail "kept: $(cat kept)"
expect 125 "$DTPROF" trace --stack --fields pid -- true
expect_err 'cannot be used with --fields'
ok "a file stays where no trace begins, and is replaced where one does"
