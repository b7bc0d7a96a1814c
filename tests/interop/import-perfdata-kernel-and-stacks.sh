#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: perf.data without build-ids has names of the kernel and the vDSO
# where the running kernel is the one of the file as far as anybody can tell,
# the very ones of perf, and says that it could not verify it; its copied
# stacks are walked against files that lie unchanged, also those without a
# build-id of their own.  Of a kernel that lay elsewhere, and of a file that was
# written since, there are no names and no callers.
# Easy to get wrong: once the kernel is known the boot is, and files were
# compared with times of another clock.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd perf python3
need_perf
tmpdir
cat >work.c <<'END2'
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
volatile long n;
static void __attribute__((noinline)) hot(void)
{
	struct timespec ts;
	for (int i = 0; i < 200; i++) {
		n += syscall(SYS_getppid);
		clock_gettime(CLOCK_MONOTONIC, &ts);
	}
	for (int i = 0; i < 20000; i++)
		n += i;
}
static void __attribute__((noinline)) middle(void) { hot(); n++; }
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 4)
		middle();
	return (0);
}
END2
for id in none sha1; do
	${CC:-cc} -O1 -g -Wl,--build-id=$id -o $id work.c || fail cc
	perf record -q -B -N -e cpu-clock -F 997 --call-graph dwarf \
	    -o $id.data ./$id >/dev/null 2>&1 || skip "perf cannot record"
done
perf record -q -B -N -e cpu-clock -F 997 -o plain.data ./none \
    >/dev/null 2>&1 || skip "perf cannot record"
cat >check.py <<'END2'
import collections
import json
import os
import subprocess
import sys

dtprof, data, what = sys.argv[1:4]
table = json.loads(subprocess.run([dtprof, "report", "--json", data],
                                  check=True, capture_output=True).stdout)
total = sum(f["self"] for f in table["functions"])
by_name = {}
for f in table["functions"]:
    by_name[f["name"]] = by_name.get(f["name"], 0) + f["total"]


def share(name):
    """Of samples, from 0 to 1."""
    return by_name.get(name, 0) / total


complete = table["quality"]["complete_stacks"]
if what == "none":
    assert complete < 0.5 and share("main") < 0.1, (complete, share("main"))
    assert share("hot") == 0, share("hot")
    print("ok    %s: no name nor caller of a file written since" % data)
    sys.exit()
if what == "walked":
    assert complete > 0.9 and share("main") > 0.9 and share("middle") > 0.9, (
        complete, share("main"))
    print("ok    %s: %.1f %% of stacks complete" % (data, 100 * complete))
    sys.exit()
kernel = collections.Counter()
for f in table["functions"]:
    if f["module"] == "[kernel]":
        kernel[f["name"]] += f["samples"]
vdso = [f["name"] for f in table["functions"] if f["module"] == "[vdso]"]
if what == "elsewhere":
    assert set(kernel) == {"[kernel]"}, kernel
    print("ok    no names of a kernel that lay elsewhere")
    sys.exit()
theirs = collections.Counter()
for line in subprocess.run(
        ["python3", os.environ["SRC"] + "/tests/interop/perf_script.py", "-F",
         "ip,sym,dso", "-i", data], check=True, capture_output=True,
        text=True).stdout.split("\n"):
    if "[kernel.kallsyms]" in line:
        theirs[line.split()[1].split("+")[0]] += 1
same = sum((kernel & theirs).values())
assert theirs and same > 0.9 * sum(theirs.values()), (kernel, theirs)
assert vdso and not any(name.startswith("[") for name in vdso), vdso
print("ok    %d of %d samples of the kernel named as by perf, vDSO: %s" % (
    same, sum(theirs.values()), vdso))
END2
for id in none sha1; do
	expect 0 "$DTPROF" report -v $id.data
	expect_err 'no kernel build-id.*is not verified' "$id"
	python3 check.py "$DTPROF" $id.data walked || fail "$id: stacks"
done
python3 check.py "$DTPROF" plain.data kernel || fail "names of the kernel"
# The record of the kernel's mapping says that it lay a page further on.
python3 - none.data elsewhere.data <<'END2' || fail "no mapping of the kernel"
import struct
import sys

data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"[kernel.kallsyms]_") - 24	# of an MMAP
start, = struct.unpack_from("<Q", data, at)
assert start >> 48 == 0xffff, hex(start)
struct.pack_into("<Q", data, at, start + 4096)
open(sys.argv[2], "wb").write(data)
END2
expect 0 "$DTPROF" report elsewhere.data
expect_err 'no kernel build-id, and the running kernel differs' said
python3 check.py "$DTPROF" elsewhere.data elsewhere || fail "elsewhere"
for id in none sha1; do
	cp $id other
	cat other >$id
	python3 check.py "$DTPROF" $id.data none || fail "$id: written since"
done
