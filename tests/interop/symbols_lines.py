# SPDX-License-Identifier: ISC
# Seeded addresses in functions of files with DWARF, and whether libprof gives
# the lines and chains of inlined functions that llvm-symbolizer gives.
#
#	symbols_lines.py TOOL LIST ADDRESSES SEED
#
# TOOL is tests/interop/symbols.c; each line of LIST is a file and the one
# with its DWARF.  The name of the function that was compiled is not compared:
# llvm-symbolizer takes it from the symbol table.

import os
import random
import subprocess
import sys

tool, files, count, seed = sys.argv[1:]
random.seed(int(seed))


def run(*command, text=None):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True,
                          errors='replace', text=True).stdout


def addresses(path):
    functions = [line.split(' ', 2) for line in
                 run(tool, 'list', path).splitlines()]
    functions = [f for f in functions if not f[2].endswith('@plt')]
    sizes = [int(f[1], 16) for f in functions]
    for begin, size, _ in random.choices(functions, sizes, k=int(count)):
        yield int(begin, 16) + random.randrange(int(size, 16))


def chains(text):
    """Address -> [(function, file, line), ...] as addr2line -a prints it."""
    answer, at = {}, None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith('0x'):
            at = answer.setdefault(int(line, 16), [])
            continue
        where = next(lines).split(' (discriminator')[0]
        name, _, number = where.rpartition(':')
        number = int(number) if number.isdigit() else 0
        at.append((line, os.path.normpath(name), number))
    return answer


def bare(chain):
    """What both must say: of the last, where it is but not what it is."""
    if all(number == 0 for _, _, number in chain):
        return []
    return [(c[0] if n + 1 < len(chain) else '', *c[1:])
            for n, c in enumerate(chain)]


bad = 0
for entry in open(files):
    path, debug = entry.split()
    wanted = sorted(set(addresses(path)))
    text = ''.join('0x%x\n' % a for a in wanted)
    ours = chains(run(tool, 'lines', path, text=text))
    raw = run('llvm-symbolizer', '--output-style=GNU', '-a', '-f', '-i',
              '--no-demangle', '-e', debug, text=text)
    theirs = chains(run('c++filt', '-i', text=raw))
    deep = known = 0
    for a in wanted:
        our, their = bare(ours[a]), bare(theirs[a])
        known += len(their) > 0
        deep += len(their) > 1
        if our != their:
            bad += 1
            if bad < 10:
                pair = next((p for p in zip(our, their) if p[0] != p[1]),
                            (len(our), len(their)))
                print('DIFFERS %s %x: %s, llvm %s' % (path, a, *pair))
    print('%s: %d addresses, %d with a line, %d inlined'
          % (path, len(wanted), known, deep))
    if known < 60:
        sys.exit('hardly a line was compared')
sys.exit('%d differ' % bad if bad else 0)
