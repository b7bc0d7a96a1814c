#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Instructions of what reads a recording, which no other work on the machine
# changes, and how many times those of another build they are:
#
#	instructions.sh RECORDING [TREE]
#
# TREE has another version of the project, built in TREE/build, that reads the
# recording, too.  More than BENCH_MOST (1.02) times as many is a failure.
# One CPU, so that the work is not divided by chance.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd valgrind taskset
[ $# -gt 0 ] || fail "usage: instructions.sh RECORDING [TREE]"
: "${CC:=cc}"
file=$(readlink -f "$1")
tmpdir

# Of a command: its instructions.
instructions()	# command ...
{
	taskset -c 0 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
	    "$@" >out 2>err || fail "$*: $(tail -n 1 err)"
	sed -n 's/.*refs: *//p' err | tr -d ,
}

# Of a tree: decoding alone, and commands, a line each.
measure()	# tree
{
	compile -I"$1/libprof" -I"$1/sys" \
	    -o decode "$1/tests/bench/decode.c" "$1/build/libprof.a" \
	    -Wl,--gc-sections -Wl,--as-needed -lunwind-"$(uname -m)" -lunwind \
	    -lbpf -ldw -lelf -lz -llzma -liberty -lpfm -lzstd -lxxhash -lm \
	    -pthread || fail "no decoder of $1"
	echo "decode $(instructions ./decode "$file")"
	for command in 'report --json' 'flamegraph -o x.html' 'script' \
	    'script --json'; do
		# shellcheck disable=SC2086 # a list
		echo "$command $(instructions "$1/build/dtprof" $command \
		    "$file")"
	done
}

measure "$SRC" >new
[ $# -gt 1 ] || { cat new; exit; }
measure "$(readlink -f "$2")" | sed 's/.* //' >other
paste -d ' ' new other | awk -v most="${BENCH_MOST:-1.02}" '{
	times = $(NF - 1) / $NF
	printf "%s: %.3f times\n", $0, times
	bad += times > most
} END { exit bad > 0 }' || fail "more than ${BENCH_MOST:-1.02} times"
