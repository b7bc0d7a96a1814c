# SPDX-License-Identifier: ISC
"""The data of a flame graph page, read by reports/README.md alone.

    page_data.py FILE        the head, the labels, and the page as folded
                             stacks: one line for each event, stack and
                             cell, "event cell a;b;c n w"
"""
import json
import re
import sys
import zlib

DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>',
                  re.S)


class Columns:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def numbers(self, n):
        return [self.number() for _ in range(n)]

    def planes(self, n):
        count = self.number()
        planes = [self.data[self.at + k * n:self.at + (k + 1) * n]
                  for k in range(count)]
        self.at += count * n
        return [sum(plane[i] << 8 * k for k, plane in enumerate(planes))
                for i in range(n)]

    def line(self):
        end = self.data.index(b'\n', self.at)
        line = self.data[self.at:end]
        self.at = end + 1
        return line


LETTERS = {letter: n for n, letter in enumerate(
    c for c in map(chr, range(33, 127)) if c not in '"<\\')}


def unpack(text):
    """13 bits in two letters, the low ones first; 6 in the last of an odd
    number of letters; then raw deflate."""
    bits, count, out = 0, 0, bytearray()
    for at in range(0, len(text), 2):
        pair = [LETTERS[letter] for letter in text[at:at + 2]]
        bits |= sum(digit * 91 ** n for n, digit in enumerate(pair)) << count
        count += 13 if len(pair) == 2 else 6
        while count >= 8:
            out.append(bits & 255)
            bits >>= 8
            count -= 8
    return zlib.decompress(bytes(out), -15)


def signed(value):
    return -(value >> 1) if value & 1 else value >> 1


def read_timeline(head):
    """Lists (time, end, lane, node, event, samples, weight, state)."""
    timeline = head['timeline']
    cols = Columns(unpack(timeline.pop('columns')))
    lanes, bases = [], []
    for _ in range(cols.number()):
        pid, tid, n, base = cols.numbers(4)
        lanes.append((pid, tid, cols.line().decode(), n))
        bases += [base] * n
    n, unit = timeline['samples'], timeline['unit_ns']
    begins, delays, nodes, weights, counts, kinds = (
        cols.planes(n) for _ in range(6))
    ngrains = cols.number()
    # By event and state, then by grain.
    timeline['rests'] = [list(map(signed, cols.planes(ngrains)))
                         for _ in range(len(head['events']) * 3)]
    assert cols.at == len(cols.data), 'something is left over'
    last = [0] * len(head['events'])
    for i, kind in enumerate(kinds):
        weights[i] = last[kind // 3] = weights[i] - 1 if weights[i] else (
            last[kind // 3])
    samples, first = [], 0
    for pid, tid, name, n in lanes:
        end, ends = 0, []
        for i in range(first, first + n):
            end += signed(begins[i])
            end += weights[i] if kinds[i] % 3 else 0
            ends.append(end)
        time, times, began = None, [], None
        for i in reversed(range(first, first + n)):
            end = ends[i - first]
            if delays[i]:
                time -= delays[i] - 1
            elif began != end:
                time = end
            times.append(time)
            began = end - (weights[i] if kinds[i] % 3 else 0)
        samples += [(time * unit, end * unit, (pid, tid, name),
                     bases[i] + nodes[i], kinds[i] // 3, counts[i],
                     weights[i] * (unit if kinds[i] % 3 else 1), kinds[i] % 3)
                    for i, time, end in
                    zip(range(first, first + n), reversed(times), ends)]
        first += n
    return samples


def read(path):
    """Head, names, modules, kinds, stacks by node, and cells."""
    with open(path, encoding='utf-8') as file:
        head = json.loads(DATA.search(file.read()).group(1))
    cols = Columns(unpack(head['columns']))
    modules = [cols.line().decode() for _ in range(cols.number())]
    nlabels = cols.number()
    kinds, module_of = cols.numbers(nlabels), cols.numbers(nlabels)
    names, last = [], b''
    for same in cols.numbers(nlabels):
        last = last[:same] + cols.line()
        names.append(last.decode())
    places = [cols.line().decode() if kind & 7 == 7 else '' for kind in kinds]
    n = cols.number()
    rises, labels = cols.numbers(n - 1), [0] + cols.numbers(n - 1)
    stacks, path_now = [()], [0]
    for i in range(1, n):
        depth = len(path_now) - rises[i - 1]
        path_now = path_now[:depth] + [labels[i]]
        stacks.append(tuple(path_now[1:]))
    ncells = cols.number()
    times, nodes = cols.numbers(ncells), cols.numbers(ncells)
    events, samples = cols.numbers(ncells), cols.numbers(ncells)
    cells, time, node, unit = [], 0, 0, [0] * len(head['events'])
    for i in range(ncells):
        time += times[i]
        node = nodes[i] + (node if times[i] == 0 and i else 0)
        weight = cols.number()
        weight, is_new = (weight - 1, True) if weight else (
            samples[i] * unit[events[i]], False)
        if is_new and samples[i] and weight % samples[i] == 0:
            unit[events[i]] = weight // samples[i]
        cells.append((time, node, events[i], samples[i], weight))
    if 'difference' in head:
        # None: not tested; else p, and whether the sides differ; total and
        # self by cost, total and self by share
        head['chances'] = [[[((x - 1) // 2 / 10000, (x - 1) % 2 == 1)
                             if x else None
                             for x in cols.numbers(count)] for _ in range(4)]
                           for count in (n, nlabels)]
    assert cols.at == len(cols.data), 'something is left over'
    head['places'] = places     # by label: the line that it is, or ''
    if 'timeline' in head:
        head['timeline']['read'] = read_timeline(head)
    return head, names, [modules[m] for m in module_of], kinds, stacks, cells


def main():
    head, names, modules, kinds, stacks, cells = read(sys.argv[1])
    timeline = head.get('timeline', {}).pop('read', [])
    head.get('timeline', {}).pop('rests', None)
    print(json.dumps({key: value for key, value in head.items() if key not in
                      ('columns', 'places')}, indent=1))
    for label in zip(kinds, names, modules, head['places']):
        print(' '.join(map(str, label)).rstrip())
    for time, node, event, samples, weight in cells:
        print(head['events'][event]['name'], time,
              ';'.join(names[label] for label in stacks[node]),
              samples, weight)
    for (time, end, lane, node, event, samples, weight,
         state) in timeline[:100]:
        print(time, end, *lane, head['events'][event]['name'],
              ';'.join(names[label] for label in stacks[node]),
              samples, weight, state)


if __name__ == '__main__':
    main()
