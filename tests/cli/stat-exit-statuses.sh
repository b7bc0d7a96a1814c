#!/bin/sh
# ASSERTION: stat ends with the command's status, by Ctrl-C with what was
# counted, and refuses what it cannot count with one line and a cure; what the
# file of -o held is there until something counts.  Easy to get wrong: a
# status that is the last run's, an empty table after Ctrl-C.
# SPDX-License-Identifier: ISC
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
tmpdir

stat="$DTPROF stat -q -e page-faults:u"
# shellcheck disable=SC2086 # words
{
expect 0 $stat -- true
expect 3 $stat -- sh -c 'exit 3'
expect 137 $stat -- sh -c 'kill -9 $$'
expect 127 $stat -- ./no-such-command
expect 126 $stat -- /etc/passwd
expect 125 $stat
expect 125 $stat -p 1 -a
expect 125 $stat -r 3 -a --duration 1s
expect 125 $stat --json --csv -- true
expect 125 $stat -o /nonexistent/x -- true
expect 125 $stat -p 4194303
}
ok "statuses"

# The first that is not 0, of several runs; each is run.
cat >counts.sh <<'END'
echo >>ran-again
exit $(($(wc -l <ran-again) % 3))
END
# shellcheck disable=SC2086
expect 1 $stat -r 5 -- sh counts.sh
[ "$(wc -l <ran-again)" -eq 5 ] || fail "not 5 runs"
ok "of several runs the first that failed"

# Begins, and waits until something was counted: what comes, comes meanwhile.
count()		# argument ...
{
	"$DTPROF" stat -q --csv -I 10 -o table.csv -e page-faults:u "$@" \
	    >out 2>err &
	pid=$!
	kill_at_end $pid
	until grep -q interval table.csv 2>/dev/null; do
		kill -0 $pid 2>/dev/null ||
		    fail "it does not count: $(cat err)"
		sleep 0.02
	done
}

interrupted()	# signal status argument ...
{
	signal=$1 want=$2
	shift 2
	count "$@"
	kill -"$signal" $pid
	wait $pid
	got=$?
	[ $got -eq "$want" ] || fail "$*: status $got after $signal, not $want"
	grep -q '^event,' table.csv || fail "no total after $signal"
	rm table.csv
}
interrupted INT 0 -p $$
interrupted TERM 0 -p $$
interrupted INT 130 -- sleep 100
interrupted TERM 143 -- sleep 100
ok "signals end it, with the table"

# A target that ends; and a time that passes.
sleep 100 &
target=$!
kill_at_end $target
count -p $target
kill $target
wait $pid
got=$?
[ $got -eq 0 ] || fail "the target has ended: status $got, $(cat err)"
rm table.csv
# shellcheck disable=SC2086
expect 0 $stat -p $$ --duration 50ms
ok "so do the target's end and --duration"

"$DTPROF" stat -e page-faults:u -w 9 -- sh -c 'echo >warm; exec sleep 100' \
    >out 2>err &
pid=$!
kill_at_end $pid
await "a warm-up runs" test -s warm
kill -INT $pid
wait $pid
got=$?
[ $got -eq 130 ] && grep -q 'before anything was counted' err ||
    fail "Ctrl-C in a warm-up: status $got, $(cat out err)"
ok "Ctrl-C in a warm-up ends it"

# What was counted before is not lost to a misspelt command, nor is there a
# file of nothing.
spares()	# status argument ...
{
	want=$1
	shift
	echo 'what was counted before' >before
	for file in before none; do
		expect "$want" "$DTPROF" stat -q -o $file "$@"
	done
	[ "$(cat before)" = 'what was counted before' ] ||
	    fail "$*: the file is now: $(cat before)"
	[ ! -e none ] || fail "$*: a file of nothing"
}
for form in '-e page-faults:u' --csv --json '--csv -I 10'; do
	# shellcheck disable=SC2086 # words
	{
	spares 127 $form -- ./typo
	spares 126 $form -- /etc/passwd
	}
done
spares 127 --csv -w 1 -- ./typo
spares 125 --csv -p 4194303
# shellcheck disable=SC2016 # its parent's
spares 130 --csv -w 1 -- sh -c 'kill -INT $PPID; exec sleep 100'
ok "a run that never was spares what the file held"

# What is longer than the new is gone all the same; devices are written to.
for form in "" --csv --json; do
	yes 'an older line' | head -n 1000 >before
	# shellcheck disable=SC2086 # words
	{
	expect 0 "$DTPROF" stat -q $form -e page-faults:u -o before -- true
	! grep -q older before || fail "$form: the old is behind the new"
	grep -q page-faults before || fail "$form: nothing was written"
	"$DTPROF" stat -q $form -e page-faults:u -o /dev/stdout -- true |
	    grep -q page-faults || fail "$form: nothing in the pipe"
	expect 0 "$DTPROF" stat -q $form -e page-faults:u -o /dev/null -- true
	expect 125 "$DTPROF" stat -q $form -e page-faults:u -o /dev/full -- \
	    true
	expect_err '^dtprof: stat: /dev/full: No space left' "$form"
	}
done
ok "the file is all new; and a write that fails names it"

# What a run that is not kept ended with is not lost with its counts; nor does
# it come before a whole run's.
cat >third.sh <<'END'
echo >>third-runs
[ "$(wc -l <third-runs)" -eq 3 ] || exit "$1"
echo >third
exec sleep 100
END
third()		# signal status status-of-the-first-two
{
	rm -f third third-runs
	"$DTPROF" stat --json -o third.json -e page-faults:u -r 10 -- \
	    sh third.sh "$3" >out 2>err &
	pid=$!
	kill_at_end $pid
	await "the third run" test -s third
	kill -"$1" $pid
	wait $pid
	got=$?
	[ $got -eq "$2" ] ||
	    fail "SIG$1 in the third run: status $got, $(cat out err)"
	[ "$(json third.json 'len(j["runs"])')" -eq 2 ] ||
	    fail "not two runs are kept: $(cat third.json)"
}
third INT 130 0
third TERM 143 0
third INT 7 7
ok "Ctrl-C in a later run: two are shown, and the status is not 0"

# shellcheck disable=SC2016 # its own $$
"$DTPROF" stat -e page-faults:u -- \
    sh -c 'trap "" TERM; echo $$ >pid; exec sleep 100' 2>err &
pid=$!
kill_at_end $pid
await "the command runs" test -s pid
kill_at_end "$(cat pid)"
kill $pid
wait $pid
got=$?
[ $got -eq 143 ] && grep -q 'still running' err ||
    fail "a command that goes on: status $got, $(cat err)"
ok "a command that does not heed SIGTERM is left alone, and stat ends"

if [ "$(id -u)" -eq 0 ]; then
	chmod 777 .
	# shellcheck disable=SC2086
	expect 0 env SUDO_UID=65534 SUDO_GID=65534 $stat -o owned -- \
	    sh -c 'id -u >who'
	[ "$(stat -c %u owned) $(cat who)" = '65534 65534' ] ||
	    fail "$(ls -l owned), ran as $(cat who)"
	ok "under sudo the command and the file are the caller's"
fi

refused()	# pattern argument ...
{
	pattern=$1
	shift
	expect 125 "$DTPROF" stat -q "$@" -- touch ran
	expect_err "$pattern" "$*"
	[ "$(wc -l <err)" -eq 2 ] || fail "$*: $(cat err)"
	grep -q '^dtprof: hint: ' err || fail "$*: no cure"
	[ ! -e ran ] || fail "$*: the command ran"
}
refused "did you mean 'page-faults'" -e page-fauls
refused 'always 0' -e context-switches:u
refused 'a timer cannot be counted' -e profile:::99hz
refused 'for sampling, not for counting' -e page-faults@100
refused 'invalid group' -e '{page-faults,task-clock'
refused "cannot open event 'nosuchthing(:u)?'|did you mean" \
    -e '{page-faults,nosuchthing}'
"$B/tests/work/can" pmu >/dev/null 2>&1 || {
	refused 'no hardware counter' -e cycles
	refused 'no hardware counter' -e '{cycles,instructions}'
	refused 'no hardware counter' -e page-faults -e LLC-load-misses
	refused 'no hardware counter' -e r1c0
}
ok "refusals: one line, one cure, nothing run"

# Nobody counted 0 of what is not there.
expect 0 "$DTPROF" stat --json -- true
"$B/tests/work/can" pmu >/dev/null 2>&1 || {
	case $(json out '",".join(e["name"] for e in j["events"])') in
	task-clock,context-switches,cpu-migrations,page-faults)
		left_out= ;;
	task-clock:u,page-faults:u)	# what an ordinary user may
		left_out='context-switches, cpu-migrations, ' ;;
	*)	fail "$(cat out)" ;;
	esac
	expect_err "on this machine: ${left_out}cycles, instructions, branches"
}
ok "the default leaves out what this machine or user lacks, and says so"

# What an ordinary user may not count of the kernel is counted of user space,
# and called so; what has no other side is refused.  As root: as nobody.
as_ordinary()	# command ...
{
	if [ "$(id -u)" -eq 0 ]; then as_user "$@"; else "$@"; fi
}
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ] &&
    as_ordinary test -x "$DTPROF" &&
    as_ordinary "$B/tests/work/can" perf >/dev/null 2>&1
then
	expect 0 as_ordinary "$DTPROF" stat --csv -e page-faults \
	    -e '{task-clock,page-faults}' -- true
	[ "$(cut -d , -f 1,4 out | grep ^event)" = 'event,"page-faults:u"
event,"task-clock:u"
event,"page-faults:u"' ] || fail "other names: $(cat out)"
	expect_err 'page-faults:u: counted in user space only' \
	    'nothing is said of it'
	expect 125 as_ordinary "$DTPROF" stat -e context-switches -- true
	expect_err 'this event occurs in the kernel' 'another reason'
	ok "an ordinary user counts in user space alone, and is told"
fi
