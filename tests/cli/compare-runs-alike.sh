#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: compare sets beside each other only what is of one kind: runs of
# another event are refused, folded stacks are what import makes of them;
# results of stat, hyperfine and bench of one command add up to runs whose
# metrics are found by their names; and where half of the runs have none,
# nothing is sure.
# Easy to get wrong: a run without samples of the first event still has some
# of another, in another unit; metrics stand in each file in an order of its
# own.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
printf 'main;a 30\nmain;b 10\n' >stacks
"$DTPROF" import -q -o stacks.dtp stacks || fail import
cp "$SRC/tests/report/known.dtp" . || fail "no recording"
expect 0 "$DTPROF" compare stacks -- stacks
expect 0 "$DTPROF" compare stacks.dtp -- stacks.dtp
expect 0 "$DTPROF" compare known.dtp -- known.dtp
expect 1 "$DTPROF" compare --anyway known.dtp -- stacks.dtp
expect_err 'known\.dtp: no samples of samples in counts'
expect 1 "$DTPROF" compare --anyway stacks.dtp known.dtp -- stacks.dtp
expect_err 'known\.dtp: no samples of samples in counts'
expect 0 "$DTPROF" compare stacks -- stacks.dtp
ok "runs of other events, and of other kinds, are refused"

cat >stat.json <<'END'
{"command":["x","y"],"runs":[{"wall_s":1,"user_s":0.5,"system_s":0.25}],
"events":[{"name":"task-clock","unit":"ns","values":[700]}]}
END
cat >fine.json <<'END'
{"results":[{"command":"x y","times":[3]}]}
END
mkdir x.bench
echo '{"schema_version":2,"commands":[{"name":"x y"}]}' >x.bench/bench.json
printf '{"command":0,"block":-5,"wall":2,"user":1,"system":0.5,%s}\n' \
    '"max_rss":4096,"minor_faults":7' >x.bench/runs.jsonl
medians()	# files of the base: what it has of each metric
{
	expect 0 "$DTPROF" compare --json "$@" -- x.bench
	json out '" ".join("%s=%g/%d" % (m["name"], m["median"][0],
	    m["runs"][0]) for m in j["comparisons"][0]["metrics"] if
	    m["runs"][0] > 0)' | tr ' ' '\n' | sort | tr '\n' ' '
}
wanted='max_rss=4096/1 minor_faults=7/1 system=0.375/2 task-clock=700/1 '
wanted=$wanted'user=0.75/2 wall=1.5/2 '
got=$(medians stat.json x.bench)
[ "$got" = "$wanted" ] || fail "stat, bench: $got"
got=$(medians x.bench stat.json)
[ "$got" = "$wanted" ] || fail "bench, stat: $got"
got=$(medians fine.json stat.json x.bench)
[ "$got" = "$(echo "$wanted" | sed 's,wall=1.5/2,wall=2/3,')" ] ||
    fail "hyperfine, stat, bench: $got"
ok "metrics of several files are found by name"

runs()		# wall times
{
	printf '%s\n' "$@" | sed 's/.*/{"wall_s":&}/' | paste -sd, |
	    sed 's/.*/{"command":["z"],"runs":[&],"events":[]}/'
}
runs 0 0 0 0 0 0 0 >zero.json
runs 0 0 0 0 0 1 1 >seldom.json
runs 0 0 0 1 1 1 1 >often.json
for side in seldom often; do
	expect 0 "$DTPROF" compare zero.json -- "$side.json"
	expect_out 'z: inconclusive, wall time - \(-\)$' 'no interval'
	expect 0 "$DTPROF" compare "$side.json" -- zero.json
	expect_out 'z: inconclusive, wall time -100.0% \(-.*to \+' 'an interval'
done
expect 0 "$DTPROF" compare zero.json -- zero.json
expect_out 'z: no change beyond 1%: ' 'nothing on both sides'
ok "what half of the runs have none of is not called the same"
