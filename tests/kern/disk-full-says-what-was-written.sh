#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: when the disk is full, the last line says how many samples are in
# the file and how many are not, to the unit.
#
# Easy to get wrong: samples are counted where they are read, and between that
# and the disk is a queue; the last chunk may be taken back to make room.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd mount unshare
tmpdir
mkdir disk
"$work/calls" -c 0 0 >/dev/null &
calls=$!
kill_at_end "$calls"
cat >fill.sh <<'END'
mount -t tmpfs -o size=200K dtprof-test disk || exit 77
"$DTPROF" record -o disk/a.dtp --buffer 1M --call-graph none \
    -e syscall::close:entry -p "$1" --duration 60s >out 2>err
echo $? >status
cp disk/a.dtp a.dtp
END
unshare -m sh fill.sh "$calls"
status=$?
[ "$status" -ne 77 ] || skip "cannot mount a tmpfs here"
[ "$(cat status)" -eq 125 ] || fail "status $(cat status): $(cat err)"
in_file=$("$DTPROF" report --stats --json a.dtp 2>/dev/null | python3 -c '
import json, sys
print(json.load(sys.stdin)["accounting"][1]["in_file"])')
grep -E '^dtprof: record: [0-9]+ .*sample' err >line ||
    fail "no last line: $(cat err)"
said=$(sed -n 's/^dtprof: record: \([0-9]*\) .*/\1/p' line)
[ "$said" -eq "$in_file" ] ||
    fail "$in_file samples are in the file: $(cat line)"
sed -nE 's/.*: (.*) of (.*) samples written, (.*) not written, .*/\1 \2 \3/p' \
    line >numbers
read -r written all not <numbers
[ "$written" -gt 1000 ] && [ "$not" -gt 0 ] &&
    [ $((written + not)) -eq "$all" ] || fail "$(cat line)"
ok "$(cut -d ' ' -f 3- <line)"
