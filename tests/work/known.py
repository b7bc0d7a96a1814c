# SPDX-License-Identifier: ISC
"""Writes a program of random functions by a seed, runs it for about a second
of CPU time, and prints what each function took, by the kernel's own clock of
its thread: name, tab, its own nanoseconds, tab, those with callees.  The last
line, without a name, is what the clock itself took.

usage: known.py SEED FILE	FILE: where the program goes
"""
import importlib.util
import random
import sys
import threading
import time

WORK = (
    "for i in range({}0000 * s): x = (x + i * a) % 1000003",
    "for i in range({}00 * s): x += len(str(i) * 500)",
    "for i in range({} * 5 * s): x += sum(range(9000))",
    "for i in range({} * s): x += sorted(data)[0]",
    "for i in range({} * s): x += len(zlib.compress(blob))",
    "for i in range({}000 * s): d[i % 99] = d.get(i % 77, 0) + 1",
    "for i in range({} * s): x += len(ab.findall(text))",
    "for i in range({}000 * s): x += data[i % len(data)]",
)
# What a plain function does about a plain one, a generator, a coroutine.
CALLS = (
    "x += {}(c, a, s)",
    "x += list(map({}, [c], [a], [s]))[0]",
    "x += len(sorted([1], key=lambda _: {}(c, a, s)))",
    "x += functools.reduce(lambda *_: {}(c, a, s), (1, 2))",
    "re.sub('b', lambda _: str({}(c, a, s)), 'abc')",
    "x += sum({}(c, a, s) for _ in range(1))",
    "x += thrown({}, c, a, s)",
    "x += functools.partial({}, c, a)(s)",
    "x += (lambda f: f(c, a, s))({})",
)
HEAD = '''"""Written by known.py."""
import functools
import re
import types
import zlib

rng = __import__("random").Random(1)
data = [rng.randrange(1000) for _ in range(2000)]
blob = bytes(rng.randrange(9) for _ in range(3000))
text = "xabbba" * 900
ab = re.compile("ab*")
d = {}


def thrown(f, *args):
    try:
        raise ValueError(f(*args))
    except ValueError as e:
        return e.args[0]


@types.coroutine
def suspended():
    yield


def driven(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as e:
        return e.value


class Kept:
    pass
'''


class Function:
    """How it is made, and what it is called."""
    def __init__(self, rng, number):
        self.kind = rng.choice(("plain", "plain", "method", "static", "closure",
                                "recursive", "generator", "coroutine"))
        self.number = number
        self.weight = rng.randrange(1, 10)
        self.work = rng.choice(WORK).format(self.weight)
        self.depth = rng.randrange(2, 40)
        self.name = rng.choice(("f%d", "größe%d", "_%d", "рост%d")) % number
        self.callees = []

    def qualified(self):
        return {"method": "Kept.%s", "static": "Kept.%s",
                "closure": "make_%d.<locals>.%%s" % self.number}.get(
                    self.kind, "%s") % self.name

    def reached(self):
        return {"method": "Kept().%s", "static": "Kept.%s"}.get(
            self.kind, "%s") % self.name


def call(rng, caller, to):
    name = to.reached()
    if to.kind == "generator":
        return "for v in %s(c, a, s): x += v" % name
    if to.kind == "coroutine":
        if caller.kind == "coroutine":
            return "x += await %s(c, a, s)" % name
        return "x += driven(%s(c, a, s))" % name
    return rng.choice(CALLS).format(name)


def body(rng, function):
    n = function.number
    yield "x = 0"
    yield "c.enter(%d)" % n
    yield function.work
    for callee in function.callees:
        yield call(rng, function, callee)
        if function.kind == "generator":
            yield "c.leave()"
            yield "yield x % 7"
            yield "c.enter(%d)" % n
        if function.kind == "coroutine":
            yield "await suspended()"
    if function.kind == "recursive":
        yield "if depth > 1: x += %s(c, a, s, depth - 1)" % function.name
    yield "c.leave()"
    if function.kind == "generator":
        yield "yield x % 7"
    else:
        yield "return x % 7"


def text(rng, function):
    lines = []
    args = "(c, a, s):"
    if function.kind == "recursive":
        # Together they work as long as another one; callees come once.
        function.work = "if depth %% 8 == 1:\n\t\t%s" % function.work
        args = "(c, a, s, depth=%d):" % function.depth
    if function.kind == "method":
        args = "(self, c, a, s):"
    if function.kind == "static":
        lines.append("@staticmethod")
    head = "async def " if function.kind == "coroutine" else "def "
    lines.append(head + function.name + args)
    inside = list(body(rng, function))
    if function.kind == "recursive":
        inside = [line if line.startswith(("x = 0", "c.", "if ", "return")) else
                  "if depth == 1:\n\t\t" + line for line in inside]
    return lines + ["\t" + line for line in inside]


def program(rng, functions):
    """Each calls some with a higher number; all are called, and all calls
    together are few, so that each is long beside the clock."""
    ways = 1
    for n, function in enumerate(functions[:-1]):
        function.callees.append(functions[n + 1])
        while rng.randrange(3) == 0 and n + 2 < len(functions) and ways < 16:
            function.callees.append(rng.choice(functions[n + 2:]))
            ways *= 2
    lines = []
    for function in functions:
        own = text(rng, function)
        if function.kind in ("method", "static"):
            own = ["class Kept(Kept):"] + ["\t" + line for line in own]
        elif function.kind == "closure":
            own = ["def make_%d():" % function.number] + [
                "\t" + line for line in own] + [
                "\treturn " + function.name, "", "",
                "%s = make_%d()" % (function.name, function.number)]
        lines += ["", ""] + own
    return HEAD + "\n".join(lines) + "\n"


class Clock:
    """Of one thread: what passed since it last spoke is the innermost's."""
    def __init__(self, n):
        self.own, self.total = [0] * n, [0] * n
        self.stack, self.since, self.calls = [], 0, 0

    def count(self):
        now = time.thread_time_ns()
        self.calls += 1
        if self.stack:
            passed = now - self.since
            self.own[self.stack[-1]] += passed
            for each in set(self.stack):
                self.total[each] += passed
        self.since = now

    def enter(self, function):
        self.count()
        self.stack.append(function)

    def leave(self):
        self.count()
        self.stack.pop()

    def own_ns(self):
        """Of all its calls, with as deep a stack as there was."""
        probe = Clock(len(self.own))
        probe.stack = list(range(len(self.own)))
        begin = time.thread_time_ns()
        for _ in range(1000):
            probe.enter(0)
            probe.leave()
        return (time.thread_time_ns() - begin) * self.calls // 2000


def run(root, clock, scale, until_ns):
    begin = time.thread_time_ns()
    while time.thread_time_ns() - begin < until_ns:
        for _ in [root(clock, 3, scale)]:
            pass


def main():
    rng = random.Random(int(sys.argv[1]))
    functions = [Function(rng, n) for n in range(rng.randrange(4, 13))]
    # The root of all stacks is one that a thread can call.
    functions[0].kind = "plain"
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(program(rng, functions))
    spec = importlib.util.spec_from_file_location("program", sys.argv[2])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    root = getattr(module, functions[0].reached())
    nthreads = rng.randrange(1, 4)
    time.sleep(1)       # until its interpreter has been found

    clocks = [Clock(len(functions)) for _ in range(nthreads)]
    begin = time.thread_time_ns()
    root(clocks[0], 3, 1)
    scale = max(1, 100000000 // (time.thread_time_ns() - begin))
    threads = [threading.Thread(target=run, args=(
        root, clock, scale, 1200000000 // nthreads)) for clock in clocks[1:]]
    for thread in threads:
        thread.start()
    run(root, clocks[0], scale, 1200000000 // nthreads)
    for thread in threads:
        thread.join()
    for n, function in enumerate(functions):
        print("%s\t%d\t%d" % (function.qualified(),
                              sum(clock.own[n] for clock in clocks),
                              sum(clock.total[n] for clock in clocks)))
    print("\t%d\t0" % sum(clock.own_ns() for clock in clocks))
    sys.stdout.flush()
    time.sleep(0.5)     # names are read while it lives


main()
