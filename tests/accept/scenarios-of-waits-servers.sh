#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of redis that syncs its log with each command, waits in fdatasync
# are as long as by a clock around each call, and are for fsync of the log;
# where another policy leaves that to the kernel, only the calls at the end are
# left.  Of nginx before a slow server: while it waits for that one, for as long
# as its own log says, its thread is idle, and a note says that requests wait
# without a thread; the time is in the sleep of the slow server, which is
# recorded, too.
# Easy to get wrong: nginx waits for clients and for the slow server in the same
# call, and the network ends both waits.
# TIMEOUT: 300
. "${SRC:=$PWD}/tests/accept/lib-scenarios.sh"
need_recording
need_cmd redis-server redis-cli redis-benchmark nginx
tmpdir

# ---------------------------------------------- redis that syncs its log

cat >clock.c <<'END'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t calls, sum_ns;

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
}

int
fdatasync(int fd)
{
	const uint64_t begin_ns = now_ns();
	const int rv = (int)syscall(SYS_fdatasync, fd);

	__atomic_add_fetch(&sum_ns, now_ns() - begin_ns, __ATOMIC_RELAXED);
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	return (rv);
}

__attribute__((destructor)) static void
tell(void)
{
	FILE *file = fopen(getenv("CLOCK_TO"), "we");

	fprintf(file, "%ju %ju\n", (uintmax_t)calls, (uintmax_t)sum_ns);
	fclose(file);
}
END
compile -shared -fPIC -o clock.so clock.c || fail "no clock"

redis_run()		# always|no
{
	mkdir "$1"
	record_begin -e off-cpu/min=0ns/ -o "$1.dtp" -- env \
	    LD_PRELOAD="$tmp/clock.so" CLOCK_TO="$tmp/$1.clock" \
	    redis-server --port 0 --unixsocket "$tmp/$1/sock" \
	    --dir "$tmp/$1" --save '' --appendonly yes --appendfsync "$1" \
	    --daemonize no
	await "redis" redis-cli -s "$tmp/$1/sock" ping
	redis-benchmark -s "$tmp/$1/sock" -t set -n 200 -c 1 -q >bench 2>&1 ||
	    fail "redis-benchmark: $(cat bench)"
	redis-cli -s "$tmp/$1/sock" shutdown nosave
	record_wait 0
	scenario_report "$1.dtp" state,reason,file \
	    --filter 'stack == "fdatasync"'
	mv state,reason,file.json "$1.json"
}

redis_run always
redis_run no
py <<'END'
import scenarios

for policy in "always", "no":
    calls, sum_ns = map(int, open(policy + ".clock").read().split())
    of = list(scenarios.rows(policy))
    blocked = [row for row in of if row["state"] == "blocked"]
    print("appendfsync %s: %d calls, blocked %.1f ms" %
          (policy, calls, scenarios.total(blocked) / 1e6))
    # The rest is the time in which the thread runs.
    scenarios.near("blocked or runnable in fdatasync", scenarios.total(of),
                   sum_ns, .25 if policy == "always" else 1)
    assert scenarios.total(of) <= 1.01 * sum_ns
    assert all(row["reason"] == "fsync" and (row["file"] == "-" or
               "/appendonlydir" in row["file"]) for row in blocked), blocked
    assert (calls >= 200) == (policy == "always")
END
ok "redis: waits for fsync of its log"

# -------------------------------------------- nginx before a slow server

cat >slow.py <<'END'
import http.server
import time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        begin = time.monotonic_ns()
        time.sleep(.03)
        open("slept", "a").write("%d\n" % (time.monotonic_ns() - begin))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open("port.new", "w").write(str(server.server_port))
import os
os.rename("port.new", "port")
server.serve_forever()
END
python3 slow.py &
slow=$!
kill_at_end $slow
await "a slow server" test -s port
cat >nginx.conf <<END
master_process off;
daemon off;
pid $tmp/nginx.pid;
error_log $tmp/error.log;
events { worker_connections 64; }
http {
    log_format times '\$request_time \$upstream_response_time';
    access_log $tmp/access.log times;
    client_body_temp_path $tmp/body;
    proxy_temp_path $tmp/proxy;
    fastcgi_temp_path $tmp/fastcgi;
    uwsgi_temp_path $tmp/uwsgi;
    scgi_temp_path $tmp/scgi;
    server {
        listen unix:$tmp/front;
        location / { proxy_pass http://127.0.0.1:$(cat port); }
    }
}
END
nginx -c "$tmp/nginx.conf" 2>nginx.err &
nginx=$!
kill_at_end $nginx
await "nginx" test -S front
record_begin -e off-cpu/min=0ns/ -p $nginx,$slow -o nginx.dtp
cat >client.py <<'END'
import socket
import sys

for _ in range(int(sys.argv[1])):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("front")
        sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
        while sock.recv(4096):
            pass
END
# A wait that began before the recording has no stack, and one that has not
# ended by its end is not known to be idle.
python3 client.py 1 || fail "no answer"
"$DTPROF" mark --recorder "$recorder" begin >/dev/null || fail "no marker"
python3 client.py 40 || fail "no answers"
kill -QUIT $nginx
wait $nginx
"$DTPROF" mark --recorder "$recorder" end >/dev/null || fail "no marker"
record_end 0
scenario_report nginx.dtp pid,state,reason --between begin,end
"$DTPROF" report --by pid,state,reason nginx.dtp >table || fail "no table"
grep -q 'not of.* requests (nginx)' table ||
	fail "no note of requests: $(cat table)"
NGINX=$nginx SLOW=$slow py <<'END'
import json
import os

import scenarios

nginx, slow = int(os.environ["NGINX"]), int(os.environ["SLOW"])
log = [list(map(float, line.split())) for line in open("access.log")][1:]
upstream_ns = 1e9 * sum(times[1] for times in log)
slept_ns = sum(map(int, open("slept").readlines()[1:]))
assert len(log) == 40
rows = list(scenarios.rows("pid,state,reason"))
idle = scenarios.total(rows, pid=nginx, reason="idle")
late = scenarios.total(rows, pid=nginx, state="runnable")
print("nginx: idle %.1f ms, other waits %.1f ms, for a CPU %.1f; its log says"
      " %.1f for the slow server" % (idle / 1e6, (scenarios.total(rows,
      pid=nginx, state="blocked") - idle) / 1e6, late / 1e6,
      upstream_ns / 1e6))
# Its clock is as of the last event, and in milliseconds.
assert idle >= .9 * upstream_ns - late - 40e6
assert not scenarios.total(rows, pid=nginx, reason="epoll")
scenarios.near("the slow server sleeps", scenarios.total(rows, pid=slow,
               reason="sleep"), slept_ns, .02, scenarios.total(rows, pid=slow,
               state="runnable") + 2e6)
document = json.load(open("pid,state,reason.json"))
assert {"name": "nginx", "part": "requests"} in document["schedulers"]
END
ok "nginx: idle while it waits for a slow server, whose sleep is there"
