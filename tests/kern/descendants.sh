#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A target's children and grandchildren are recorded from their
# first call to their last, those that existed before under -p too; with
# --no-inherit only the target is.
#
# Easy to get wrong: a child born between the listing of /proc and the hook,
# and the first instructions after fork and exec.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

check()		# what how_many
{
	py "$@" <<'END'
import sys
import recording as rec

what, wanted = sys.argv[1], int(sys.argv[2])
pids = [int(line.split()[0]) for line in open("tree.out")
        if line != "born\n"]
rec.check(len(pids) == 7, "%d processes in the tree" % len(pids))
calls = {}
for r in rec.samples("a.dtp"):
    if r["args"]["fd"] >= 0x40000000:
        calls.setdefault(r["pid"], []).append(r["args"]["fd"] - 0x40000000)
rec.check(len(calls) == wanted, "%s: %d processes recorded, not %d" %
          (what, len(calls), wanted))
for pid in calls:
    rec.check(pid in pids, "%d is a stranger" % pid)
    rec.check(calls[pid] == list(range(200)), "%s: %d of 200 calls of %d" %
              (what, len(calls[pid]), pid))
if wanted == 1:
    depth = [line.split()[2] for line in open("tree.out")
             if line.startswith("%d " % list(calls)[0])]
    rec.check(depth == ["2"], "it is not the target that was recorded")
rec.balance("a.dtp")
rec.ok("%s: %d of 7 processes, all their calls" % (what, wanted))
END
}

set -- -o a.dtp --call-graph none -e syscall::close:entry
record 0 "$@" -- "$work/tree" 2 2 200
cp out tree.out
check "a command" 7
record 0 "$@" -- "$work/tree" -e 2 2 200
cp out tree.out
check "a command whose children execute" 7
record 0 "$@" --no-inherit -- "$work/tree" 2 2 200
cp out tree.out
check "a command without what it starts" 1
for option in "" --no-inherit; do
	rm -f go && mkfifo go
	"$work/tree" -w 2 2 200 <go >tree.out &
	tree=$!
	kill_at_end "$tree"
	exec 9>go
	await "the tree is born" grep -q born tree.out
	# shellcheck disable=SC2086
	record_begin "$@" $option -p "$tree"
	exec 9>&-
	wait "$tree"
	record_wait 0
	if [ -z "$option" ]; then
		check "a process and its family" 7
	else
		check "a process without its family" 1
	fi
done
