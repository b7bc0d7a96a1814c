#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: tables whose layout was changed say what they said: each row of
# the outputs kept in before/ is there still, in its place, with the same names
# and the same figures, of which -v shows all.  Easy to get wrong: a column
# that moved under the head of another.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cp "$SRC"/tests/report/*.dtp . || fail "no recordings"
cat >check.py <<'PY'
import re, subprocess, sys
dtprof, before = sys.argv[1:]
SCALE = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "ns": 1, "us": 1e3, "ms": 1e6,
         "s": 1e9}
FIGURE = re.compile(r" *(?:([\d.]+-[\d.]+)|([\d.]+)(?: (k|M|G|ns|us|ms|s))?)"
                    r"(?= |$)")

def run(*words):
    return subprocess.run([dtprof, *words], check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

def row_of(line):
    """Figures, then names; the kind of code was not there before."""
    at, figures = 0, []
    while m := FIGURE.match(line, at):
        figures.append(m[1] or float(m[2]) * SCALE[m[3] or ""])
        at = m.end()
    names = [re.sub("^(native|kernel) +", "", name) for name in
             re.split(" {2,}", line[at:].strip()) if name]
    return figures, names

def rows_of(text):
    return [row_of(line.lstrip("* ")) for line in text.split("\n")
            if re.match(r"[* ] *\d+\.\d\d ", line)]

def is_same(old, new):
    """Figures may have fewer digits: those of annotate were nanoseconds."""
    return len(old[0]) == len(new[0]) and old[1] == new[1] and all(
        o == n if isinstance(o, str) else abs(o - n) <= .0005 * abs(o)
        for o, n in zip(old[0], new[0]))

rows = figures = 0
for name in "known", "hostile":
    for what, words in [("table", ["report", "-v"]),
                        ("lines", ["report", "-v", "--by", "comm,line"]),
                        ("callers", ["report", "-v", "--callers", "work"]),
                        ("callees", ["report", "-v", "--callees", "work"]),
                        ("annotate", ["annotate", "--total", "work"])]:
        with open("%s/%s.%s.ok" % (before, name, what)) as file:
            old = rows_of(file.read())
        new = rows_of(run(*words, name + ".dtp"))
        assert old and len(old) == len(new), (name, what, old, new)
        for o, n in zip(old, new):
            assert is_same(o, n), (name, what, o, n)
            figures += len(o[0])
        rows += len(old)
assert rows > 50, rows
print("%d figures of %d rows" % (figures, rows))
PY
n=$(python3 check.py "$DTPROF" "$SRC/tests/report/before") ||
    fail "not what they were"
ok "$n are what they were"
