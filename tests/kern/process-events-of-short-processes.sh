#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Of many short processes under -a each has exactly one fork, one
# exec with its path and name, and one exit with its code; and the recorder
# holds no more memory and no more descriptors after them than before.
# TIMEOUT: 240
#
# Easy to get wrong: a process that is gone before its /proc was read has no
# name; whatever is kept per process has to be given back.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
: "${PROCESSES:=500}" "${WARM:=300}"

i=0
while [ $i -lt 100 ]; do
	ln -s "$work/spawn" p$i
	i=$((i + 1))
done
resident()
{
	sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$recorder/status"
}
# Files that were met stay open once, for their names, whoever on this machine
# maps them: those are not counted, all else is.
descriptors()
{
	find "/proc/$recorder/fd" -mindepth 1 -printf '%l\n' |
	    awk '!/^\// || /^\/proc/ || seen[$0]++ { n++ } END { print n }'
}
record_begin -o a.dtp -a -e cpu-clock -F 199 --call-graph none
"$work/spawn" "$tmp" "$WARM" 1 >warm || fail "spawn"
fds=$(descriptors) kb=$(resident)
"$work/spawn" "$tmp" "$PROCESSES" "${MS:-5}" >log || fail "spawn"
fds_after=$(descriptors) kb_after=$(resident)
record_end 0
[ $((fds_after - fds)) -lt $((PROCESSES / 10)) ] ||
    fail "$fds descriptors before $PROCESSES processes, $fds_after after"
# What is kept for each pid is a few words; a leak per process is more.
[ $((kb_after - kb)) -lt $((2048 + PROCESSES / 10)) ] ||
    fail "$kb kB before $PROCESSES processes, $kb_after kB after"
ok "$PROCESSES processes: $fds descriptors before and $fds_after after," \
    "$kb kB before and $kb_after kB after"
py "$tmp" <<'END'
import sys
import recording as rec

rows = rec.balance("a.dtp")
rec.check(rows["proc"]["full"] == 0, "%d lives were lost" %
          rows["proc"]["full"])
# The kernel uses numbers again, so a pid may have had several lives.
lives = {}
for r in rec.in_order("a.dtp"):
    if r["type"] == "fork" and r["pid"] == r["tid"]:
        lives.setdefault(r["pid"], []).append({})
    if r["type"] in ("fork", "exec", "exit", "comm") and r["pid"] in lives:
        lives[r["pid"]][-1].setdefault(r["type"], []).append(r)
n = 0
for line in list(open("warm")) + list(open("log")):
    pid, name, code = line.split()
    path = sys.argv[1] + "/" + name
    mine = [life for life in lives.get(int(pid), [])
            if path in [r["path"] for r in life.get("exec", [])]]
    rec.check(mine, "%s (%s): not there" % (pid, name))
    life = mine[0]
    lives[int(pid)].remove(life)
    for what in ("fork", "exec", "exit"):
        got = life.get(what, [])
        rec.check(len(got) == 1, "%s (%s): %d times %s" %
                  (pid, name, len(got), what))
    run = life["exec"][0]
    rec.check(run["comm"] == name, "%s: %r" % (name, run))
    rec.check(name in [r["comm"] for r in life.get("comm", [])],
              "%s never took its name" % name)
    end = life["exit"][0]
    rec.check(end["status"] == int(code) << 8 and end["group_dead"],
              "%s: %r" % (line, end))
    rec.check(life["fork"][0]["time_ns"] < run["time_ns"] <
              end["time_ns"], "%s: born, run, died in another order" % pid)
    n += 1
rec.ok("%d processes: fork, exec, path, name, exit and code, each once" % n)
END
