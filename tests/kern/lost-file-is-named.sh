#!/bin/sh
# ASSERTION: a file whose reader crashes or runs on costs its own names and no
# more: it is named in a note and counted once, though it is asked for twice
# (its table and its names); other programs keep names and whole stacks, and
# every sample is in the recording.
. "${SRC:=$PWD}/tests/kern/lib-names.sh"
faulty=$B/tests/interop/dtprof_faulty

need_cmd objcopy
# Else it would be the same file by another name.
objcopy --remove-section .note.gnu.build-id "$work/known" without ||
    fail "objcopy"

marked()	# name word
{
	cp without "$1" &&
	    { printf 'FAULT:%s' "$2"; head -c 10 /dev/zero; } |
	    head -c 16 >>"$1"
}

for word in crash try; do
	marked good none
	marked bad "$word"
	"$faulty" record -o a.dtp -F 4999 -- sh -c \
	    './good 30; ./bad 30' >out 2>err </dev/null ||
	    fail "record: $(cat err)"
	grep -q "could not read a file.*/bad: the file reader" err ||
	    fail "not named: $(cat err)"
	"$faulty" report --stats a.dtp >stats || fail "report"
	grep -q "lost files 1," stats || fail "$(grep "file readers" stats)"
	"$names" a.dtp >named || fail "the tool"
	python3 - "$word" <<'END' || exit 1
import sys
import recording as rec

rec.balance("a.dtp")
named = {"good": [0, 0], "bad": [0, 0]}
for line in open("named"):
    _, pid, time, side, depth, pc, module, why, name = line.rstrip(
        "\n").split("\t")
    program = module.rsplit("/", 1)[-1]
    if side == "u" and program in named:
        named[program][0] += 1
        named[program][1] += name != "?"
good, bad = named["good"], named["bad"]
rec.check(good[0] > 50 and good[1] > 0.9 * good[0], "good: %s" % good)
rec.check(bad[0] > 50 and bad[1] == 0, "bad has names: %s" % bad)
rec.ok("%s: good has names in %d of %d, bad in %d of %d places" % (
    sys.argv[1], good[1], good[0], bad[1], bad[0]))
END
	grep "could not read a file" err | sed 's/^/ok: /'
done
