#!/bin/sh
# ASSERTION: record exits with the status of the command, 128 + signal, 125,
# 126, 127, and 124 only when more than --max-loss was lost of a command that
# returned 0.  Easy to get wrong where two of them hold at once.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
tmpdir
record="$DTPROF record -q -e cpu-clock"
# shellcheck disable=SC2086,SC2016 # words; expanded by the inner shell
{
for status in 0 1 7 124 125 255; do
	expect $status $record -- sh -c "exit $status"
done
ok "the command's own status"
for signal in 1 9 15; do
	expect $((128 + signal)) $record -- sh -c "kill -$signal \$\$"
done
ok "128 + signal"
expect 127 $record -- ./nosuch
expect 126 $record -- "$tmp"
expect 125 $record --nosuch -- true
ok "125, 126, 127"
expect 0 $record --max-loss 0 -- true
expect 0 $record --max-loss 100 -- true
ok "nothing lost: 0"
}
[ "$(id -u)" -eq 0 ] && "$B/tests/work/can" bpf 2>/dev/null ||
    { ok "no loss can be provoked here"; exit 0; }
# A buffer that overflows while the reader is stopped.
cat >storm.sh <<'END'
kill -STOP $PPID
dd if=/dev/zero of=/dev/null bs=1 count=60000 2>/dev/null
kill -CONT $PPID
exit $1
END
storm="$DTPROF record -q --buffer 64K -e syscalls:sys_enter_read"
# shellcheck disable=SC2086 # words
{
expect 124 $storm --max-loss 1 -- sh storm.sh 0
expect_err 'more than --max-loss allows'
ok "more was lost than --max-loss: 124"
expect 3 $storm --max-loss 1 -- sh storm.sh 3
ok "the command's failure goes first"
expect 0 $storm -- sh storm.sh 0
ok "without --max-loss a loss is no failure"
}
expect 0 "$DTPROF" report --json dtprof.dtp
[ "$(json out 'j["accounting"][1]["full"] > 0')" = True ] ||
    fail "nothing was lost, so nothing was shown"
ok "what was lost is counted as full"
