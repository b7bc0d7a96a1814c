#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Reads a dtprof recording by doc/dtprof-format.5 alone, and prints sums.

It shares nothing with libprof: what both say about a file shows that the
manual page describes it.  Only the standard library is used; compressed
bodies go through the zstd command.  Called by
tests/unit/recording-independent-reader-agrees.c, which prints the same lines,
and by tests/report, which sum up samples on their own.

usage: read_dtp.py FILE
"""
import struct
import subprocess
import sys

M64 = (1 << 64) - 1
(INFO, EVENT, LIFE, STACK, SAMPLE, ACCOUNTING, INDEX, END,
 SYMBOL) = range(1, 10)
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
    0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotate(x, n):
    return (x << n | x >> (64 - n)) & M64


def xxh64_round(acc, lane):
    return rotate((acc + lane * P2) & M64, 31) * P1 & M64


def xxh64(data):
    """XXH64 with seed 0."""
    at, end = 0, len(data)
    if end >= 32:
        acc = [(P1 + P2) & M64, P2, 0, (0 - P1) & M64]
        while at + 32 <= end:
            lanes = struct.unpack_from("<4Q", data, at)
            acc = [xxh64_round(a, lane) for a, lane in zip(acc, lanes)]
            at += 32
        h = sum(rotate(a, n) for a, n in zip(acc, (1, 7, 12, 18))) & M64
        for a in acc:
            h = ((h ^ xxh64_round(0, a)) * P1 + P4) & M64
    else:
        h = P5
    h = (h + end) & M64
    while at + 8 <= end:
        lane, = struct.unpack_from("<Q", data, at)
        h = (rotate(h ^ xxh64_round(0, lane), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= end:
        lane, = struct.unpack_from("<I", data, at)
        h = (rotate(h ^ lane * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    while at < end:
        h = rotate(h ^ data[at] * P5 & M64, 11) * P1 & M64
        at += 1
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        z = self.varint()
        return (z >> 1) ^ (0 - (z & 1)) & M64

    def take(self, n):
        part = self.data[self.at:self.at + n]
        assert len(part) == n
        self.at += n
        return part

    def string(self):
        text = self.take(self.varint())
        assert self.take(1) == b"\0" and b"\0" not in text
        return text


def sections(body):
    cur, found = Cursor(body), {}
    while cur.more():
        number = cur.varint()
        found[number] = cur.take(cur.varint())
    return found


class Recording:
    def __init__(self, data):
        self.stacks, self.samples, self.lives = {}, [], []
        self.events, self.info, self.rows = {}, {}, {}
        self.end, self.tallied, self.tables_of = None, 0, []
        assert data[:8] == bytes.fromhex("894454500d0a1a0a")
        major, _, order, length = struct.unpack_from("<HHII", data, 8)
        assert major in (1, 2) and order == 0x01020304
        at, sequence = length, 0
        while at < len(data):
            at = self.chunk(data, at, sequence)
            sequence += 1

    def chunk(self, data, at, sequence):
        (magic, kind, codec, _, stored, head, raw, number,
         checksum) = struct.unpack_from("<4sHBBIIIIQ", data, at)
        assert magic == bytes.fromhex("d7545043") and number == sequence
        payload = data[at + 32:at + 32 + stored]
        assert xxh64(data[at:at + 24] + payload) == checksum
        body = payload[head:]
        if codec == 1:
            body = subprocess.run(["zstd", "-d", "-c"], input=body,
                                  stdout=subprocess.PIPE, check=True).stdout
        assert len(body) == raw
        decode = {INFO: self.on_info, EVENT: self.on_event,
                  LIFE: self.on_life, STACK: self.on_stack,
                  SAMPLE: self.on_sample, ACCOUNTING: self.on_accounting,
                  END: self.on_end, SYMBOL: self.on_symbol}.get(kind)
        if decode is not None:
            decode(Cursor(payload[:head]), body)
        return at + 32 + stored

    def on_info(self, _, body):
        cur = Cursor(body)
        while cur.more():
            key = cur.string()
            self.info[key] = cur.string()

    def on_event(self, _, body):
        cur = Cursor(body)
        number = cur.varint()
        self.events[number] = [cur.string() for _ in range(4)]
        values = [cur.varint() for _ in range(5)]
        for _ in range(values[4]):
            self.events[number] += [cur.string(), cur.string()]
            cur.varint()

    def on_life(self, head, body):
        part = sections(body)
        words, cur = [b""], Cursor(part.get(1, b""))
        while cur.more():
            words.append(cur.string())
        cur, time, count = Cursor(part.get(2, b"")), 0, 0
        while cur.more():
            record = Cursor(cur.take(cur.varint()))
            kind = record.varint()
            time = (time + record.zigzag()) & M64
            mask = record.varint()
            field = [record.varint() if mask >> bit & 1 else 0
                     for bit in range(18)]
            build_id = record.take(field[17])
            self.lives.append((kind, time, field, words[field[5]],
                               words[field[10]], build_id))
            count += 1
        assert count == head.varint()

    def on_stack(self, head, body):
        first, count = head.varint(), head.varint()
        cur, path, last, seen = Cursor(body), [], 0, 0
        while cur.more():
            number, shared, fresh = cur.varint(), cur.varint(), cur.varint()
            del path[shared:]
            for _ in range(fresh):
                last = (last + cur.zigzag()) & M64
                path.append(last)
            assert number < count
            self.stacks[first + number] = path[::-1]
            seen += 1
        assert seen == count

    def on_sample(self, head, body):
        part = sections(body)
        tables, columns = self.tables(part), {}
        for number in range(5, 36):
            columns[number] = Cursor(part.get(number, b""))
        count, smallest = head.varint(), head.varint()
        largest = smallest + head.varint()
        for _ in range(head.varint()):
            head.varint(), head.varint()
            self.tallied += head.varint()
        time, weights, args = 0, {}, {}
        for _ in range(count):
            time = (time + columns[7].zigzag()) & M64
            assert smallest <= time <= largest
            self.samples.append(
                self.sample(tables, columns, time, weights, args))
        assert not any(column.more() for column in columns.values())

    @staticmethod
    def tables(part):
        shapes, tasks, addresses, words = [], [], [], []
        cur = Cursor(part[1])
        while cur.more():
            shape = [cur.varint() for _ in range(6)]
            shapes.append(shape + [cur.varint() if shape[0] & 0x80 else 0])
        cur = Cursor(part[2])
        while cur.more():
            pid = cur.varint()
            tasks.append((pid, (pid + cur.zigzag()) & 0xffffffff))
        cur, last = Cursor(part.get(3, b"")), 0
        while cur.more():
            last = (last + cur.zigzag()) & M64
            addresses.append(last)
        cur = Cursor(part.get(4, b""))
        while cur.more():
            words.append(cur.string())
        return shapes, tasks, addresses, words

    def sample(self, tables, columns, time, weights, args):
        shapes, tasks, addresses, words = tables
        (bits, event, kstatus, ustatus, nargs, strings,
         nvalues) = shapes[columns[5].varint()]
        cpu = columns[6].varint()
        pid, tid = tasks[columns[8].varint()]
        if bits & 0x40:
            weights[event] = (weights.get(event, 0) +
                              columns[9].zigzag()) & M64
        frames, ip = [], 0
        for bit, leaf, rest in ((8, 12, 13), (4, 10, 11)):
            if bits & bit:
                ip = addresses[columns[leaf].varint()]
                number = columns[rest].varint()
                frames += [ip] + (self.stacks[number] if number else [])
        if bits & 0x10:
            ip = addresses[columns[14].varint()]
        text = words[columns[15].varint()] if bits & 0x20 else b""
        total = 0
        for n in range(nargs):
            if strings >> n & 1:
                text += words[columns[16 + n].varint()]
            else:
                key = event, n
                args[key] = (args.get(key, 0) +
                             columns[16 + n].zigzag()) & M64
                total += args[key]
        idle = columns[24].varint() if nvalues else 0
        if idle:
            assert columns[25].varint() >= idle
        values = sum(columns[26 + n].varint() for n in range(nvalues))
        if bits & 0x100:
            instruction = columns[34].varint()
            script = list(self.stacks[columns[35].varint()])
            script[0] += instruction
            frames += script
        return (event, time, cpu, pid, tid, weights.get(event, 0), ip, total,
                sum(frames), len(frames), sum(text),
                bits & 3, kstatus, ustatus, values, idle)

    def on_accounting(self, _, body):
        cur = Cursor(body)
        while cur.more():
            row = Cursor(cur.take(cur.varint()))
            cpu, event, mask = row.varint(), row.varint(), row.varint()
            self.rows[event, cpu] = [
                (row.zigzag() if bit == 28 else row.varint())
                if mask >> bit & 1 else 0 for bit in range(32)]

    def on_symbol(self, _, body):
        """(kind, reason, whose, segments, [(address, size, name, module)])"""
        cur = Cursor(body)
        kind, why, whose, segments = cur.varint(), cur.varint(), None, []
        if kind == 1:
            whose = [cur.string(), cur.varint(), cur.varint(),
                     cur.take(cur.varint())]
            segments = [[cur.varint() for _ in range(3)]
                        for _ in range(cur.varint())]
        elif kind == 3:
            whose = [cur.varint(), cur.varint()]
        functions, address = [], 0
        while kind == 4 and cur.more():
            number, name, file, line = (cur.varint(), cur.string(),
                                        cur.string(), cur.varint())
            steps = [(cur.varint(), cur.zigzag())
                     for _ in range(cur.varint())]
            functions.append((number, name, file, line, steps))
        while cur.more():
            address = (address + cur.zigzag()) & M64
            functions.append((address, cur.varint(), cur.string(),
                              cur.string() if kind == 2 else b""))
        self.tables_of.append((kind, why, whose, segments, functions))

    def on_end(self, _, body):
        reason, _, count, _ = struct.unpack_from("<IIQQ", body)
        assert count == len(self.samples) == self.tallied
        self.end = reason


def main():
    with open(sys.argv[1], "rb") as file:
        recording = Recording(file.read())
    print("end", recording.end)
    for event in range(len(recording.events)):
        mine = [s for s in recording.samples if s[0] == event]
        print("event", event, recording.events[event][0].decode(), len(mine),
              *[sum(s[n] for s in mine) & M64 for n in range(1, 16)])
        rows = [row for (e, _), row in recording.rows.items() if e == event]
        print("accounting", event, sum(row[0] for row in rows) & M64,
              sum(row[28] for row in rows) & M64)
    for kind in range(2, 15):
        mine = [life for life in recording.lives if life[0] == kind]
        print("life", kind, len(mine),
              sum(life[1] for life in mine) & M64,
              sum(sum(life[2][n] for n in (0, 1, 2, 3, 4, 6, 7, 9, 11, 12,
                                           13, 14, 15, 16, 17))
                  for life in mine) & M64,
              sum(sum(life[3]) + sum(life[4]) + sum(life[5])
                  for life in mine) & M64)


if __name__ == "__main__":
    main()
