# SPDX-License-Identifier: ISC
"""
Rounds of tests/work/incidents, and the dump that each has to cause, or must
not.  For dumps-hold-their-cause.sh, in its directory.
"""

import json
import mmap
import os
import re
import struct
import time

import recording as rec

WHAT = os.environ["WHAT"]
TRIGGER = os.environ["TRIGGER"]
ROUNDS = int(os.environ["ROUNDS"])
AFTER_NS = 100000000
LIMIT_NS = 200000000
# Of an incident that takes 300 ms, what the trigger has at least: a stall has
# one while it goes on.
LEAST_MS = 200 if WHAT == "stall" else 299
# What each round has, before the trigger; 0: that of the incident.
TOKEN = {"plain": 9999 if "offset" in TRIGGER else 100}.get(WHAT, 0)
ALL = TOKEN != 0

shared = mmap.mmap(os.open("made", os.O_RDWR), 16)


def go(count):
    """Make rounds; the line of the last."""
    made = struct.unpack_from("Q", shared, 8)[0]
    struct.pack_into("Q", shared, 0, made + count)
    while struct.unpack_from("Q", shared, 8)[0] < made + count:
        time.sleep(0.01)
    return [int(word) for word in open("log").read().splitlines()[-1].split()]


def status():
    """What the recorder says about itself."""
    return json.loads(rec.run("ctl", "--json", "status", "--recorder",
                              os.environ["RECORDER"]))["recorders"][0]


def written():
    """The number of the last dump that is on the disk."""
    last = status()["last_dump"]
    return int(last["file"].split(".")[1]) if last else 0


def settled():
    """The number of dumps, when there are no more for now."""
    while True:
        before = status()["dumps"]
        time.sleep(0.3)
        if status()["dumps"] == before == written():
            return before


def dump_of(known):
    """The next dump, once it is on the disk."""
    while written() <= known:
        time.sleep(0.02)
    return "d.%d.dtp" % (known + 1)


def look(path, token):
    """The dump: the cause, the reason, the time after."""
    recording = rec.report(path)["recording"]
    dump = recording["dump"]
    first = int(recording["info"]["dump.from_ns"])
    end = first + dump["history_ns"]
    asked = dump["requested_ns"]
    rec.check(first < asked and end >= asked + AFTER_NS,
              "%s: %d to %d, its trigger at %d" % (path, first, end, asked))
    if WHAT == "crash":
        codes = [r for r in rec.records(path, "process-events")
                 if r["type"] == "exit" and r["status"] & 0x7f == 11]
        rec.check(codes, "%s has no exit by SIGSEGV" % path)
        rec.check(re.search(r"^crash of process %d \(incidents\): SIGSEGV"
                            % codes[-1]["pid"], dump["reason"]),
                  dump["reason"])
    else:
        at = [r["time_ns"] for r in rec.samples(
            path, None, "--filter", "offset==%d" % token)]
        rec.check(at, "%s has no token %d" % (path, token))
    if WHAT in ("slow", "stall") and not ALL:
        rec.check(asked - at[-1] >= LEAST_MS * 1e6, "%s: %d to %d" %
                  (path, at[-1], asked))
        value = re.search(r"([0-9.]+) (m?s) > 200 ms", dump["reason"])
        rec.check(value and float(value[1]) * (
            1 if value[2] == "ms" else 1000) >= LEAST_MS, dump["reason"])
    return (dump["written_ns"] - asked - AFTER_NS) / 1e6


late = []
held = 0
for number in range(ROUNDS):
    for is_planted in (False, True):
        known = settled()
        line = go(1)
        if not (is_planted or ALL):
            rec.check(settled() == known or line[2] > LIMIT_NS,
                      "a dump without an incident: %s" % line)
            continue
        late.append(look(dump_of(known), TOKEN or line[1]))
        held += 1
late.sort()
rec.ok("%s: %d of %d dumps hold their cause, none without; written %.1f ms "
       "(median), %.1f ms (most) after --dump-after" % (
           TRIGGER, held, held, late[len(late) // 2], late[-1]))
