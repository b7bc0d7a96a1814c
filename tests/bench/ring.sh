#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What it costs to have a ring in memory, on a machine that does nothing else.
# Prints, for pairs of windows with and without a recorder of all
# CPUs at 19 Hz, by how much the machine was less idle, with its interval of
# 95%, the recorder's own CPU time and its memory, and what it wrote to disk.
#
# BENCH_ROUNDS (5) is how many pairs of windows.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
case $DTPROF in
/*) ;;
*)	DTPROF=$PWD/$DTPROF ;;
esac
export DTPROF
tmpdir
echo
echo "ring"
echo "  (load $(cut -d ' ' -f 1-3 /proc/loadavg), ${BENCH_ROUNDS:-5} rounds)"
python3 "$SRC/tests/bench/ring.py" || fail "ring"
