#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: In an ordinary recording every firing is accounted for, to the
# unit: N calls are N entries and N returns, in order and none twice, and
# fired is what the kernel itself says that it ran the programs.
#
# Easy to get wrong: a counter that is bumped only where a record is stored
# balances always and means nothing; so fired is compared with the kernel's
# own count of runs, which owes nothing to the programs.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

"$work/runs" runs.json "$DTPROF" record -q --call-graph none -o a.dtp \
    -e syscall::close:entry -e syscall::close:return \
    -e sched:sched_switch -e cpu-clock -c 1000000 -- \
    "$work/calls" -t 2 20000 >out 2>err || fail "$(cat err)"
py <<'END'
import json
import recording as rec

rows = rec.balance("a.dtp", ["syscall::close:entry", "syscall::close:return",
                             "sched:sched_switch", "cpu-clock"])
records = rec.in_order("a.dtp")
rec.ok("%d records in order of time" % len(records))
for name, row in rows.items():
    held = sum(r["type"] == "sample" and r["event"] == name for r in records)
    rec.check(name == "proc" or held == row["stored"], "%s: stored %d, the "
              "script shows %d" % (name, row["stored"], held))
first = 0x40000000
entries, returns, last = {}, {}, {}
for r in records:
    if r["type"] != "sample" or not r["event"].startswith("syscall::close"):
        continue
    tid = r["tid"]
    if r["event"].endswith("entry"):
        last[tid] = r["args"]["fd"]
        if last[tid] >= first:
            entries.setdefault(tid, []).append(last[tid] - first)
    elif last.get(tid, 0) >= first:
        rec.check(r["args"]["ret"] == -9, "returned %r" % r["args"])
        returns[tid] = returns.get(tid, 0) + 1
rec.check(len(entries) == 2, "%d threads called" % len(entries))
for tid in entries:
    rec.check(entries[tid] == list(range(20000)),
              "thread %d: not the calls 0 to 19999 in order" % tid)
    rec.check(returns[tid] == 20000, "%d returns" % returns[tid])
rec.ok("2 threads: 20000 calls are 20000 entries and 20000 returns each")

ran = {}
for program in json.load(open("runs.json")):
    ran.setdefault(program["name"], []).append(program)
for name, event in [("on_sys_enter", "syscall::close:entry"),
                    ("on_sys_exit", "syscall::close:return"),
                    ("on_tracepoint", "sched:sched_switch"),
                    ("on_timer", "cpu-clock")]:
    rec.check(len(ran.get(name, [])) == 1, "%s was not seen" % name)
    row, program = rows[event], ran[name][0]
    rec.check(row["fired"] + row["outside"] == program["runs"],
              "%s: fired %d + outside %d, the kernel ran it %d times" %
              (event, row["fired"], row["outside"], program["runs"]))
    rec.check(row["missed"] == program["misses"], "%s: missed %d, kernel: %d"
              % (event, row["missed"], program["misses"]))
    rec.ok("%s: fired %d + outside %d = %d runs by the kernel's count" %
           (event, row["fired"], row["outside"], program["runs"]))
runs = sum(p["runs"] for n in ("on_fork", "on_exec", "on_task_exit",
                              "on_rename")
           for p in ran[n])
rec.check(rows["proc"]["fired"] + rows["proc"]["outside"] == runs,
          "proc: fired %d + outside %d, runs %d" % (
              rows["proc"]["fired"], rows["proc"]["outside"], runs))
END
