#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a slow request among 10,000, a stall, a crash, an event with a
# value, a rate and the pressure of a sibling cgroup each cause a dump that
# holds their cause, says it with its value, and ends --dump-after later; rounds
# without one cause none.  1,000 triggers in a second are one dump.  A time of
# day causes one then, and not before.
#
# Easy to get wrong: a span that is paired too late, a trigger in the dump's own
# round, the time of the drain in place of that of the trigger.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# Whoever was moved there has been killed by now.
at_end()
{
	[ -z "$cgroups" ] || rmdir "$cgroups/$group" 2>/dev/null
}

cgroups=
rounds=${ROUNDS:-1}
seek=syscalls:sys_enter_lseek
span=request=$seek,syscalls:sys_enter_getppid

# A program that makes rounds when told to, and a recorder that waits.
begin()		# what trigger [option ...]
{
	what=$1 trigger=$2
	shift 2
	rm -f made ./d.*
	"$work/incidents" "$what" made >log 2>&1 &
	program=$!
	kill_at_end $program
	await "a file" test -s made
	record_begin --ring 1M --dump-after 100ms --dump-max 1000 \
	    --dump-on "$trigger" -o 'd.%n.dtp' "$@" -p $program
}

# Rounds in turn without and with an incident.
check()
{
	RECORDER=$recorder WHAT=$what ROUNDS=$rounds TRIGGER=$trigger python3 \
	    "$SRC/tests/kern/dumps_hold.py" || fail "see above"
	kill $recorder $program
	wait $recorder || fail "record: status $? $(cat "$tmp/err")"
	wait $program
}

begin slow 'span request > 200ms' --span $span -e $seek -e cpu-clock
check
begin stall 'off-cpu > 200ms' --off-cpu -e $seek
check
begin crash crash -e $seek
check
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
group=dtprof-test.$$
if [ -r /proc/pressure/cpu ] && [ -n "$cgroups" ] &&
    mkdir "$cgroups/$group" 2>/dev/null; then
	HOGS=$cgroups/$group/cgroup.procs
	export HOGS
	begin press "psi $group:cpu.some > 50% for 200ms" -e $seek
	check
	rmdir "$cgroups/$group"
else
	echo "no pressure of cgroups here"
fi
# All rounds have these.
begin plain "$seek{offset==9999}" -e cpu-clock
check
begin plain "rate $seek > 3000/s for 100ms" -e $seek
check

# A time of day, by the clock of this program; a later one if it began late.
rm -f ./d.*
now=$(date +%s)
at()
{
	date -d "@$((now + $1))" '+at %T'
}
record_begin --ring 1M --dump-after 0s --dump-max 1 -o 'd.%n.dtp' \
    --dump-on "$(at 3)" --dump-on "$(at 20)" --dump-on "$(at 90)" \
    -e cpu-clock -- sleep 1000
await "a dump" test -s d.1.dtp
kill $recorder
wait $recorder
"$DTPROF" report --json d.1.dtp >got || fail "no report"
python3 - "$now" <<'END' || fail "at the wrong time"
import json
import sys
import time

dump = json.load(open("got"))["recording"]["dump"]
shift = time.time_ns() - time.monotonic_ns()
asked = (dump["requested_ns"] + shift) / 1e9
due = [t for t in (3, 20, 90) if time.strftime(
    "at %H:%M:%S", time.localtime(int(sys.argv[1]) + t)) == dump["reason"]]
assert due, dump
# Not before, but for what clocks are adjusted by meanwhile.
late = asked - int(sys.argv[1]) - due[0]
assert late > -0.05, late
print("%s: %.1f ms late" % (dump["reason"], late * 1000))
END
ok "a dump at a time of day"

# A thousand triggers a second are in the dumps that come one after another.
rm -f ./d.*
record_begin --ring 1M --dump-after 1s --dump-max 2 --dump-on \
    "$seek{offset>=0}" -o 'd.%n.dtp' -- "$work/sequence" 0 made
await "two dumps" test -s d.2.dtp
"$DTPROF" ctl --json status --recorder $recorder >said ||
    fail "ctl: $?"
kill $recorder
wait $recorder
set -- ./d.*
[ $# -eq 2 ] || fail "dumps: $*"
"$DTPROF" report --json d.2.dtp >got || fail "no report"
python3 -c '
import json, re
reason = json.load(open("got"))["recording"]["dump"]["reason"]
more = re.search(r"in thread \d+, (\d+) more triggers$", reason)
assert more and int(more[1]) > 1000, reason
status = json.load(open("said"))["recorders"][0]
assert status["dumps"] == 2, status
print(reason)' || fail "a burst"
ok "a burst of triggers is one dump, which counts them"

# Of other kinds of triggers that a dump waits with, the first is named.
rm -f ./d.*
record 0 --ring 1M --off-cpu --dump-on 'off-cpu > 100ms' --dump-on crash \
    --dump-after 2s -o 'd.%n.%r.dtp' -- sh -c 'sleep .3
    (sh -c "kill -SEGV \$\$") 2>/dev/null; sleep .3; true'
set -- ./d.1.off-cpu-*-ms-in-thread-*then-crash-of-process-*SEGV*.dtp
[ -f "$1" ] || fail "no dump: $(ls)"
"$DTPROF" report --json "$1" >got || fail "no report"
python3 -c '
import json, re
reason = json.load(open("got"))["recording"]["dump"]["reason"]
assert re.fullmatch("off-cpu [0-9.]+ ms > 100(.0)? ms in thread [0-9]+"
    "(, which still waits)?, then crash of process [0-9]+ .sh.: SIGSEGV"
    "(, [0-9]+ more triggers?)?", reason), reason
print(reason)' || fail "the reason"
ok "a crash while a dump waits is named"
