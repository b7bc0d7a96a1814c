#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the command of dtprof-boot.service records from when it tells the
# service manager that it is ready: a program that starts at that moment has
# each of its ten numbered system calls in the dump, which a signal writes.
# Easy to get wrong: ready too early, and the first instructions are missing.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

unit=$SRC/mk/dtprof-boot.service.in
sed -n 's/^Environment="DTPROF_BOOT=\(.*\)"$/\1/p' "$unit" >options
sed -n 's/^ExecStart=@BINDIR@\/dtprof \(.*\) [$]DTPROF_BOOT$/\1/p' "$unit" |
    sed "s,%%,%,; s,/run/dtprof,$tmp," >arguments
[ -s options ] && [ -s arguments ] || fail "the unit is not as expected"
py "$DTPROF" "$work/guest_tokens" <<'END'
import json, os, signal, socket, subprocess, sys, time

dtprof, tokens = sys.argv[1:]
arguments = (open("arguments").read() + " " + open("options").read()).split()
for name in os.path.abspath("notify"), "\0dtprof-test-%d" % os.getpid():
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(name)
    recorder = subprocess.Popen(
        [dtprof, *arguments, "--ring", "4M", "--dump-after", "100ms",
         "-e", "syscall::close:entry"],
        env=dict(os.environ, NOTIFY_SOCKET=name.replace("\0", "@")),
        stdin=subprocess.DEVNULL)
    manager.settimeout(100)
    message = manager.recv(100)
    subprocess.run([tokens], check=True)
    recorder.send_signal(signal.SIGUSR2)
    while not os.path.exists("boot-1.dtp"):
        if recorder.poll() is not None:
            sys.exit("FAIL: the recorder ended: %d" % recorder.returncode)
        time.sleep(0.02)
    recorder.send_signal(signal.SIGINT)
    if recorder.wait() != 0:
        sys.exit("FAIL: status %d" % recorder.returncode)
    found = subprocess.run(
        [dtprof, "script", "--json", "--filter", "fd>=0x40000000", "-e",
         "syscall::close:entry", "boot-1.dtp"], stdout=subprocess.PIPE,
        check=True).stdout.decode()
    got = [json.loads(line)["args"]["fd"] - 0x40000000
           for line in found.splitlines()]
    if message != b"READY=1" or got != list(range(10)):
        sys.exit("FAIL: %r, tokens %r" % (message, got))
    print("ok: %s, then tokens %s" % (message.decode(), got))
    for left in "boot-1.dtp", "boot-2.dtp":
        os.remove(left)
END
