#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a recording that is still being written is said to be in progress,
# by reports, pages and JSON; one whose recorder was killed to be cut short.
# Easy to get wrong: neither has an END, and a file that has not grown for a
# while tells nothing.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
tmpdir
"$DTPROF" record -q -o x.dtp -e cpu-clock -c 1000000 -- "$B/tests/work/spin" \
    60000 >out 2>err </dev/null &
recorder=$!
kill_at_end "$recorder"
there()
{
	"$DTPROF" report --json x.dtp 2>/dev/null | python3 -c '
import json, sys
sys.exit(json.load(sys.stdin)["accounting"][1]["in_file"] < 10)'
}
await "the file has samples" there
said()		# what, wanted
{
	expect 0 "$DTPROF" report x.dtp
	cat out err >said
	grep -q "$2" said && ! grep -q "$3" said || fail "$1: $(cat said)"
	expect 0 "$DTPROF" flamegraph -o x.html x.dtp
	grep -q "the recording $4" x.html || fail "$1: the page"
	expect 0 "$DTPROF" report --json x.dtp
	[ "$(json out 'j["recording"]["in_progress"]')" = "$5" ] ||
	    fail "$1: $(head -c 200 out)"
}
said "while it is recorded" 'is in progress: [0-9]* bytes written so far' \
    'killed|cut short' 'is in progress' True
ok "in progress while the recorder lives: $(grep -h progress said | tail -n 1)"
command=$(pgrep -P "$recorder")
kill -9 "$recorder"
wait "$recorder"
kill_at_end "$command"
said "after a kill" 'cut short: .*recorder killed' 'in progress' \
    'was cut short' False
ok "cut short when the recorder was killed"
