#!/bin/sh
# ASSERTION: names of threads, paths and marks that hold escape sequences or
# broken UTF-8 reach neither the terminal nor JSON as they are.  Easy to get
# wrong in the one place that prints a name with printf.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_root
need_cmd python3
tmpdir
esc=$(printf '\033')
evil="e${esc}[2J$(printf '\377')x"
cp "$(command -v sleep)" "$evil" || fail "no such name here"
cat >run.sh <<'END'
"./$1" 0
"$DTPROF" mark "$2" >&2
"./$1" 0
END
expect 0 "$DTPROF" record -e cpu-clock -c 100000 -o "x${esc}[1m.dtp" -- \
    sh run.sh "$evil" "m${esc}]0;title$(printf '\007')"
mv "x${esc}[1m.dtp" x.dtp
cat err >all
for what in '' --json '--show all' '--show all --json'; do
	# shellcheck disable=SC2086 # words
	expect 0 "$DTPROF" script $what x.dtp
	cat out err >>all
done
for what in '' --json -v; do
	# shellcheck disable=SC2086 # words
	expect 0 "$DTPROF" report $what x.dtp
	cat out err >>all
done
expect 1 "$DTPROF" report "no${esc}[1m.dtp"
cat err >>all
expect 2 "$DTPROF" "he${esc}[1mlp"
cat err >>all
expect 1 "$DTPROF" list "l${esc}[1m*"
cat err >>all
expect 125 "$DTPROF" record -e "l${esc}[1m" -- true
cat err >>all
LC_ALL=C grep -n "[$esc$(printf '\007\377')]" all | cat -v | head -n 5 |
    grep . && fail "hostile bytes went through"
grep -Fq '\x1b[2J\xffx' all || fail "the name of the thread is not there"
grep -Fq '\u001b[2J\ufffdx' all || fail "nor in JSON"
grep -Fq 'm\x1b]0;title\x07' all || fail "the mark is not there"
grep -Fq 'no\x1b[1m.dtp' all || fail "the name of the file is not there"
ok "shown in $(wc -l <all) lines, obeyed in none"
expect 0 "$DTPROF" script --show all --json x.dtp
json_lines out 'len(j) > 0' | grep -q True || fail "no JSON"
python3 -c 'open("out", encoding="utf-8").read()' || fail "not UTF-8"
ok "JSON stays JSON"
