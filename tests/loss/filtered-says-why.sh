#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Whatever is not wanted counts as filtered, each firing once: what
# the expression refuses, other processes, other CPUs, and the recorder
# itself, which is also counted as self.
#
# Easy to get wrong: a firing that is nobody's has to be in the sum, or the
# identity holds by leaving things out.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# By expression: of 10000 calls exactly 1000.
record 0 -o a.dtp --call-graph none -e syscall::close:entry \
    --filter 'fd >= 0x40000000 && fd < 0x400003e8' -- \
    "$work/calls" 10000
# By CPU: all happens on CPU 0, CPU 1 is recorded.
mkfifo go
if [ -d /sys/devices/system/cpu/cpu1 ]; then
	"$work/calls" -w -c 0 10000 <go >/dev/null &
	other=$!
	kill_at_end "$other"
	exec 9>go
	# Until then its loader may close files on CPU 1.
	await "it is on CPU 0" grep -q "^Cpus_allowed_list:.0\$" \
	    "/proc/$other/status"
	record_begin -o b.dtp -a -C 1 --call-graph none \
	    -e syscall::close:entry --filter "pid == $other"
	exec 9>&-
	wait "$other" || fail "calls"
	record_end 0
fi
# By process: somebody else calls.
"$work/calls" -w 10000 <go >/dev/null &
other=$!
kill_at_end "$other"
exec 9>go
record_begin -o c.dtp -t "$$" --call-graph none -e syscall::close:entry
exec 9>&-
wait "$other" || fail "calls"
record_end 0
# The recorder itself writes and waits.
record 0 -o d.dtp -a --call-graph none --duration 500ms \
    -e syscall::epoll_wait:entry
py <<'END'
import os
import recording as rec

row = rec.balance("a.dtp")["syscall::close:entry"]
rec.check(row["stored"] == 1000, "stored %d of 1000" % row["stored"])
rec.check(row["filtered"] >= 9000, "filtered %d" % row["filtered"])
if os.path.exists("b.dtp"):
    row = rec.balance("b.dtp")["syscall::close:entry"]
    rec.check(row["stored"] == 0, "stored %d of another CPU" % row["stored"])
    rec.check(row["filtered"] >= 10000, "filtered %d" % row["filtered"])
row = rec.balance("c.dtp")["syscall::close:entry"]
rec.check(row["filtered"] >= 10000, "filtered %d" % row["filtered"])
row = rec.balance("d.dtp")["syscall::epoll_wait:entry"]
rec.check(row["self"] > 0, "the recorder did not wait")
rec.check(row["self"] <= row["filtered"], "self is not part of filtered")
END
