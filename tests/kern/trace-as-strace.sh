#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: dtprof trace prints each event once, in order of time, as it
# happens: the sequence of calls, results and file names that strace sees; a
# line is there while the program still waits; what is lost stands between the
# lines, and lines and losses add up; Ctrl-C, a reader that goes away, limits
# and exit statuses are as of record.
#
# Easy to get wrong: lines that wait in a buffer, a loss that is only in the
# summary, names of calls that come after their first sample, half a line at
# the end.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

# trace in the background, until it traces; its pid in $tracer
trace_begin()	# argument ...
{
	"$DTPROF" trace "$@" >lines 2>err </dev/null 9>&- &
	tracer=$!
	kill_at_end $tracer
	await_recording $tracer
}

mkdir dir
touch dir/one dir/two
expect 0 "$DTPROF" trace --json -o json -- ls -l dir
expect 0 "$DTPROF" trace -o text -- ls -l dir
expect_err '^dtprof: trace: [0-9]+ events, 0 lost, '
py <<'END'
import json
import re
import recording as rec

calls = [json.loads(line) for line in open("json")]
rec.check(all(c["type"] == "sample" for c in calls) and
          [c["time_ns"] for c in calls] == sorted(c["time_ns"]
                                                  for c in calls), "order")
# The same in text: name, result, texts.
names = [re.search(r": syscall: (\w+)\(.*\) = (\S+)", line)
         for line in open("text")]
rec.check(all(names) and [n.group(1) for n in names] ==
          [c["syscall"] for c in calls], "text and JSON differ")
rec.ok("%d calls in order of time, as text and as JSON" % len(calls))
END
if command -v strace >/dev/null && strace -qq -o traced ls -l dir >other \
    2>&1; then
	py <<'END'
import json
import re
import recording as rec

ours, theirs = [], []
for c in (json.loads(line) for line in open("json")):
    ret = c.get("error") or c["ret"]
    ours.append((c["syscall"], c["args"].get("filename") or None,
                 ret if c.get("error") or c["ret"] < 100 else "large"))
for line in open("traced"):
    found = re.match(r"(\w+)\((.*)\) += (-?\w+)(?: (E\w+))?", line)
    if not found or found.group(1) == "exit_group":
        continue
    name, args, ret, error = found.groups()
    path = re.search(r'"([^"]+)"', args) if name in (
        "openat", "access", "execve", "statx", "newfstatat") else None
    value = int(ret, 0) if ret != "?" else 0
    theirs.append((name, path.group(1) if path else None,
                   error or (value if value < 100 else "large")))
# An exec replaces what its file name lies in.
ours[0] = theirs[0] = ("execve", None, 0)
for n, (a, b) in enumerate(zip(ours, theirs)):
    same = a[0] == b[0] and a[2] == b[2] and (a[1] == b[1] or
                                              None in (a[1], b[1]))
    rec.check(same, "call %d: we %r, strace %r" % (n, a, b))
rec.check(len(ours) == len(theirs) > 50, "we %d, strace %d" %
          (len(ours), len(theirs)))
rec.ok("%d calls, results and file names in strace's order" % len(ours))
END
fi

# While the program waits for its next line; then Ctrl-C.
mkfifo gate
sh -c 'while read -r n; do cd "/no/such/$n" 2>/dev/null; done' <gate &
target=$!
kill_at_end $target
exec 9>gate
trace_begin -p $target -e syscall:chdir --fields comm,filename,ret,duration
for n in 1 2 3; do
	echo $n >&9
	await "line $n" grep -q "^sh	/no/such/$n	-2	[0-9]*$" lines
done
ok "each line is there before the next call is made"
kill -INT $tracer
wait $tracer || fail "Ctrl-C: status $?"
grep -q '^dtprof: trace: 3 events, 0 lost' err || fail "$(cat err)"
[ "$(grep -cv ": marker: ready$" lines)" -eq 3 ] || fail "$(cat lines)"
exec 9>&-
ok "Ctrl-C ends it with status 0"

# While it is stopped the buffers fill: lines and losses are all there is.
sh -c 'read -r go <gate; exec "$1" -t 2 50000' - "$work/calls" >said &
target=$!
kill_at_end $target
trace_begin -p $target -e syscall:close --json --max-loss 0 \
    --buffer 1M
kill -STOP $tracer
echo go >gate
wait $target
kill -CONT $tracer
wait $tracer
status=$?
py <<'END'
import json
import recording as rec

lines = [json.loads(line) for line in open("lines")]
made = [c for c in lines if c["type"] == "sample"]
lost = [c for c in lines if c["type"] == "lost"]
numbered = sum(c["args"]["fd"] >= 0x40000000 for c in made)
missing = sum(c["count"] for c in lost)
rec.check(missing > 0 and numbered + missing >= 100000 and
          numbered + missing <= 100000 + 100, "%d lines, %d lost" %
          (numbered, missing))
rec.check([c["time_ns"] for c in made] == sorted(c["time_ns"] for c in made),
          "order")
rec.ok("%d lines and %d lost of 100000 calls, in %d places" %
       (numbered, missing, len(lost)))
END
[ $status -eq 124 ] || fail "--max-loss 0: status $status"
grep -q 'more than --max-loss allows' err || fail "$(cat err)"
ok "and more than --max-loss allows is status 124"

sh -c 'while :; do cd /; cd /no/such 2>&-; done' &
target=$!
kill_at_end $target
expect 0 "$DTPROF" trace --limit 5 -e syscall:chdir --filter 'ret < 0' \
    --duration 1h -o few -p $target
[ "$(wc -l <few)" -eq 5 ] && ! grep -v ' = -[0-9]' few ||
    fail "--limit and --filter: $(cat few)"
ok "five calls that failed, by --limit and --filter"
"$DTPROF" trace -q -p $target -e syscall:chdir 2>err | head -n 2 >few
[ "$(wc -l <few)" -eq 2 ] && [ ! -s err ] || fail "head: $(cat few err)"
ok "a reader that goes away ends it"
expect 3 "$DTPROF" trace -- sh -c 'exit 3'
expect 127 "$DTPROF" trace -- ./no-such-command
expect 125 "$DTPROF" trace -e syscall:read
expect_err 'nothing to trace'
expect 125 "$DTPROF" trace --fields nothing -e syscall:read -- touch ran
expect_err "no event has field 'nothing'"
[ ! -e ran ] || fail "the command ran"
expect 0 "$DTPROF" trace -q -a -e sched:sched_process_exec --duration 300ms
ok "exit statuses"
