#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Where --max-overhead makes the records of a storm of programs wait
# in buffers, or be lost, another program, which begins when the storm is over
# and ends before its records are handed over, has functions in most of its
# samples.
#
# Easy to get wrong: its samples wait behind the records of the storm, and when
# they are handed over it has ended, and its mappings cannot be read.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
compile -pthread -o known "$SRC/tests/work/known.c" || fail "compile"

# No CPU is idle, so that samples cost all that they can.
for _ in $(seq "$(nproc)"); do
	chrt -i 0 sh -c 'while :; do :; done' &
	kill_at_end $!
done
mkdir names
for n in $(seq 0 99); do
	ln -s "$work/spawn" "names/p$n" || fail "ln"
done
record_begin -o a.dtp -a -e cpu-clock -F 499 --max-overhead 1
timeout 4 "$work/spawn" names 1000000 0 $(($(nproc) * 2)) >spawn.out
./known 100 >lines || fail "known"
record_end 0
"$DTPROF" script --show markers a.dtp >markers
grep 'recording is held back' markers || fail "no storm: $(cat markers)"
py <<'END'
import json
import subprocess

import recording as rec

FUNCTIONS = "seventy", "twenty", "ten", "again", "work"
pids = {json.loads(line)["pid"] for line in open("lines")}
named = total = 0
with subprocess.Popen([rec.DTPROF, "script", "--json", "--show", "samples",
                       "a.dtp"], stdout=subprocess.PIPE) as script:
    for line in script.stdout:
        sample = json.loads(line)
        if sample["pid"] in pids and sample.get("user_frames"):
            total += 1
            named += any(frame.get("function") in FUNCTIONS
                         for frame in sample["user_frames"])
rec.check(total >= 20, "only %d samples" % total)
rec.check(named >= total / 2, "%d of %d samples have functions" %
          (named, total))
rec.ok("%d of %d samples have functions" % (named, total))
END
