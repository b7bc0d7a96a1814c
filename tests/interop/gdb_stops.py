# SPDX-License-Identifier: ISC
"""Inside gdb: stop a process at random times, and say each time its stack.

Environment: STOPS how many, SEED of the times, OUT the file for a line of
JSON a stop: between which two times it stood there, and the pc of each frame.
"""

import json
import os
import random
import signal
import threading
import time

import gdb

STOPS = int(os.environ["STOPS"])
CHANCE = random.Random(int(os.environ["SEED"]))


def now():
    """The clock that samples are stamped with."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def frames():
    """Real frames only: those of inlined functions have no pc of their own."""
    pcs, frame = [], gdb.newest_frame()
    while frame is not None:
        if frame.type() in (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME):
            pcs.append("0x%x" % frame.pc())
        frame = frame.older()
    return pcs


def stop_often(pid, out):
    """Let it run for some milliseconds, look, and so on."""
    for _ in range(STOPS):
        resumed = now()
        timer = threading.Timer(CHANCE.uniform(0.001, 0.02), os.kill,
                                (pid, signal.SIGSTOP))
        timer.start()
        gdb.execute("continue", to_string=True)
        timer.join()
        if not gdb.selected_inferior().pid:
            break
        pcs = frames()
        out.write(json.dumps([resumed, now(), pcs]) + "\n")


for setting in ("pagination off", "confirm off", "backtrace past-main on",
                "backtrace past-entry on", "backtrace limit 2000",
                "debuginfod enabled off"):
    try:
        gdb.execute("set " + setting)
    except gdb.error:
        pass
gdb.execute("handle SIGSTOP stop print nopass", to_string=True)
with open(os.environ["OUT"], "w", encoding="utf-8") as output:
    stop_often(gdb.selected_inferior().pid, output)
