#!/bin/sh
# ASSERTION: the provider, the language and the format of doc/HACKING.md are one
# new file and one row of a table: added to a copy of the tree just as they
# stand there, both compile without a warning, are listed, completed, record
# and export.  Easy to get wrong by a second list that somebody must know of.
# TIMEOUT: 1800
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd git gcc
need_perf
tmpdir
mkdir tree
git -C "$SRC" ls-files -co --exclude-standard -z >list
(cd "$SRC" && tar -c --null -T "$tmp/list") | tar -x -C tree || fail "tar"

# The n-th block of code in a language.
block()		# language n
{
	awk -v from="\`\`\`$1" -v n="$2" '
	/^```$/ { on = 0 }
	on { print }
	$0 == from && ++seen == n { on = 1 }' "$SRC/doc/HACKING.md"
}
block c 1 >tree/libprof/events/provider/moves.c
block c 2 >tree/libprof/process/languages/toy.c
block c 3 >tree/libprof/output/lines.c
row=$(block def 1)
sed -i "s/^PROF_PROVIDER(pmc)/$row\n&/" tree/libprof/events/providers.def
block def 2 >>tree/libprof/process/languages/languages.def
block def 3 >>tree/libprof/formats.def
for file in libprof/events/providers.def libprof/formats.def \
    libprof/process/languages/languages.def; do
	diff "$SRC/$file" tree/$file >changed
	[ "$(grep -c '^[<>]' changed)" -eq 1 ] || fail "$file: $(cat changed)"
done
make -C tree -j"$(nproc)" DEBUG=1 CFLAGS=-O0 O="$tmp/o" all >log 2>&1 || {
	grep -E 'error|warning' log
	fail "it does not compile"
}
ok "all compile, with one row each"

dtprof=$tmp/o/dtprof
expect 0 "$dtprof" list 'moves:::*'
expect_out '^moves:::cpu'
expect 0 "$dtprof" record -q -e moves:::cpu -e cpu-clock -o x.dtp -- \
    "$B/tests/work/spin" 200
expect 0 "$dtprof" report --stats x.dtp
expect_out 'moves:::cpu'
expect 0 "$dtprof" export --help
expect_out 'folded,pprof,speedscope,lines'
expect 0 "$dtprof" completion bash
expect_out "'export --format'. takes='words folded pprof speedscope lines'"
expect 0 "$dtprof" export --format lines --weight weight \
    -e cpu-clock -o lines x.dtp
expect 0 "$dtprof" export --format folded --weight weight \
    -e cpu-clock -o folded x.dtp
sum()
{
	awk '{ s += $'"$1"' } END { print s }' "$2"
}
grep -q '	' lines || fail "no lines"
[ "$(sum 1 lines)" = "$(sum NF folded)" ] ||
    fail "lines: $(sum 1 lines), folded: $(sum NF folded)"
ok "moves:::cpu is recorded, --format lines has the weight of folded stacks"

# Frames of the language, as a stream has them, and what is made of them.
gcc -std=gnu11 -D_GNU_SOURCE -Itree/libprof -Itree/sys -I"$tmp/o" -o frames \
    "$SRC/tests/interop/toy_frames.c" "$tmp/o/libprof.a" -lzstd -lz -lm \
    -pthread || fail "the frames do not compile"
./frames toy.dtp || fail "no frames: status $?"
"$dtprof" report --json toy.dtp | python3 -c '
import json, sys
for f in json.load(sys.stdin)["functions"]:
    print(f["name"], f["module"], f["kind"])' | sort >seen
diff - seen <<'END' || fail "functions of the language"
call /nonexistent/toy native
main /nonexistent/toy native
parse /toy/parse.toy script
serve /toy/serve.toy script
END
[ "$("$dtprof" export toy.dtp)" = "toy;main;serve;call;parse 1" ] ||
    fail "stack: $("$dtprof" export toy.dtp)"
ok "frames of the language have names, and the places of toy_eval"
