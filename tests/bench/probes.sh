#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Measures what a probe adds to a call, by the instruction that it is on, and
# what returns, static probes, counting by a key and stacks add, beside bpftrace
# on the same program.  BENCH_ROUNDS (5) and BENCH_CALLS (400000) say how much;
# the rounds as JSON are kept in $B/bench.probes.json.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
need_cmd python3 bpftrace
[ "$(uname -m)" = x86_64 ] || skip "instructions of another machine"
case $DTPROF in
/*) ;;
*)	DTPROF=$PWD/$DTPROF ;;
esac
case $B in
/*) ;;
*)	B=$PWD/$B ;;
esac
export DTPROF
tmpdir
compile -fno-omit-frame-pointer -fno-optimize-sibling-calls \
    -fcf-protection=none -no-pie -o "$tmp/probes" \
    "$SRC/tests/bench/probes.c" || fail "cannot build probes"
echo
echo "probes"
echo "  (load $(cut -d ' ' -f 1-3 /proc/loadavg), ${BENCH_ROUNDS:-5} rounds:" \
    "minimum / median / maximum; $(bpftrace --version))"
python3 "$SRC/tests/bench/probes.py" "$tmp/probes" "${BENCH_ROUNDS:-5}" \
    "${BENCH_CALLS:-400000}" "$B/bench.probes.json" || fail "probes"
