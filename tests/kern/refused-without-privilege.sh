#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Without the privilege to record everything the recorder fails
# with status 125, names the knob and a cure, and leaves nothing; reading a
# recording and listing probes need no privilege at all.
#
# Easy to get wrong: falling back to less without being asked, so that a
# recording of everything holds one process.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd setpriv
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ] ||
    skip "this machine lets everybody watch everything"
tmpdir
chmod 755 "$tmp"
mkdir theirs && chown 65534:65534 theirs

record 0 -o a.dtp -e cpu-clock -- "$work/spin" 50
chmod 644 a.dtp
as_user test -x "$DTPROF" || skip "an ordinary user cannot reach $DTPROF"
cd theirs || fail "theirs"
for what in "-a -e cpu-clock" "-a -e sched:sched_switch" \
    "-p 1 -e cpu-clock" "-e sched:sched_switch -- true"; do
	# shellcheck disable=SC2086
	expect 125 as_user "$DTPROF" record -o x.dtp $what
	expect_err '^dtprof: record: ' "$what"
	expect_err '^dtprof: hint: ' "$what"
	expect_err 'perf_event_paranoid|unprivileged_bpf_disabled|CAP_|root' \
	    "$what names no knob"
	grep -Eqi 'errno|EPERM|EACCES|verifier' "$tmp/err" &&
	    fail "$what: $(cat "$tmp/err")"
	[ -z "$(ls)" ] || fail "$what: left $(ls)"
	ok "$what: $(head -n 1 "$tmp/err")"
done
expect 0 as_user "$DTPROF" report --json "$tmp/a.dtp"
expect 0 as_user "$DTPROF" script "$tmp/a.dtp"
[ -s "$tmp/out" ] || fail "script shows nothing"
expect 0 as_user "$DTPROF" list 'cpu-clock*'
[ -s "$tmp/out" ] || fail "list shows nothing"
ok "report, script and list work for an ordinary user"
