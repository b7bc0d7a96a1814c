# SPDX-License-Identifier: ISC
"""Holds unwind tables against what readelf reads.

usage: unwind_rows.py TOOL LIST

A few rows of hand-written code keep a register in another one; readelf's
columns shift there, and what it prints below "ra" is not the return address.
"""

import bisect
import re
import subprocess
import sys

FDE = re.compile(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)")
REGISTER = re.compile(r"r[0-9]$")
NAMES = ("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9")
ROW = re.compile(r"^[0-9a-f]{16} ")


def rows(path):
    """Yield start, last, frame address, frame pointer, return address."""
    text = subprocess.run(["readelf", "--debug-dump=frames-interp", path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout.decode(errors="replace")
    # .debug_frame counts for functions that .eh_frame does not know.
    text, _, debug = text.partition("Contents of the .debug_frame")
    known = functions(text)
    starts = [start for start, _ in known]
    yield from rows_of(text)
    for row in rows_of(debug):
        at = bisect.bisect_right(starts, row[0]) - 1
        if at < 0 or row[0] >= known[at][1]:
            yield row


def functions(text):
    """From where to where there is an FDE."""
    return sorted((int(fde.group(1), 16), int(fde.group(2), 16))
                  for fde in FDE.finditer(text))


def rows_of(text):
    """The same, of one section's text."""
    end, head, row = 0, [], None
    for line in text.split("\n"):
        fde = FDE.search(line)
        if fde or " CIE" in line:
            if row and row[0] < end:
                yield (row[0], end - 1, *row[1:])
            row = None
            end = int(fde.group(2), 16) if fde else 0
        elif line.startswith("   LOC"):
            head = line.split()
        elif ROW.match(line) and end:
            word = dict(zip(head, line.split()))
            at = int(word["LOC"], 16)
            if row and row[0] < at:
                yield (row[0], at - 1, *row[1:])
            row = (at, word["CFA"], word.get("rbp", "u"), word.get("ra"))
    if row and row[0] < end:
        yield (row[0], end - 1, *row[1:])


def agrees(got, cfa, fp, ra):
    """Does the table's rule say the same?"""
    if got in ("user", "signal"):
        return True
    if got == "stop":
        return ra == "u"
    if got == "end":
        return False
    if ra and REGISTER.match(ra):       # by number, which the tool names
        ra = NAMES[int(ra[1:])]
    word = got.split()
    return (word[0] == cfa and word[2] == ra and
            (word[1] == "lost" or word[1] == ("u" if fp == "s" else fp)))


def is_mapped(path):
    """A program or a library; an object file or archive is never mapped."""
    with open(path, "rb") as file:
        head = file.read(18)
    return head[:4] == b"\x7fELF" and head[16:] in (b"\2\0", b"\3\0")


def look(tool, path):
    """Compare one file; rows, differences, rules left to others."""
    want = list(rows(path)) if is_mapped(path) else []
    if not want:
        return 0, [], 0
    done = subprocess.run(
        [tool, path], stdout=subprocess.PIPE, check=False,
        input="".join("%x\n%x\n" % (r[0], r[1]) for r in want).encode())
    if done.returncode == 2:
        return 0, [], 0        # not a file of this machine's kind
    got = done.stdout.decode().split("\n")
    bad, user = [], 0
    for n, r in enumerate(want):
        for m in (0, 1):
            rule = got[2 * n + m] if done.returncode == 0 else "no table"
            user += rule == "user"
            if not agrees(rule, *r[2:]):
                bad.append("%s %x: readelf %s, table %s" %
                           (path, r[m], " ".join(map(str, r[2:])), rule))
    return len(want), bad, user


def main():
    """Compare all; at most one in 10,000 may differ, and is shown."""
    total, bad, user, files = 0, [], 0, 0
    with open(sys.argv[2], encoding="utf-8") as names:
        for path in names.read().split("\n"):
            if not path:
                continue
            n, wrong, others = look(sys.argv[1], path)
            total, bad, user = total + n, bad + wrong, user + others
            files += n > 0
    for line in bad[:20]:
        print(line)
    print("%d files, %d rows: %d differ, %d left to others" %
          (files, total, len(bad), user))
    if files < 3 or total < 10000:
        print("FAIL: too little was looked at")
        return 1
    if len(bad) * 10000 > 2 * total or user * 1000 > 2 * total:
        print("FAIL: too much differs")
        return 1
    print("ok: the tables say what readelf says")
    return 0


sys.exit(main())
