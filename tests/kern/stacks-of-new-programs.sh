#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A program that has only just begun has whole stacks, frame by
# frame what it did: what the walk in the kernel could not know yet is
# finished from a snapshot.
#
# Easy to get wrong: mappings of the shell that became the program, those
# that come after the sample, guesses by frame pointers that end well.

. "${SRC:=$PWD}/tests/kern/lib-stacks.sh"
need_recording
tmpdir
build_stacks
mkdir new
# Nobody has seen these files before, so no table of them is ready.
n=0
while [ $n -lt 40 ]; do
	n=$((n + 1))
	cp stacks new/stacks$n
	printf '%d' $n >>new/stacks$n
done
record 0 -o a.dtp -e cpu-clock -c 1000000 --user-only -- sh -c '
    for program in new/*; do
	timeout -s KILL 0.03 ./$program callback 2>/dev/null
    done; true'
py <<'END'
import collections
import recording as rec
import stacks

known = stacks.Stacks("a.dtp")
by = collections.Counter()
for sample in known.samples():
    file, _ = known.frame(sample, 0)
    files = {known.frame(sample, n)[0] for n in range(len(sample["user"]))}
    if not any(f is not None and "/new/stacks" in f.path for f in files):
        continue
    status = sample["user_status"]
    if status == "ok" and not known.whole(sample):
        status = "elsewhere"
    elif status == "ok" and not known.is_answer(sample, "callback"):
        status = "wrong"
    by[status] += 1
info = rec.report("a.dtp")["recording"]["info"]
print(dict(by), {k: v for k, v in info.items() if "snap" in k})
rec.check(sum(by.values()) >= 100, "too few samples")
rec.check(by["wrong"] == 0, "wrong frames")
# On a busy machine a program is new for longer than copies may be taken.
copied = sum(by.values()) - int(info["snapshots.refused"])
rec.check(copied >= 100, "too few were copied")
rec.check(by["ok"] >= copied * 0.95, "too few are whole")
rec.ok("%d of %d stacks of new programs are whole" %
       (by["ok"], sum(by.values())))
END
