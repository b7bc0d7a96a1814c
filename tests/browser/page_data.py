# SPDX-License-Identifier: ISC
"""The data of a flame graph page, read by reports/README.md alone.

    page_data.py FILE        the head, the labels, and the page as folded
                             stacks: one line for each event, stack and
                             cell, "event cell a;b;c n w"
"""
import base64
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


def read_timeline(head):
    """Lists (time, end, lane, node, event, samples, weight, state)."""
    timeline = head['timeline']
    cols = Columns(zlib.decompress(base64.b64decode(
        timeline.pop('columns')), -15))
    lanes = []
    for _ in range(cols.number()):
        pid, tid, n = cols.numbers(3)
        lanes.append((pid, tid, cols.line().decode(), n))
    n = timeline['samples']
    begins, delays, weights, nodes, events, counts, states = (
        cols.planes(n) for _ in range(7))
    assert cols.at == len(cols.data), 'something is left over'
    last = [0] * len(head['events'])
    for i, event in enumerate(events):
        weights[i] = last[event] = weights[i] - 1 if weights[i] else (
            last[event])
    samples, first = [], 0
    for pid, tid, name, n in lanes:
        end, ends = 0, []
        for i in range(first, first + n):
            end += begins[i] // 2 * (-1 if begins[i] % 2 else 1)
            end += weights[i] if states[i] else 0
            ends.append(end)
        time, times = 0, []
        for i in reversed(range(first, first + n)):
            time = time - delays[i] + 1 if delays[i] else ends[i - first]
            times.append(time)
        samples += [(time, end, (pid, tid, name), nodes[i], events[i],
                     counts[i], weights[i], states[i]) for i, time, end in
                    zip(range(first, first + n), reversed(times), ends)]
        first += n
    return samples


def read(path):
    """Head, names, modules, kinds, stacks by node, and cells."""
    with open(path, encoding='utf-8') as file:
        head = json.loads(DATA.search(file.read()).group(1))
    cols = Columns(zlib.decompress(base64.b64decode(head['columns']), -15))
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
