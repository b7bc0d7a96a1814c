#!/bin/sh
# ASSERTION: Ctrl-C on a terminal reaches the command, which may take its
# time and ends with its own status; what it does until then is recorded.
# Easy to get wrong by ending the recording at once, or by signalling twice.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_root
need_cmd python3
tmpdir
cat >command.sh <<'END'
n=0
trap 'n=$((n + 1)); echo "interrupt $n"' INT
echo ready
# The signal interrupts neither the recorder nor, for long, this loop.
while [ $n -eq 0 ]; do :; done
"$DTPROF" mark --recorder $PPID 'after the interrupt' || exit 9
i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done
exit $((40 + n))
END
expect 41 env CTRL_C_AT=ready python3 "$SRC/tests/cli/term.py" 80 \
    "$DTPROF" record -q -e cpu-clock -o x.dtp -- sh command.sh
expect_out 'interrupt 1'
ok "one signal, and the command's own status"
expect 0 "$DTPROF" script --json x.dtp
[ "$(json_lines out 'sum(1 for r in j[[x["type"] for x in j].index("marker"):]
    if r["type"] == "sample") > 5')" = True ] ||
    fail "nothing was recorded after Ctrl-C"
ok "what follows it is recorded"

# Before the command is one: who would handle a signal for it?  While signals
# are blocked nobody does.
cat >early.py <<'END2'
import pathlib, signal, subprocess, sys
ours = sum(1 << number - 1 for number in
           (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE))
seen = 0
for turn in range(200):
    recorder = subprocess.Popen([sys.argv[1], "record", "-q", "-e",
        "cpu-clock", "-o", "y.dtp", "--", "sleep", "0"])
    at = pathlib.Path("/proc/%d/task/%d/children" % (2 * (recorder.pid,)))
    while recorder.poll() is None:
        try:
            for child in at.read_text().split():
                text = pathlib.Path("/proc/%s/status" % child).read_text()
                status = dict(l.split(":\t", 1) for l in text.splitlines())
                caught, blocked = (int(status[k], 16) & ours
                                   for k in ("SigCgt", "SigBlk"))
                if status["Name"] != "sleep":
                    assert caught & ~blocked == 0, text
                    seen += not blocked
        except (FileNotFoundError, ProcessLookupError, KeyError):
            pass        # it has ended
    assert recorder.returncode == 0, recorder.returncode
    if seen:
        break
print(seen)
END2
seen=$(python3 early.py "$DTPROF") || fail "the recorder's handlers"
[ "$seen" -gt 0 ] || fail "never looked in time"
ok "the command has no handler of the recorder's before its exec, either"
