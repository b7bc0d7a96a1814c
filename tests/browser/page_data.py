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

    def line(self):
        end = self.data.index(b'\n', self.at)
        line = self.data[self.at:end]
        self.at = end + 1
        return line


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
    return head, names, [modules[m] for m in module_of], kinds, stacks, cells


def main():
    head, names, modules, kinds, stacks, cells = read(sys.argv[1])
    print(json.dumps({key: value for key, value in head.items() if key not in
                      ('columns', 'places')}, indent=1))
    for label in zip(kinds, names, modules, head['places']):
        print(' '.join(map(str, label)).rstrip())
    for time, node, event, samples, weight in cells:
        print(head['events'][event]['name'], time,
              ';'.join(names[label] for label in stacks[node]),
              samples, weight)


if __name__ == '__main__':
    main()
