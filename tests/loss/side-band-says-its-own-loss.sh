#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Mappings that found their ring full are counted to the unit, also
# those of which the kernel writes no record since nothing came after them;
# and samples that found a ring full, where there is no BPF and they share it
# with the mappings, are not called mappings.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# Maps a file again and again that can be executed: a record each, and nothing
# else while the reader stands still.
cat >maps.py <<'END'
import mmap
import sys

with open(sys.argv[1], "rb") as file:
    sys.stdin.readline()
    for n in range(int(sys.argv[2])):
        mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE,
                  prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
    print("mapped", flush=True)
    sys.stdin.readline()
END
cp "$DTPROF" mapped || fail "no file to map"
cat >faults.py <<'END'
import mmap
import sys

block = mmap.mmap(-1, 4096 * int(sys.argv[1]))
for n in range(0, len(block), 4096):
    block[n] = 1
END

# The workload, a Python program, runs while the recorder stands still.
while_stopped()	# file program -- argument of record ...
{
	file=$1
	workload=$2
	shift 3
	record_begin -o "$file" -p $$ --buffer 64K "$@"
	kill -STOP "$recorder"
	await "the recorder stops" stopped "$recorder"
	# shellcheck disable=SC2086	# a program and its arguments
	python3 $workload || fail "$workload"
	kill -0 "$recorder" && stopped "$recorder" || fail "the reader went on"
	kill -INT "$recorder"
	kill -CONT "$recorder"
	record_wait 0
}

count=100000
mkfifo go
python3 maps.py mapped $count <go >told &
mapper=$!
kill_at_end "$mapper"
exec 8>go
record_begin -o side.dtp -p "$mapper" -e task-clock -F 99
kill -STOP "$recorder"
await "the recorder stops" stopped "$recorder"
echo >&8
await "the mappings" grep -q mapped told
kill -CONT "$recorder"
record_end 0
echo >&8
wait "$mapper" || fail "maps.py: status $?"
py $count <<'END'
import sys
import recording as rec

count = int(sys.argv[1])
lost = rec.report("side.dtp")["recording"]["sideband_lost"]
there = sum(r["type"] == "mmap" and r["path"].endswith("/mapped")
            for r in rec.records("side.dtp", "mapping-events"))
rec.check(0 < there < count, "%d of %d mappings are there" % (there, count))
rec.check(there + lost == count,
          "%d there, %d lost, of %d" % (there, lost, count))
rec.ok("of %d mappings %d are there, %d are said to be lost" %
       (count, there, lost))
END

while_stopped faults.dtp "faults.py $count" -- --backend perf \
    -e page-faults -c 1
py <<'END'
import recording as rec

row = rec.balance("faults.dtp")["page-faults"]
side = rec.report("faults.dtp")["recording"]
rec.check(row["full"] > 0, "no sample was lost: %r" % row)
rec.check(side["sideband_lost"] < row["full"] // 100,
          "%d samples were lost, and %d of the side band" %
          (row["full"], side["sideband_lost"]))
rec.ok("%d samples lost, none is taken for a mapping (%d gaps)" %
       (row["full"], side["gaps"]))
END
