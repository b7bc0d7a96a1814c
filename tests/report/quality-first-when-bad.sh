#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what says how far a recording can be believed stands below the
# table where all is well and above it, as CARE, where it is not: a cut
# recording without names; drawing, page and annotate say the same sentence,
# in colour where it is bad; compare and a difference say it of the side that
# has such a run.
# Easy to get wrong: a warning below a long table, where nobody looks.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cp "$SRC/tests/report/known.dtp" good.dtp
# Names are the last that is written.
head -c 6000 good.dtp >bad.dtp
for name in good bad; do
	expect 0 "$DTPROF" report $name.dtp
	cp out $name.table
	grep -E '^(CARE: )?[a-z:-]*: .*of user stacks whole' out >$name.says
	[ "$(wc -l <$name.says)" -eq 2 ] || fail "$name: $(cat $name.says)"
	expect 0 "$DTPROF" flamegraph -o $name.svg $name.dtp
	expect 0 "$DTPROF" flamegraph -o $name.html $name.dtp
	"$DTPROF" report --json $name.dtp >$name.json 2>err ||
	    fail "$name as JSON"
	function=$(json $name.json 'j["functions"][0]["name"]')
	expect 0 "$DTPROF" annotate "$function" $name.dtp
	cp out $name.annotate
done
tail -n 2 good.table | cmp - good.says || fail "not below: $(cat good.table)"
head -n 2 bad.table | cmp - bad.says || fail "not above: $(cat bad.table)"
! grep -q CARE good.table || fail "care of what is good"
grep -cq '^CARE: .*100.0 % without a name.*cut short' bad.says ||
    fail "why: $(cat bad.says)"
ok "below the table when good, above it when bad"
cat >check.py <<'END'
import re, sys
import xml.etree.ElementTree as xml
sys.path.insert(0, sys.argv[1] + "/tests/browser")
import page_data
for name, is_bad in ("good", False), ("bad", True):
    says = [line.replace("CARE: ", "").strip() for line in open(name +
            ".says")]
    head = page_data.read(name + ".html")[0]
    assert [e["name"] + ": " + e["quality"] for e in head["events"]] == says
    assert [e["bad"] for e in head["events"]] == [is_bad] * 2
    lines = [(t.get("class"), t.text) for t in xml.parse(name + ".svg")
             .getroot().iter("{http://www.w3.org/2000/svg}text")]
    assert ("q bad" if is_bad else "q", says[0]) in lines, lines[:3]
    text = open(name + ".annotate").read()
    assert all(line in text for line in says), text
END
python3 check.py "$SRC" || fail "pictures say otherwise"
ok "drawing, page and annotate say the same"

# The event that both sides have the most of, in its own words.
sed -n 's/^CARE: cpu-clock: //p' bad.says >sentence
says()		# file what side runs: which says it of that side alone
{
	sed 's/^.*note: //' "$1" | grep 'to be read with care: ' >cares ||
	    fail "$2 does not say it: $(cat "$1")"
	echo "$3: 1 of $4 to be read with care: $(cat sentence)" |
	    cmp - cares || fail "$2 says: $(cat cares)"
}
expect 0 "$DTPROF" compare good.dtp bad.dtp -- good.dtp
says out compare base '2 runs'
expect 0 "$DTPROF" compare good.dtp -- bad.dtp
says out compare new '1 run'
expect 0 "$DTPROF" compare good.dtp -- good.dtp
! grep -q 'with care' out || fail "care of what is good: $(cat out)"
expect 0 "$DTPROF" flamegraph --base good.dtp -o x.svg bad.dtp
says err flamegraph new '1 run'
ok "compare and a difference say which side has such runs"
