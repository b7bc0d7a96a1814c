# SPDX-License-Identifier: ISC
"""Stacks of work/last: whole where its frame information is right, and said
to be cut where it is not.

usage: cut.py PROGRAM RECORDING <"PID KIND" lines
"""

import collections
import os
import subprocess
import sys

import recording as rec

DOWN = ["down"] * 21 + ["main"]
SPINE = {
    "right": ["last_right", "hold_right"] + DOWN,
    "wrong": ["last_wrong"],
    "later": ["last_wrong", "decoy"],
}


def symbols_of(path):
    """Functions of the program: start, end, name."""
    found = []
    for line in subprocess.check_output(["nm", "-S", path],
                                        text=True).splitlines():
        word = line.split()
        if len(word) == 4 and word[2] in "tT":
            start = int(word[0], 16)
            found.append((start, start + int(word[1], 16), word[3]))
    return found


def spine_of(sample, base, symbols):
    """The program's own functions of a stack, innermost first."""
    names = []
    for n, pc in enumerate(sample["user"]):
        at = int(pc, 16) - base - (1 if n else 0)
        names += [name for start, end, name in symbols if start <= at < end]
    return names


def main():
    """Judge each process of the list."""
    path, recording = sys.argv[1:]
    path = os.environ.get("STACKS_ROOT", "") + path
    kinds = {int(pid): kind for pid, kind in (line.split()
                                              for line in sys.stdin)}
    symbols, base = symbols_of(path), {}
    ends = {kind: collections.Counter() for kind in kinds.values()}
    for r in rec.records(recording):
        kind = kinds.get(r["pid"])
        if r["type"] == "mmap" and kind and r["path"].endswith("last"):
            base[r["pid"]] = int(r["addr"], 16) - r["offset"]
        if r["type"] != "sample" or not kind or not r["user"]:
            continue
        names = spine_of(r, base[r["pid"]], symbols)
        if not names or not names[0].startswith("last_"):
            continue
        whole = names[-1] == "_start"
        rec.check(r["user_status"] == "ok" or not whole,
                  "%s: whole, but %s" % (kind, r["user_status"]))
        rec.check(r["user_status"] != "ok" or whole,
                  "%s: said to be whole: %s" % (kind, " ".join(names)))
        # Before the loop the wrong rules hold, too.
        if kind != "right" and whole:
            ends[kind]["before"] += 1
            continue
        rec.check([name for name in names if name != "_start"] ==
                  SPINE[kind], "%s: %s" % (kind, " ".join(names)))
        ends[kind][r["user_status"]] += 1
    for kind, count in ends.items():
        rest = " ".join("%s %d" % end for end in sorted(count.items()))
        rec.check(count["ok" if kind == "right" else "badsp"] >= 20,
                  "%s: %s" % (kind, rest))
        rec.check(kind == "right" or count["before"] <= 2,
                  "%s: %s" % (kind, rest))
        print("%s: %s" % (kind, rest))


if __name__ == "__main__":
    main()
