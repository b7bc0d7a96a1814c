# SPDX-License-Identifier: ISC
# ASSERTION: Where C code that Python calls executes on a stack of its own, as
# coroutines of libraries do, the Python functions that called it are shown, in
# 95 % of samples there; while other threads wait, none of theirs is.  Of
# greenlets that take turns, each has its own functions, and no other's.
#
# Easy to get wrong: a thread of the interpreter is found by what lies on its
# stack, where that is known to its end; a coroutine has nothing there.  Parts
# of greenlets' stacks are copied away and back.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_cmd gcc apt-get dpkg-deb
. "$SRC/tests/interop/lib-python.sh"
need_known_python
tmpdir

apt-get -qq download python3-greenlet >apt.log 2>&1 &&
    dpkg-deb -x python3-greenlet_*.deb unpacked ||
    skip "no python3-greenlet: $(tail -n 1 apt.log)"
PYTHONPATH=$PWD/unpacked/usr/lib/python3/dist-packages
export PYTHONPATH

cat >own.c <<'END'
#include <ucontext.h>

static ucontext_t back, there;
static volatile int sink;
static char stack[1 << 16];

static void __attribute__((noinline))
own_work(void)
{
	for (int i = 0; i < 1000000; i++)
		sink = sink * 31 + i;
}

static void
own_start(void)
{
	own_work();
	swapcontext(&there, &back);
}

void
own_run(void)
{
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	makecontext(&there, own_start, 0);
	swapcontext(&back, &there);
}
END
compile -shared -fPIC -o own.so own.c || fail gcc
cat >own.py <<'END'
import ctypes
import sys
import threading
import time

own = ctypes.CDLL("./own.so")


def handler():
    own.own_run()


def waiter(end):
    end.wait()


def works():
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        handler()


end = threading.Event()
for _ in range(2):
    threading.Thread(target=waiter, args=(end,)).start()
works()
worker = threading.Thread(target=works)
worker.start()
worker.join()
end.set()
END
cat >green.py <<'END'
import time
from greenlet import greenlet


def leaf(n):
    return sum(i * i for i in range(n))


def red(n):
    return red(n - 1) if n else red_turns()


def red_turns():
    while time.monotonic() < until:
        leaf(500)
        blue_one.switch()


def blue(n):
    return blue(n - 1) if n else blue_turns()


def blue_turns():
    while time.monotonic() < until:
        leaf(500)
        red_one.switch()


until = time.monotonic() + 2
red_one, blue_one = greenlet(lambda: red(5)), greenlet(lambda: blue(5))
red_one.switch()
END
for program in own green; do
	"$DTPROF" record -q -o $program.dtp -F 1997 -- $python $program.py \
	    2>record.err || fail "record: $(cat record.err)"
	! grep "are missing from" record.err || fail "frames of $program"
	"$DTPROF" script --json $program.dtp >$program.json 2>script.err ||
	    fail "script: $(cat script.err)"
done
cat >judge.py <<'END'
import collections
import json
import sys


def stacks(path):
    for line in open(path):
        frames = json.loads(line).get("user_frames") or []
        yield [f["function"] for f in frames], tuple(
            (f["function"] or "").split(".")[-1] for f in frames
            if f["kind"] == "py")


found = collections.Counter()
for all, names in stacks("own.json"):
    if "own_work" in all:
        found[names] += 1
total = sum(found.values())
main = found["handler", "works", "<module>"]
thread = found["handler", "works", "run", "_bootstrap_inner", "_bootstrap"]
print("stacks of their own: %d and %d of %d samples; %s" % (
    main, thread, total, found.most_common(3)))
assert total > 200 and min(main, thread) > 0.3 * total
assert main + thread >= 0.95 * total
assert not any("waiter" in names for names in found)

found = collections.Counter()
for all, names in stacks("green.json"):
    if "leaf" in names:
        names = names[names.index("leaf") + 1:]
        found[names] += 1
total = sum(found.values())
right = sum(found[(turns,) + 6 * (name,) + ("<lambda>",)] for name, turns in
            (("red", "red_turns"), ("blue", "blue_turns")))
print("greenlets: %d of %d samples; %s" % (right, total,
                                           found.most_common(3)))
assert total > 200 and right >= 0.99 * total
END
$python judge.py >judged || fail "$(cat judged)"
ok "$(cat judged)"
