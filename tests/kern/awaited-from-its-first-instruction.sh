#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: --wait-for records a program that starts later from its first
# instruction: a program without a C library makes ten numbered system calls,
# and all ten are in the recording, in order.  So it is where a script starts
# it, where it is the script, in other PID and mount namespaces, and with a
# name of 15 bytes or more.  Its samples have the names of its functions.  A
# program whose name only begins alike, or a process that only names itself so,
# is not the one.  Without it there is no file, and an older file of that name
# is as it was.
#
# Easy to get wrong: the kernel keeps 15 bytes of a name, and a process is no
# target until its exec, which ends a moment before its first instruction.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd unshare
tmpdir

for name in tokens name-of-15-byte name-of-15-bytes-long name-of-15-bytes; do
	cp "$work/guest_tokens" "$name" || fail "no copy"
done
printf '#!/bin/sh\n./tokens\n./tokens\n' >script
chmod +x script

# Wait for a name, run a command, and print the tokens that were recorded.
awaited()	# name command ...
{
	awaited_name=$1
	shift
	record_begin -o a.dtp --wait-for "$awaited_name" --call-graph none \
	    -e syscall::close:entry
	"$@" || fail "$*: failed"
	record_wait 0
	balance a.dtp >/dev/null
	"$DTPROF" script --json a.dtp | python3 -c '
import json, sys
print(*(fd - 0x40000000 for fd in (json.loads(line).get("args", {}).get("fd", 0)
    for line in sys.stdin) if fd >= 0x40000000))'
}

expect()	# what got tokens
{
	[ "$2" = "$3" ] || fail "$1: tokens '$2', not '$3'"
	ok "$1: tokens $2"
}

all="0 1 2 3 4 5 6 7 8 9"
expect "a program" "$(awaited tokens ./tokens)" "$all"
expect "started by a script" "$(awaited tokens ./script)" "$all"
expect "a script and its children" "$(awaited script ./script)" "$all $all"
expect "in other namespaces" \
    "$(awaited tokens unshare -p -m -f ./tokens)" "$all"
expect "15 bytes, after a longer name" "$(awaited name-of-15-byte \
    sh -c './name-of-15-bytes; ./name-of-15-byte')" "$all"
expect "more than 15 bytes, after a shorter and a longer name" \
    "$(awaited name-of-15-bytes sh -c './name-of-15-byte
    ./name-of-15-bytes-long; ./name-of-15-bytes')" "$all"

record_begin -o b.dtp --wait-for spin -e cpu-clock:u
"$work/spin" 300 >/dev/null || fail "spin"
record_wait 0
py <<'END'
import recording as rec

samples = rec.samples("b.dtp")
turns = sum(any(f.get("function") == "turn" for f in s["user_frames"])
            for s in samples)
rec.check(turns > .5 * len(samples), "%d of %d" % (turns, len(samples)))
rec.ok("%d of %d samples are in its function" % (turns, len(samples)))
END

# Not this one: it takes the name and then executes something else.
cp a.dtp before.dtp
files=$(echo a.dtp*)
record_begin -o a.dtp --wait-for script --call-graph none \
    -e syscall::close:entry
python3 -c '
import ctypes, os
ctypes.CDLL(None).prctl(15, b"script", 0, 0, 0)
os.execv("./tokens", ["script"])'
kill -0 "$recorder" || fail "a name that a process gave itself was taken"
record_end 125
grep -q "'script' did not start.*no file" "$tmp/err" ||
    fail "not said: $(cat "$tmp/err")"
cmp a.dtp before.dtp || fail "the older file has changed"
[ "$(echo a.dtp*)" = "$files" ] || fail "left behind: $(echo a.dtp*)"
ok "a name that a process gives itself is not awaited, and no file is left"

# A pause before the program starts is none of the recording.
record_begin -o a.dtp --wait-for tokens --call-graph none \
    -e syscall::close:entry
for how in pause resume; do
	"$DTPROF" mark --recorder "$recorder" --$how >out || fail "$how: $?"
done
./tokens
record_wait 0
"$DTPROF" report --stats a.dtp >out || fail "no report"
grep '^paused' out && fail "paused before it began"
ok "a pause before the program starts is not in the recording"
