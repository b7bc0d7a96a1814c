#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: stat --by has, to the unit, the groups that a recording of the same
# process has: calls, errors by name and text of arguments, by any keys; as many
# calls as the program made and as strace and bpftrace see; times within the
# program's own clock; a table that is full counts what is missing.
#
# Easy to get wrong: calls under way at either end, threads, text that lies in
# user memory, negative numbers, groups of several CPUs that are one.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd bpftrace
tmpdir

# A program that waits for a line, and the same process after it.
mkfifo gate
# shellcheck disable=SC2016 # the inner shell's
sh -c 'read -r go <gate && exec "$1" 300' - "$work/syscalls" >said &
target=$!
kill_at_end $target
await "the shell waits" grep -q sh "/proc/$target/comm"
stat_begin a.json --json -e syscall --by comm,tid,syscall -p $target
stat_begin b.json --json -e syscall:openat -e syscall:write --by 'ret,arg0' \
    -p $target
stat_begin c.json --json -e syscall:openat --by filename,cpu -p $target
record_begin -o a.dtp -e syscall -p $target
cat >count.bt <<END
BEGIN { printf("ready\n"); }
tracepoint:raw_syscalls:sys_exit /pid == $target/ { @[args->id] = count(); }
END
bpftrace_begin count.bt theirs
echo go >gate
wait $target || fail "the program failed"
stats_wait
wait "$recorder" || fail "record: $(cat err)"
kill -INT "$bpftrace"
wait "$bpftrace"
py "$target" <<'END'
import collections
import json
import re
import sys
import recording as rec

target = int(sys.argv[1])
calls = rec.samples("a.dtp", "syscall")


def groups(path, *keys):
    """Keys of each group -> the group; of the first event."""
    out = json.load(open(path))
    rec.check(out["dropped_groups"] == 0, "dropped: %r" % out["accounting"])
    for row in out["accounting"]:
        rec.check(row["fired"] == row["stored"] + row["filtered"] +
                  row["nested"] + row["error"] + row["dropped_groups"] and
                  row["missed"] == 0, "%r" % row)
        rec.check(row["stored"] == sum(g["count"] for g in out["groups"]
                                       if g["event"] == row["event"]),
                  "groups do not add up: %r" % row)
    return {tuple(g["keys"][k] for k in keys) + (g["event"],): g
            for g in out["groups"]}


def same(path, keys, made, event="syscall"):
    ours = groups(path, *keys)
    raw = collections.defaultdict(list)
    for call in made:
        raw[tuple(made_key(call, k) for k in keys) + (event,)].append(call)
    ours = {k: g for k, g in ours.items() if k[-1] == event}
    rec.check(set(ours) == set(raw), "other groups: %r" %
              (set(ours) ^ set(raw)))
    for key, group in ours.items():
        errors = collections.Counter(c["error"] for c in raw[key]
                                     if c.get("error"))
        rec.check(group["count"] == len(raw[key]), "%r: %d, recorded %d" %
                  (key, group["count"], len(raw[key])))
        rec.check(group["errors"] == sum(errors.values()) and errors ==
                  {e["error"]: e["count"] for e in group["errors_by_name"]},
                  "%r: %r" % (key, group["errors_by_name"]))
        rec.check(sum(b["count"] for b in group["buckets"]) ==
                  group["timed"], "%r: buckets" % (key,))
        rec.check(all(0 < b["high"] - b["low"] + 1 <= max(b["low"] * 0.032, 1)
                      for b in group["buckets"]), "wide buckets")
    rec.ok("%d groups by %s, as recorded" % (len(ours), ",".join(keys)))
    return ours


def made_key(call, key):
    if key in ("ret", "cpu", "tid", "comm", "syscall"):
        return call[key]
    if key == "arg0":
        return list(call["args"].values())[0]
    return call["args"][key]


by_thread = same("a.json", ["comm", "tid", "syscall"], calls)
for name in ("openat", "write"):
    same("b.json", ["ret", "arg0"], [c for c in calls if c["syscall"] ==
                                     name], "syscall:" + name)
same("c.json", ["filename", "cpu"], [c for c in calls if c["syscall"] ==
                                     "openat"], "syscall:openat")

# Times are each tool's own; those of sleeps lie within the program's clock.
said = json.load(open("said"))
sleeps = by_thread["syscalls", target, "clock_nanosleep", "syscall"]
own = sum(end - begin for begin, end in said["sleeps"])
rec.check(20000000 <= sleeps["total_ns"] <= own + 200000000, "slept %d ns, "
          "by its own clock %d" % (sleeps["total_ns"], own))
for group in by_thread.values():
    rec.check(group["timed"] == 0 or group["min_ns"] * group["timed"] <=
              group["total_ns"] <= group["max_ns"] * group["timed"] and
              group["min_ns"] <= group["quantiles"]["p50"] <=
              group["quantiles"]["p99"] <= group["max_ns"], "%r" % group)
rec.ok("sleeps within the program's own clock, quantiles within the range")

ours = collections.Counter()
for (comm, tid, name, _), group in by_thread.items():
    ours[name] += group["count"]
theirs = {int(n): int(count) for n, count in
          re.findall(r"@\[(-?\d+)\]: (\d+)", open("theirs").read())}
number = {c["syscall"]: c["nr"] for c in calls}
own = collections.Counter(c["syscall"] for c in calls if c["pid"] == target)
differ = {name: (own[name], theirs.get(number[name], 0)) for name in own
          if own[name] != theirs.get(number[name], 0)}
# The registers of both are then another call's, and those of 32 bits.
for name in ("rt_sigreturn", "getpid", "clone", "clone3", "execve"):
    differ.pop(name, None)
rec.check(len(own) > 10 and not differ, "we, bpftrace: %r" % differ)
rec.ok("%d calls of %d names, as bpftrace counts them" %
       (sum(own.values()), len(own)))
END

# As strace -c has them, where there is one.
if command -v strace >/dev/null &&
    strace -f -qq -c -o traced "$work/syscalls" 300 >other 2>err; then
	"$DTPROF" stat -e syscall --by syscall --json -o counted -- \
	    "$work/syscalls" 300 >other 2>err || fail "stat: $(cat err)"
	py <<'END'
import json
import re
import recording as rec

theirs = {}
for line in open("traced"):
    found = re.match(r" *[\d.]+ +[\d.]+ +\d+ +(\d+) +(\d*) *(\w+)$", line)
    if found:
        theirs[found.group(3)] = (int(found.group(1)),
                                  int(found.group(2) or 0))
ours = {g["keys"]["syscall"]: (g["count"], g["errors"])
        for g in json.load(open("counted"))["groups"]}
theirs.pop("total", None)
# Chance, the tracer's own stops, 32-bit calls, calls that never return.
for name in ("futex", "restart_syscall", "getpid", "wait4", "exit",
             "exit_group", "rt_sigreturn"):
    ours.pop(name, None)
    theirs.pop(name, None)
rec.check(len(ours) > 10 and ours == theirs, "we %r, strace %r" %
          (ours, theirs))
rec.ok("calls and errors of %d names, as strace -c has them" % len(ours))
END
fi

# More groups than there is room for: all that is missing is counted.
expect 0 "$DTPROF" stat -e syscall:close --by fd --json -- "$work/calls" 50000
py <<'END'
import json
import recording as rec

text = open("out").read()
out = json.loads(text[text.index("{\n"):] if "{\n" in text else text)
counted = sum(g["count"] for g in out["groups"]
              if g["keys"]["fd"] >= 0x40000000)
rec.check(0 < out["dropped_groups"] < 50000, "%d" % out["dropped_groups"])
rec.check(49990 <= counted + out["dropped_groups"] <= 50010,
          "%d counted, %d dropped" % (counted, out["dropped_groups"]))
row = out["accounting"][0]
rec.check(row["fired"] == row["stored"] + row["filtered"] +
          row["dropped_groups"] + row["nested"] + row["error"], "%r" % row)
rec.ok("%d of 50000 groups had no room, and were counted" %
       out["dropped_groups"])
END
expect 0 "$DTPROF" stat -e syscall:close --by fd --limit 3 -- \
    "$work/calls" 50000
expect_err '^\.\.\. [0-9]+ more \([0-9]+ calls\)'
expect_err 'warning: syscall:close: [0-9]+ events are missing, because'
expect 0 "$DTPROF" stat -q --csv -o full.csv -e syscall:close --by fd -- \
    "$work/calls" 50000
expect_err 'warning: syscall:close: [0-9]+ events are missing, because'
ok "and said, beside CSV too"

# Calls that are still running, or began before.
sleep 100 &
sleeper=$!
kill_at_end $sleeper
await "the sleeper sleeps" grep -q '^230 ' /proc/$sleeper/syscall
sh -c 'while :; do sleep 0.05; done' &
shell=$!
kill_at_end $shell
expect 0 "$DTPROF" stat -e syscall --by syscall -p "$sleeper,$shell" \
    --duration 300ms
expect_out '^2 processes, [0-9.]+ ms: [0-9]+ system calls, 0 lost'
expect_out '[0-9]+ calls? still running$'
expect_err 'counting are counted without their duration: [12]'
ok "what is under way at either end is said"
