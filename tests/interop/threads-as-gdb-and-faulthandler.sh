#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: dtprof stacks lists each thread of a process once.  Threads that
# wait in a pipe, mutex, epoll or sleep have that state and reason, and the
# functions that gdb prints.  Threads of a Python program have the frames that
# its faulthandler prints.  No waiting thread is stopped or woken; after SIGSTOP
# all threads are listed as stopped by a signal.
#
# Easy to get wrong: registers of a thread that is on a CPU; memory of a process
# other than the current one.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
need_cmd gdb python3
. "$SRC/tests/interop/lib-python.sh"
tmpdir

# So many threads of a process are in a state.
are_in_state()	# pid threads state
{
	[ "$(cat /proc/"$1"/task/*/stat | grep -c ") $3 ")" -ge "$2" ]
}

switches()	# pid: of all threads but the one that counts
{
	for task in /proc/"$1"/task/*; do
		[ "$(cat "$task/comm")" = spin ] ||
		    grep ctxt_switches "$task/status"
	done
}

"$B/tests/work/waits" >waits.out &
waits=$!
await "threads wait" are_in_state $waits 5 S
switches $waits >before
"$DTPROF" stacks --json -p $waits >threads.json 2>err ||
    fail "stacks: $(cat err)"
switches $waits >after
cmp -s before after ||
    fail "a thread that waits was woken: $(diff before after)"
ok "no thread that waits was woken"
grep -q '^TracerPid:	0$' /proc/$waits/status || fail "it is traced"
"$DTPROF" stacks -p $waits >threads.txt 2>err || fail "stacks: $(cat err)"
gdb -p $waits -batch -ex 'set print frame-arguments none' \
    -ex 'thread apply all bt' >gdb.txt 2>gdb.err || fail "gdb: $(cat gdb.err)"
kill -STOP $waits
await "threads are stopped" are_in_state $waits 6 T
"$DTPROF" stacks --json -p $waits >stopped.json 2>err ||
    fail "stacks: $(cat err)"
kill -KILL $waits

cat >known.py <<'END'
import re
calls = {"pipe": ("read",), "mutex": ("futex",), "epoll": ("epoll_wait",
    "epoll_pwait"), "sleep": ("nanosleep", "clock_nanosleep"),
    "waits": ("pause", "ppoll")}
gdb, thread = {}, None
for line in open("gdb.txt"):
    begins = re.match(r'Thread \d+ \(.*LWP (\d+)', line)
    frame = re.match(r'#\d+ +(?:0x[0-9a-f]+ in )?([\w.@]+)', line)
    if begins:
        thread = gdb.setdefault(int(begins[1]), [])
    elif frame and thread is not None:
        thread.append(frame[1])
need(len(j["threads"]) == len(gdb) == 6 and {t["tid"] for t in j["threads"]} ==
    set(gdb), "each thread that gdb finds, once")
text = open("threads.txt").read()
for t in j["threads"]:
    names = [f["function"] for f in t["user_frames"]]
    own = {"waits": "main", "spin": "spin_here"}.get(t["comm"],
        "wait_in_" + t["comm"])
    # gdb has frames of inlined functions, and other names of libc's.
    theirs = [n for n in gdb[t["tid"]] if n in names]
    # From the program's own function on they are equal; gdb ends at main.
    need(own in names and t["user_status"] == "ok" and all(a == b for a, b in
        zip(names[names.index(own):], gdb[t["tid"]]
        [gdb[t["tid"]].index(own):])), "%s: %s" % (t["comm"], names))
    need([n for n in names if n in theirs] == theirs, "in gdb's order")
    if t["comm"] == "spin":
        need(t["state"] in ("running", "runnable") and t["reason"] is None,
            "spin: %(state)s" % t)
        continue
    need(t["state"] == "blocked" and t["reason"] in calls[t["comm"]],
        "%(comm)s: %(state)s in %(reason)s" % t)
    need(t["kernel_frames"] and "thread %(tid)d %(comm)s: blocked in %(reason)s"
        % t in text, "the same as text")
by = {t["comm"]: t for t in j["threads"]}
need(by["pipe"]["file"].startswith("pipe:["), "which pipe")
need(by["epoll"]["file"].startswith("anon_inode:"), "which epoll")
need(int(by["mutex"]["address"], 16) > 0, "which futex")
END
verify threads.json <known.py
verify stopped.json <<'END'
need(len(j["threads"]) == 6 and all(t["state"] == "stopped" and
    t["reason"] == "signal" and t["user_status"] == "ok"
    for t in j["threads"]), "all threads are stopped by a signal")
END

need_known_python
cat >p.py <<'END'
import faulthandler, queue, signal, sys, threading, time
def deep(n, then):
    deep(n - 1, then) if n else then()
def empty():
    queue.Queue().get()
def sleep():
    time.sleep(3600)
def held():
    with sorted_by(lock):
        pass
def sorted_by(it):
    return sorted([it], key=lambda x: x.acquire())[0]
lock = threading.Lock()
lock.acquire()
for n, then in enumerate((empty, sleep, held)):
    threading.Thread(target=deep, args=(n * 40, then), daemon=True).start()
faulthandler.register(signal.SIGUSR1, open("faults", "w"), all_threads=True)
sys.stdin.read()
END
mkfifo stdin
$python p.py <stdin &
snake=$!
exec 7>stdin
await "threads wait" are_in_state $snake 4 S
"$DTPROF" stacks --json -p $snake >snake.json 2>err || fail "stacks: $(cat err)"
kill -USR1 $snake
await "the stacks of faulthandler" \
    grep -q 'p.py", line .* in <module>' faults
exec 7>&-
kill -KILL $snake
verify snake.json <<'END'
import re
theirs = []
for line in open("faults"):
    frame = re.match(r'  File "(.*)", line (\d+) in (.*)', line)
    if frame:
        theirs[-1].append((frame[1].split("/")[-1], int(frame[2]), frame[3]))
    elif "hread 0x" in line:
        theirs.append([])
ours = [[(f["file"].split("/")[-1], f["line"], f["function"].split(".")[-1])
    for f in t["user_frames"] if f["kind"] == "py"] for t in j["threads"]]
need(sorted(ours) == sorted(theirs) and len(ours) == 4 and
    sorted(map(len, ours))[-1] > 80, "%d Python stacks, of %s frames" %
    (len(ours), [len(o) for o in ours]))
need(all(t["state"] == "blocked" for t in j["threads"]), "all wait")
END
