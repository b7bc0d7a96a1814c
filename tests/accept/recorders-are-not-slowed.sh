#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a program that is recorded for 100 s with --push to a server that
# never answers, or takes 300 bytes a second, does its work in the CPU time that
# it needs beside them recorded without --push, and neither loses a sample.
# Easy to get wrong: a recorder that waits for its sender; a sender that reads
# the recording again and again.
# TIMEOUT: 400
. "${SRC:=$PWD}/tests/lib.sh"
need_bpf
need_cmd python3
tmpdir
cat >slow.py <<'END'
"""slow.py BYTES: a store that has nothing, and takes so many bytes a second."""
import re
import socket
import sys
import threading
import time
rate = int(sys.argv[1])


def take(client):
    got = client.recv(4096)
    while got:
        while b"\r\n\r\n" not in got:
            got += client.recv(4096)
        head, _, body = got.partition(b"\r\n\r\n")
        if b"INSERT" in head:
            print("asked to take rows", file=sys.stderr, flush=True)
            while rate == 0 or client.recv(rate // 10):
                time.sleep(0.1)
            return
        left = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
        while len(body) < left:
            body += client.recv(4096)
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        got = client.recv(4096)


server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
server.bind(("127.0.0.1", 0))
server.listen()
print(server.getsockname()[1], flush=True)
while True:
    threading.Thread(target=take, args=(server.accept()[0],),
                     daemon=True).start()
END
cat >work.py <<'END'
"""The same work again and again: the CPU time of each, until time is up."""
import sys
import time
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    before = time.process_time()
    sum(n * n for n in range(2000000))
    print(time.monotonic(), time.process_time() - before, flush=True)
END
for kind in hung slow; do
	[ $kind = hung ] && rate=0 || rate=300
	python3 slow.py $rate >$kind.port 2>$kind.served &
	kill_at_end $!
done
await "ports" test -s hung.port -a -s slow.port
pids=
for kind in none hung slow; do
	set --
	[ $kind = none ] || set -- --push \
	    "clickhouse+http://127.0.0.1:$(cat $kind.port)/x"
	"$DTPROF" record -q -o $kind.dtp -F 499 "$@" -- python3 work.py \
	    "${SECONDS_EACH:-100}" >$kind.times 2>$kind.err &
	pids="$pids $!"
	kill_at_end $!
	eval "$kind=\$!"
done
done_by()	# kind: has its command ended?
{
	! ps -o args= --ppid "$1" | grep -q work.py
}
sleep "${SECONDS_EACH:-100}"
for pid in $pids; do
	await "the end of a command" done_by "$pid"
done
# What was sent hangs, and would until its time is up.
for pid in $hung $slow; do
	for sender in $(ps -o pid= --ppid "$pid"); do
		kill "$sender"
	done
done
for kind in none hung slow; do
	eval "wait \$$kind" || fail "$kind: $(cat $kind.err)"
	"$DTPROF" report --stats --json $kind.dtp >$kind.json 2>/dev/null
	lost=$(json $kind.json 'sum(e["full"] + e["nested"] + e["error"]
	    for e in j["accounting"] if e["event"] != "proc")')
	[ "$lost" = 0 ] || fail "$kind: $lost samples lost"
	[ $kind = none ] || [ -s $kind.served ] || fail "$kind: nothing sent"
done
python3 - <<'END' || fail "see above"
import statistics
import sys
times = {}
for kind in "none", "hung", "slow":
    times[kind] = [tuple(map(float, line.split()))
                   for line in open(kind + ".times")]
bad = False
for kind in "hung", "slow":
    # Beside it, work that ended at about the same time.
    ratios = sorted(cpu / min(times["none"], key=lambda t: abs(t[0] - at))[1]
                    for at, cpu in times[kind])
    n = len(ratios)
    # The 95 % bound of the median, by the sign of each pair.
    high = ratios[min(n - 1, int(n / 2 + 0.98 * n ** 0.5 + 1))]
    print("\t%s: CPU time of the same work %.3f times that without, at most "
          "%.3f; %d and %d times" % (kind, statistics.median(ratios), high, n,
                                     len(times["none"])))
    bad |= high > 1.05
sys.exit(bad)
END
ok "recorded programs and accounts are as without --push"
