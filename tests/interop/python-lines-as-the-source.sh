# SPDX-License-Identifier: ISC
# ASSERTION: Of a Python program of two lines that compute, report --by line
# shows these lines with the shares that they have by the program's own clock,
# and annotate the text of the source.
#
# Easy to get wrong: the line of a function's first instruction for that of
# each; a line that spans several; time of C code that a line calls.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
. "$SRC/tests/interop/lib-python.sh"
need_known_python
tmpdir

cat >hot.py <<'END'
import time


def work(n):
    return sorted(
        range(n),
        key=lambda x: -x)


def hot():
    now = time.thread_time
    spent = [0, 0]
    begin = now()
    while sum(spent) < 0.6:
        big = sum(i * i for i in range(9000))	# the longer one
        middle = now()
        small = (
            len(work(900)))	# the shorter one
        spent[0] += middle - begin
        begin = now()
        spent[1] += begin - middle
    return spent


time.sleep(0.3)
print(*hot())
END
"$DTPROF" record -q -F 1999 -o x.dtp -- $python hot.py >spent 2>record.err ||
    fail "record: $(cat record.err)"
"$DTPROF" report --by line --json --sort total x.dtp >lines.json &&
    "$DTPROF" annotate hot x.dtp >annotated 2>annotate.err ||
    fail "$(cat annotate.err)"
$python - <<'END' || fail "see above"
import json
import re

bigger, smaller = (float(x) for x in open("spent").read().split())
source = [""] + open("hot.py").read().split("\n")
number = {what: next(n for n, text in enumerate(source) if mark in text)
          for what, mark in (("big", "# the longer"),
                             ("small", "# the shorter"))}
total = {row["line"].rsplit(":", 1)[1]: row["total"]
         for row in json.load(open("lines.json"))["rows"]
         if row.get("function") == "hot" and row["line"].split(":")[0].endswith(
             "hot.py")}
# What is left of hot's own lines looks at clocks.
share = {what: total[str(n)] / sum(total.values())
         for what, n in number.items()}
want = bigger / (bigger + smaller)
print("line %d has %.3f and line %d %.3f; by its own clock %.3f and %.3f" % (
    number["big"], share["big"], number["small"], share["small"], want,
    1 - want))
assert abs(share["big"] - want) < 0.05, total
assert abs(share["small"] - (1 - want)) < 0.05, total
assert max(total, key=total.get) == str(number["big"])
rows = [re.fullmatch(r"(\*| ) +[0-9.]+ +[0-9.]+ \w+ +\d+ +(\d+)  (.*)", line)
        for line in open("annotated").read().split("\n")]
rows = [row for row in rows if row]
for row in rows:
    text = source[int(row[2])].expandtabs()
    assert row[3].split() == text.split(), (row[0], text)
hottest = [int(row[2]) for row in rows if row[1] == "*"]
assert hottest == [number["big"]], rows
print("annotate: %d lines of the source, the hottest is %d" % (
    len(rows), hottest[0]))
END
ok "lines as the source has them"
