#!/bin/sh
# ASSERTION: script, report and list end quietly with status 0 when their
# reader goes away, and with status 1 and a message when the disk is full.
# Easy to get wrong with output below the size of a pipe.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
tmpdir
# Enough that no pipe holds it.
expect 0 "$DTPROF" record -q -e cpu-clock -c 20000 -o x.dtp -- \
    sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
expect 0 "$DTPROF" script --show all x.dtp
lines=$(wc -l <out)
[ "$(wc -c <out)" -gt 200000 ] || fail "only $(wc -c <out) bytes"

gone()		# command ...
{
	rm -f status
	{ "$@" 2>gone.err; echo $? >status; } | head -n 1 >gone.out
	[ "$(cat status)" -eq 0 ] || fail "status $(cat status): $*"
	[ "$(grep -vc 'note:' gone.err)" -eq 0 ] || fail "said: $(cat gone.err)"
	[ -s gone.out ] || fail "no first line: $*"
	ok "$* | head"
}
gone "$DTPROF" script x.dtp
gone "$DTPROF" script --json --show all x.dtp
gone "$DTPROF" report --stats x.dtp
gone "$DTPROF" help
expect 0 "$DTPROF" script --show all --limit 5 x.dtp
[ "$(wc -l <out)" -eq 5 ] || fail "--limit 5 of $lines"
for c in 'script x.dtp' 'report x.dtp' 'help' 'record --help'; do
	# shellcheck disable=SC2086 # words
	"$DTPROF" $c >/dev/full 2>err
	status=$?
	[ $status -eq 1 ] || fail "$c >/dev/full: status $status"
	grep -q 'No space left' err || fail "$c >/dev/full: $(cat err)"
done
ok "a full disk is a failure that is said"
