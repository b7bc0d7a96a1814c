#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a leak planted in Debian's redis-server, whose allocator is
# jemalloc, is found below the function that leaks, to the byte; what a list of
# so many entries, a string that is reallocated and a hash that another thread
# frees had is not held once they are gone, and without the leak nothing is held
# there; what is held in all is, within what sampling allows, what valgrind's
# massif says of a second run.
# TIMEOUT: 300
#
# Easy to get wrong: jemalloc comes between the library and the C library; its
# usable sizes are larger than those that valgrind gives, so buffers grow at
# other times; massif counts a realloc as its difference, so totals of all that
# was allocated are not compared with it; its last snapshot is not at the end,
# but up to a fiftieth of the run before it, unless it may take many.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
. "$SRC/tests/accept/lib-alloc.sh"
need_recording
need_cmd gcc valgrind redis-server
tmpdir

# Each answer of the server.
plant_make write ssize_t 'int file, const void *from, size_t size' \
    'file, from, size'
cat >load.py <<'END'
import socket
import time

sock = socket.socket(socket.AF_UNIX)
for _ in range(1200):
    try:
        sock.connect("sock")
        break
    except OSError:
        time.sleep(0.05)
answers = sock.makefile("rb")


def ask(*words):
    sock.sendall(b"*%d\r\n" % len(words) + b"".join(
        b"$%d\r\n%s\r\n" % (len(w), w) for w in map(str.encode, words)))
    line = answers.readline()
    if line[:1] == b"$" and line[1:2] != b"-":
        return answers.read(int(line[1:]) + 2)
    return line


for n in range(3000):
    ask("LPUSH", "bounded", "%0500d" % n)
    ask("LTRIM", "bounded", "0", "199")
    ask("APPEND", "grown", "x" * 40)
    ask("HSET", "passed", "field%d" % n, "%0100d" % n)
ask("UNLINK", "passed")
for _ in range(1200):
    if b"lazyfree_pending_objects:0" in ask("INFO", "memory"):
        break
    time.sleep(0.05)
ask("DEL", "bounded", "grown")
sock.sendall(b"SHUTDOWN NOSAVE\r\n")
answers.read()
END
server="redis-server --port 0 --unixsocket $tmp/sock --save '' --appendonly no"
cat >run.sh <<END
LD_PRELOAD=$tmp/plant.so\${LD_PRELOAD:+:\$LD_PRELOAD} \\
    exec \$UNDER $server >$tmp/log
END

# What the server did, with a client beside it.
serve()		# command ...
{
	python3 load.py &
	client=$!
	kill_at_end $client
	"$@" 2>err || fail "$(cat err log)"
	wait $client || fail "the client: $?"
}

export PLANTED="$tmp/planted"
for interval in 1 4K; do
	serve "$DTPROF" record -q -e alloc/interval=$interval/ \
	    -o $interval.dtp -- sh run.sh
	cp planted planted.$interval
done
planted=$(cat planted.1)
leak=$(sum 1.dtp ';planted_leak;' --held)
[ "$leak" -eq "$planted" ] && [ "$leak" -gt 10000000 ] ||
    fail "$planted bytes planted, $leak found"
ok "of $planted bytes planted $leak are held below planted_leak"

unset PLANTED
serve "$DTPROF" record -q -e alloc/interval=1/ -o none.dtp -- sh run.sh
for recording in 1 none; do
	for command in pushGenericCommand appendCommand hsetCommand; do
		all=$(sum $recording.dtp ";$command;")
		held=$(sum $recording.dtp ";$command;" --held)
		# The database's own table of keys, which is not emptied.
		[ "$all" -gt 200000 ] && [ "$held" -lt 1000 ] ||
		    fail "$command of $recording.dtp: $held of $all held"
	done
done
[ "$(sum none.dtp planted_leak)" -eq 0 ] || fail "a leak without the plant"
ok "a bounded list, a growing string, a hash freed by a thread: none held"

export PLANTED="$tmp/planted"
UNDER="valgrind --tool=massif --run-libc-freeres=no --max-snapshots=1000
    --massif-out-file=$tmp/massif" serve env sh run.sh
held=$(sed -n 's/^mem_heap_B=//p' massif | tail -n 1)
py <<END || fail "see above"
import recording as rec

# Buffers grow with usable sizes, which are not those of jemalloc: a part in a
# hundred.  How often the server wrote is not the same each time.
massif = $held - $(cat planted)
for interval, planted, got in ((1, $planted, $(sum 1.dtp . --held)),
                               (4096, $(cat planted.4K),
                                $(sum 4K.dtp . --held))):
    true = massif + planted
    rec.check(abs(got - true) < 5 * (true * (interval - 1)) ** 0.5 +
              true / 100, "interval %d: held %d, massif %d" %
              (interval, got, true))
    rec.ok("interval %d: held %d bytes, by massif %d" % (interval, got, true))
END
