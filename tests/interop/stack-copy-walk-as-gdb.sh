#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Wherever a program is stopped, the walk of its stack out of a copy
# finds the frames that gdb finds, all of them, to the entry of the program.
#
# Easy to get wrong: a system call at the end of a function, epilogues, the
# loader, frames behind the first that gdb shows only when it is told to.
#
# STOPS is how often each is stopped.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_cmd gdb "${CC:-cc}"
[ "$(uname -m)" = x86_64 ] || skip "reads the registers of x86-64"
[ -e "$B/libprof.a" ] || fail "no $B/libprof.a"
tmpdir

libs=$(sed -n '/^OUR_LIBS :=/,/[^\\]$/p' "$SRC/mk/config.mk" |
    grep -o -- '-l[^ ]*' | sed 's/\$(ARCH)/x86_64/')
# shellcheck disable=SC2086 # a list of libraries
"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE= -O1 -I"$SRC/libprof" -I"$SRC/sys" \
    -o walk "$SRC/tests/interop/snapshot_walk.c" "$B/libprof.a" $libs \
    -pthread ${COV:+--coverage} || fail "the tool does not compile"

cat >stops.py <<'END'
import os
import random
import signal
import subprocess
import time

import gdb

pid, stops = int(os.environ["PID"]), int(os.environ["STOPS"])
seed = int(os.environ.get("SEED", time.time()))
random.seed(seed)
same = short = differ = 0
for option in ("backtrace past-main on", "backtrace past-entry on",
               "pagination off", "confirm off", "debuginfod enabled off"):
    try:
        gdb.execute("set " + option)
    except gdb.error:
        pass            # older ones do not know the last
for stop in range(stops):
    time.sleep(random.random() / 50)
    os.kill(pid, signal.SIGSTOP)
    for look in range(5000):
        if open("/proc/%d/stat" % pid).read().split(") ")[1][0] in "Tt":
            break
        time.sleep(0.001)
    else:
        raise SystemExit("it does not stop")
    out = subprocess.run(["./walk", str(pid)], stdout=subprocess.PIPE,
                         check=True).stdout.decode().split()
    status, ours = int(out[0]), [int(x, 16) for x in out[1:]]
    gdb.execute("attach %d" % pid, to_string=True)
    theirs, frame = [], gdb.newest_frame()
    while frame is not None:
        if frame.type() != gdb.INLINE_FRAME and frame.pc():
            theirs.append(frame.pc())
        frame = frame.older()
    gdb.execute("detach", to_string=True)
    os.kill(pid, signal.SIGCONT)
    if status == 1 and ours == theirs:
        same += 1
    elif status == 10 and ours == theirs[:len(ours)]:
        short += 1
    else:
        differ += 1
        n = 0
        while n < min(len(ours), len(theirs)) and ours[n] == theirs[n]:
            n += 1
        print("status %d, %d and %d frames, alike up to %d: %s | %s" %
              (status, len(ours), len(theirs), n,
               [hex(x) for x in ours[max(0, n - 1):n + 2]],
               [hex(x) for x in theirs[max(0, n - 1):n + 2]]))
print("RESULT %d %d %d seed %d" % (same, short, differ, seed))
END

no_shell()	# pid: the child has become what it was started for
{
	! cmp "/proc/$1/exe" /proc/$$/exe
}

stops()		# title how-often command ...
{
	title=$1 STOPS=$2
	shift 2
	"$@" >/dev/null 2>&1 &
	PID=$!
	kill_at_end $PID
	await "$title begins" no_shell $PID
	sleep 0.2
	export PID STOPS
	gdb -nx -batch -x stops.py >gdb.out 2>&1
	kill -9 $PID
	grep -q '^RESULT' gdb.out || {
		tail -n 20 gdb.out
		fail "$title: gdb did not come to its end"
	}
	grep '^status' gdb.out | tail -n 20
	# shellcheck disable=SC2046 # four words
	set -- $(grep '^RESULT' gdb.out)
	echo "$title: $2 identical, $3 as far as the copy goes, $4 different"
	[ "$4" -eq 0 ] || fail "$title: $4 of $STOPS stops differ"
	[ "$2" -gt 0 ] || fail "$title: nothing was compared"
}

stops python3 "${STOPS:-8}" /usr/bin/python3 -c '
import json
d = json.dumps([{"a": i} for i in range(99)])
while True:
    json.loads(d)
    sorted(range(99), key=lambda x: -x)'
stops xz "${STOPS:-8}" xz -9 -c /dev/zero
if [ -n "${ACCEPT:-}" ] && command -v clang++ >/dev/null; then
	# Deep stacks, 20 modules, and long enough to be stopped so often.
	{
		echo '#include <map>'
		echo '#include <regex>'
		echo '#include <string>'
		n=0
		while [ $n -lt 400 ]; do
			n=$((n + 1))
			echo "struct s$n {" \
			    "int x;" \
			    "bool operator<(const s$n &o) const" \
			    "{ return x < o.x; } };"
			echo "std::map<s$n, std::string> m$n;"
			echo "void f$n() { m${n}[s$n{$n}] = \"$n\"; }"
		done
	} >large.cc
	stops clang "${STOPS:-8}" clang++ -O2 -c -o large.o large.cc
fi
ok "stacks out of copies are those of gdb"
