#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Measures what sampling on the target's tasks and on all CPUs costs, beside
# perf: attach.sh [spin|pgbench ...].  BENCH_ROUNDS (6) and BENCH_SECONDS (4,
# of pgbench) say how much, PGBIN where PostgreSQL's programs are.  The rounds
# as JSON are kept in $B/bench.attach.WHAT.json.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
need_cmd python3 perf
: "${PGBIN:=/usr/lib/postgresql/15/bin}"
case $DTPROF in
/*) ;;
*)	DTPROF=$PWD/$DTPROF ;;
esac
case $B in
/*) ;;
*)	B=$PWD/$B ;;
esac
TICKS=$B/tests/work/ticks
export DTPROF PGBIN TICKS
[ "$(nproc)" -ge 2 ] || skip "one CPU only"
rounds=${BENCH_ROUNDS:-6}
[ $# -gt 0 ] || set -- spin pgbench
for what; do
	length=6000	# the recorder is calm after a second or two
	if [ "$what" = pgbench ]; then
		[ -x "$PGBIN/pgbench" ] || skip "pgbench is not installed"
		length=${BENCH_SECONDS:-4}
	fi
	python3 "$SRC/tests/bench/attach.py" "$what" "$rounds" "$length" \
	    "$B/bench.attach.$what.json" || fail "$what"
done
