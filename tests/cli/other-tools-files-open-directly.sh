#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: report, annotate, flamegraph, compare, script and export open
# perf.data, pprof, folded stacks and text of perf script as they are, known
# by what is in them, also from a pipe and as "-", say of them what they say
# of an import, byte for byte, and leave nothing behind; a recording from a
# pipe is read as before, and what is none of these is refused.
# Easy to get wrong: what was read of a pipe to look at it is gone.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
mkdir tmp
TMPDIR=$tmp/tmp
export TMPDIR
printf 'main;work;a 30\nmain;work 10\nmain;b 7\n' >x.folded
printf 'w 1/1 [000] 1.000001: %d cycles: \n\t1145 %s (/bin/w)\n\n' \
    30 work 9 other >x.script
"$DTPROF" export --format pprof -o x.pprof "$SRC/tests/report/known.dtp" \
    2>/dev/null || fail export
kinds='folded script pprof'
if perf record -q --buildid-mmap -e cpu-clock -F 999 -g -o x.perf -- \
    "$B/tests/work/demo" 0.1 >/dev/null 2>&1; then
	kinds="$kinds perf"
fi
same()		# kind command ...: the same of the file and of its import
{
	kind=$1
	shift
	"$DTPROF" "$@" "x.$kind" </dev/null >direct 2>direct.err ||
	    fail "$* of $kind: $(cat direct.err)"
	(cd imported && "$DTPROF" "$@" "x.$kind" </dev/null \
	    >../import 2>../import.err) ||
	    fail "$* of an import of $kind: $(cat import.err)"
	cmp direct import || fail "$* of $kind differs"
}
mkdir imported
for kind in $kinds; do
	expect 0 "$DTPROF" import -q -o "imported/x.$kind" "x.$kind"
	rm -f "imported/x.$kind.old"
	same "$kind" report
	same "$kind" report --json
	same "$kind" script --json
	same "$kind" export
	same "$kind" export --format speedscope
	function=work
	case $kind in perf | pprof) function=seventy ;; esac
	same "$kind" annotate "$function"
	"$DTPROF" flamegraph -o direct.html "x.$kind" 2>/dev/null ||
	    fail "flamegraph of $kind"
	(cd imported && "$DTPROF" flamegraph -o ../import.html "x.$kind") \
	    2>/dev/null || fail "flamegraph of an import of $kind"
	cmp direct.html import.html || fail "flamegraph of $kind differs"
	expect 0 "$DTPROF" compare "x.$kind" -- "imported/x.$kind"
	expect_out '\+0\.0 ?%' "compare of $kind"
	expect 0 "$DTPROF" flamegraph --base "x.$kind" -o d.svg \
	    "imported/x.$kind"
	expect 0 "$DTPROF" export "x.$kind"
	sort out >whole
	# shellcheck disable=SC2002 # a pipe is wanted
	cat "x.$kind" | "$DTPROF" export - 2>/dev/null | sort |
	    cmp - whole || fail "$kind as -"
	mkfifo "pipe.$kind"
	cat "x.$kind" >"pipe.$kind" &
	"$DTPROF" export "pipe.$kind" 2>/dev/null | sort | cmp - whole ||
	    fail "$kind from a pipe"
done
ok "as it is, from a pipe and as -: $kinds"
mkfifo pipe
cat "$SRC/tests/report/known.dtp" >pipe &
expect 0 "$DTPROF" report --json pipe
cp out piped
expect 0 "$DTPROF" report --json "$SRC/tests/report/known.dtp"
json piped 'j["functions"]' >piped.functions
json out 'j["functions"]' | cmp - piped.functions ||
    fail "a recording from a pipe"
ok "a recording from a pipe"

# As root the conversion may neither sync nor look for names, and a count of
# millions on a deep stack takes longer than the second after which it would.
python3 -c 'print(";".join("f%d" % (n % 50) for n in range(4000)), 4000000)' \
    >deep.folded
expect 0 "$DTPROF" report --json deep.folded
[ "$(json out 'sum(f["self"] for f in j["functions"])')" -eq 4000000 ] ||
    fail "deep stack: $(head -c 300 out)"
ok "four million samples of one deep stack"
set -- tmp/*
[ ! -e "$1" ] || fail "left behind: $*"
[ -z "$(find . -name '*.dtp')" ] || fail "left behind: $(find . -name '*.dtp')"
ok "nothing is left behind"
expect 1 "$DTPROF" report "$SRC/README.md"
expect_err 'README.md: is not a dtprof recording'
: >nothing
expect 1 "$DTPROF" report nothing
expect 1 "$DTPROF" report no-such-file
expect_err 'no such file'
expect 1 "$DTPROF" report tmp
ok "what is none of these is refused"
