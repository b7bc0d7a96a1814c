#!/bin/sh
# SPDX-License-Identifier: ISC
#
# The same work recorded by dtprof and by what a user would pick instead, in
# one table: peers.sh [work ...], by default all of
#
#	true		a command that ends at once
#	clang-short	a compiler, 0.7 s
#	clang-long	a compiler, 9 s
#	build		make of many small files
#	daemon		redis under load, attached by its pid
#	python		a Python program, attached by its pid
#	stock		sqlite3 as the distribution ships it, no frame pointers
#	picture		from the recording of clang-short to a flame graph
#
# Tools: dtprof, perf record -g, without stacks (what sampling itself costs
# here) and --call-graph dwarf, samply, bpftrace;
# inferno and flamegraph.pl for the picture, py-spy for Python.  samply and
# inferno are built with cargo into $B/peers, py-spy is fetched there, once
# (BENCH_CRATES=0: not).  What cannot be had is left out, with the reason.
# BENCH_ROUNDS (5) and BENCH_SEED say how often and in which order; all runs
# are kept in $B/bench.peers.json, to which BENCH_ADD=1 adds rounds.
# BENCH_TOOLS="dtprof,perf -g" measures these alone.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
need_cmd python3 perf
case $DTPROF in
/*) ;;
*)	DTPROF=$PWD/$DTPROF ;;
esac
case $B in
/*) ;;
*)	B=$PWD/$B ;;
esac
PEERS=$B/peers
# Compilers are to compile.
CCACHE_DISABLE=1
export DTPROF PEERS CCACHE_DISABLE

# A crate's program, of a known version; what went wrong is kept beside it.
crate()		# name version program
{
	[ "${BENCH_CRATES:-1}" != 0 ] || return 0
	[ ! -x "$PEERS/bin/$3" ] || return 0
	command -v cargo >/dev/null || return 0
	echo "building $1 $2 into $PEERS"
	cargo install --quiet --locked --root "$PEERS" --version "$2" "$1" \
	    >"$PEERS/$1.log" 2>&1 || return 0
}

[ "${BENCH_CRATES:-1}" != 0 ] || : "${PYSPY=}"
. "$SRC/tests/accept/lib-pyspy.sh"
mkdir -p "$PEERS" || fail "cannot make $PEERS"
crate samply 0.13.1 samply
crate inferno 0.12.8 inferno-flamegraph
tmpdir
# Above 1 samply gives up, even root's.
paranoid=/proc/sys/kernel/perf_event_paranoid
before=$(cat $paranoid)
at_end()
{
	echo "$before" >$paranoid
}
[ "$before" -le 1 ] || echo 1 >$paranoid
python3 "$SRC/tests/bench/peers.py" "$B/bench.peers.json" "$@" ||
    fail "peers"
