# SPDX-License-Identifier: ISC
"""Arguments of probes beside those that gdb reads in other runs.

The program runs without ASLR, with the same environment, so that the same
happens in each run: values that differ between two runs of gdb, or two of
dtprof, are random (canaries, times, pids) and are not compared, and how many
they are is said.
The kernel maps a page of its own into a process that comes to a probe, before
what the process maps later: a probe on its first instruction sees to it that
each run has that page.
"""

import json
import os
import re
import signal
import struct
import subprocess
import time

import recording as rec

LOADER = "uprobe:/lib64/ld-linux-x86-64.so.2:_start"
MASK = (1 << 64) - 1
MOST_ARGS = 8


def segments(path):
    """[(address, offset, size)] of what a file has loaded."""
    with open(path, "rb") as file:
        head = file.read(64)
        at, = struct.unpack_from("<Q", head, 32)
        size, n = struct.unpack_from("<HH", head, 54)
        file.seek(at)
        table = file.read(size * n)
    found = []
    for i in range(n):
        kind, _, offset, address, _, length = struct.unpack_from(
            "<IIQQQQ", table, i * size)
        if kind == 1:
            found.append((address, offset, length))
    return found


def offset_of(loaded, address):
    """Of an address in a file."""
    for start, offset, size in loaded:
        if start <= address < start + size:
            return offset + address - start
    return None


def libraries(program):
    """The program and what ldd finds, by their real paths."""
    out = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True,
                         check=True).stdout
    paths = [program] + re.findall(r"(/\S+) \(0x", out)
    return sorted({os.path.realpath(path) for path in paths
                   if "ld-linux" not in path})


def functions(path):
    """[(name, offset)] of nm -D, but what is several functions."""
    out = subprocess.run(["nm", "-D", "--defined-only", path],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    loaded, found = segments(path), {}
    for line in out.splitlines():
        address, kind, name = line.split()
        if kind in "TW":
            found.setdefault(name.split("@")[0], set()).add(int(address, 16))
    return [(name, offset_of(loaded, addresses.pop()))
            for name, addresses in sorted(found.items())
            if len(addresses) == 1]


def notes(path):
    """Static probes as readelf has them: (provider, name, [place])."""
    out = subprocess.run(["readelf", "-nW", path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True,
                         check=False).stdout
    found = {}
    for part in out.split("Provider: ")[1:]:
        provider, name, place, semaphore, args = re.match(
            r"(\S+)\s+Name: (\S+)\s+Location: (\S+), Base: \S+, "
            r"Semaphore: (\S+)\s+Arguments: ?([^\n]*)", part).groups()
        found.setdefault((provider, name), []).append(
            (int(place, 16), int(semaphore, 16), args.split()))
    return found


def gdb(ask, out):
    """The calls that gdb sees, by key."""
    with open("ask.json", "w") as file:
        json.dump(ask, file)
    # Another user may write it.
    if os.path.exists(out):
        os.unlink(out)
    stat = subprocess.Popen([rec.DTPROF, "stat", "-a", "-e", LOADER],
                            stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)
    while subprocess.run([rec.DTPROF, "mark", "--recorder", str(stat.pid),
                          "ready"], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL,
                         check=False).returncode != 0:
        rec.check(stat.poll() is None, "stat has ended")
        time.sleep(0.02)
    with open(os.devnull, "w") as said, open("gdb.err", "w") as err, \
         open(ask.get("stdin", os.devnull)) as stdin:
        subprocess.run(
            ask.get("as", []) +
            ["gdb", "-q", "-nx", "-batch", "-x",
             os.environ["SRC"] + "/tests/accept/gdb_arguments.py"],
            env=dict(os.environ, OUT=out), stdin=stdin, stdout=said,
            stderr=err, check=False)
    stat.send_signal(signal.SIGINT)
    stat.wait()
    calls = {}
    with open(out) as file:
        for line in file:
            key, registers, values = json.loads(line)
            calls.setdefault(key, []).append((registers, values))
    return calls


def dtprof(ask, events):
    """The calls that dtprof sees, by key, as lists of arguments."""
    command = [rec.DTPROF, "record", "-q", "-o", "args.dtp",
               "--call-graph", "none"]
    for event in events.values():
        command += ["-e", event]
    command += ["-e", LOADER, "--"] + ask.get("as", []) + ["env", "-i"]
    command += ["%s=%s" % pair for pair in ask["env"].items()]
    command += ["setarch", "-R", ask["program"]] + ask["argv"]
    with open(os.devnull, "w") as out, \
         open(ask.get("stdin", os.devnull)) as stdin:
        done = subprocess.run(command, stdin=stdin, stdout=out,
                              stderr=subprocess.PIPE, check=False, text=True)
    rec.check(done.returncode == 0, "dtprof: %d: %s" %
              (done.returncode, done.stderr))
    calls = {}
    keys = {event: key for key, event in events.items()}
    faults = {}
    for event, row in rec.accounting("args.dtp").items():
        faults[event] = row["arg_fault"]
        rec.check(row["full"] + row["nested"] + row["error"] + row["missed"]
                  == 0, "lost: %r" % row)
    # Not what env and setarch do before.
    for sample in rec.samples("args.dtp", None, "--no-symbols", "--filter",
                              'comm == "%s"' % os.path.basename(
                                  ask["program"])[:15]):
        if sample["event"] == LOADER:
            continue
        args = sample.get("args", {})
        # Text in a page that nobody has touched yet is empty, and counted.
        for name in [name for name in args if args[name] == ""]:
            if faults[sample["event"]] > 0:
                faults[sample["event"]] -= 1
                args[name] = None
        calls.setdefault(keys[sample["event"]], []).append(args)
    return calls


def text_same(ours, theirs):
    """As far as it is recorded, where it is plain."""
    plain = theirs.isascii() and theirs.isprintable()
    return not plain or ours == theirs[:len(ours)] and \
        len(ours) >= min(len(theirs), 60)


class Tally:
    """How many values there were, and which were others."""

    def __init__(self):
        self.calls = self.same = self.random = self.unread = 0
        self.faults = 0
        self.wrong = []

    def value(self, where, ours, again, first, second):
        """One value of two runs beside those of two runs of gdb."""
        if first is None or second is None:
            self.unread += 1
        elif ours is None or again is None:
            self.faults += 1
        elif first != second or ours != again:
            self.random += 1
        elif isinstance(ours, str):
            self.same += 1
            if not text_same(ours, first):
                self.wrong.append((where, ours, first))
        else:
            self.same += 1
            if ours & MASK != first & MASK:
                self.wrong.append((where, ours, first))

    def call(self, key, n, ours, again, first, second):
        """All arguments of a call."""
        self.calls += 1
        for name, value in ours.items():
            number = re.fullmatch(r"arg(\d)", name)
            text = re.fullmatch(r"str\((.*)\)", name)
            where = (key, n, name)
            if name in first[1]:
                pair = [side[1][name] and side[1][name][0]
                        for side in (first, second)]
            elif text and text.group(1) in first[1]:
                pair = [side[1][text.group(1)] and side[1][text.group(1)][1]
                        for side in (first, second)]
            else:
                pair = [side[0][int(number.group(1))]
                        for side in (first, second)]
            self.value(where, value, again[name], *pair)

    def place(self, key, most, both, first, second):
        """All calls of a place."""
        ours, again = (side.get(key, []) for side in both)
        rec.check(len(first) == len(second), "%s: gdb sees %d calls, then %d"
                  % (key, len(first), len(second)))
        rec.check(len(ours) == len(again), "%s: %d calls, then %d" %
                  (key, len(ours), len(again)))
        rec.check(len(ours) == len(first) or
                  len(ours) > len(first) == most,
                  "%s: %d calls, gdb sees %d" % (key, len(ours), len(first)))
        for n, calls in enumerate(zip(ours, again, first, second)):
            self.call(key, n, *calls)

    def end(self, what):
        """All were the same."""
        for one in self.wrong[:10]:
            print("%r: %r, gdb has %r" % one)
        rec.check(not self.wrong, "%d of %d values of %s differ" %
                  (len(self.wrong), self.same, what))
        rec.check(self.faults <= self.same / 100, "%s: %d texts could not be "
                  "read" % (what, self.faults))
        rec.check(self.random + self.unread < self.same / 4,
                  "%s: only %d values can be compared, %d are random, %d "
                  "not known to gdb" % (what, self.same, self.random,
                                        self.unread))
        rec.ok("%s: %d values of %d calls are gdb's; %d are random, %d not "
               "known to gdb, %d could not be read, and are counted so" %
               (what, self.same, self.calls, self.random, self.unread,
                self.faults))
