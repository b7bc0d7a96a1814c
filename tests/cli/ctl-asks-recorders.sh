#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: dtprof ctl marks, pauses, resumes, dumps, sets and stops a running
# recording, returns when a dump is whole, says what was refused, and asks one
# recorder alone where several run.  A stranger is not answered, and a directory
# that others can enter is not used.
#
# Easy to get wrong: an answer before the file is on the disk, a request of
# someone who has gone, a path that means another directory to the recorder.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
TMPDIR=$tmp
export TMPDIR

# It has a directory of its own; dumps are written where ctl is called.
mkdir there
(cd there && exec "$DTPROF" record -q --ring 1M --dump-on ctl --dump-max 2 \
    -e syscalls:sys_enter_lseek -o 'r.%n.%r.dtp' -- "$work/sequence" 0 made) \
    >out 2>err </dev/null &
ring=$!
kill_at_end $ring
record_begin -e cpu-clock -o plain.dtp -- sleep 1000
plain=$recorder
await "requests are served" "$DTPROF" ctl status --recorder $ring

ctl()		# recorder argument ...
{
	ctl_of=$1
	shift
	expect 0 "$DTPROF" ctl --recorder "$ctl_of" "$@"
}

ctl $ring dump
[ -s there/r.1.ctl.dtp ] || fail "no dump: $(ls there)"
"$DTPROF" report there/r.1.ctl.dtp >/dev/null || fail "not whole"
ctl $ring dump -o here.dtp --from 100ms
"$DTPROF" report --stats here.dtp >stats || fail "not whole"
grep -q balances stats || fail "does not balance"
python3 - <<'END' || fail "--from"
import recording as rec
for path in "there/r.1.ctl.dtp", "here.dtp":
    account = rec.accounting(path)["syscalls:sys_enter_lseek"]
    got = [s["args"]["offset"] & 0x7fffffff for s in rec.samples(path)]
    rec.check(account["overwritten"] == got[0] and got ==
              list(range(got[0], got[-1] + 1)), path + ": a gap")
rec.check(rec.report(path)["recording"]["dump"]["history_ns"] < 2.5e9,
          "--from: older samples")
END
expect 1 "$DTPROF" ctl --recorder $ring dump
expect_err 'recorder [0-9]*: --dump-max is reached'
ctl $ring set dump-max=4
ctl $ring dump
mkdir 100%now
(cd 100%now && ctl $ring dump -o 'a%n.dtp') || exit 1
"$DTPROF" report 100%now/a4.dtp >/dev/null || fail "$(find . -name '*.dtp')"
ok "dumps: written when ctl returns, --from, no more than --dump-max, set"

expect 1 "$DTPROF" ctl dump
expect_err '[0-9]+ recorders of this user are running'
expect 1 "$DTPROF" ctl --recorder $plain dump
expect_err 'a dump needs record --ring'
expect 1 "$DTPROF" ctl --recorder $plain set dump-max=3
expect 1 "$DTPROF" ctl --recorder $ring set moon=3
expect_err 'unknown key'
expect 2 "$DTPROF" ctl moon
expect 2 "$DTPROF" ctl set
expect 1 "$DTPROF" ctl --recorder $$ status
for file in here.dtp ./here.dtp "$tmp/here.dtp"; do
	expect 1 "$DTPROF" ctl --socket "$file" status
	expect_err 'no recorder listens on this socket'
	[ -s here.dtp ] || fail "--socket removed a file"
done
ctl $plain mark one
ctl $plain pause
expect 0 "$DTPROF" ctl --json --recorder $plain status
grep -q '"state": *"paused"' "$tmp/out" || fail "not paused: $(cat "$tmp/out")"
ctl $plain resume
ok "refused with the reason; pauses are in the status"

# Who hangs up before the answer; the recorder lives, and waits.
python3 - $ring <<'END' || fail "a stranger"
import glob
import os
import socket
import struct
import subprocess
import sys
import recording as rec

found = glob.glob(os.environ["TMPDIR"] + "/dtprof-0/*.ctl")
if not found:
    rec.ok("sockets are in the directory of all: left alone")
    raise SystemExit
path = found[0]
for n in range(40):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)
    if n % 2:
        s.send(struct.pack("IIIxxxxQ", 0x334b524d, 66, 0, 0))
    s.close()
# Another user cannot even reach it; where it could, it is not answered.
os.chmod(os.path.dirname(path), 0o711)
os.chmod(path, 0o777)
os.chmod(os.environ["TMPDIR"], 0o711)
code = """
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(5)
try:
    s.connect(sys.argv[1])
    s.send(struct.pack("IIIxxxxQ", 0x334b524d, 66, 0, 0))
    sys.exit(1 if s.recv(9000) else 0)
except (BrokenPipeError, ConnectionResetError):
    sys.exit(0)
"""
done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534",
                       "--clear-groups", "python3", "-c", code, path],
                      check=False)
rec.check(done.returncode == 0, "status %d" % done.returncode)
done = subprocess.run([rec.DTPROF, "ctl", "status", "--recorder", sys.argv[1]],
                      check=False, stderr=subprocess.PIPE)
rec.check(done.returncode == 1, "an open directory is used")
os.chmod(os.path.dirname(path), 0o700)
rec.ok("who hangs up is forgotten, a stranger is not answered")
END
ctl $plain stop
wait $plain || [ $? -eq 143 ] || fail "stopped: $(cat "$tmp/err")"
"$DTPROF" report plain.dtp >/dev/null || fail "not whole"
ctl $ring stop
wait $ring
ok "stop returns when the recording is complete"
