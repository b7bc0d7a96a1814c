#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A file system that fills up costs what came after, not what was
# written: the recorder says so and fails, the file reads to its last whole
# chunk and says that it was cut, and its accounting says how much is missing.
# /dev/full and a name that cannot be written to are refused at the start,
# with a status of their own and no file.
# TIMEOUT: 240
#
# Easy to get wrong: a write may be cut in the middle of a chunk, and the end
# of the file needs room of its own when there is none left.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd mount unshare
tmpdir
: "${DISK:=256K}" "${ROUNDS:=1}"

mkdir disk
# A mount of our own: in a name space, so that nobody sees it.
cat >fill.sh <<'END'
mount -t tmpfs -o size="$1" dtprof-test disk || exit 77
"$DTPROF" record -q -a -o disk/a.dtp --buffer 1M -F 20000 -e cpu-clock \
    -e sched:sched_switch -e syscall::close:entry --duration 60s \
    >out 2>err
echo $? >status
"$DTPROF" script --json --show all disk/a.dtp >script.out 2>script.err
echo $? >script.status
cp disk/a.dtp a.dtp
df --output=avail disk | tail -n 1 >avail
END
for _ in $(seq "$ROUNDS"); do
	"$work/calls" 0 >/dev/null &
	storm=$!
	kill_at_end "$storm"
	unshare -m sh fill.sh "$DISK"
	status=$?
	kill "$storm"
	wait "$storm"
	[ "$status" -ne 77 ] || skip "cannot mount a tmpfs here"
	[ "$status" -eq 0 ] || fail "fill.sh: $status: $(cat err)"
	[ "$(cat status)" -eq 125 ] || fail "status $(cat status): $(cat err)"
	grep -q '^dtprof: record: .*space' err ||
	    fail "it does not say why: $(cat err)"
	[ "$(grep -c '^dtprof: hint:' err)" -eq 1 ] ||
	    fail "no cure: $(cat err)"
	[ "$(cat script.status)" -eq 0 ] || fail "script: $(cat script.err)"
	grep -q cut script.err || fail "script does not say that it was cut"
	py "$DISK" <<'END'
import sys
import recording as rec

report = rec.report("a.dtp")
rec.check(report["recording"]["cut"], "not cut, says the report")
rec.check(report["accounting"], "no accounting")
missing = held = 0
for row in report["accounting"]:
    if row["event"] == "proc":
        continue
    rec.balance_row(row["event"], row)
    rec.check(row["in_file"] <= row["stored"], "%r" % row)
    held += row["in_file"]
    missing += row["stored"] - row["in_file"]
rec.check(held > 1000, "just %d samples are in the file" % held)
read = sum(r["type"] == "sample" for r in rec.in_order("a.dtp"))
rec.check(read == held, "the script has %d samples, not %d" % (read, held))
rec.ok("%s of disk: %d samples read, %d stored ones are missing, all the "
       "rest balances; %s" % (sys.argv[1], held, missing,
                              report["recording"]["cut"]))
END
done

refused()	# what file
{
	expect 125 "$DTPROF" record -q -o "$2" -e cpu-clock -- true
	expect_err '^dtprof: record: ' "$1"
	[ "$(wc -l <err)" -eq 2 ] || fail "$1: $(cat err)"
	ok "$1: $(head -n 1 err)"
}
refused "a full device" /dev/full
[ -c /dev/full ] || fail "/dev/full was replaced"
refused "a directory that is not there" nowhere/a.dtp
[ ! -e nowhere ] || fail "a directory was made"
refused "a directory" disk
