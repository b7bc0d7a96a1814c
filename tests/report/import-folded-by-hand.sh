#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: folded stacks come out of an import as they went in, stacks and
# counts to the last digit, whatever ends their lines, with decimals, and with
# two counts a line, which are base and new; and what is none is refused with
# the number of the line and the reason, and nothing is written.
# Easy to get wrong: a sum that goes round past 2^64 makes two functions all
# of it each; 0.1 in binary is not 0.1; a name may end in a number; a large
# count is one sample, and samples are what an export counts.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >check.py <<'END2'
import subprocess, sys
dtprof = sys.argv[1]
def run(*words):
    return subprocess.run([dtprof, *words], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

# What it is: the text, the lines that come out, or None: as it is.
ACCEPT = {
"plain": (b"main;a 3\nmain;b 1\n", None),
"no end": (b"main;a 3", b"main;a 3\n"),
"CRLF": (b"main;a 3\r\nmain;b 1\r\n", b"main;a 3\nmain;b 1\n"),
"blank lines and comments": (b"# x 3\n\n \nmain 1\n\r\n", b"main 1\n"),
"blanks in names": (b"main;a b c 3\n", None),
"numbers in names": (b"main;thread 7 3\nmain;b 3\n", b"main;b 3\n"
    b"main;thread 7 3\n"),
"empty names": (b"main;;c 2\n", b"main;[no name];c 2\n"),
"same twice": (b"a;b 1\na;b 2\n", b"a;b 3\n"),
"tab before the count": (b"a;b\t3\n", b"a;b 3\n"),
"blanks behind": (b"a;b 3 \t\n", b"a;b 3\n"),
"no such thing": (b"a 0\na;b 3\n", b"a;b 3\n"),
"decimals": (b"a 0.1\na;b 12.375\nc 3\n", None),
"zeros behind": (b"a 1.50\nb 2.\nc .25\n", b"a 1.5\nb 2\nc 0.25\n"),
"leading zeros": (b"a 007\n", b"a 7\n"),
"18 decimals": (b"a 0.123456789012345678\nb 0.000000000000000001\n",
    None),
"20 digits": (b"f 18446744073709551613\ng 2\n", None),
"20 digits with decimals": (b"a 1844674407370955161.5\n", None),
"nanoseconds": (b"a;b 123456789012\na;c 1\n", None),
"UTF-8": ("a;Größe 3\n".encode(), None),
"not UTF-8": (b"a;\xff 3\n", b"a;\\xff 3\n"),
"name of a number": (b"12 3\n", b"12 3\n"),
"one column amid two": (b"a 1 2\nb 3\n", None),
}
REFUSE = {
"no count": (b"a 1\nmain;b\n", 2, b"no count after the stack"),
"a word": (b"a 1\n\nmain;b x\n", 3, b"the count is not a decimal number"),
"below zero": (b"a 1\nb -1\n", 2, b"negative count"),
"exponent": (b"a 1\nb 1e5\n", 2, b"the count is not a decimal number"),
"hexadecimal": (b"a 1\nb 0x10\n", 2, b"the count is not a decimal number"),
"thousands": (b"a 1\nb 1,000\n", 2, b"the count is not a decimal number"),
"not a number": (b"a 1\nb nan\n", 2, b"the count is not a decimal number"),
"infinite": (b"a 1\nb inf\n", 2, b"the count is not a decimal number"),
"plus": (b"a 1\nb +1\n", 2, b"the count is not a decimal number"),
"two points": (b"a 1\nb 1.5.2\n", 2, b"the count is not a decimal number"),
"a point": (b"a 1\nb .\n", 2, b"the count is not a decimal number"),
"no stack": (b"a 1\n 12\n", 2, b"no stack before the count"),
"a count alone": (b"a 1\n12\n", 2, b"no stack before the count"),
"NUL": (b"a 1\nb\0c 2\n", 2, b"not text"),
"21 digits": (b"a 1\nb 99999999999999999999\n", 2, b"exceeds 64 "
    b"bits"),
"19 decimals": (b"a 1\nb 0.1234567890123456789\n", 2,
    b"the count exceeds 64 bits"),
"sum": (b"f 18446744073709551615\ng 2\n", 2,
    b"the sum of counts exceeds 64 bits"),
"sum with decimals": (b"f 18446744073709551615\ng 0.5\n", 1,
    b"the sum of counts exceeds 64 bits"),
"something else": (b"Dear reader,\nthis 1\n", 1, b"neither perf.data, "
    b"pprof, perf script output nor folded stacks"),
"nothing": (b"# x\n\n", 0, b"no stack with a count above 0"),
"zeros": (b"a 0\nb 0.0\n", 0, b"no stack with a count above 0"),
}
def stacks(text):
    return sorted(text.splitlines())
for name, (text, wanted) in ACCEPT.items():
    with open("x", "wb") as f:
        f.write(text)
    done = run("import", "-q", "-o", "x.dtp", "x")
    assert done.returncode == 0, (name, done.stderr)
    for what in "x.dtp", "x":       # as a recording, and as it is
        done = run("export", what)
        assert stacks(done.stdout) == stacks(wanted or text), (
            name, what, done.stdout, done.stderr)
    again = done.stdout
    with open("y", "wb") as f:
        f.write(again)
    assert run("export", "y").stdout == again, name
print("%d forms come out as they went in" % len(ACCEPT))
for name, (text, line, reason) in REFUSE.items():
    with open("x", "wb") as f:
        f.write(text)
    done = run("import", "-o", "no.dtp", "x")
    said = done.stderr.splitlines()
    assert done.returncode == 1 and len(said) == 2, (name, said)
    assert reason in said[0] and (b"line %d" % line in said[0] or
                                  line == 0), (name, said)
    done = run("compare", "x", "--", "x")
    assert done.returncode == 1 and b"x: " in done.stderr, (name, done)
print("%d are refused by line and reason" % len(REFUSE))
END2
python3 check.py "$DTPROF" >said 2>&1 || fail "$(tail -n 3 said)"
[ ! -e no.dtp ] || fail "a recording of what was refused"
while read -r line; do
	ok "$line"
done <said

# Shares of a large count, of what is one sample a line.
printf 'main;a 3000000000\nmain;b 1000000000\n' >large
expect 0 "$DTPROF" export large
sort out | cmp - large || fail "large: $(cat out)"
expect 0 "$DTPROF" report --json large
[ "$(json out '[f["self"] for f in j["functions"][:2]]')" = \
    "[3000000000, 1000000000]" ] || fail "shares of a large count"
ok "an export of large counts keeps their shares"

printf 'main;a 10 12.5\nmain;b 0 3\nx 4 4\n' >two
for event in base new; do
	expect 0 "$DTPROF" export -e $event two
	sort out >$event
done
printf 'main;a 10\nx 4\n' | cmp - base || fail "base: $(cat base)"
printf 'main;a 12.5\nmain;b 3\nx 4\n' | cmp - new || fail "new: $(cat new)"
expect 0 "$DTPROF" compare --json two
json out 'sorted((f["name"], *map(float, f["mean"])) for f in
    j["comparisons"][0]["functions"])' >got
echo "[('a', 10.0, 12.5), ('b', 0.0, 3.0), ('x', 4.0, 4.0)]" |
    cmp - got || fail "compared: $(cat got)"
expect 0 "$DTPROF" flamegraph --base two -o two.svg
expect_err 'base 1 run of 14 counts, .*; new 1 run of 19.5 counts'
# Of another precision, as two files.
expect 0 "$DTPROF" compare --json base -- new
json out 'sorted((f["name"], *map(float, f["mean"])) for f in
    j["comparisons"][0]["functions"])' | cmp - got ||
    fail "two files: $(cat out)"
expect 0 "$DTPROF" flamegraph --base new -o other.svg base
expect_err 'base 1 run of 19.5 counts, .*; new 1 run of 14 counts'
ok "two counts a line are base and new"

printf 'one;a;b 3\none;c 2\ntwo;b 4\n' >lanes
expect 0 "$DTPROF" import -o lanes.dtp lanes
expect 0 "$DTPROF" report --plot timeline -o lanes.tsv lanes.dtp
tail -n +2 lanes.tsv | cut -f 4,5 | sort >got
printf '4\ttwo\n5\tone\n' | cmp - got || fail "lanes: $(cat lanes.tsv)"
ok "lanes of a timeline are the outermost frames"
