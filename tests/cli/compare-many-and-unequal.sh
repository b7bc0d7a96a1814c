#!/bin/sh
# ASSERTION: of 1000 runs a side each one counts, in figures, page and picture;
# sides of unequal numbers are compared, and how many runs a side it would
# take does not depend on which side has more: so many, and somewhat more,
# do tell.  Runs that one side lacks within blocks cost no other run.
# Easy to get wrong: the number of runs of one side taken for that of both.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
# The quantiles of a normal distribution: no luck, and the medians are known.
cat >make.py <<'END2'
import json, random, statistics, sys
n, mean, name = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
of = statistics.NormalDist(mean, 0.03)
times = [of.inv_cdf((i + 0.5) / n) for i in range(n)]
random.Random(2).shuffle(times)
json.dump({"results": [{"command": "c", "times": times}]}, open(name, "w"))
END2
make()		# runs mean file
{
	python3 make.py "$@" || fail "make.py"
}
of()		# expression of the first metric, m
{
	json out "(lambda m: ($1))(j['comparisons'][0]['metrics'][0])"
}
make 1000 1 base
make 1000 1.0005 same
make 1000 1.03 slower
expect 0 "$DTPROF" compare --json base -- slower
[ "$(of 'm["runs"], m["verdict"], round(m["change"], 4)')" = \
    "([1000, 1000], 'slower', 0.03)" ] || fail "$(cat out)"
[ "$(of '0.026 < m["ci95"][0] < m["ci95"][1] < 0.034')" = True ] ||
    fail "the interval of 1000 runs: $(of 'm["ci95"]')"
expect 0 "$DTPROF" compare --json base -- same
[ "$(of 'm["verdict"]')" = "no change" ] || fail "$(cat out)"
expect 0 "$DTPROF" compare -o x.html --json base -- slower
[ "$(grep -o '<circle class="base"' x.html | wc -l)" -eq 2000 ] ||
    fail "1000 runs, each in two pictures of the page"
ok "1000 runs a side"

# About the same number, however the runs are spread.
for sides in 20/20 11/200 200/11 10/1000 1000/10; do
	make "${sides%/*}" 1 a
	make "${sides#*/}" 1 b
	expect 0 "$DTPROF" compare --json a -- b
	[ "$(of 'm["verdict"]')" = inconclusive ] || fail "$sides: $(cat out)"
	[ "$(of 'm["runs"]')" = "[${sides%/*}, ${sides#*/}]" ] || fail "$sides"
	needed=$(of 'm["runs_needed"]')
	echo "$sides runs: $needed a side would tell"
	[ "${least:=$needed}" -le "$needed" ] || least=$needed
	[ "${most:=$needed}" -ge "$needed" ] || most=$needed
done
[ "$most" -le $((2 * least)) ] || fail "from $least to $most runs a side"
make $((most + most / 4)) 1 a
expect 0 "$DTPROF" compare --json a -- a
[ "$(of 'm["verdict"]')" = "no change" ] ||
    fail "$most runs do not tell: $(cat out)"
ok "$least to $most runs a side would tell, and do"

# A bench that was stopped within a block; the last block has one run a side.
mkdir d
echo '{"schema_version":2,"commands":[{"name":"a"},{"name":"b"}]}' \
    >d/bench.json
python3 - >d/runs.jsonl <<'END2'
for run in range(15):
    for side in (0, 1):
        if (run, side) not in ((3, 1), (13, 1), (14, 0)):
            print('{"command":%d,"block":%d,"wall":%g}' % (
                side, run // 2, 1 + 0.05 * side + run * 7 % 5 / 1000))
END2
expect 0 "$DTPROF" compare --json d
[ "$(of 'm["runs"], m["verdict"]')" = "([14, 13], 'slower')" ] ||
    fail "uneven blocks: $(cat out)"
[ "$(of '0.04 < m["ci95"][0] < m["change"] < m["ci95"][1] < 0.06')" = True ] ||
    fail "uneven blocks: $(of 'm["ci95"]')"
ok "blocks that lack runs"
