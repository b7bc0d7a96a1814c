#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: An argument that cannot be read is counted as such, and its
# record is stored all the same, whole: an empty text, and right neighbours.
#
# Easy to get wrong: a reservation that was made and then given up would be
# seen by the reader as whatever lay there before.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

cat >opens.py <<'END'
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.open.argtypes = [ctypes.c_void_p, ctypes.c_int]
name = ctypes.create_string_buffer(b"/nowhere/at/all")
for i in range(500):
    libc.open(ctypes.addressof(name), 0x100000 + i % 2)
    libc.open(16, 0x200000)
END
record 0 -o a.dtp --call-graph none -e syscalls:sys_enter_openat -- \
    python3 opens.py
py <<'END'
import recording as rec

row = rec.balance("a.dtp")["syscalls:sys_enter_openat"]
good = bad = empty = 0
for r in rec.samples("a.dtp"):
    args = r["args"]
    empty += args["filename"] == ""
    if args["flags"] & 0x200000 and args["filename"] == "":
        bad += 1
    elif args["filename"] == "/nowhere/at/all":
        good += 1
    else:
        rec.check(args["filename"].isprintable(), "%r" % args)
rec.check(good == 500 and bad == 500, "%d good, %d bad" % (good, bad))
# Python, too, has texts in pages that are not there yet.
rec.check(row["arg_fault"] == empty, "arg_fault %d, %d texts are empty" %
          (row["arg_fault"], empty))
rec.check(row["full"] == row["nested"] == row["error"] == 0, "%r" % row)
rec.ok("500 paths that cannot be read are 500 records with an empty text "
       "between 500 whole ones; arg_fault %d" % empty)
END
