#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: on terminals of 60, 80 and 120 columns no line of report, its
# tree, its long form or annotate is wider, of names that are long, wide,
# hostile or 60 calls deep; figures stay whole, each row keeps its function,
# and color changes nothing but color.
# Easy to get wrong: a headline or a warning, which no column limits.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cp "$SRC"/tests/report/known.dtp "$SRC"/tests/report/hostile.dtp . ||
    fail "no recordings"
cat >check.py <<'PY'
import os, re, sys, unicodedata
dtprof = sys.argv[1]
sys.path.append(os.environ["SRC"] + "/tests/cli")
import term
COLOR = re.compile(r"\x1b\[\d+m")

with open("deep.txt", "w") as file:
    for n in range(40):
        file.write("a thread 7/7 [000] 1.%06d: 1000000 cpu-clock: \n" %
                   (1000 * n))
        for d in range(60, 0, -1):
            file.write("\t%x %s+0x1 (/opt/%s/lib%d.so)\n" % (
                0x401000 + 64 * d + 1, ["ns::Parser<std::pair<int, long>, "
                "%d>::parse_number_%d(char const*)", "\u6f22\u5b57%d_%d",
                "f%d_%d"][d % 3] % (d, d), "very-long-directory-" * 4, d % 4))
        file.write("\n")

def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)

def shown(columns, *words, color=True):
    status, out = term.run(["env", "-u", "NO_COLOR", "TERM=xterm", "PAGER=cat",
        dtprof, *words, *([] if color else ["--color", "never"])], columns,
        echo=False)
    assert status == 0, (words, out)
    return out.decode().replace("\r\n", "\n").lstrip("\n")

lines = 0
for columns in 60, 80, 120:
    for file in "known.dtp", "hostile.dtp", "deep.txt":
        function = "work" if file != "deep.txt" else "*number_33(*"
        for words in [
                ["report"], ["report", "-v"], ["report", "--tree"],
                ["report", "--tree", "--by", "comm", "-v"],
                ["report", "--by", "comm,pid,tid,cpu,function"],
                ["report", "--by", "line,comm"], ["report", "--by", "module"],
                ["report", "--callees", function],
                ["annotate", "--total", function]]:
            text = shown(columns, *words, file)
            plain = COLOR.sub("", text)
            assert "\x1b" not in plain and COLOR.search(text), text
            wide = [l for l in plain.split("\n") if width(l) > columns]
            assert not wide, (columns, file, words, wide)
            assert plain == shown(columns, *words, file, color=False)
            rows = [l for l in plain.split("\n")
                    if re.match(r"[* ]? *\d+\.\d\d ", l)]
            assert rows, plain
            # A share, and behind the last figure a name.
            assert words[0] == "annotate" or all(re.search(
                r"\d  ? *\S*[A-Za-z_\[<\\\u6f22+]", row) for row in rows), rows
            lines += len(plain.split("\n"))
print("ok: %d lines, none of them wider" % lines)
PY
python3 check.py "$DTPROF" || fail "see above"
