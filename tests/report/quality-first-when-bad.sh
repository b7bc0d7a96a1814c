#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of a recording that is good nothing is said: not by report, page,
# drawing, annotate, JSON or compare.  Of one that is bad each says the same,
# above the table: a number, what it does to the result, and a cure only where
# one can work.
# Easy to get wrong: a line of figures that is always there and so read by
# nobody, or a cure that cannot work: debug symbols for [bpf].
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cp "$SRC/tests/report/known.dtp" good.dtp
# Names are the last that is written.
head -c 6000 good.dtp >bad.dtp
for name in good bad; do
	expect 0 "$DTPROF" report $name.dtp
	cp out $name.table
	grep -v 'the recording was cut' err >$name.notes
	grep '^warning: ' out >$name.says
	expect 0 "$DTPROF" flamegraph -o $name.svg $name.dtp
	expect 0 "$DTPROF" flamegraph -o $name.html $name.dtp
	"$DTPROF" report --json $name.dtp >$name.json 2>err ||
	    fail "$name as JSON"
	function=$(json $name.json 'j["functions"][0]["name"]')
	expect 0 "$DTPROF" annotate "$function" $name.dtp
	cp out $name.annotate
done
[ ! -s good.says ] && [ ! -s good.notes ] && ! grep -Eqi \
    'warning|care|whole|complete|unresolved|lost' good.table ||
    fail "said of what is good: $(cat good.table good.notes)"
! grep -qi 'warning' good.svg good.annotate || fail "said of what is good"
lines=$(wc -l <bad.says)
sed -n "2,$((lines + 1))p" bad.table | cmp - bad.says ||
    fail "not between headline and table: $(cat bad.table)"
grep -q '^warning: cpu-clock: the recording was cut short: ' bad.says &&
    grep -q '100.0% of samples are at unresolved addresses, most in' bad.says &&
    [ ! -s bad.notes ] || fail "why: $(cat bad.says bad.notes)"
ok "nothing when good, $lines warnings above the table when bad"
expect 0 "$DTPROF" report --filter 'comm == "x"' good.dtp
expect_out 'only 0 samples; a waiting thread .* dtprof record --off-cpu$' waits
expect 0 "$DTPROF" record -q -e off-cpu -e cpu-clock -o waits.dtp -- sleep 0.1
expect 0 "$DTPROF" report --filter 'comm == "x"' waits.dtp
expect_out 'cpu-clock: only 0 samples; .* dtprof report --by reason$' waits
cat >check.py <<'END'
import json, re, sys
import xml.etree.ElementTree as xml
sys.path.insert(0, sys.argv[1] + "/tests/browser")
import page_data
for name, is_bad in ("good", False), ("bad", True):
    says = [line.replace("warning: ", "").strip() for line in open(name +
            ".says")]
    events = page_data.read(name + ".html")[0]["events"]
    assert [e["name"] + ": " + line for e in events for line in
            e["quality"]] == says
    assert [e["bad"] for e in events] == [is_bad] * 2
    rows = json.load(open(name + ".json"))["quality_by_event"]
    assert [r["event"] + ": " + line for r in rows for line in
            r["text"].split("\n") if line] == says
    assert [r["is_bad"] for r in rows] == [is_bad] * 2
    lines = [(t.get("class"), t.text) for t in xml.parse(name + ".svg")
             .getroot().iter("{http://www.w3.org/2000/svg}text")]
    assert (("q bad", "warning: " + says[0]) if is_bad else
            ("q", "cpu-clock")) in lines, lines[:3]
    text = open(name + ".annotate").read()
    assert all(line in text for line in says), text
END
python3 check.py "$SRC" || fail "pictures say otherwise"
ok "drawing, page, JSON and annotate say the same"

# The event that both sides have the most of, in its own words.
sed -n 's/^warning: cpu-clock: //p' bad.says >sentences
says()		# file what side runs: which says it of that side alone
{
	sed -n 's/^.*note: \([a-z]*, 1 of \)/\1/p' "$1" >cares
	sed "s/^/$3, 1 of $4: /" sentences | cmp - cares ||
	    fail "$2 says: $(cat "$1")"
}
expect 0 "$DTPROF" compare good.dtp bad.dtp -- good.dtp
says out compare base '2 runs'
expect 0 "$DTPROF" compare good.dtp -- bad.dtp
says out compare new '1 run'
expect 0 "$DTPROF" compare good.dtp -- good.dtp
! grep -q ' of 1 run' out || fail "said of what is good: $(cat out)"
expect 0 "$DTPROF" flamegraph --base good.dtp -o x.svg bad.dtp
says err flamegraph new '1 run'
ok "compare and a difference say which side has such runs"

# Four samples in a kernel of which no symbols are known, and one with a name.
need_cmd nm readelf
echo 'int main(void) { return (0); }' >work.c
${CC:-cc} -O1 -Wl,--build-id -o work work.c || fail cc
PYTHONPATH=$SRC/tests/report python3 - <<'END' || fail "cannot write"
import struct
from perfdata import SAMPLE, Program, record
KERNEL, PC = 2**64 - 128, 0xffffffff81000000
Program("work").write("x.data", [[("main", 0)]], b"".join(
    record(SAMPLE, struct.pack("<QIIQQQQQ", PC, 1, 1, 2 + n, 1, 2, KERNEL, PC),
           1) for n in range(4)))
END
expect 0 "$DTPROF" import -o x.dtp x.data
for command in report script; do
	expect 0 "$DTPROF" $command x.dtp
	cat out err >said
	grep -Eq '(most|addresses) in .kernel.: no symbol at the address$' \
	    said && ! grep -q 'kernel.*debug symbols' said ||
	    fail "$command: $(cat said)"
done
ok "no debug symbols are asked for of the kernel's own code"
