#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: -e syscall is one record a call, with its name, its arguments by
# name, its result and how long it took: as many of each as the program made
# and as strace sees, each sleep within the program's own clock, and calls
# that did not return are counted by name, so that
# begun = returned + paused + unseen + ended + running.
#
# Easy to get wrong: a new thread returns from a call that it never made; an
# exec and the return from a handler replace the registers that the return
# looks at; a stopped sleep goes on as another call; exit_group never returns;
# 32-bit calls number otherwise.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

record 0 -o a.dtp -e syscall -- "$work/syscalls" 200
cp out said
py <<'END'
import collections
import json
import re
import recording as rec

said = json.load(open("said"))
n, pid = said["n"], said["pid"]
calls = rec.samples("a.dtp", "syscall")
count = collections.Counter(c["syscall"] for c in calls)
for name, wanted in [("getppid", 2 * n), ("openat", n), ("write", n + 1),
                     ("execve", 1), ("rt_sigreturn", said["handled"])]:
    got = count[name]
    if name in ("openat", "write"):
        got = sum(c["syscall"] == name and (name == "write" or
                  c["args"]["filename"].startswith("/no/such/"))
                  for c in calls)
    rec.check(got == wanted, "%s: %d, not %d" % (name, got, wanted))
rec.ok("as many calls of each name as were made: %s" % dict(count))

opened = [c for c in calls if c["syscall"] == "openat" and
          c["args"]["filename"].startswith("/no/such/")]
rec.check([c["args"]["filename"] for c in opened] ==
          ["/no/such/%d" % i for i in range(n)], "file names, in order")
rec.check(all(c["ret"] == -2 and c["error"] == "ENOENT" and
              c["args"]["dfd"] == -100 for c in opened), "what openat got")
writes = [c for c in calls if c["syscall"] == "write"][:n]
rec.check(all(c["ret"] == 7 == c["args"]["count"] for c in writes),
          "what write got")
rec.ok("arguments by name, and results")

sleeps = [c for c in calls if c["syscall"] == "clock_nanosleep" and
          c["tid"] == pid][:len(said["sleeps"])]
for call, (begun, ended) in zip(sleeps, said["sleeps"]):
    rec.check(begun <= call["time_ns"] - call["duration_ns"] and
              call["time_ns"] <= ended and call["duration_ns"] >= 2000000,
              "slept %d, by its own clock %d" % (call["duration_ns"],
                                                 ended - begun))
rec.ok("each of %d sleeps lies within the program's own clock" % len(sleeps))

restart = [c for c in calls if c["syscall"] == "restart_syscall"]
before = [c for c in calls if c.get("error") == "ERESTART_RESTARTBLOCK"]
rec.check(len(restart) == len(before) == 1 and
          restart[0]["duration_ns"] + before[0]["duration_ns"] > 100000000,
          "the sleep that was stopped: %r %r" % (before, restart))
unknown = [c["syscall"] for c in calls if c["duration_ns"] is None]
rec.check(unknown == ["execve"], "duration unknown: %r" % unknown)
END
"$DTPROF" report --stats --json a.dtp >stats || fail "no stats"
py <<'END'
import json
import recording as rec

said, stats = json.load(open("said")), json.load(open("stats"))
row = [a for a in stats["accounting"] if a["event"] == "syscall"][0]
calls = row["calls"]
rec.check(row["balances"] and calls["balances"] and calls["begun"] ==
          calls["returned"] + calls["paused"] + calls["unseen"] +
          calls["ended"] + calls["running"], "does not balance: %r" % calls)
rec.check(calls["unseen"] == calls["running"] == calls["paused"] ==
          calls["unkept"] == 0 and row["missed"] == 0, "%r" % calls)
# Three children and the program; a thread.
rec.check(calls["ended_names"] == "exit 1, exit_group 4",
          "ended in: %s" % calls["ended_names"])
rec.check(calls["born"] == 4, "%d new threads" % calls["born"])
rec.check(calls["unbegun"] == 1, "%d had begun before" % calls["unbegun"])
rec.check(calls["compat"] == said["compat"], "%d 32-bit" % calls["compat"])
rec.ok("%(begun)d begun = %(returned)d returned + %(ended)d ended "
       "(%(ended_names)s)" % calls)
END

# A descriptor of -1 stays one where the call's type is unsigned int.
record 0 -q -o fd.dtp -e syscall:close -- python3 -c 'import ctypes
ctypes.CDLL(None).close(-1)'
expect 0 "$DTPROF" script --filter 'fd == -1' --json fd.dtp
[ "$(grep -c '"fd": *-1' out)" -eq 1 ] || fail "no close(-1): $(cat out)"
expect 0 "$DTPROF" report --csv --by fd fd.dtp
grep -q ',"-1"' out || fail "no row of -1: $(cat out)"
ok "a file descriptor of -1 is -1, in script, filters and --by"

# By name in the report, the innermost function, with filters that agree.
expect 0 "$DTPROF" report --json --by syscall a.dtp
py <<'END'
import json
import recording as rec

rows = {r["syscall"]: r for r in json.load(open("out"))["rows"]}
of = {}
for c in rec.samples("a.dtp", "syscall"):
    row = of.setdefault(c["syscall"], [0, 0])
    row[0] += 1
    row[1] += c["duration_ns"] or 0
for name, (calls, ns) in of.items():
    row = rows[name]
    rec.check(row["total_samples"] == calls and row["total"] == ns,
              "%s: %r" % (name, row))
rec.ok("report --by syscall has the same calls and times as script")
# Whichever descriptor the program got for its pipe.
pipe = next(c["args"]["fd"] for c in rec.samples("a.dtp", "syscall")
            if c["syscall"] == "write")
top = rec.report("a.dtp")["functions"][0]
rec.check(top["module"] == "[syscall]", "the first row is %r" % top)
for text, holds in [
        ('syscall == "openat" && ret < 0',
         lambda c: c["syscall"] == "openat" and c["ret"] < 0),
        ('duration > 1ms', lambda c: (c["duration_ns"] or 0) > 1000000),
        ('duration <= 1us', lambda c: 0 < (c["duration_ns"] or 0) <= 1000),
        ('syscall != "getppid" && arg0 == %d' % pipe, lambda c:
         c["syscall"] != "getppid" and c["args"] and
         list(c["args"].values())[0] == pipe)]:
    want = [c for c in rec.samples("a.dtp", "syscall") if holds(c)]
    got = rec.samples("a.dtp", "syscall", "--filter", text)
    rec.check(got == want and want, "%s: %d, not %d" % (text, len(got),
                                                        len(want)))
rec.ok("filters by name, result, duration and argument")
END
record 0 -o f.dtp -e syscall:getppid -e syscall:openat --filter \
    'ret == -2 && duration > 0' -- "$work/syscalls" 50
[ "$("$DTPROF" script --no-symbols f.dtp | grep -c /no/such/)" -eq 50 ] ||
    fail "the kernel's filter by result"
ok "the kernel filters by result and duration"

# strace, where there is one, sees the same calls.
if command -v strace >/dev/null; then
	strace -f -qq -o traced "$work/syscalls" 200 >other ||
	    skip "strace may not trace here"
	py <<'END'
import collections
import re
import recording as rec

theirs = collections.Counter()
for line in open("traced"):
    found = re.match(r"\d+ +(\w+)\(", line)
    if found:
        theirs[found.group(1)] += 1
ours = collections.Counter(c["syscall"] for c in
                           rec.samples("a.dtp", "syscall"))
# They never return.
for name in ("exit", "exit_group"):
    theirs.pop(name, None)
differ = {name: (ours[name], theirs[name]) for name in ours | theirs
          if ours[name] != theirs[name]}
# Waits of threads for each other are as chance has it, a tracer's own stops
# make more calls go on, and strace has names for 32-bit calls.
for name in ("futex", "restart_syscall"):
    differ.pop(name, None)
if differ.get("getpid", (0, 3))[1] - differ.get("getpid", (0, 3))[0] == 3:
    differ.pop("getpid", None)
rec.check(not differ, "we, strace: %r" % differ)
rec.ok("%d calls of %d names, as strace sees them" %
       (sum(ours.values()), len(ours)))
END
fi

# A call that began before, and one that is still running at the end.
"$work/syscalls" 10 >/dev/null	# it is there
sleep 100 &
sleeper=$!
kill_at_end $sleeper
await "the sleeper sleeps" grep -q '^230 ' /proc/$sleeper/syscall
sh -c 'while :; do sleep 0.05; done' &
shell=$!
kill_at_end $shell
record 0 -o r.dtp -e syscall -p "$sleeper,$shell" --duration 300ms
"$DTPROF" report --stats --json r.dtp >stats || fail "no stats"
py "$shell" <<'END'
import json
import sys
import recording as rec

calls = [a for a in json.load(open("stats"))["accounting"]
         if a["event"] == "syscall"][0]["calls"]
rec.check(calls["balances"], "%r" % calls)
first = rec.samples("r.dtp", "syscall")[:1]
rec.check(calls["unbegun"] >= 1, "%r" % calls)
rec.check(all((c["duration_ns"] is None) == (c["weight"] == 0) for c in
              rec.samples("r.dtp", "syscall")), "unknown is 0")
# The shell waits for its child, which sleeps.
rec.check(0 < calls["running"] <= 3, "running: %r" % calls)
rec.ok("running at the end: %s; begun before: %d" %
       (calls["running_names"], calls["unbegun"]))
END
