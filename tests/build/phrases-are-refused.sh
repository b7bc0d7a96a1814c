#!/bin/sh
# ASSERTION: mk/words.py, which lint runs, refuses each phrase of mk/phrases in
# strings of the sources, in man pages, README.md and NEWS, at its line, and
# takes what is to be said instead; a draw is the same for the same seed, and of
# all that users read.  Easy to get wrong: a string that is broken across lines,
# and a pattern that nothing can match.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
mkdir -p tree/mk tree/cmd/dtprof tree/doc && cd tree || fail "no directory"
cp "$SRC/mk/words.py" "$SRC/mk/phrases" mk/ || fail "no checker"
rows=$(grep -vc '^#' mk/phrases)
[ "$rows" -ge 35 ] || fail "only $rows phrases"

# Each sentence in C, broken at its middle word; in a man page; in Markdown.
cat >write.py <<'END'
import sys
column = {"bad": 2, "good": 3}[sys.argv[1]]
said = [line.rstrip("\n").split("\t")[column] for line in open("mk/phrases")
        if not line.startswith("#")]
with open("cmd/dtprof/x.c", "w") as c, open("doc/x.3", "w") as man, \
        open("README.md", "w") as readme, open("NEWS", "w") as news:
    for text in said:
        words = text.split(" ")
        half = len(words) // 2
        c.write('f("x %s "\n    "%s");\n' % (
            " ".join(words[:half]).replace("%", "%%"),
            " ".join(words[half:]).replace("%", "%%")))
        man.write(".It x\n%s\n\n" % text)
        readme.write("%s\n\n" % text)
        news.write("  - %s\n\n" % text)
END
python3 write.py bad || fail "write.py"
expect 1 python3 mk/words.py
cp "$tmp/out" found
for file in cmd/dtprof/x.c doc/x.3 README.md NEWS; do
	[ "$(grep "^$file:" found | cut -d : -f 2 | sort -u | wc -l)" -eq \
	    "$rows" ] || fail "$file: not all of $rows: $(cat found)"
done
# Each by its own pattern.
grep -v '^#' mk/phrases | cut -f 2 | sort >wanted
grep '^README' found | sed 's/^[^"]*"[^"]*": //' | sort -u >said
sort -u wanted | comm -23 - said >never
[ -s never ] && fail "nothing has: $(cat never)"
ok "$rows phrases are refused in C, in man pages and in Markdown"
python3 write.py good || fail "write.py"
expect 0 python3 mk/words.py
[ ! -s "$tmp/out" ] || fail "$(cat "$tmp/out")"
ok "what is to be said instead is taken"

cd "$SRC" || fail "no sources"
python3 mk/words.py --seed 7 >"$tmp/a" && python3 mk/words.py --seed 7 \
    >"$tmp/b" && python3 mk/words.py --seed 8 >"$tmp/c" || fail "no draw"
cmp -s "$tmp/a" "$tmp/b" || fail "not the same for the same seed"
cmp -s "$tmp/a" "$tmp/c" && fail "the same for another seed"
[ "$(wc -l <"$tmp/a")" -eq 100 ] || fail "not 100"
python3 mk/words.py --list >"$tmp/all" || fail "no list"
for part in cmd/dtprof/record/cmd_ libprof/ reports/ cmd/dtprof/dtprof.1 \
    README.md doc/ARCHITECTURE.md; do
	[ "$(grep -c "^$part" "$tmp/all")" -ge 20 ] || fail "little of $part"
done
ok "100 of $(wc -l <"$tmp/all") sentences, the same for the same seed"
