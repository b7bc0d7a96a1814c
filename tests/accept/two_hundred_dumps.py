# SPDX-License-Identifier: ISC
"""
Dumps of a storm of numbered system calls at random moments, by signals, by
dtprof ctl, in pairs and by the thousand; each session ends with a kill of the
target, or of all.  For two-hundred-dumps.sh, in its directory.
"""

import atexit
import mmap
import os
import random
import re
import signal
import struct
import subprocess
import time

import recording as rec

EVENT = "syscalls:sys_enter_lseek"
SEED = int(os.environ["SEED"])
DUMPS = int(os.environ["DUMPS"])
rnd = random.Random(SEED)
gaps_ms = []	# from the last sample to the trigger
idle = []	# those above 100 ms: the program made no call meanwhile
full = named = lost_all = after = 0


class Session:
    """A recorder, its target, and what was asked of it."""

    def __init__(self, number):
        self.dir = "s%d" % number
        os.mkdir(self.dir)
        self.ring = rnd.choice([256, 256, 512, 1024]) << 10
        self.err = open(self.dir + "/err", "w+")
        self.recorder = subprocess.Popen(
            [rec.DTPROF, "record", "--ring", str(self.ring), "--dump-after",
             "0s", "--dump-max", "9999", "-e", EVENT, "-o",
             self.dir + "/%n.dtp", "--", os.environ["work"] + "/sequence",
             "0", self.dir + "/made"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.err)
        atexit.register(self.recorder.terminate)
        while subprocess.run([rec.DTPROF, "mark", "--recorder",
                              str(self.recorder.pid), "ready"],
                             stdout=subprocess.DEVNULL, check=False,
                             stderr=subprocess.DEVNULL).returncode:
            rec.check(self.recorder.poll() is None, "the recorder ended: " +
                      open(self.dir + "/err").read())
            time.sleep(0.02)
        while not os.path.exists(self.dir + "/made") or not os.path.getsize(
                self.dir + "/made"):
            time.sleep(0.02)
        self.made_map = mmap.mmap(os.open(self.dir + "/made", os.O_RDONLY), 8,
                                  prot=mmap.PROT_READ)
        self.target = int(subprocess.check_output(
            ["pgrep", "-P", str(self.recorder.pid), "-x", "sequence"]))
        self.asked = []		# (monotonic ns, calls made before)

    def made(self):
        """How many calls there were so far."""
        return struct.unpack("Q", self.made_map)[0]

    def said(self):
        """Lines about dumps."""
        return re.findall(r"dump (\d+) \((.*)\): ([0-9.]+) (\w+), (\d+) "
                          r"samples, (\S+) (\w+) in (\S+)\n",
                          open(self.dir + "/err").read())

    def settle(self, more):
        """Wait for so many dumps more, and until none is being written."""
        while len(self.said()) < more:
            rec.check(self.recorder.poll() is None, open(
                self.dir + "/err").read())
            time.sleep(0.01)

    def ask(self):
        """Trigger, in one of the ways."""
        before = len(self.said())
        way = rnd.choice(["signal", "signal", "ctl", "pair", "thousand"])
        self.asked.append((time.monotonic_ns(), self.made()))
        ctl = [rec.DTPROF, "ctl", "--recorder", str(self.recorder.pid),
               "dump"]
        if way == "signal":
            os.kill(self.recorder.pid, signal.SIGUSR2)
            self.settle(before + 1)
        elif way == "ctl":
            rec.run(*ctl[1:])
            self.settle(before + 1)
        elif way == "pair":
            both = [subprocess.Popen(ctl, stdout=subprocess.DEVNULL)
                    for _ in range(2)]
            os.kill(self.recorder.pid, signal.SIGUSR2)
            rec.check([p.wait() for p in both] == [0, 0], "two at once")
            self.settle(before + 3)
        else:
            for _ in range(1000):
                os.kill(self.recorder.pid, signal.SIGUSR2)
            self.settle(before + 1)

    def end(self):
        """Kill the target; its end is the last trigger."""
        os.kill(self.target, signal.SIGKILL)
        rec.check(self.recorder.wait() == 128 + 9, "status %d" %
                  self.recorder.returncode)


def look(session, line, kept, is_last):
    """A dump, whose reasons are as said; returns its last number and end."""
    global full, named, lost_all
    path = line[7]
    whole = rec.report(path)["recording"]
    account = rec.accounting(path)[EVENT]
    got = rec.samples(path, None, *([] if is_last else ["--no-symbols"]))
    numbers = [s["args"]["offset"] & 0x7fffffff for s in got]
    lost = sum(account[key] for key in ("full", "nested", "error"))
    lost_all += lost
    rec.check(numbers and len(numbers) == int(line[4]), "%s: %d samples" %
              (path, len(numbers)))
    missing = numbers[-1] + 1 - numbers[0] - len(numbers)
    rec.check(all(a < b for a, b in zip(numbers, numbers[1:])) and
              missing <= lost, "%s: %d numbers are missing, %d lost" %
              (path, missing, lost))
    # As numbered by the program: those overwritten, those here, those lost.
    rec.balance_row(path, account)
    fired = account["fired"] - account["filtered"]
    rec.check(account["in_file"] == len(numbers) == account["stored"] -
              account["overwritten"] and fired == account["overwritten"] +
              len(numbers) + lost == numbers[-1] + 1, "%s: to %d, %s" %
              (path, numbers[-1], account))
    if account["overwritten"]:
        full += 1
        rec.check(os.path.getsize(path) >= 0.8 * session.ring,
                  "%s: %d bytes of a ring of %d" %
                  (path, os.path.getsize(path), session.ring))
    dump = whole["dump"]
    begin = int(whole["info"]["dump.from_ns"])
    finish = begin + dump["history_ns"]
    printed = float(line[2]) * {"us": 1e3, "ms": 1e6, "s": 1e9}[line[3]]
    rec.check(begin == got[0]["time_ns"] and finish >= got[-1]["time_ns"] and
              abs(printed - dump["history_ns"]) <= printed * 0.006,
              "%s: %d to %d, %s, printed %s %s" %
              (path, got[0]["time_ns"], got[-1]["time_ns"], dump, *line[2:4]))
    # All that was made before the trigger.
    before = [made for at, made in session.asked if
              at <= dump["requested_ns"]]
    rec.check(numbers[-1] + 1 >= max(before, default=0), "%s: ends at %d" %
              (path, numbers[-1]))
    gap_ms = (dump["requested_ns"] - got[-1]["time_ns"]) / 1e6
    gaps_ms.append(gap_ms)
    if gap_ms > 100:
        idle.append((session, path, got[-1]["time_ns"],
                     dump["requested_ns"]))
    # What comes after it, as the next dump has it.
    for number, sample_ns in zip(numbers, (s["time_ns"] for s in got)):
        kept[number] = sample_ns
    if is_last:
        named += check_names(path, got)
    return numbers[-1], finish


def check_names(path, got):
    """The target is dead: its complete stacks have its functions."""
    complete = [s for s in got if s["user_status"] == "ok"]
    other = [s for s in complete if not any(
        f.get("function") == "first_half" for f in s["user_frames"])]
    rec.check(complete and not other, "%s: %d of %d stacks without names" %
              (path, len(other), len(complete)))
    return 1


def check_session(session):
    """All its dumps, in order."""
    global after
    lines = session.said()
    kept, ends = {}, []
    for n, line in enumerate(lines):
        ends.append(look(session, line, kept, n + 1 == len(lines)))
    for last, finish in ends:
        if last + 1 in kept:
            after += 1
            rec.check(kept[last + 1] > finish, "call %d was at %d: before "
                      "%d, and not in the dump" % (last + 1, kept[last + 1],
                                                   finish))
    made = session.made()
    rec.check(ends[-1][0] + 1 in (made, made + 1), "the last dump ends at %d "
              "of %d" % (ends[-1][0], made))
    for what in [i for i in idle if i[0] is session]:
        late = [t for t in kept.values() if what[2] < t <= what[3]]
        rec.check(not late, "%s ends %.0f ms before its trigger, with %d "
                  "calls between" % (what[1], (what[3] - what[2]) / 1e6,
                                     len(late)))
    for name in os.listdir(session.dir):
        os.unlink(session.dir + "/" + name)
    return len(lines)


dumps = sessions = 0
while dumps < DUMPS:
    s = Session(sessions)
    for _ in range(rnd.randint(1, 6)):
        time.sleep(rnd.uniform(0, 0.7))
        s.ask()
    time.sleep(rnd.uniform(0, 0.3))
    s.end()
    dumps += check_session(s)
    sessions += 1
gaps_ms.sort()
rec.ok("%d dumps in %d sessions, %d of a full ring: no gap, newest, exact "
       "accounting, %d lost; %d killed targets have their names; %d ends are "
       "before the next call" % (dumps, sessions, full, lost_all, named,
                                 after))
rec.ok("the last call is %.1f ms (median), %.1f ms (95%%), %.1f ms (most) "
       "before the trigger; %d above 100 ms, in which there was none" % (
           gaps_ms[len(gaps_ms) // 2], gaps_ms[len(gaps_ms) * 95 // 100],
           gaps_ms[-1], len(idle)))
rec.check(full >= DUMPS / 4, "just %d dumps of a full ring" % full)
