#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Check files against the rules of perftools.profiles.Profile, as strict
receivers do: python3 pprof_rules.py FILE ...; says what is wrong of each, and
ends with 1.  It reads the message itself; --print writes what it has."""
import gzip
import sys


def fields(data):
    """A message: (number of the field, integer or bytes)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value & 2**64 - 1
    while at < len(data):
        key = varint()
        if key & 7 == 2:
            size = varint()
            if size > len(data) - at:
                raise ValueError("cut")
            yield key >> 3, data[at:at + size]
            at += size
        elif key & 7 == 0:
            yield key >> 3, varint()
        else:
            raise ValueError("wire type %d" % (key & 7))


def single(message):
    return {f: v for f, v in fields(message)}


def numbers(parts):
    """A repeated number, packed or not."""
    for part in parts:
        if isinstance(part, int):
            yield part
            continue
        value = shift = 0
        for byte in part:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                yield value & 2**64 - 1
                value = shift = 0


class Profile:
    def __init__(self, data):
        self.bad = []
        self.by = {n: [] for n in range(1, 16)}
        for field, value in fields(data):
            if field not in self.by:
                self.say("field %d" % field)
            else:
                self.by[field].append(value)
        self.mappings = [single(m) for m in self.by[3]]
        self.locations = [single(m) for m in self.by[4]]
        self.lines = [[single(v) for f, v in fields(m) if f == 4]
                      for m in self.by[4]]
        self.functions = [single(m) for m in self.by[5]]
        self.check()

    def say(self, text):
        if len(self.bad) < 10:
            self.bad.append(text)

    def string(self, number, what):
        if number >= len(self.by[6]):
            self.say("%s: no string %d" % (what, number))
            return ""
        return self.by[6][number].decode(errors="replace")

    def check(self):
        if not self.by[6] or self.by[6][0] != b"":
            self.say("string 0 is not empty")
        for n, text in enumerate(self.by[6]):
            try:
                text.decode("utf-8")
            except UnicodeDecodeError:
                self.say("string %d is not UTF-8" % n)
        for what, table in (("mapping", self.mappings),
                            ("location", self.locations),
                            ("function", self.functions)):
            for n, part in enumerate(table):
                if part.get(1, 0) != n + 1:
                    self.say("%s %d has the id %d" %
                             (what, n + 1, part.get(1, 0)))
        self.check_types()
        self.check_mappings()
        self.check_locations()
        self.check_samples()

    def check_types(self):
        if not self.by[1]:
            self.say("no type of value")
        for message in self.by[1] + self.by[11]:
            kind = single(message)
            for field in 1, 2:
                if self.string(kind.get(field, 0), "type") == "":
                    self.say("a type without a name or a unit")
        for field, what in (7, "drop"), (8, "keep"), (14, "default"):
            for number in self.by[field]:
                self.string(number, what)
        for number in numbers(self.by[13]):
            self.string(number, "comment")

    def check_mappings(self):
        ranges = []
        for n, mapping in enumerate(self.mappings, 1):
            start, limit = mapping.get(2, 0), mapping.get(3, 0)
            self.string(mapping.get(5, 0), "mapping")
            self.string(mapping.get(6, 0), "mapping")
            if start > limit:
                self.say("mapping %d ends before it begins" % n)
            elif start == 0 and limit == 2**64 - 1:
                self.say("mapping %d is everything" % n)
            elif start < limit:
                ranges.append((start, limit, n))
        ranges.sort()
        for (_, limit, a), (start, _, b) in zip(ranges, ranges[1:]):
            if start < limit:
                self.say("mappings %d and %d overlap" % (a, b))

    def check_locations(self):
        for n, location in enumerate(self.locations, 1):
            mapping, address = location.get(2, 0), location.get(3, 0)
            if mapping > len(self.mappings):
                self.say("location %d: no mapping %d" % (n, mapping))
            elif mapping > 0 and address > 0:
                where = self.mappings[mapping - 1]
                if not where.get(2, 0) <= address < where.get(3, 0):
                    self.say("location %d at %#x is not in mapping %d" %
                             (n, address, mapping))
            for line in self.lines[n - 1]:
                if not 0 < line.get(1, 0) <= len(self.functions):
                    self.say("location %d: no function %d" %
                             (n, line.get(1, 0)))
        for function in self.functions:
            for field in 2, 3, 4:
                self.string(function.get(field, 0), "function")

    def check_samples(self):
        for message in self.by[2]:
            parts = {}
            for field, value in fields(message):
                parts.setdefault(field, []).append(value)
            for location in numbers(parts.get(1, [])):
                if not 0 < location <= len(self.locations):
                    self.say("a sample: no location %d" % location)
            if len(list(numbers(parts.get(2, [])))) != len(self.by[1]):
                self.say("a sample with another number of values")
            for label in parts.get(3, []):
                label = single(label)
                if self.string(label.get(1, 0), "label") == "":
                    self.say("a label without a key")
                self.string(label.get(2, 0), "label")

    def print(self):
        for n, m in enumerate(self.mappings, 1):
            print("mapping", n, "%x %x %x" % (m.get(2, 0), m.get(3, 0),
                  m.get(4, 0)), self.string(m.get(5, 0), ""))
        for n, at in enumerate(self.locations, 1):
            print("location", n, at.get(2, 0), "%x" % at.get(3, 0),
                  " ".join(self.string(self.functions[i.get(1, 1) - 1]
                           .get(2, 0), "") for i in self.lines[n - 1]))


def main():
    status = 0
    show = sys.argv[1:2] == ["--print"]
    for path in sys.argv[1 + show:]:
        with open(path, "rb") as f:
            data = f.read()
        try:
            profile = Profile(gzip.decompress(data)
                              if data[:2] == b"\x1f\x8b" else data)
            bad = profile.bad
            if show:
                profile.print()
        except (ValueError, IndexError, EOFError, gzip.BadGzipFile) as error:
            bad = ["not a profile: %s" % error]
        for text in bad:
            print("%s: %s" % (path, text))
            status = 1
    sys.exit(status)


if __name__ == "__main__":
    main()
