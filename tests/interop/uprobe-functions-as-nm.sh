#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: dtprof list 'uprobe:FILE:*' has each place of code that nm names
# in a large library, once; and each function of a sample of them, drawn by a
# seed, is found by the linker's name, by its demangled one with parameters,
# and without them.
#
# Easy to get wrong: constructors have several names at one place, versions
# follow a name, and without parameters a name means several functions.

. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 nm c++filt
tmpdir

seed=${SEED:-$(date +%s)}
echo "SEED=$seed"
python3 - "$DTPROF" "$seed" <<'END' || fail "see above"
import json
import random
import re
import subprocess
import sys

dtprof, seed = sys.argv[1:]
random.seed(int(seed))

def run(*args, **kw):
    return subprocess.run(args, capture_output=True, text=True, check=True,
                          **kw).stdout

def listed(name):
    out = run(dtprof, "list", "--json", "uprobe:%s:%s" % (file, name))
    return [p["probe"] for p in json.loads(out)["probes"]]

file = re.search(r"libstdc\+\+\S* .*=> (\S+)",
                 run("ldconfig", "-p")).group(1)
functions = {}
for line in run("nm", "-D", "--defined-only", file).splitlines():
    address, kind, name = line.split()
    if kind in "TWi" and "\n" not in name:
        functions.setdefault(int(address, 16), []).append(
            name.split("@")[0])
# A file with a .symtab has more.
got = len(listed("*"))
print("%d places by nm -D, %d listed" % (len(functions), got))
if got < len(functions) or (got != len(functions) and
                            "no symbols" in run("nm", file)):
    sys.exit("FAIL: %d places listed" % got)

for address in random.sample(sorted(functions), 12):
    name = functions[address][0]
    shown = run("c++filt", "-i", name).strip()
    for asked in {name, '"%s"' % shown}:
        # C++ has up to three of a constructor, of one name.
        if len(asked) < 400 and not 1 <= len(listed(asked)) <= 3:
            sys.exit("FAIL: %s: %r" % (asked, listed(asked)))
    bare = re.sub(r"(?<!operator)\([^()]*\)[^()]*$", "", shown)
    if "(" not in bare and " " not in bare and bare != shown and \
       len(bare) < 400:
        found = listed('"%s"' % bare)
        if not any(probe.rstrip('"').endswith(shown) for probe in found) and \
           not any(shown in probe for probe in found):
            sys.exit("FAIL: %s is not among %r" % (bare, found[:9]))
END
ok "functions are those of nm, by each of their names"
