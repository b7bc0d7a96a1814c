#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
#
# Writes perf.data by hand, of one process that maps one program by its
# build-id, so that what is sampled is known: places of the program's
# functions, or nowhere.
#
#	Program("work").write("x.data", [[("main", 4), NOWHERE], ...])
#
# A stack is a list of places, the innermost first: a number, or the name of a
# function and how far behind its begin.
import os
import struct
import subprocess

IP, TID, TIME, CHAIN, PERIOD, USER = 1, 2, 4, 32, 256, 2**64 - 512
MMAP2, SAMPLE, BY_BUILD_ID, SAMPLE_ID_ALL = 10, 9, 1 << 14, 1 << 18
ASKED_BUILD_ID = 1 << 34
BASE, NOWHERE = 0x10000000, 0x1234


def said(*command):
    return subprocess.check_output(command, text=True,
                                   stderr=subprocess.DEVNULL).splitlines()


def record(kind, body, misc):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


class Program:
    def __init__(self, path, base=BASE):
        self.base = base
        self.path = os.path.realpath(path)
        self.symbols = {line.split()[2]: int(line.split()[0], 16)
                        for line in said("nm", self.path)
                        if line.split()[-2] in "Tt"}
        load = next(line.split() for line in said("readelf", "-lW", self.path)
                    if "LOAD" in line and "R E" in line)
        self.bias = base + int(load[1], 16) - int(load[2], 16)
        self.build_id = bytes.fromhex(next(
            line.split()[-1] for line in said("readelf", "-n", self.path)
            if "Build ID" in line))

    def pc(self, place):
        if isinstance(place, int):
            return place
        return self.bias + self.symbols[place[0]] + place[1]

    def sample(self, time, stack):
        pcs = [self.pc(place) for place in stack]
        return record(SAMPLE, struct.pack(
            "<QIIQQ%dQ" % (2 + len(pcs)), pcs[0], 1, 1, time, 1,
            1 + len(pcs), USER, *pcs), 2)

    def mapping(self):
        name = self.path.encode() + bytes(8 - len(self.path) % 8)
        return record(MMAP2, struct.pack(
            "<IIQQQB3x20sII", 1, 1, self.base, 1 << 20, 0, len(self.build_id),
            self.build_id, 5, 2) + name + struct.pack("<IIQ", 1, 1, 1),
            2 | BY_BUILD_ID)

    # others: what record() made, before the samples.  features: what stands
    # behind them, by number.
    def write(self, path, stacks, others=b"", features={}):
        records = self.mapping() + others + b"".join(
            self.sample(2 + n, stack) for n, stack in enumerate(stacks))
        attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1, IP | TID | TIME |
                           PERIOD | CHAIN, 0, SAMPLE_ID_ALL |
                           ASKED_BUILD_ID) + bytes(80)
        bits = sum(1 << number for number in features)
        at = 104 + 144 + len(records) + 16 * len(features)
        table = bodies = b""
        for number in sorted(features):
            table += struct.pack("<QQ", at + len(bodies),
                                 len(features[number]))
            bodies += features[number]
        with open(path, "wb") as file:
            file.write(b"PERFILE2" + struct.pack(
                "<QQQQQQ", 104, 144, 104, 144, 104 + 144, len(records)) +
                bytes(16) + bits.to_bytes(32, "little") + attr + bytes(16) +
                records + table + bodies)
