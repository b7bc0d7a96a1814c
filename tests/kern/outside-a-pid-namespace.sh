#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: record -a as root in a PID namespace names what runs outside of it
# [outside this PID namespace], not swapper, takes no mapping of one of these
# for another's, and says what it reaches in doctor's words; outside of one,
# record --backend perf -a says that it records all processes, as it does.
#
# Easy to get wrong: the kernel gives all processes that the namespace does not
# see the number 0, which elsewhere is the idle task's.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_root
need_perf
need_cmd python3
tmpdir
unshare -p -f --mount-proc true 2>/dev/null ||
    skip "no PID namespace can be made"

sh -c 'while :; do :; done' &
kill_at_end $!
outside=$!
unshare -p -f --mount-proc "$DTPROF" record -a -e cpu-clock -o in.dtp \
    --duration 500ms 2>said || fail "$(cat said)"
# The first line of doctor has the same words.
unshare -p -f --mount-proc "$DTPROF" doctor >doctor
[ "$(grep -c 'swapper' said doctor)" = "$(printf 'said:0\ndoctor:0')" ] ||
    fail "swapper"
reach='all processes, user space only; addresses outside this PID'
reach="$reach namespace are unresolved"
tr -s ' \n' '  ' <doctor >words
grep -q "$reach" words || fail "doctor: $(head -n 1 doctor)"
grep -q "without BPF ($reach)" said || fail "the note: $(cat said)"
ok "note and doctor say: $reach"
expect 0 "$DTPROF" report --by comm,pid in.dtp
expect_out '0 \[outside this PID namespace\]'
! grep -q swapper out || fail "swapper in the report"
"$DTPROF" script --json --show all in.dtp >records || fail "no script"
py <<'END'
import json
import recording as rec

records = [json.loads(line) for line in open("records")]
outside = [r for r in records if r["type"] == "sample" and r["pid"] == 0]
rec.check(len(outside) > 50, "%d samples outside" % len(outside))
rec.check({r["comm"] for r in outside} == {"[outside this PID namespace]"},
          "names: %r" % {r["comm"] for r in outside})
rec.check(not any(r["pid"] == 0 and r["type"] in ("mmap", "fork", "exec")
                  for r in records), "mappings of number 0")
rec.check(not any(r["in_kernel"] for r in outside), "the kernel's own code")
rec.ok("%d samples outside, without anybody's mappings" % len(outside))
END

expect 0 "$DTPROF" record --backend perf -a -e cpu-clock -o all.dtp \
    --duration 300ms
grep -q 'without BPF (all processes, user space only)' err ||
    fail "the note: $(cat err)"
py "$outside" <<'END'
import sys
import recording as rec

rec.check(any(s["pid"] == int(sys.argv[1]) for s in rec.samples("all.dtp")),
          "the busy process is not in it")
rec.ok("all processes are recorded, and the note says so")
END
