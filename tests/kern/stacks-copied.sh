#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: --call-graph dwarf gives whole stacks, frame by frame what the
# program did; one that is deeper than the copy says that it is short, and
# what it has is right.
#
# Easy to get wrong: a cut stack that looks whole, bytes of the sample before.

. "${SRC:=$PWD}/tests/kern/lib-stacks.sh"
need_recording
tmpdir
build_stacks

for what in alloca realign callback longjmp signal threads vdso; do
	begin $what ./stacks $what
done
begin throws ./throws
compute 5		# they have begun
record_begin -o a.dtp --call-graph dwarf -e cpu-clock -c 200000 \
    -p "$(pids_begun)"
compute 30
record_end 0
end_all
judge a.dtp 9950
ok "copied stacks are whole"

rm titles
begin deep ./stacks deep
compute 5
record_begin -o b.dtp --call-graph dwarf,8K -e cpu-clock -c 1000000 \
    --user-only -p "$(pids_begun)"
compute 30
record_end 0
end_all
py <<'END'
import collections
import recording as rec
import stacks

known, by = stacks.Stacks("b.dtp"), collections.Counter()
for sample in known.samples():
    names = known.names(sample)
    depth = len(names)
    if names[0] != "spin":
        continue        # on its way down
    by[sample["user_status"]] += 1
    if sample["user_status"] == "short":
        rec.check(names[1:] == ["down"] * (depth - 1), "wrong: %r" % names)
        by["right"] += 1
        # A frame of down is no larger than 100 bytes.
        rec.check(depth >= 80, "only %d frames in 8 KiB" % depth)
print(dict(by))
rec.check(by["ok"] == 0, "a stack of 1000 frames in 8 KiB looks whole")
rec.check(by["right"] >= 20, "too few samples")
rec.ok("deeper stacks are short, and right as far as they go")
END
