#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: bench --save keeps a bench under a name, runs and recordings, in
# .dtprof; compare --against compares what is named, or dtprof.bench, with it,
# each command with the one of its name; and it says that such runs were not
# interleaved, and when the base is of another day or host.  Names cannot lead
# out of .dtprof, nor a link in its place.  Of two equal commands bench makes
# an A/A run.
# Easy to get wrong: a verdict that looks as sure as that of one bench.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
bench()		# arguments
{
	"$DTPROF" bench -w 0 -r 5 "$@"
}
# As if the runs of a bench had taken so much CPU time, which decides where
# runs were not interleaved: what the machine does meanwhile decides nothing.
steady()	# directory seconds
{
	awk -v s="$2" '{ sub(/"cpu":[0-9.e-]*/, "\"cpu\":" s + NR / 1e5)
		print }' "$1/runs.jsonl" >steady || fail awk
	mv steady "$1/runs.jsonl"
}
verdicts()
{
	json out '" ".join(c["base"] + ">" + c["new"] + ":" + c["verdict"]
	    for c in j["comparisons"])'
}
expect 0 bench --save main 'true 1'
expect_err 'saved as baseline main in .dtprof/main' 'where it is kept'
expect_err 'compare --against main' 'what to do with it'
[ "$(echo .dtprof/main/*)" = \
    '.dtprof/main/bench.json .dtprof/main/runs.jsonl' ] ||
    fail "kept: $(echo .dtprof/main/*)"
expect 0 bench 'true 2'
steady .dtprof/main 0.1
steady dtprof.bench 0.2
expect 0 "$DTPROF" compare --json --against main
[ "$(verdicts)" = 'true 1>true 2:slower' ] || fail "$(verdicts)"
[ "$(json out 'j["comparisons"][0]["assumes_no_drift"]')" = True ] ||
    fail "runs of two benches are taken for interleaved ones"
expect 3 "$DTPROF" compare --against main --fail-on slower:10 dtprof.bench
expect_out 'note: the test assumes no drift' 'what it rests on'
! grep -q 'another' out || fail "the same day and host: $(cat out)"
ok "kept, and compared with"

# CPU time cannot decide where the base has none, or not of all its runs.
cp -r .dtprof/main .dtprof/without
cp -r dtprof.bench slow
for dir in .dtprof/without slow; do
	awk '{ sub(/"wall":/, "&" (FILENAME ~ /slow/ ? 2 : 1)); print }' \
	    "$dir/runs.jsonl" >steady || fail awk
	mv steady "$dir/runs.jsonl"
done
while read -r lines name title; do
	sed -i "${lines}s/\"cpu\":[0-9.e-]*,//" .dtprof/without/runs.jsonl
	expect 3 "$DTPROF" compare --json --against without --fail-on slower \
	    --junit xml -o page slow
	[ "$(json out '[m["name"] for m in j["comparisons"][0]["metrics"]
	    ][0]')" = "$name" ] || fail "not $name decides: $(cat out)"
	[ "$(verdicts)" = 'true 1>true 2:slower' ] ||
	    fail "$(verdicts)"
	for file in xml page; do
		grep -q "slower: $title" "$file" || fail "$(cat "$file")"
	done
done <<'END'
9 cpu CPU time
1 wall wall time
1,5 wall wall time
END
rm -r .dtprof/without
ok "without CPU time wall time decides"

sed -i 's/"time": *"[^"]*"/"time": "2001-02-03T04:05:06Z"/' \
    .dtprof/main/bench.json
expect 0 "$DTPROF" compare --against main
expect_out 'base and new ran on different days \(base 2001-02-03, new' 'day'
sed -i 's/"host": *"[^"]*"/"host": "elsewhere\\u001b[2J"/' \
    .dtprof/main/bench.json
expect 0 "$DTPROF" compare --against main
expect_out 'hosts \(base elsewhere.x1b.2J, new .* and on different days' both
expect 0 "$DTPROF" compare --json --against main
[ "$(json out \
    '"different hosts" in j["comparisons"][0]["notes"][0]')" = True ] ||
    fail "JSON does not say so"
expect 0 "$DTPROF" compare --json dtprof.bench -- dtprof.bench
! grep -q 'another' out || fail "the same bench: $(cat out)"
ok "another day and host are named"

# Several commands, by name; the old one is kept.
expect 0 bench -r 6 --save main -n a -n b 'true 1' 'true 3'
expect_err 'main to .dtprof/main.old' 'the one before'
expect 0 bench -r 6 -o new -n b -n a 'true 4' 'true 2'
steady .dtprof/main 0.1
steady new 0.2
expect 0 "$DTPROF" compare --json --against main new
[ "$(verdicts)" = 'a>a:slower b>b:slower' ] || fail "$(verdicts)"
expect 0 "$DTPROF" compare --json --against main.old
[ "$(verdicts)" = 'true 1>true 2:slower' ] || fail "$(verdicts)"
ok "commands are matched by name"

printf '#!/bin/sh\n' >true.sh
chmod +x true.sh
expect 0 bench -o aa ./true.sh ./true.sh ./true.sh
expect 0 "$DTPROF" compare --json aa
[ "$(json out '[c["new"] for c in j["comparisons"]]')" = \
    "['./true.sh (2)', './true.sh (3)']" ] || fail "$(verdicts)"
expect 0 bench -o aa2 ./true.sh ./true.sh
expect_err 'A/A run' 'what it is'
expect 0 bench -o aa2 -r 6
ok "equal commands make an A/A run"

for name in '' . .. .x -x a/b ../x 'a b' "$(printf 'a\nb')" x.old x.bisect; do
	expect 2 bench --save "$name" true
done
for name in '' .. ../main a/b; do
	expect 2 "$DTPROF" compare --against "$name" new
done
expect 2 bench --save x -o y true
expect 125 bench --save x --bisect main true
expect 2 bench --threshold 5 true
expect 2 "$DTPROF" compare --against main new -- new
expect 2 "$DTPROF" compare
expect 1 "$DTPROF" compare --against nosuch new
expect_err 'bench --save' 'how to keep one'
[ "$(echo .dtprof/*)" = '.dtprof/main .dtprof/main.old' ] ||
    fail "$(echo .dtprof/*)"
mkdir elsewhere link
ln -s ../elsewhere link/.dtprof
cd link || fail cd
expect 1 bench --save main true
cd .. || fail cd
[ -z "$(ls elsewhere)" ] || fail "it went through a link"
ok "names and links that lead elsewhere are refused"

"$B/tests/work/can" perf >/dev/null 2>&1 ||
    { ok "no recordings here"; exit 0; }
expect 0 bench --record --save rec "$B/tests/work/spin 20"
set -- .dtprof/rec/*.dtp
[ $# -eq 5 ] || fail "$*"
expect 0 "$DTPROF" compare --json --against rec .dtprof/rec
json out '[f["name"] for f in j["comparisons"][0]["functions"]]' |
    grep -q "'turn'" || fail "no functions"
ok "recordings are kept with the runs"
