#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: in a guest whose kernel preempts programs (preempt=full), with
# writers that are made to stay in their stream for 4 s, the merge goes on: an
# event on the other CPU loses nothing, though its buffer holds but 2 s; each
# record of the stuck ones is stored late and counted, or is lost by a reason.
# TIMEOUT: 1500
#
# Before Linux 7 no kernel preempts programs of tracepoints: such a writer holds
# its CPU, and nobody else writes there meanwhile.

. "${SRC:=$PWD}/tests/guest/lib.sh"

case $GUEST in
*-7)	;;
*)	skip "needs GUEST_KERNEL=7: others preempt no program" ;;
esac
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
cp -a "$GUEST_BUILD" stuck || fail "cp"
# shellcheck disable=SC2086 # a command with its arguments
$GUEST_MAKE -C "$SRC" O="$tmp/stuck" FAULT=leave >made 2>&1 ||
    fail "FAULT=leave: $(tail -5 made)"
export GUEST_BUILD="$tmp/stuck" GUEST_CPUS=2 GUEST_APPEND=preempt=full \
    GUEST_LIMIT=900
guest_boot <<'END'
cat /sys/kernel/debug/sched/preempt >preempt
uname -rv >release
for n in 1 2 3; do
	taskset 2 sh -c 'while :; do usleep 100000; done' &
done
dtprof record -q -a --call-graph none --buffer 128K --duration 30s \
    -e interval:::1ms -e syscall::clock_nanosleep:entry -o stuck.dtp || exit
kill %1 %2 %3
END
echo "kernel $(cat results/release)"
case $(cat results/preempt) in
*"(full)"*) ;;
*)	skip "this kernel does not preempt: $(cat results/preempt)" ;;
esac
accounting results/stuck.dtp
verify stats <<'END'
of = {a["event"]: a for a in j["accounting"]}
timer, sleeps = of["interval:::1ms"], of["syscall::clock_nanosleep:entry"]
need(timer["stored"] > 1000 and timer["full"] == 0,
    "interval: %d stored, %d full" % (timer["stored"], timer["full"]))
need(sleeps["late"] > 0, "%d of %d calls are late" %
    (sleeps["late"], sleeps["stored"]))
need(sleeps["nested_stored"] > 0, "%d were stored while a writer was stuck" %
    sleeps["nested_stored"])
END
