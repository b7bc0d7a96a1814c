#!/bin/sh
# ASSERTION: of profiles given run by run, compare names the function that
# was made slower and no other, matches names across builds, and says what is
# gone, added or renamed.  The weights are made up, so the answer is known.
# Easy to get wrong: shares that fall because another function grew.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
# 30 functions, 3000 samples a run, counts as chance deals them.
cat >make.py <<'END'
import random, sys
random.seed(3)
weights = {"f%d" % i: 0.9 ** i for i in range(30)}
whole = sum(weights.values())
def write(side, n, weights, suffix):
    with open("%s%d" % (side, n), "w") as f:
        for name, w in weights.items():
            c = sum(random.random() < w / whole for _ in range(3000))
            f.write("main;%s%s %d\n" % (name, suffix, c))
slow = dict(weights)
slow["f12"] += 0.1 * whole
little = dict(weights)
little["f12"] += 0.007 * whole
moved = dict(weights)
moved["other"] = moved.pop("f5")
for n in range(10):
    write("a", n, weights, "")
    write("b", n, slow, ".constprop.0" if n else ".isra.3.part.1")
    write("c", n, moved, "")
for n in range(10):
    write("d", n, little, "")
END
python3 make.py
named()
{
	json out '" ".join(f["name"] + "=" + f["verdict"] for f in
	    j["comparisons"][0]["functions"] if f["verdict"] in
	    ("costs more", "costs less"))'
}
expect 0 "$DTPROF" compare --json a? -- b?
[ "$(named)" = "f12=costs more" ] || fail "named: $(named)"
[ "$(json out 'j["comparisons"][0]["verdict"]')" = "costs more" ] ||
    fail "the total"
[ "$(json out 'len(j["comparisons"][0]["functions"])')" -eq 30 ] ||
    fail "names differ by what compilers add"
json out '[f["part"] for f in j["comparisons"][0]["functions"]][0]' >part
awk '{ exit !($1 > 0.7 && $1 < 1.4) }' part || fail "part $(cat part)"
expect 0 "$DTPROF" compare a? -- b?
expect_out '^total cost \+[0-9.]+% .*: costs more; of it f12 [0-9]+%$' \
    'explained'
ok "the slow one and no other, across builds: $(grep '^total' out)"

# Five and five have 252 orders, which do for one of thirty functions.
expect 0 "$DTPROF" compare --json a[0-4] -- b[0-4]
[ "$(named)" = "f12=costs more" ] || fail "5 runs a side do not do: $(named)"
expect 0 "$DTPROF" compare a[0-4] -- d[0-4]
expect_out \
    'no function changed .*, about [0-9]+ runs each .* verdict on f12' \
    'how many runs would do'
expect 0 "$DTPROF" compare --json a? -- d?
[ "$(named)" = "f12=costs more" ] || fail "10 runs a side: $(named)"
ok "runs that do, and how many would"

expect 0 "$DTPROF" compare a? -- c?
expect_out ' gone +f5$' 'gone'
expect_out ' added +other$' 'added'
expect_out 'rename f5=other' 'a hint'
expect 0 "$DTPROF" compare --json --rename f5=other a? -- c?
[ -z "$(named)" ] || fail "renamed, and yet named: $(named)"
ok "gone, added, renamed"

expect 0 "$DTPROF" compare --json a? -- a?
[ -z "$(named)" ] || fail "equals: $(named)"
expect 0 "$DTPROF" compare --json a0 a1 -- b0 b1
[ -z "$(named)" ] || fail "two runs a side: $(named)"
expect_out 'too few' 'too few runs'
echo 'no number here' >bad
expect 1 "$DTPROF" compare a0 bad -- b0 b1
expect_err 'bad: is not a dtprof recording'
printf 'main;a 3\nno number here\n' >bad
expect 1 "$DTPROF" compare a0 bad -- b0 b1
expect_err 'bad: line 2: the count is not a decimal number'
printf 'main;\033[31mred\n' >red
sed -i 's/$/ 100/' red
expect 0 "$DTPROF" compare red -- red
grep -q "$(printf '\033')" out && fail "a name colours the terminal"
ok "equals, few runs, bad and hostile files"

# In Markdown a name ends no cell, and is no markup.
printf '%s 100\n' 'main;a|b<i>_c_*d*`e`[f]\&g' >marked
expect 0 "$DTPROF" compare --markdown marked -- marked
grep -Fq ' a\|b\<i\>\_c\_\*d\*\`e\`\[f\]\\\&g |' out ||
    fail "a name that is markup: $(cat out)"
sed 's/\\.//g' out | awk -F'|' '/^\|/ && NF != 9 { exit 1 }' ||
    fail "columns: $(cat out)"
ok "names that are markup stay names in Markdown"
