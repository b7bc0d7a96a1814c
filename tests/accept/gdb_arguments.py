# SPDX-License-Identifier: ISC
"""Run by gdb: what arguments are at places of a program.

Reads ask.json {program, argv, env, most, places: [{key, file, offset,
names, probe, nargs}]}, runs the program without ASLR and writes to the file
$OUT a line of JSON for each of the first `most` calls of each place: [key,
registers, {name: value}].  Breakpoints are set when all files are mapped and
nothing of them was executed.
"""

import json
import os

import gdb

REGISTERS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
ASK = json.load(open("ask.json"))
OUT = open(os.environ["OUT"], "w")
ARCH_SET_FS = 0x1002
LEFT = {}


def address_of(place):
    """Where it is mapped, by its offset in its file; 0: it is not."""
    with open("/proc/%d/maps" % gdb.selected_inferior().pid) as maps:
        for line in maps:
            words = line.split()
            if len(words) < 6 or words[5] != place["file"] or \
               "x" not in words[1]:
                continue
            low, high = (int(word, 16) for word in words[0].split("-"))
            at = low + place["offset"] - int(words[2], 16)
            if low <= at < high:
                return at
    return 0


def value_of(value):
    """An integer, enumeration or pointer; text beside it, or None."""
    kind = value.type.strip_typedefs()
    text = None
    if kind.code == gdb.TYPE_CODE_PTR and \
       kind.target().strip_typedefs().sizeof == 1 and int(value) != 0:
        try:
            text = value.string("latin-1")
        except gdb.error:
            pass
    return int(value), text


class Place(gdb.Breakpoint):
    """One of them; it never stops."""

    def __init__(self, place, where):
        super().__init__(where)
        self.silent = True
        self.place = place
        LEFT[place["key"]] = ASK["most"]

    def stop(self):
        """The arguments, while there are calls left."""
        if LEFT[self.place["key"]] == 0:
            # Programs look at semaphores, of which gdb takes back its own.
            self.enabled = self.place["probe"] is not None
            return False
        LEFT[self.place["key"]] -= 1
        frame = gdb.newest_frame()
        mask = (1 << 64) - 1
        registers = [int(frame.read_register(name)) & mask
                     for name in REGISTERS]
        values = {}
        for name in self.place["names"]:
            try:
                values[name] = value_of(frame.read_var(name))
            except (gdb.error, ValueError, RuntimeError):
                values[name] = None
        for n in range(self.place["nargs"]):
            try:
                values["arg%d" % n] = (int(gdb.parse_and_eval(
                    "$_probe_arg%d" % n)), None)
            except gdb.error:
                values["arg%d" % n] = None
        OUT.write(json.dumps([self.place["key"], registers, values]) + "\n")
        return False


for setting in ("confirm off", "pagination off", "startup-with-shell off",
                "disable-randomization on", "debuginfod enabled off",
                "breakpoint always-inserted on", "width 0"):
    gdb.execute("set " + setting)
gdb.execute("file " + ASK["program"])
gdb.execute("unset environment")
for name, text in ASK["env"].items():
    gdb.execute("set environment %s %s" % (name, text))
gdb.execute("set args " + " ".join(ASK["argv"]))
gdb.execute("catch syscall arch_prctl")
gdb.execute("run")
while int(gdb.newest_frame().read_register("rdi")) != ARCH_SET_FS:
    gdb.execute("continue")
gdb.execute("delete")
for asked in ASK["places"]:
    if asked["probe"] is not None:
        Place(asked, "-probe-stap " + asked["probe"])
    elif address_of(asked) != 0:
        Place(asked, "*%#x" % address_of(asked))
        if asked.get("semaphore"):
            gdb.selected_inferior().write_memory(
                address_of(asked) - asked["address"] + asked["semaphore"],
                b"\1\0")
gdb.execute("continue")
OUT.close()
