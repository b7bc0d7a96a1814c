#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: each option of perf report that is called otherwise here is
# refused with ours, and ours is one that there is.
# Easy to get wrong: a hint to an option that was renamed since.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
cp "$SRC/tests/report/known.dtp" dtprof.dtp
"$DTPROF" report --help >help || fail help
n=0
while read -r ours theirs; do
	# shellcheck disable=SC2086 # words
	expect 2 "$DTPROF" report $theirs
	expect_err "^dtprof: hint: .*$ours" "$theirs"
	case $ours in
	--*)	grep -q -e "^  .*$ours" help || fail "$theirs: no $ours" ;;
	esac
	n=$((n + 1))
done <<'END'
--by --sort comm,dso,symbol
--by --sort=dso
--by -s dso
--callers --call-graph graph
--callers -g
--limit --percent-limit 1
--filter --comms known
--filter --pid 1
--filter --tid 1
--by --dsos libc.so.6
--callers --symbols main
END
[ "$n" -eq 11 ] || fail "only $n"
expect 0 "$DTPROF" report --by comm,module,function
ok "$n words of perf have a hint to ours"
n=0
while read -r theirs ours; do
	expect 1 "$DTPROF" report --by "$theirs"
	expect_err "^dtprof: hint: did you mean ${ours}[?]" "--by $theirs"
	n=$((n + 1))
done <<'END'
dso module
sym function
symbol function
srcline line
thread tid
process pid
END
[ "$n" -eq 6 ] || fail "only $n"
ok "$n keys of perf have a hint to ours"
