#!/bin/sh
# ASSERTION: frames of a made-up language, written with their names and lines
# into a recording, stand among the native ones in report (table, lines, tree,
# JSON), script, annotate, the page, the drawing, folded, speedscope, pprof and
# compare, each with its kind where that is said; and where native frames end
# too early they are callers behind a boundary.  Easy to get wrong in one of
# so many outputs.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 "${CC:=gcc}"
[ -e "$B/libprof.a" ] || fail "no $B/libprof.a"
tmpdir
$CC -std=gnu11 -D_GNU_SOURCE -I"$SRC/libprof" -I"$SRC/sys" -I"$B" \
    -o made "$SRC/tests/interop/script_frames.c" "$B/libprof.a" -lzstd -lm \
    -pthread || fail "the generator does not compile"
./made x.dtp || fail "nothing written"

same()		# what, file: standard input is what is wanted
{
	cat >want
	diff -u want "$2" >differs || fail "$1: $(cat differs)"
	ok "$1"
}

"$DTPROF" report --json x.dtp >x.json || fail "report"
python3 - >seen <<'END'
import json
for f in json.load(open("x.json"))["functions"]:
    print(f.get("kind", "-"), f["name"], f["module"] or "-", f["samples"],
          f["total_samples"])
END
same "report --json has kinds, files, self and total" seen <<'END'
native memcpy /nonexistent/toy 7 7
script outer /toy/app.toy 3 10
native main /nonexistent/toy 0 8
native call /nonexistent/toy 0 5
script inner /toy/app.toy 0 5
- [callers not known] - 0 2
boundary [truncated here] - 0 2
script helper /toy/lib.toy 0 2
END

"$DTPROF" report --tree x.dtp | sed -n '/^total/,$p' >seen
same "report --tree" seen <<'END'
total%  self%  kind     function                where
 80.00   0.00  native   main                    /nonexistent/toy
 80.00  30.00    script   outer                 /toy/app.toy:10
 50.00   0.00      native   call                /nonexistent/toy
 50.00   0.00        script   inner             /toy/app.toy:20
 50.00  50.00          native   memcpy          /nonexistent/toy
 20.00   0.00           [callers not known]
 20.00   0.00    script   outer                 /toy/app.toy:10
 20.00   0.00      script   helper              /toy/lib.toy:5
 20.00   0.00        boundary [truncated here]
 20.00  20.00          native   memcpy          /nonexistent/toy
END

"$DTPROF" report --csv --by line x.dtp | cut -d, -f7,18 |
    tr -d '\r"' >seen
same "report --by line" seen <<'END'
name,total_samples
memcpy,7
/toy/app.toy:10,10
main,8
/toy/app.toy:22,5
call,5
/toy/lib.toy:5,2
[callers not known],2
[truncated here],2
END

"$DTPROF" script --lines x.dtp | tail -n 6 | sed 1d >seen
same "script, of a truncated stack" seen <<'END'
	10000410 memcpy+0x10 (/nonexistent/toy)
	boundary [truncated here]
	script helper+0x0 (/toy/lib.toy) /toy/lib.toy:5
	script outer+0x3 (/toy/app.toy) /toy/app.toy:10
	+user norow
END
"$DTPROF" script --json --lines --limit 1 x.dtp | python3 -c '
import json, sys
for f in json.load(sys.stdin)["user_frames"]:
    print(f["kind"], f["function"], f["offset"], f.get("line", "-"))' >seen
same "script --json" seen <<'END'
native memcpy 16 -
script inner 12 22
native call 16 -
script outer 3 10
native main 16 -
END
"$DTPROF" annotate --csv outer x.dtp | cut -d, -f1-4 |
    tr -d '\r"' >seen
same "annotate" seen <<'END'
kind,file,line,address
source,/toy/app.toy,10,
code,/toy/app.toy,,0x7
END

"$DTPROF" export x.dtp | sort >seen
same "folded" seen <<'END'
app;[callers not known];outer;helper;[truncated here];memcpy 2
app;main;outer 3
app;main;outer;call;inner;memcpy 5
END
"$DTPROF" export --format pprof -o x.pb.gz x.dtp || fail "pprof"
"$DTPROF" report --json x.pb.gz | python3 -c '
import json, sys
for f in json.load(sys.stdin)["functions"]:
    if f["module"].startswith("/toy/"):
        print(f["name"], f["module"], f["samples"], f["total_samples"])' \
    >seen
same "pprof, read back" seen <<'END'
outer /toy/app.toy 3 10
inner /toy/app.toy 0 5
helper /toy/lib.toy 0 2
END
"$DTPROF" export --format speedscope x.dtp | python3 -c '
import json, sys
for f in json.load(sys.stdin)["shared"]["frames"]:
    if f.get("file", "").startswith("/toy/"):
        print(f["name"], f["file"])' | sort >seen
same "speedscope" seen <<'END'
helper /toy/lib.toy
inner /toy/app.toy
outer /toy/app.toy
END

"$DTPROF" flamegraph -o x.html x.dtp || fail "flamegraph"
python3 "$SRC/tests/browser/page_data.py" x.html >page.data || fail "page"
awk '/^[0-9]+ [^0-9]/ && $1 > 63 { print int($1 / 64), $2, $3 }' page.data >seen
same "the page has the kinds" seen <<'END'
6 [truncated here]
5 helper /toy/lib.toy
5 inner /toy/app.toy
5 outer /toy/app.toy
END
"$DTPROF" flamegraph -o x.svg x.dtp || fail "flamegraph, drawing"
grep -A3 '<title>outer' x.svg | grep -q 'hsl(29[5-9]\|hsl(3[01]' ||
    fail "the drawing colors a script frame like a native one"
ok "the drawing"

for n in 1 2 3 4 5; do
	cp x.dtp "base$n.dtp"
	cp x.dtp "new$n.dtp"
done
"$DTPROF" compare --json base?.dtp -- new?.dtp | python3 -c '
import json, sys
for f in json.load(sys.stdin)["comparisons"][0]["functions"]:
    print(f["name"], f["module"], *f["mean"])' >seen ||
    fail "compare"
same "compare" seen <<'END'
memcpy /nonexistent/toy 7000 7000
outer /toy/app.toy 3000 3000
END
