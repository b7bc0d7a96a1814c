#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: sched:sched_process_exit fires once for each task of a target that
# ends, with a complete stack, and sched:sched_process_free for those whose
# parents have collected them, by whatever task the kernel does that.
#
# Easy to get wrong: the hook that keeps the targets runs on the first of these
# tracepoints itself, and the second fires in the context of a stranger, when
# the number may have been given away again.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

cat >judge.py <<'END'
import sys
import recording as rec

kind, wanted = sys.argv[1], int(sys.argv[2])
rec.balance("a.dtp")
every = rec.records("a.dtp")
ended = sorted(r["tid"] for r in every if r["type"] == "exit")
samples = [r for r in every if r["type"] == "sample"]
exits = [r for r in samples if r["event"] == "sched:sched_process_exit"]
frees = {r["tid"] for r in samples if r["event"] == "sched:sched_process_free"}
rec.check(len(ended) >= 101, "%d tasks ended" % len(ended))
rec.check(sorted(r["tid"] for r in exits) == ended,
          "%d of %d exits" % (len(exits), len(ended)))
bad = [r for r in exits if r["user_status"] != "ok"]
rec.check(len(bad) * 50 <= len(exits), "stacks: %r" % bad[:3])
rec.check(frees <= set(ended), "of strangers: %r" % (frees - set(ended)))
rec.check(len(frees) >= wanted, "%d of %d were freed" % (len(frees),
                                                         len(ended)))
rec.ok("%s: %d exits, %d freed" % (kind, len(exits), len(frees)))
END
for kind in fork vfork thread; do
	# The kernel frees a task some time after its end.
	for wait in 0.3 1 5; do
		record 0 -o a.dtp -e sched:sched_process_exit \
		    -e sched:sched_process_free -- \
		    sh -c "'$work/storms' $kind 100; sleep $wait"
		python3 judge.py $kind 100 >said && break
	done
	cat said
	grep -q "^ok: $kind" said || fail "see above"
done
