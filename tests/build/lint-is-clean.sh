#!/bin/sh
# ASSERTION: the checked rules of style hold, and the checker sees a breach.
# Easy to get wrong with a checker that looks at no files.  (make accept: with
# clang's analyzer.)
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd git shellcheck cppcheck clang-tidy mandoc python3
tmpdir

# A tree of its own with one breach of each rule.
mkdir -p bad/mk bad/libprof && cd bad && git init -q .
for file in lint.sh words.py phrases modules.py modules; do
	cp "$SRC/mk/$file" mk/
done
mkdir -p cmd/dtprof && echo 'char *s = "where to write";' >cmd/dtprof/s.c
cp "$SRC/.clang-tidy" .
{
	printf 'int\nf(void)\n{\n'
	awk 'BEGIN { for (i = 0; i < 61; i++) print "\tg();" }'
	printf '\treturn 0;\n}\n/* TODO */\nstruct s {\n\tint a;\t/* [q] x */'
	printf '\n}; \n'
} >libprof/bad.c
awk 'BEGIN { printf "/* "; while (i++ < 80) printf "x"; print " */" }' \
    >>libprof/bad.c
awk 'BEGIN { while (i++ < 701) print "" }' >libprof/long.c
{
	echo 'int odd(int n) { return (n == n); }'
	echo 'int null(void) { int *p = 0; return (*p); }'
} >libprof/odd.c
mkdir -p tests/x && printf 'x=$(ls\n' >tests/x/y.sh
quickly=-q analyzed=
[ -z "$ACCEPT" ] || quickly='' analyzed='odd.c.*core.NullDereference'
# shellcheck disable=SC2086 # an option or nothing
sh mk/lint.sh $quickly >../out && fail "a bad tree passes"
for breach in 'wider than 80' 'blank at the end' 'no SPDX' '700 lines' \
    'function of 62 lines' 'TODO' 'without parentheses' 'not in the legend' \
    'no line ASSERTION' 'bad.c: belongs to no module' \
    's.c:1: "where to write"' 'y.sh.*error' \
    'odd.c.*redundant-expression' $analyzed; do
	grep -q "$breach" ../out || {
		cat ../out
		fail "not seen: $breach"
	}
done
ok "each rule sees its breach"

cd "$SRC" || fail "no sources"
git rev-parse --git-dir >/dev/null 2>&1 || {
	# An unpacked archive: all files in it count.
	cp -r "$SRC" "$tmp/copy" && cd "$tmp/copy" && git init -q . ||
	    fail "no copy"
}
# shellcheck disable=SC2086 # an option or nothing
sh mk/lint.sh $quickly || fail "breaches of style"
ok "the sources are clean"
