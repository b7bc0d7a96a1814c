# SPDX-License-Identifier: ISC
"""A stack whose frames are known, of Python and C that call each other.

usage: mixed.py LIBRARY LEVELS DEPTH SECONDS

LEVELS times Python calls C (spine_a of LIBRARY), which calls back; at each
level Python has DEPTH frames more.  At the end it computes for SECONDS, in Python
and in C, between the system calls stat("/tok/begin") and stat("/tok/end").
tests/accept/mixed_stacks.py knows that stack.
"""
import ctypes
import os
import sys
import time

library = ctypes.CDLL(sys.argv[1])
levels, depth, seconds = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
Step = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


def said(what):
    try:
        os.stat("/tok/" + what)
    except OSError:
        pass


def leaf():
    end = time.monotonic() + seconds
    x = 1
    said("begin")
    while time.monotonic() < end:
        for i in range(1000):
            x = (x * 31 + i) % 1000003
        library.spine_leaf(20000)
    said("end")
    return 0


def deep(level, n):
    if n > 0:
        return deep(level, n - 1)
    if level > 0:
        return library.spine_a(callback, level - 1)
    return leaf()


def step(level):
    return deep(level, depth)


sys.setrecursionlimit(5000)
callback = Step(step)
time.sleep(1)
step(levels)
