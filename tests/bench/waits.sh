#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What it costs to record waits: waits.sh [part ...].  Parts are "tpcb" and
# "select", two loads of pgbench on PostgreSQL, "redis", "pipe", a byte passed
# between two threads, and "wall", the CPU time that --wall takes of 10,000 idle
# threads.  The first three print what throughput is lost to dtprof, to perf and
# to bpftrace.
#
# BENCH_ROUNDS (8) is how many pairs of runs each tool gets, and BENCH_TOOLS a
# regular expression of tools.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
need_cmd python3 pgbench redis-server redis-benchmark perf bpftrace setpriv
case $DTPROF in
/*) ;;
*)	DTPROF=$PWD/$DTPROF ;;
esac
case $B in
/*) ;;
*)	B=$PWD/$B ;;
esac
export DTPROF
# Where the newest PostgreSQL has its programs.
for bin in /usr/lib/postgresql/*/bin; do
	[ -x "$bin/initdb" ] && PG_BIN=$bin
done
[ -n "${PG_BIN:-}" ] || skip "no PostgreSQL server"
export PG_BIN
tmpdir
export IDLE="$B/tests/work/idle_threads"
[ $# -gt 0 ] || set -- tpcb select redis pipe wall
echo
echo "waits"
echo "  (load $(cut -d ' ' -f 1-3 /proc/loadavg), ${BENCH_ROUNDS:-8} rounds)"
python3 "$SRC/tests/bench/waits.py" "$@" || fail "waits"
