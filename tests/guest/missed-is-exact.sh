#!/bin/sh
# ASSERTION: in each of many short recordings of system calls, what is stored
# and what is named as missed are together exactly the calls that were made;
# a call's record is missed by itself, and its duration is not another's.
# SPDX-License-Identifier: ISC
# TIMEOUT: 2500
#
# From Linux 7 on the programs of tracepoints can be preempted, and the kernel
# skips a program for everybody who comes while one task is still in it: also
# for those who are not recorded, so its own count of that names too many.

. "${SRC:=$PWD}/tests/guest/lib.sh"

passes=60 runs=15
# Emulated, a recorder takes seconds to start.
if [ -n "${ACCEPT:-}" ]; then
	runs=100
	export GUEST_LIMIT=2400
fi
guest_boot <<END
n=0
while [ \$n -lt $runs ]; do
	n=\$((n + 1))
	dtprof record -q --call-graph none -e syscall::write:entry \\
	    -e syscall::write:return -e syscall:write -o r.dtp -- \\
	    guest_pingpong $passes || exit
	dtprof report --stats --json r.dtp >r.json || exit
	tr -d '\\n' <r.json >>runs.json
	echo >>runs.json
done
uname -rv >release
END
echo "kernel $(cat results/release)"
verify results/runs.json $passes $runs <<'END'
writes, missed, worst = 2 * int(argv[0]), {}, 0
need(len(j) == int(argv[1]), "%d runs" % len(j))
for run in j:
	of = {a["event"]: a for a in run["accounting"]}
	for name in ("syscall::write:entry", "syscall::write:return",
	    "syscall:write"):
		a = of[name]
		named = a["full"] + a["nested"] + a["error"] + a["missed"]
		if a["stored"] + named != writes or not a["balances"]:
			need(False, "%s: %d stored + %d named of %d" %
			    (name, a["stored"], named, writes))
		missed[name] = missed.get(name, 0) + a["missed"]
	calls = of["syscall:write"]["calls"]
	if not calls["balances"] or calls["unbegun"] != 0:
		need(False, "calls: %r" % calls)
print("ok: %d runs of %d calls, missed in all: %r" % (len(j), writes, missed))
END
