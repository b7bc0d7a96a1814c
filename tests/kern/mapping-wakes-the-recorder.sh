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

# Map a file, and go on when the recorder has it open.
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
    with open(path, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE,
                           mmap.PROT_READ | mmap.PROT_EXEC)
    while not is_held(path):
        time.sleep(0.001)
    memory.close()
    os.remove(path)
END
mkfifo go
sh -c 'read -r pid <go; exec python3 maps.py "$pid"' &
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
woken=$("$DTPROF" script --filter 'ret > 0' --show samples b.dtp | wc -l)
all=$("$DTPROF" script --show samples b.dtp | wc -l)
[ "$woken" -ge 40 ] ||
    fail "40 mappings, and of $all waits $woken ended with something to do"
ok "40 files held, $woken of $all waits ended with something to do"
