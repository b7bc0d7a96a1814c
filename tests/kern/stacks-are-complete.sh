#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: The stack of a program without frame pointers is whole, frame by
# frame the one that was built: through the C library, through frames of a
# changing size, down to the entry of the program; and without tables, by
# frame pointers alone, the same program is not seen so.
#
# Easy to get wrong: a rule looked up one byte too far, a row of the
# neighbour, mappings of a program that was there before the exec.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd nm
tmpdir

depth=40
"$work/deep" $depth &
deep=$!
kill_at_end $deep
await "the program has begun" [ "/proc/$deep/exe" -ef "$work/deep" ]

whole()	# least share of samples that are whole
{
	record 0 -o a.dtp --duration 2s -e cpu-clock -c 1000000 --user-only \
	    "$@" -p $deep
	py $depth "$work/deep" <<'END'
import json
import subprocess
import sys
import recording as rec

depth, path = int(sys.argv[1]), sys.argv[2]
symbols = []
for line in subprocess.run(["nm", "-S", path], stdout=subprocess.PIPE,
                           check=True).stdout.decode().split("\n"):
    word = line.split()
    if len(word) == 4 and word[2] in "tT":
        symbols.append((int(word[0], 16), int(word[1], 16), word[3]))
base = None
want = ["inner"] + ["outer"] * (depth + 1) + ["main"]
whole = seen = 0
for line in rec.run("script", "--json", "--show", "all",
                    "a.dtp").decode().splitlines():
    r = json.loads(line)
    if r["type"] == "mmap" and r["path"] == path:
        base = int(r["addr"], 16) - r["offset"]
    if r["type"] != "sample":
        continue
    seen += 1
    names = []
    for n, pc in enumerate(r["user"]):
        at = int(pc, 16) - base - (1 if n else 0)
        for start, size, name in symbols:
            if start <= at < start + size:
                names.append(name)
    if r["user_status"] == "ok" and [x for x in names if x != "_start"] == \
            want and "_start" in names:
        whole += 1
print("%d %d" % (whole, seen))
END
}

whole >counts
read -r whole seen <counts
[ "$seen" -ge 20 ] || fail "only $seen samples"
[ $((whole * 1000)) -ge $((seen * 995)) ] ||
	fail "only $whole of $seen stacks are whole"
echo "ok: $whole of $seen stacks are frame by frame what was called"

whole --call-graph fp >counts
read -r whole seen <counts
[ "$seen" -ge 20 ] || fail "only $seen samples by frame pointers"
[ "$whole" -eq 0 ] ||
	fail "$whole of $seen stacks are whole without any table"
echo "ok: by frame pointers none of $seen stacks is"
