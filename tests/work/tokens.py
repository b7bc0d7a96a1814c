# SPDX-License-Identifier: ISC
"""Calls whose stack is known: for each of them the program writes down what
its own interpreter says of its stack, and then makes a system call that
carries the call's number: stat("/tok/N").

usage: tokens.py CALLS THREADS OUTPUT [FIRST]

Ordinary calls, recursion, C code that calls back (sorted, map, re.sub),
exceptions on their way, generators, coroutines, methods, closures, code
that was compiled a moment ago; and names that are not ASCII.  OUTPUT gets a
line of JSON for each call: its number, from FIRST (0) on, then name, file and
line of each frame.
"""
import asyncio
import functools
import json
import os
import re
import sys
import threading
import time

calls, nthreads, output = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
out = open(output, "w", buffering=1 << 20)
lock = threading.Lock()
first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
tokens = iter(range(first, first + calls))


def token():
    """The oracle: one call, and the stack it is made with."""
    with lock:
        number = next(tokens, None)
    if number is None:
        return False
    frames = []
    frame = sys._getframe()
    while frame is not None:
        code = frame.f_code
        frames.append([code.co_qualname, code.co_filename, frame.f_lineno])
        frame = frame.f_back
    try:
        frames[0][2] = sys._getframe().f_lineno + 1
        os.stat("/tok/%d" % number)
    except OSError:
        pass
    with lock:
        out.write(json.dumps([number, frames]) + "\n")
    return True


def recursion(depth):
    if depth == 0:
        return token()
    return recursion(depth - 1)


class Shape:
    def __init__(self, size):
        self.size = size

    def __lt__(self, other):
        token()
        return self.size < other.size

    @property
    def area(self):
        return token()

    @functools.lru_cache(maxsize=None)
    def cached(self, n):
        return token()


def callback_sort():
    return sorted([Shape(3), Shape(1), Shape(2)])


def callback_map():
    return list(map(lambda x: token(), range(2)))


def callback_sub():
    return re.sub("a", lambda match: str(token()), "abca")


def callback_reduce():
    return functools.reduce(lambda a, b: recursion(2), range(3))


def thrown():
    try:
        raise ValueError(1)
    except ValueError:
        return token()
    finally:
        token()


def generator(n):
    for i in range(n):
        token()
        yield i


def delegating(n):
    yield from generator(n)


def generators():
    return [sum(delegating(2)), list(x for x in generator(2) if token())]


async def inner():
    token()
    await asyncio.sleep(0)
    return token()


async def outer():
    return await asyncio.gather(inner(), inner())


def coroutines():
    asyncio.run(outer())


def compiled():
    scope = {"token": token}
    exec(compile("def made():\n\n    return token()\n", "<made>", "exec"),
         scope)
    return scope["made"]()


def größe(): return [token()
                     for i in range(2)]


def long_lines(x):
    return (x +
            1 +
            int(token() or
                0) +
            2)


def shapes():
    shape = Shape(1)
    return shape.area, shape.cached(1)


def work():
    ways = [lambda: recursion(3), callback_sort, callback_map, callback_sub,
            callback_reduce, thrown, generators, compiled, größe,
            lambda: long_lines(1), shapes, lambda: recursion(200)]
    # Subinterpreters of 3.11 share what knows of a running loop.
    if threading.current_thread() is threading.main_thread() and first == 0:
        ways.append(coroutines)
    n = 0
    while token():
        ways[n % len(ways)]()
        n += 1
        if n % 100 == 0:
            recursion(900 - len(ways))


sys.setrecursionlimit(2000)
# An interpreter has frames when it was found.
time.sleep(0.5)
threads = [threading.Thread(target=work) for _ in range(nthreads - 1)]
for thread in threads:
    thread.start()
work()
for thread in threads:
    thread.join()
out.close()
# What was met last is read while the process lives.
time.sleep(0.5)
