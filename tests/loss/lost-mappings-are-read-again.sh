#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Where mappings were lost, those of a process that is sampled are
# read again: a program that was started meanwhile has its names and complete
# stacks, with BPF and without, and the loss is named all the same.
#
# Easy to get wrong: the loss is counted and named, and yet every sample of
# that program is nameless to the end.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# All on one CPU, whose ring is full before the program begins.
cat >target.sh <<END
taskset -p -c 0 \$\$ >/dev/null
read -r go
"$work/storms" mmap 100000 >/dev/null
: >started
exec "$work/spin" 2000
END
mkfifo go
program()	# argument of record ...
{
	rm -f started
	sh target.sh <go &
	target=$!
	kill_at_end "$target"
	exec 8>go
	record_begin -o a.dtp -p "$target" "$@"
	kill -STOP "$recorder"
	await "the recorder stops" stopped "$recorder"
	echo >&8
	await "the program runs" test -e started
	# It has begun: its name is another one, and it has used time.
	await "the program runs" grep -q '^spin' "/proc/$target/comm"
	# shellcheck disable=SC2016	# awk's own
	await "it uses time" awk '$14 > 10 { found = 1 }
	    END { exit !found }' "/proc/$target/stat"
	kill -CONT "$recorder"
	wait "$target" || fail "the program: status $?"
	record_wait 0
}
named()		# what
{
	"$DTPROF" report --json a.dtp >r.json || fail "report"
	"$DTPROF" report --stats --json a.dtp >s.json || fail "report --stats"
	py "$1" <<'END'
import json
import sys

import recording as rec

report, stats = (json.load(open(f)) for f in ("r.json", "s.json"))
lost = stats["recording"]["sideband_lost"]
names = stats["symbols"]
read = int(stats["recording"]["info"].get("maps.reread", 0))
assert lost > 0, "nothing was lost"
assert names["samples"] >= 50, names["samples"]
share = names["resolved"] / names["samples"]
assert share > 0.95, "%d of %d samples have names" % (
    names["resolved"], names["samples"])
# Until the recorder goes on, nothing is known of the program.
stacks = [r["user_status"] for r in rec.samples("a.dtp")
          if "user_status" in r]
later = stacks[len(stacks) // 2:]
assert later and later.count("ok") > 0.95 * len(later), (
    "%d of %d stacks are complete" % (later.count("ok"), len(later)))
print("ok: %s: %d events lost, of %d samples %d have names, %d of %d stacks "
      "are complete; read %d times" % (
          sys.argv[1], lost, names["samples"], names["resolved"],
          later.count("ok"), len(later), read))
END
}

program -F 499 -e cpu-clock
named "with BPF"
# Where stacks are copied the ring would be too large to be filled.
program -F 499 -e task-clock --backend perf --call-graph fp
named "without BPF"
