#!/bin/sh
# ASSERTION: the providers, one of them with a BPF program of its own, the
# language, the format and the command (a sink, and rows of JSON and CSV) of
# doc/HACKING.md are new files and one row of a table each: added to a copy of
# the tree just as they stand there, all compile without a warning, are listed,
# completed, record and export.  The one with a program is attached after five
# seconds of a recording, and its samples reach reports.  Easy to get wrong by a
# second list that somebody must know of.
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
block c 2 >tree/sys/prov_turns.bpf.c
block c 3 >tree/libprof/events/provider/turns.c
block c 4 >tree/libprof/process/languages/toy.c
block c 5 >tree/libprof/output/lines.c
mkdir tree/cmd/dtprof/cpus
block c 6 >tree/cmd/dtprof/cpus/cmd_cpus.c
for n in 1 2; do
	row=$(block def $n)
	sed -i "s/^PROF_PROVIDER(pmc)/$row\n&/" \
	    tree/libprof/events/providers.def
done
block def 3 >>tree/libprof/process/languages/languages.def
block def 4 >>tree/libprof/formats.def
sed -i "s/^extern const struct prof_cmd cmd_mark;/&\n$(block def 5)/" \
    tree/cmd/dtprof/cmd.h
sed -i "s/^	&cmd_record,/	\\$(block def 6)\n&/" \
    tree/cmd/dtprof/help/cmd_help.c
sed -i "s,^module	main,$(block def 7)\n&," tree/mk/modules
for rows in 2:libprof/events/providers.def 1:libprof/formats.def \
    1:libprof/process/languages/languages.def 1:cmd/dtprof/cmd.h \
    1:cmd/dtprof/help/cmd_help.c 1:mk/modules; do
	file=${rows#*:}
	diff "$SRC/$file" "tree/$file" >changed
	[ "$(grep -c '^[<>]' changed)" -eq "${rows%%:*}" ] ||
	    fail "$file: $(cat changed)"
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
expect_out 'folded,pprof,.*,lines'
expect 0 "$dtprof" completion bash
expect_out "'export --format'. takes='words folded pprof .* lines'"
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

(cd tree && B=$tmp/o python3 mk/modules.py) || fail "modules"
expect 0 "$dtprof" cpus --help
expect_out 'print the samples of each CPU'
expect 0 "$dtprof" completion bash
expect_out 'cpus'
"$dtprof" cpus x.dtp >cpus.json || fail "cpus: status $?"
"$dtprof" cpus --csv x.dtp >cpus.csv || fail "cpus --csv: status $?"
"$dtprof" script --json --show samples x.dtp >samples || fail "script"
python3 - <<'END' || fail "cpus"
import collections, csv, json
seen = collections.Counter(json.loads(line)["cpu"] for line in open("samples"))
rows = json.load(open("cpus.json"))["cpus"]
assert {r["cpu"]: r["samples"] for r in rows} == seen and seen, (rows, seen)
assert [{k: int(v) for k, v in row.items()}
        for row in csv.DictReader(open("cpus.csv", newline=""))] == rows
print("ok: cpus counts the %d samples that script shows, as JSON and CSV" %
      sum(seen.values()))
END

need_bpf
expect 0 "$dtprof" list 'turns:::*'
expect_out '^turns:::cpu'
expect 125 "$dtprof" record -e turns:::cqu -- true
expect_err "did you mean 'turns:::cpu'"
gcc -std=gnu11 -D_GNU_SOURCE -Itree/libprof -o attach_late \
    "$SRC/tests/interop/attach_late.c" -L"$tmp/o" -lprof || fail "attach_late"
"$B/tests/work/calls" -u 1000 0 >/dev/null &
calls=$!
kill_at_end $calls
LD_LIBRARY_PATH=$tmp/o ./attach_late late.dtp $calls turns:::cpu 5 2 ||
    fail "attach_late: status $?"
kill $calls
wait $calls
"$dtprof" report --json --stats late.dtp >stats.json || fail "report --stats"
"$dtprof" report --json -e turns:::cpu late.dtp >late.json || fail "report"
"$dtprof" script --json --show samples -e turns:::cpu late.dtp >late.script ||
    fail "script"
python3 - <<'END' || fail "turns:::cpu"
import json
report = json.load(open("late.json"))
(row,) = [r for r in json.load(open("stats.json"))["accounting"]
          if r["event"] == "turns:::cpu"]
assert row["balances"] and row["stored"] > 100, row
assert row["stored"] == row["read"] == row["in_file"], row
samples = [json.loads(line) for line in open("late.script")]
assert len(samples) == row["stored"], (len(samples), row)
assert sum(s["weight"] for s in samples) <= row["weight"], row
assert all(s["weight"] > 0 for s in samples[1:]), samples[:9]
names = [f["name"] for f in report["functions"]]
assert any("nanosleep" in name for name in names), names
print("ok: attached after 5 s, %d samples, accounting balances" %
      row["stored"])
END

# Frames of the language, as a stream has them, and what is made of them.
gcc -std=gnu11 -D_GNU_SOURCE -Itree/libprof -Itree/sys -I"$tmp/o" -o frames \
    "$SRC/tests/interop/toy_frames.c" "$tmp/o/libprof.a" \
    -lunwind-"$(uname -m)" -lunwind -lbpf -ldw -lelf -lz -llzma -liberty \
    -lpfm -lzstd -lxxhash -lm -pthread || fail "the frames do not compile"
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
