#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: started with standard input, output and error closed, each of them
# or all, dtprof records what it records else, and prints into no file.
# Easy to get wrong: the next file that is opened gets the lowest number, and
# is then written over by messages: a recording by its own summary.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
tmpdir
echo 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done' >work.sh
record()	# what is closed
{
	# shellcheck disable=SC2086 # redirections
	eval "\"$DTPROF\" record -v -o x.dtp -c 1000000 -- sh work.sh $1"
	got=$?
	[ "$got" -eq 0 ] || fail "$1: status $got"
	"$DTPROF" report --stats --json x.dtp >x.json 2>err ||
	    fail "$1: $(cat err)"
	[ "$(json x.json '(j["recording"]["cut"] is None and
	    j["accounting"][1]["in_file"] > 10)')" = True ] ||
	    fail "$1: $(head -c 300 x.json)"
	rm x.dtp
}
for closed in '<&-' '>&-' '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
	record "$closed"
done
ok "whichever of them is closed, the recording is whole"
"$DTPROF" record -q -o y.dtp -e cpu-clock -- sh work.sh || fail "record"
"$DTPROF" export --format folded -o y.folded y.dtp <&- >&- 2>&- ||
    fail "export"
[ -s y.folded ] && ! grep -q dtprof: y.folded || fail "$(cat y.folded)"
ok "nothing is printed into a file that is written"
