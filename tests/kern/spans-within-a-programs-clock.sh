#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: --span pairs begins and ends: as many spans as a program counts
# itself and as strace sees, each sleep within the program's own clock, calls
# that did not return open, and spans by key across processes; the events of
# spans are no columns of a report, and what cannot be a span is refused.
#
# Easy to get wrong: a child returns from a call that it never made; a thread
# ends in a call; key and process; -e of the same event.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd strace
tmpdir

record 0 -o a.dtp -e cpu-clock -e syscall:getppid:entry \
    --span sleep=syscall:clock_nanosleep:entry \
    --span getppid=syscall:getppid:entry,syscall:getppid:return \
    --span fork=syscall:clone:entry --span exit=syscall:exit_group:entry \
    -- "$work/syscalls" 200
cp out said
strace -f -o calls -e trace=getppid,clone,exit_group "$work/syscalls" 200 \
    >strace.out || fail "strace"
expect 0 "$DTPROF" report --by span --json a.dtp
py <<'END'
import json
import re
import recording as rec

said = json.load(open("said"))
spans = {s["name"]: s for s in json.load(open("out"))["spans"]}
calls = [re.sub(r"^\d+ +", "", line) for line in open("calls")]


def made(name):
    return sum(call.startswith(name + "(") for call in calls)


getppid = spans["getppid"]
rec.check(getppid["count"] == 2 * said["n"] == made("getppid"),
          "getppid: %r, %d in strace" % (getppid, made("getppid")))
fork = spans["fork"]
rec.check(fork["count"] == made("clone") and fork["open"] == 0,
          "fork: %r, %d in strace" % (fork, made("clone")))
rec.check(fork["orphan"] == made("clone"),
          "a child returns from a call it never made: %r" % fork)
rec.check(spans["exit"]["open"] == made("exit_group") and
          spans["exit"]["count"] == 0, "exit: %r" % spans["exit"])
for span in spans.values():
    rec.check(span["lost"] == span["missed"] == span["late"] ==
              span["unpaired_ends"] == 0, "%r" % span)
rec.ok("as many as the program made, and strace saw: %d, %d with as many "
       "orphans, %d open" % (getppid["count"], fork["count"],
                             spans["exit"]["open"]))

# Each is no longer than by the program's clock; so is each rank.
own = sorted(end - begin for begin, end in said["sleeps"])
sleep = spans["sleep"]
rec.check(sleep["count"] >= len(own), "%d sleeps" % sleep["count"])
if sleep["count"] == len(own):
    rec.check(2000000 <= sleep["p50_ns"] <= own[(len(own) + 1) // 2 - 1] and
              sleep["max_ns"] <= own[-1] and
              sleep["total_ns"] <= sum(own), "%r, %r" % (sleep, own))
rec.ok("sleeps within the program's own clock")
END

# The same durations as a call's own, of those that both events have.
record 0 -o b.dtp -e syscall:clock_nanosleep \
    --span sleep=syscall:clock_nanosleep:entry -- "$work/syscalls" 20
expect 0 "$DTPROF" report --by span --json b.dtp
py <<'END'
import json
import recording as rec

span = json.load(open("out"))["spans"][0]
calls = [c["duration_ns"] for c in rec.samples("b.dtp",
                                               "syscall:clock_nanosleep")]
rec.check(span["count"] == len(calls), "%r, %d" % (span, len(calls)))
rec.check(0.5 * sum(calls) < span["total_ns"] < 2 * sum(calls),
          "%d ns, as calls %d" % (span["total_ns"], sum(calls)))
rec.ok("as many and as long as -e syscall has them")
names = {e["name"] for e in rec.report("b.dtp")["quality_by_event"] if
         "name" in e} | {q["event"] for q in
                         rec.report("b.dtp")["quality_by_event"]}
rec.check(names == {"syscall:clock_nanosleep"}, "columns: %r" % names)
rec.check({q["event"] for q in rec.report("a.dtp")["quality_by_event"]} ==
          {"cpu-clock", "syscall:getppid:entry"}, "columns of -e")
rec.ok("the events of spans are no columns, but those that -e names")
END

# One process begins what another one ends.
cat >signals.py <<'END'
import os, signal, time
count = 0
def handle(number, frame):
    global count
    count += 1
    os.write(pipe[1], b"x")
pipe = os.pipe()
signal.signal(signal.SIGUSR1, handle)
child = os.fork()
if child == 0:
    os.write(pipe[1], b"x")	# a signal before is dropped by fork
    while count < 100:
        time.sleep(0.001)
    os._exit(0)
os.read(pipe[0], 1)
for n in range(100):
    os.kill(child, signal.SIGUSR1)
    os.read(pipe[0], 1)
os.waitpid(child, 0)
END
record 0 -o c.dtp -e cpu-clock \
    --span signal=signal:signal_generate,signal:signal_deliver,key=sig \
    -- python3 signals.py
expect 0 "$DTPROF" report --by span c.dtp
grep -q '^signal  *100 ' out || fail "not 100 signals: $(cat out)"
ok "100 signals from one process to another, by number"

# A function of a program, by its argument, which is a process's own.
serves=uprobe:$work/requests
record 0 -o e.dtp -e cpu-clock --span \
    "r=$serves:parse_request/arg0,arg1/,$serves:render_page/arg0/,key=arg0" \
    --span "p=$serves:parse_request,syscall:getuid:entry" \
    -- "$work/requests" 300 5 1
expect 0 "$DTPROF" report --by span --json e.dtp
py <<'END'
import json
import recording as rec

report = json.load(open("out"))
spans = {s["name"]: s for s in report["spans"]}
info = report["recording"]["info"]
rec.check(info["span.0.scope"] == "process" and
          info["span.1.scope"] == "thread", "%r" % info)
rec.check(spans["p"]["count"] == 300 and spans["p"]["orphan"] == 0 and
          spans["p"]["open"] == 0, "%r" % spans)
rec.check(spans["r"]["count"] + spans["r"]["open"] == 300, "%r" % spans)
rec.ok("from a function to a system call: 300 spans")
END

refused()	# status text argument ...
{
	refused_want=$1
	refused_text=$2
	shift 2
	expect "$refused_want" "$DTPROF" "$@"
	grep -q "$refused_text" err || fail "$*: $(cat err)"
}
refused 125 "END is missing" record --span a=sched:sched_switch -- true
refused 125 "whole call" record --span a=syscall:read,syscall:write -- true
refused 125 "no argument 'fd'" record \
    --span a=syscall:read:entry,syscall:read:return,key=fd -- true
refused 125 "same event" record \
    --span a=sched:sched_switch,sched:sched_switch -- true
refused 125 "is a counter" record --span a=cpu-clock,page-faults -- true
refused 125 "'=' is missing" record --span read -- true
refused 125 "another span has this name" record --span a=syscall:read:entry \
    --span a=syscall:write:entry -- true
refused 125 "filter when reading" record --span a=syscall:read:entry \
    --filter 'pid == 1' -- true
record 0 -o d.dtp -e cpu-clock -- true
refused 1 "has no spans" report --by span d.dtp
refused 2 "lists all spans" report --by span,comm a.dtp
ok "what cannot be a span is refused, and why"
