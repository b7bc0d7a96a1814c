# SPDX-License-Identifier: ISC
"""How complete the user stacks of a recording are, and whether it is true.

usage: stacks.py TITLE RECORDING
       stacks.py RECORDING LEAST <"PID TITLE" lines

The first prints a line for a recording.  The second one for each process, of
whose stacks LEAST in 10,000 have to be whole, give or take what chance makes of
so many; those of tests/work/stacks have to be, frame by frame, what that
program did.

A stack is complete when its walk ended by itself and its last frame is where
a process or a thread begins: in the entry of a program or of the dynamic
loader, or in code whose return address the call frame information declares
to be undefined, as readelf reads both; where a C library has no information,
in what calls a function with which a process, thread or context begins.

Files are looked for below STACKS_ROOT, where that is set.
"""

import bisect
import collections
import os
import re
import subprocess
import sys

import recording as rec

FDE = re.compile(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)")
SEGMENT = re.compile(r"^  LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ "
                     r"0x([0-9a-f]+)")
FIRST = ("main", "thread", "coroutine")
START = r" main \S+ \S+ _start"
SIGNAL = r"spin (on_second( \S+)+ )?on_alarm( \S+)* interrupted do_"
ANSWERS = {
    "alloca": "spin grown do_alloca",
    "realign": "spin aligned do_realign",
    "deep": "spin( down){1001} do_deep",
    "callback": r"spin compare( \S+){1,3} do_callback",
    "longjmp": "spin( jumps){6} do_longjmp",
    "signal": SIGNAL + "signal",
    "altstack": SIGNAL + "altstack",
    "threads": r"spin in_thread thread( \S+){1,2}$",
    "vfork": "spin child do_vfork",
    "fork": "spin child do_fork",
    "coroutine": r"spin in_coroutine coroutine \S+$",
    "dlopen": "spin plugin_call do_dlopen",
    "plt": "leaf do_plt",
    "vdso": r"\S+ (\S+ )?do_vdso",
    "throws": "spin (_ZN5guardD[12]Ev (thrower ){1,11})?catcher",
}
UNDEFINED = re.compile(r"  DW_CFA_undefined: r(16|30) ")
YOUNG_NS = 300000000    # after exec, until all is heard of, on a busy machine
ENTRY_BYTES = 64        # of an entry that no frame information describes


def output(*command):
    """What a command prints; nothing where it fails."""
    return subprocess.run(command, stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL
                          ).stdout.decode(errors="replace")


class File:
    """What readelf knows of one file."""

    def __init__(self, path):
        self.path = path
        self.loads = []
        self.outermost = []
        self.described = []
        self.symbols = None
        text = output("readelf", "-hlW", path)
        self.of_file(text)
        self.of_frames(text)

    def of_file(self, text):
        """Segments: offset, address, size in the file."""
        for line in text.split("\n"):
            load = SEGMENT.match(line)
            if load:
                self.loads.append(tuple(int(x, 16) for x in load.groups()))

    def of_frames(self, text):
        """Ranges in which an outermost frame may be."""
        entry = re.search(r"Entry point address: +0x([0-9a-f]+)", text)
        entry = int(entry.group(1), 16) if entry else 0
        if entry:
            self.outermost.append((entry, entry + ENTRY_BYTES))
        begin, end = 0, 0
        for line in output("readelf", "--debug-dump=frames",
                           self.path).split("\n"):
            fde = FDE.search(line)
            if fde:
                begin, end = (int(x, 16) for x in fde.groups())
                if begin <= entry < end:
                    self.outermost.append((begin, end))
            elif " CIE" in line:
                begin, end = 0, 0
            elif UNDEFINED.match(line):
                self.outermost.append((begin, end))
            elif line.startswith("  DW_CFA_") and "nop" not in line:
                self.described.append((begin, end))

    def address(self, offset):
        """From an offset in the file to the address it is meant for."""
        for off, at, size in self.loads:
            if off <= offset < off + size:
                return offset - off + at
        return offset

    def is_outermost(self, address):
        """May a walk end here?"""
        return any(a <= address <= b for a, b in self.outermost)

    def is_described(self, address):
        """Is there a row of frame information for it?"""
        n = bisect.bisect(self.described, (address, 1 << 64))
        return n > 0 and address < self.described[n - 1][1]

    def name(self, address):
        """The function at an address, by nm; ? where there is none."""
        if self.symbols is None:
            self.symbols = []
            for more in ([], ["-D"]):
                for line in output("nm", "-S", *more, self.path).split("\n"):
                    word = line.split()
                    if len(word) == 4 and word[2] in "tTwWiV":
                        self.symbols.append((int(word[0], 16),
                                             int(word[1], 16),
                                             word[3].split("@")[0]))
            self.symbols.sort()
        n = bisect.bisect(self.symbols, (address, 1 << 64, ""))
        if n and address < sum(self.symbols[n - 1][:2]):
            return self.symbols[n - 1][2]
        return "?"


class Stacks:
    """The samples of a recording, with what lay at each pc then."""

    def __init__(self, path):
        self.path = path
        self.files = {}
        self.maps = collections.defaultdict(list)
        self.parent = {}
        self.born = {}
        self.known = collections.defaultdict(dict)
        self.shown = 0

    def file(self, path):
        """What is known of a file, looked up once."""
        if path not in self.files:
            self.files[path] = File(os.environ.get("STACKS_ROOT", "") + path)
        return self.files[path]

    def place(self, pid, pc):
        """File and address of a pc; None outside of files."""
        for start, end, offset, path in self.maps[pid]:
            if start <= pc < end:
                if not path.startswith("/"):
                    return None, pc
                file = self.file(path)
                return file, file.address(pc - start + offset)
        return None, pc

    def observe(self, record):
        """A mapping, a new process, a new program."""
        pid = record["pid"]
        if record["type"] == "mmap":
            start = int(record["addr"], 16)
            end = start + record["len"]
            self.maps[pid] = [m for m in self.maps[pid]
                              if m[1] <= start or m[0] >= end]
            self.maps[pid].append((start, end, record["offset"],
                                   record["path"]))
            self.known.pop(pid, None)
        elif record["type"] == "fork" and record["ppid"] != pid:
            self.maps[pid] = list(self.maps[record["ppid"]])
            self.parent[pid] = record["ppid"]
        elif record["type"] == "exec":
            self.born[pid] = record["time_ns"]

    def samples(self):
        """Each sample that has a user stack."""
        for r in rec.records(self.path):
            if r["type"] != "sample":
                self.observe(r)
            elif r.get("user_status", "none") != "none":
                yield r

    def status(self, sample):
        """How the stack ended; apart where a program has just begun."""
        status = sample["user_status"]
        if status == "ok":
            return status if self.whole(sample) else "elsewhere"
        born = self.born.get(sample["pid"], -YOUNG_NS)
        return "young" if sample["time_ns"] - born < YOUNG_NS else status

    def whole(self, sample):
        """Did the walk end, and where one may?"""
        if sample["user_status"] != "ok" or not sample["user"]:
            return False
        last = len(sample["user"]) - 1
        file, address = self.frame(sample, last)
        if file is None or last == 0 or file.is_outermost(address):
            return file is not None
        if file.is_described(address):
            return False
        file, address = self.frame(sample, last - 1)
        return file is not None and file.name(address) in FIRST

    def frame(self, sample, n):
        """File and address of the n-th frame."""
        return self.place(sample["pid"], int(sample["user"][n], 16) -
                          (1 if n else 0))

    def names(self, sample):
        """The functions of a stack, innermost first."""
        names, known = [], self.known[sample["pid"]]
        for n, pc in enumerate(sample["user"]):
            key = (pc, n > 0)
            if key not in known:
                file, address = self.frame(sample, n)
                name = file.name(address) if file else "?"
                known[key] = name.split(".")[0]
            names.append(known[key])
        return names

    def is_answer(self, sample, title):
        """Is the stack of a leaf what the program did?"""
        kind = title.split("-")[-1]
        names = " ".join(self.names(sample))
        answer = ANSWERS.get(kind)
        if answer is None or names.split(" ")[0] != answer.split(" ")[0]:
            return True
        if not answer.endswith("$"):
            answer += r" main \?$" if "musl" in title else START
        if re.match(answer, names):
            return True
        self.shown += 1
        if self.shown < 20:
            print("%s: %s" % (title, names[:400]))
        return False


def judge(path, least, titles):
    """The table of several processes; fails where too little is whole."""
    stacks = Stacks(path)
    by = collections.defaultdict(collections.Counter)
    for sample in stacks.samples():
        pid, status = sample["pid"], stacks.status(sample)
        while pid not in titles and pid in stacks.parent:
            pid = stacks.parent[pid]
        if pid not in titles:
            continue        # a child from before the recording
        if status == "ok" and not stacks.is_answer(sample, titles[pid]):
            status = "wrong"
        by[titles[pid]][status] += 1
    bad = []
    for title in titles.values():
        print(line_of(title, by[title]))
        known = known_of(by[title])
        if known < 100 or by[title]["wrong"] or \
                known - by[title]["ok"] > most_bad(known, 1 - least / 10000):
            bad.append(title)
    rec.check(not bad, "too few whole stacks, or samples: " + " ".join(bad))


def most_bad(n, share):
    """What chance makes of so many samples of which a share may be bad."""
    return n * share + 3.5 * (n * share) ** 0.5 + 1


def count(path):
    """Samples by how they ended; those that ended where none may apart."""
    stacks, by = Stacks(path), collections.Counter()
    for sample in stacks.samples():
        by[stacks.status(sample)] += 1
    return by


def known_of(by):
    """Samples of programs whose mappings may be known."""
    return sum(by.values()) - by["noproc"] - by["young"]


def line_of(title, by):
    """One line of the table; new processes, walked blindly, apart."""
    known = known_of(by)
    rest = " ".join("%s %d" % (k, n) for k, n in sorted(by.items())
                    if k != "ok")
    return "%-20s %8d %8.2f  %s" % (title, known, 100 * by["ok"] / known
                                    if known else 0, rest)


def main():
    """Print one line, or judge many."""
    if sys.argv[2].isdigit():
        titles = dict(line.split() for line in sys.stdin)
        judge(sys.argv[1], int(sys.argv[2]),
              {int(pid): title for pid, title in titles.items()})
    else:
        print(line_of(sys.argv[1], count(sys.argv[2])))


if __name__ == "__main__":
    main()
