#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""perf script ARGUMENT..., as a command: what it prints when it gets to the
end.  Debian's perf sometimes dies by a signal over a file that it reads the
next time; that is tried again, an error of its own is not.  One that dies each
time ends with status 75.  Called by tests of what perf reads."""
import subprocess
import sys

DIES = 75

for attempt in range(10):
    done = subprocess.run(["perf", "script"] + sys.argv[1:],
                          stdout=subprocess.PIPE)
    if done.returncode >= 0:
        break
    print("perf script: signal %d" % -done.returncode, file=sys.stderr)
sys.stdout.buffer.write(done.stdout)
sys.exit(DIES if done.returncode < 0 else done.returncode)
