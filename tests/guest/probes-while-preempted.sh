#!/bin/sh
# ASSERTION: In a guest whose kernel preempts (preempt=full), probes of a
# program that more processes than CPUs execute at once fire as often as it
# calls and returns, beside timers whose samples come in between: each firing is
# stored, lost 0, with the arguments of its own process, and the accounting
# balances.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# Easy to get wrong: a program that was preempted while it walks or stores finds
# what another one has written since, on the same CPU.

. "${SRC:=$PWD}/tests/guest/lib.sh"

export GUEST_CPUS=2 GUEST_APPEND=preempt=full
cat >script <<'END'
cat /sys/kernel/debug/sched/preempt >preempt
cat >run <<'RUN'
for n in 1 2 3 4 5 6; do
	guest_probed 1500 >/dev/null &
done
wait
RUN
dtprof record -q -o u.dtp -e 'uprobe:/bin/guest_probed:leaf/arg0,str(arg1)/' \
    -e uretprobe:/bin/guest_probed:leaf -e uprobe:/bin/guest_probed:nested \
    -e cpu-clock -c 100000 -- sh run 2>err || cat err
END
guest_boot <script
case $(cat results/preempt) in
*"(full)"*) ;;
*)	skip "this kernel does not preempt: $(cat results/preempt)" ;;
esac
python3 - "$DTPROF" <<'END' || fail "see above"
import collections
import json
import subprocess
import sys

def run(*args):
    return subprocess.run([sys.argv[1], *args], capture_output=True, text=True,
                          check=True).stdout

rows = json.loads(run("report", "--stats", "--json",
                      "results/u.dtp"))["accounting"][1:]
for row in rows:
    lost = row["full"] + row["nested"] + row["error"] + row["missed"]
    if row["fired"] != row["stored"] + lost - row["missed"] + row["filtered"]:
        sys.exit("FAIL: %r" % row)
    if "probe:" in row["event"] and (row["stored"] != 6 * 1500 or lost != 0 or
                                     row["arg_fault"] != 0):
        sys.exit("FAIL: %r" % row)
calls, threads = collections.defaultdict(list), set()
for line in run("script", "--json", "--no-symbols", "--show", "samples",
                "results/u.dtp").splitlines():
    sample = json.loads(line)
    threads.add(sample["tid"])
    if ":leaf/" in sample["event"]:
        calls[sample["tid"]].append(tuple(sample["args"].values()))
wanted = [(n, "odd" if n & 1 else "even") for n in range(1500)]
if len(calls) != 6 or any(args != wanted for args in calls.values()):
    sys.exit("FAIL: arguments of %d processes" % len(calls))
END
ok "9000 calls of 6 processes on 2 CPUs, each with its arguments, in order"
