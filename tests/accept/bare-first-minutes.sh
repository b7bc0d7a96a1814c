#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: on a bare Debian 12 the README's first command shows the demo
# within 60 seconds, and the first flame graph of a program of one's own is
# there within 120 seconds of the same start: median of three fresh machines,
# downloads apart.  Easy to get wrong with a build that grows, or packages that
# only check needs.
# TIMEOUT: 1800
. "${SRC:=$PWD}/tests/accept/lib-bare.sh"
bare_begin

# Fetch what the demo will install, and nothing else.
fetch()
{
	bare_run offline 'sh mk/run.sh demo'
	line=$(sed -n 's/^ *apt-get update && //p' "$tmp/out")
	[ "$status" -eq 125 ] && [ -n "$line" ] || fail "$(cat "$tmp/out")"
	bare_run root "apt-get update && $line --download-only"
	[ "$status" -eq 0 ] || fail "cannot fetch: $(tail -n 5 "$tmp/out")"
}

median()	# of three numbers in a file
{
	sort -n "$1" | sed -n 2p
}

for round in 1 2 3; do
	[ "$round" -eq 1 ] || bare_machine
	fetch
	begun=$(date +%s)
	bare_run offline 'sh mk/run.sh demo'
	bare_expect 0 'demo: [0-9]+ rounds' "round $round: demo"
	echo $(($(date +%s) - begun)) >>"$tmp/demo"
	bare_run offline 'PATH=$PWD/build:$PATH && cc -g -O2 -fno-inline \
	    -o tour doc/examples/tour.c && dtprof record -- ./tour 60000 &&
	    dtprof flamegraph -o x.html && dtprof export'
	bare_expect 0 ' 0 lost, ' "round $round: a recording"
	echo $(($(date +%s) - begun)) >>"$tmp/flame"
	# The page packs its names.
	grep -q ';main;answer;.*checksum' "$tmp/out" ||
	    fail "no function of it is named: $(cat "$tmp/out")"
	grep -q '"command","./tour 60000"' "$bare/src/x.html" ||
	    fail "not a flame graph of it"
	ok "round $round: demo after $(tail -n 1 "$tmp/demo") s, own flame" \
	    "graph after $(tail -n 1 "$tmp/flame") s"
done
demo=$(median "$tmp/demo") flame=$(median "$tmp/flame")
[ "$demo" -le 60 ] || fail "demo: median $demo s, more than 60"
[ "$flame" -le 120 ] || fail "own flame graph: median $flame s, over 120"
ok "medians: demo $demo s, own flame graph $flame s"
