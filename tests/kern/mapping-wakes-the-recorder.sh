#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a mapping wakes the recorder, which then holds the file: it does
# not wait for its next look.  So a program that ends soon, and whose file goes
# with it, has names, and whole stacks from its first milliseconds on.
#
# Easy to get wrong: perf events wake by samples unless told otherwise, and a
# side band has none.  What woke the recorder is seen by a second one: the end
# of a wait is worth 0 when just the time was up.
. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
cp "$work/calls" calls
cat >maps.py <<'END'
import mmap
import os
import shutil
import sys
import time

# Map a file, and go on when the recorder has it open.  Between which two times
# that was is printed.
held = "/proc/%s/fd/" % sys.argv[1]


def is_held(path):
    for fd in os.listdir(held):
        try:
            if os.readlink(held + fd) == path:
                return True
        except OSError:
            pass
    return False


for n in range(40):
    path = os.path.realpath("file%d" % n)
    shutil.copy("calls", path)
    begin = time.monotonic_ns()
    with open(path, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE,
                           mmap.PROT_READ | mmap.PROT_EXEC)
    for look in range(60000):
        if is_held(path):
            break
        time.sleep(0.001)
    else:
        sys.exit("nobody opened " + path)
    print(begin, time.monotonic_ns())
    memory.close()
    os.remove(path)
END
mkfifo go
sh -c 'read -r pid <go; exec python3 maps.py "$pid"' >held &
worker=$!
kill_at_end "$worker"
exec 9<>go
record_begin -o a.dtp -p "$worker" --call-graph none -e page-faults
first=$recorder
record_begin -o b.dtp -p "$first" --call-graph none \
    -e 'syscall::epoll_*wait:return'
echo "$first" >&9
wait "$worker" || fail "the worker"
record_end 0
recorder=$first
record_wait 0
balance a.dtp
expect 0 "$DTPROF" script --json --filter 'ret > 0' --show samples b.dtp
woken=$(json_lines out 'sum(any(a <= r["time_ns"] <= b for r in j)
    for a, b in (map(int, line.split()) for line in open("held")))') ||
    fail "$woken"
[ "$(wc -l <held)" -eq 40 ] || fail "$(wc -l <held) files"
# Some may come when the time is up just then.
[ "$woken" -ge 30 ] || fail "of 40 mappings, $woken ended a wait"
ok "40 files held, $woken of them as their mapping ended a wait"
