#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: -o - is standard output for pages, drawings and exports, and is
# refused for recordings, so that no file is called "-"; an ending that is
# neither page nor drawing is refused before anything is read; the head of a
# table names its columns in their order; report takes the words by which
# record chose system calls; doctor names no setting that it could not read.
# Easy to get wrong: each of these looked right.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
cp "$SRC/tests/report/known.dtp" . || fail "no recording"
for command in "flamegraph -o -" "flamegraph --base known.dtp -o -" \
    "export --format speedscope -o -" "annotate --html -o - seventy"; do
	# shellcheck disable=SC2086 # words of a command
	expect 0 "$DTPROF" $command -i known.dtp
	[ "$(wc -c <out)" -gt 1000 ] || fail "$command: $(cat out)"
	[ ! -e - ] || fail "$command wrote a file called -"
done
expect_out '<html' 'a page on standard output'
expect 1 "$DTPROF" import -o - known.dtp
printf 'a 1\n' >x
expect 1 "$DTPROF" import -o - x
expect_err 'cannot write a recording to standard output'
[ ! -e - ] || fail "a recording called -"
ok "- is standard output, or refused"
expect 2 "$DTPROF" flamegraph -o x.png no-such-file
expect_err 'x\.png: unknown output format'
expect 0 "$DTPROF" flamegraph -o x.svg known.dtp
expect 0 "$DTPROF" flamegraph -o x.html known.dtp
ok "endings that are neither are refused"
expect 0 "$DTPROF" report --by function,comm -e cpu-clock known.dtp
expect_out ' function +comm +where$' 'the head of the columns'
expect 0 "$DTPROF" report --by comm,function -e cpu-clock known.dtp
expect_out ' comm +kind +function +where$' 'the head of the columns'
ok "columns stand as they are asked for, and their heads"
if "$B/tests/work/can" bpf >/dev/null 2>&1; then
	for words in 'syscalls:sys_enter_get*' 'syscalls:sys_enter_getpid' \
	    'syscalls:sys_exit_get*'; do
		expect 0 "$DTPROF" record -q -e "$words" -o calls.dtp -- \
		    sh -c 'ls -l /'
		expect 0 "$DTPROF" script -e "$words" calls.dtp
	done
	expect 1 "$DTPROF" script -e 'syscalls:sys_enter_openat' calls.dtp
	ok "the words of record are words of report"
fi
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016 # expanded in there
	unshare -m sh -c 'umount -l /proc && exec "$DTPROF" doctor' >out 2>&1
	grep -q 'paranoid *-[0-9]\|: -[12]:\| -[12]: ' out &&
	    fail "doctor: $(grep paranoid out)"
	ok "doctor names no setting that it could not read"
fi
