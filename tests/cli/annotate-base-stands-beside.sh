#!/bin/sh
# ASSERTION: annotate --base shows of each instruction the share that script
# counts on either side, and their difference; marks what sampling does not
# explain; of another build it shows lines alone; and without the lines of one
# side it refuses.
# Easy to get wrong: shares of the function, in which it hides that it grew;
# a base whose file is gone, of which every row would be new.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 objdump "${CC:=gcc}"
need_perf
tmpdir
build()		# program iterations [function]
{
	sed "s/n < 16/n < $2/; s/work/${3:-work}/" \
	    "$SRC/tests/work/hot.c" >hot.c
	"$CC" -w -O2 -g -no-pie -o "$1" hot.c || fail "compiling"
}
# In turns, so that what slows the machine for a while slows both.
run()		# recording program: half of its time in another one
{
	expect 0 "$DTPROF" record -q -e cpu-clock -c 500000 -o "$1" -- sh -c \
	    "for n in 1 2 3 4; do ./$2 500000; ./beside 500000; done"
}
build beside 16 beside
build hot 16
build new 48
run a.dtp hot
run b.dtp hot
run c.dtp new
for side in a b; do
	"$DTPROF" script --json --no-symbols $side.dtp >$side.json ||
		fail script
done
expect 0 "$DTPROF" annotate --asm --base a.dtp "$PWD/hot:work" b.dtp
python3 - <<'END' || fail "see above"
import collections, json, re
both, checked = [], 0
for side in "ab":
    samples = [json.loads(line) for line in open(side + ".json")]
    samples = [s for s in samples if s.get("event") == "cpu-clock"]
    at = collections.Counter()
    for s in samples:
        if s.get("user") and not s.get("kernel"):
            at[s["comm"], int(str(s["user"][0]), 0)] += s["weight"]
    both.append((at, sum(s["weight"] for s in samples), len(samples)))
text = open("out").read()
sums = [0, 0]
for line in text.split("\n"):
    m = re.match(r"(\*| ) +([\d.]+) +([\d.]+) +([-+][\d.]+) +([0-9a-f]+):",
                 line)
    if not m:
        continue
    shares = [100 * at["hot", int(m[5], 16)] / all for at, all, _ in both]
    for share, seen in zip(shares, (m[2], m[3])):
        assert abs(share - float(seen)) < 0.0051, (line, shares)
    assert abs(float(m[4]) - (shares[1] - shares[0])) < 0.0051, (line, shares)
    spread = sum(s / 100 * (1 - s / 100) / n for s, (_, _, n) in
                 zip(shares, both)) ** 0.5
    z = abs(shares[1] - shares[0]) / 100 / spread
    assert abs(z - 4) < 0.01 or (m[1] == "*") == (z >= 4), (line, z)
    sums = [a + b for a, b in zip(sums, shares)]
    checked += 1
assert checked > 1 and min(sums) > 20, (checked, sums)
print("ok: %d instructions, %.1f and %.1f %% as script has them" % (checked,
      *sums))
END
grep -q 'have one run each' out || fail "no word of claims"

# Three times as many divisions, in a build of its own from the same file.
expect 0 "$DTPROF" annotate --base a.dtp "$PWD/new:work" c.dtp
expect_err 'different builds' 'a word of the build'
grep -q 'no instructions: base and new are different builds' out ||
	fail "instructions of two builds"
planted=$(sed -n '/the hot line/=' hot.c)
awk -v line="$planted" '$1 == "*" && $5 == line && $4 > 10 { found = 1 }
END { exit !found }' out || fail "line $planted does not stand out"
ok "of another build lines: the planted one stands out"
expect 0 "$DTPROF" annotate --html -o x.html --base a.dtp "$PWD/hot:work" \
    b.dtp
grep -q '<th>base%<th>new%<th>points' x.html || fail "the page"

rm hot
expect 1 "$DTPROF" annotate --base a.dtp "$PWD/new:work" c.dtp
expect_err 'different builds, and one has no line' 'a refusal'
[ "$(wc -l <err)" -ge 2 ] || fail "no cure"
expect 1 "$DTPROF" annotate --base none "$PWD/new:work" c.dtp
ok "what cannot be compared is refused"
