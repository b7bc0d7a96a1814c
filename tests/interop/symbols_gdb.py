# SPDX-License-Identifier: ISC
# Seeded addresses in the code of a file, and whether libprof finds the same
# functions there as gdb.
#
#	symbols_gdb.py TOOL FILE ADDRESSES SEED
#
# TOOL is tests/interop/symbols.c.  Compared is where a function begins, and
# that its name is one that gdb or readelf knows for that place.

import os
import random
import re
import subprocess
import sys
import tempfile

tool, path, count, seed = sys.argv[1:]
random.seed(int(seed))


def run(*command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True,
                          errors='replace', text=True).stdout


def sections():
    """Executable sections: name, address, size."""
    for line in run('readelf', '-SW', path).splitlines():
        m = re.match(r'\s*\[ *\d+\] (\S+)\s+\S+\s+([0-9a-f]+) [0-9a-f]+ '
                     r'([0-9a-f]+) [0-9a-f]+ +(\w+) ', line)
        if m and 'X' in m[4] and int(m[3], 16):
            yield m[1], int(m[2], 16), int(m[3], 16)


def addresses():
    """Most of them in the text, some in each of the small sections."""
    for name, begin, size in sections():
        share = int(count) if size > 100000 else int(count) // 20
        for _ in range(share):
            yield begin + random.randrange(size)


def by_gdb(wanted):
    script = 'set print demangle off\n' + ''.join(
        'info symbol 0x%x\n' % a for a in wanted)
    with tempfile.NamedTemporaryFile('w') as commands:
        commands.write(script)
        commands.flush()
        out = run('gdb', '-batch', '-nx', '-x', commands.name, path)
    for line in out.splitlines():
        m = re.match(r'(\S+)(?: \+ (\d+))? in section', line)
        if m:
            yield m[1], int(m[2] or 0)
        elif line.startswith('No symbol matches'):
            yield None


def debug_file():
    m = re.search(r'Build ID: (..)([0-9a-f]+)', run('readelf', '-nW', path))
    name = m and '/usr/lib/debug/.build-id/%s/%s.debug' % m.groups()
    return [name] if name and os.path.exists(name) else []


def symbols_at():
    """Address -> names and their sizes, by readelf."""
    symbols = {}
    for line in run('readelf', '-sW', path, *debug_file()).splitlines():
        f = line.split()
        if len(f) == 8 and f[0][:-1].isdigit() and f[6] != 'UND':
            symbols.setdefault(int(f[1], 16), {})[f[7].split('@')[0]] = \
                int(f[2], 0)
    return symbols


def ended(symbols, name, offset):
    """gdb lets a name without a size go on behind the end of a function that
    begins at the same place and has one: what lies there is padding."""
    return symbols.get(name) == 0 and 0 < max(symbols.values()) <= offset


wanted = sorted(set(addresses()))
ours = run(tool, 'find', path,
           text=''.join('%x\n' % a for a in wanted)).splitlines()
theirs = list(by_gdb(wanted))
if len(ours) != len(wanted) or len(theirs) != len(wanted):
    sys.exit('%s: %d addresses, %d and %d answers'
             % (path, len(wanted), len(ours), len(theirs)))
symbols = symbols_at()
same = unknown = 0
for address, our, their in zip(wanted, ours, theirs):
    begin, _, name = our.partition(' ')
    at = symbols.get(address - their[1], {}) if their else {}
    if our == '-' and their and ended(at, *their):
        their = None
    if their is None or our == '-':
        unknown += 1
        if (their is None) != (our == '-'):
            print('DIFFERS %x: %s, gdb %s' % (address, our, their))
        continue
    if int(begin, 16) != address - their[1]:
        print('DIFFERS %x: %s, gdb %s+%d' % (address, our, *their))
    elif name not in (their[0], *at):
        print('NAME %x: %s, gdb %s' % (address, our, their[0]))
    else:
        same += 1
print('%s: %d the same, %d without a name' % (path, same, unknown))
