#!/bin/sh
# SPDX-License-Identifier: ISC
#
# pictures.sh builddir: make the pictures of doc/pictures again, from recordings
# of the programs in doc/examples and of dtprof's own report.  Called by make
# pictures; needs root, chromium and node.

cd "$(dirname "$0")/.." || exit 1
B=$(realpath "$1") src=$PWD pictures=$PWD/doc/pictures
tmp=$(mktemp -d /tmp/shop.XXXXXX) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
PATH=$B:$PATH
cd "$tmp" || exit 1

fail()		# message
{
	echo "pictures: $*" >&2
	exit 1
}

shot()		# page width height name
{
	# The profile is empty, and the page is ours: no sandbox is needed.
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
	    --user-data-dir="$tmp/chromium" --virtual-time-budget=5000 \
	    --window-size="$2,$3" --screenshot="$tmp/$4" "file://$tmp/$1" \
	    >chromium.log 2>&1
	[ -s "$4" ] || {
		cat chromium.log
		fail "no picture of $1"
	}
	cp "$4" "$pictures/$4"
}

cp "$src/doc/examples/shop.js" . || exit 1
dtprof record -q -F 997 -e cpu-clock -o shop.dtp -- \
    node --perf-basic-prof shop.js >/dev/null || fail "record node"
dtprof flamegraph --title 'A Node.js program: JavaScript, C++ and kernel' \
    -o shop.html shop.dtp || fail "flame graph of node"
shot shop.html 1000 720 node.png

for name in tour tour-binary; do
	define=
	[ $name = tour ] || define=-DBINARY
	cc -g -O2 -fno-inline $define -o $name "$src/doc/examples/tour.c" ||
	    fail "build $name"
done
dtprof bench --record -r 10 -o tour.bench './tour 200000' \
    './tour-binary 200000' >/dev/null 2>&1 || fail "bench"
dtprof compare -o compare.html tour.bench >/dev/null || fail "compare"
shot compare.html 1000 1150 compare.png
dtprof flamegraph --base tour.bench -o difference.html ||
    fail "differential flame graph"
shot difference.html 960 600 flame-difference.png

cd "$src" || exit 1
B=$B SRC=$src BENCH_PICTURE=$tmp/report.svg sh tests/bench/names.sh ||
    fail "report"
sed "s,$B/,build/,g" "$tmp/report.svg" >"$pictures/report.svg"
