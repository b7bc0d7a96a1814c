#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of programs that have more to do than CPUs or threads: where make
# -j4 runs compilers on two CPUs, they are runnable for as long as they took
# without running; where Python threads compute, a thread that sleeps in
# between waits for the GIL for as long as it is late by its own clock, and
# without them it does not; where all threads of node's pool wait for a file,
# the event loop waits for them and is not idle, the chain of wakers leads to
# who writes the file, and a note says that callbacks wait without a thread;
# goroutines that wait for a channel are said to, and take no time.
# Easy to get wrong: all of these but the compilers wait for a futex, or in the
# same event loop as when they have nothing to do.
# TIMEOUT: 300
. "${SRC:=$PWD}/tests/accept/lib-scenarios.sh"
need_recording
tmpdir

# ------------------------------------------------- make -j4 on two CPUs

compilers()
{
	cc1=$(gcc -print-prog-name=cc1)
	cat >cc.py <<-'END'
	import os
	import sys
	import time

	begin = time.monotonic_ns()
	pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
	_, status, usage = os.wait4(pid, 0)
	os.write(3, b"%d %d %d\n" % (pid, time.monotonic_ns() - begin,
	         1e9 * (usage.ru_utime + usage.ru_stime)))
	sys.exit(status != 0)
	END
	python3 - <<-'END'
	for n in range(8):
	    with open("f%d.c" % n, "w") as file:
	        for i in range(100):
	            file.write("int f%d(int a){for(int i=0;i<a;i++)"
	                       "a^=a*i+%d;return a%%3?a:f%d(a-1);}\n" %
	                       (i, n, i))
	END
	cat >Makefile <<-END
	all: f0.s f1.s f2.s f3.s f4.s f5.s f6.s f7.s
	%.s: %.c; @python3 cc.py $cc1 -quiet -O1 \$< -o \$@ 3>>took
	END
	cpus=$(taskset -pc $$ | sed 's/.*: //' | tr - , | cut -d , -f 1-2)
	record 0 -e off-cpu/min=0ns/ -o make.dtp -- \
	    taskset -c "$cpus" make -s -j4
	scenario_report make.dtp tid,state,reason --filter 'comm == "cc1"'
	py <<-'END'
	import scenarios

	own = [list(map(int, line.split())) for line in open("took")]
	rows = list(scenarios.rows("tid,state,reason"))
	assert len(own) == 8
	ran = sum(ns for _, _, ns in own)
	late = sum(ns for _, ns, _ in own) - ran
	runnable = scenarios.total(rows, state="runnable")
	blocked = scenarios.total(rows, state="blocked")
	print("cc1: ran %.1f ms, blocked %.1f" % (ran / 1e6, blocked / 1e6))
	# Its own also has the begin and the end of the process.
	scenarios.near("cc1: runnable or blocked", runnable + blocked, late,
	               .1)
	assert runnable >= .9 * late
	END
	ok "make -j4: compilers are runnable"
}

if [ "$(nproc)" -ge 2 ] && command -v gcc make taskset >/dev/null; then
	compilers
else
	echo "no two CPUs, gcc or make: no compilers"
fi

# ------------------------------------------------------------ GIL

cat >gil.py <<'END'
import sys
import threading
import time

NAP = .002
stop = False

def spin():
    while not stop:
        pass

def late():
    global stop
    print(threading.get_native_id(), end=" ")
    sum_ns = 0
    for _ in range(100):
        begin = time.monotonic_ns()
        time.sleep(NAP)
        sum_ns += time.monotonic_ns() - begin - int(1e9 * NAP)
    stop = True
    print(sum_ns)

threads = [threading.Thread(target=spin) for _ in range(int(sys.argv[1]))]
threads.append(threading.Thread(target=late))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
END
for n in 2 0; do
	record 0 -e off-cpu/min=0ns/ -o gil.dtp -- python3 gil.py $n
	mv out gil$n
	scenario_report gil.dtp tid,state,reason
	mv tid,state,reason.json rows$n.json
done
py <<'END'
import scenarios

for n in 2, 0:
    tid, late_ns = map(int, open("gil%d" % n).read().split())
    rows = list(scenarios.rows("rows%d" % n))
    gil = scenarios.total(rows, tid=tid, reason="python GIL")
    runnable = scenarios.total(rows, tid=tid, state="runnable")
    print("%d threads that compute: late by %.1f ms, GIL %.1f, for a CPU %.1f"
          % (n, late_ns / 1e6, gil / 1e6, runnable / 1e6))
    if n == 0:
        assert gil <= 2e6 + .1 * late_ns
        continue
    scenarios.near("GIL or CPU", gil + runnable, late_ns, .1, 1e7)
    others = [row for row in rows if row["tid"] == tid and
              row["state"] == "blocked" and row["reason"] != "sleep"]
    assert max(others, key=lambda row: row["total"])["reason"] == "python GIL"
END
ok "Python: a thread waits for the GIL"

# -------------------------------------------------- an exhausted pool

# All threads of the pool wait for who opens the file to write.
pool_waits()
{
	[ "$(grep -l 'wait_for_partner\|fifo_open' \
	    "/proc/$(cat pid)/task/"*/wchan | wc -l)" -eq 4 ]
}

pool()
{
	cat >pool.js <<-'END'
	'use strict';
	const fs = require('fs');
	fs.writeFileSync('pid', String(process.pid));
	const begin = process.hrtime.bigint();
	let left = 5;
	function end(error) {
		if (--left === 0)
			console.log(String(process.hrtime.bigint() - begin));
	}
	for (let n = 0; n < 4; n++)
		fs.readFile('fifo', end);
	fs.stat('.', end);
	END
	mkfifo fifo
	record_begin -e off-cpu/min=0ns/ -o node.dtp -- \
	    env UV_THREADPOOL_SIZE=4 node pool.js
	await "node runs" [ -s pid ]
	await "the pool waits" pool_waits
	# How long the wait is that the report must say.
	sleep 2
	exec 8>fifo
	exec 8>&-
	record_wait 0
	mv out took
	scenario_report node.dtp pid,tid,state,reason
	"$DTPROF" report --json --by waker-chain node.dtp >chains.json ||
	    fail "no chains"
	WRITER=$(cat /proc/$$/comm) py <<-'END'
	import json
	import os

	import scenarios

	took_ns = int(open("took").read())
	rows = list(scenarios.rows("pid,tid,state,reason"))
	document = json.load(open("pid,tid,state,reason.json"))
	print("schedulers:", document["schedulers"])
	assert {"name": "libuv", "part": "callbacks"} in document["schedulers"]
	main = [row for row in rows if row["pid"] == row["tid"]]
	print("main: idle %.1f ms, epoll %.1f ms, took %.1f ms" % (
	      scenarios.total(main, reason="idle") / 1e6, scenarios.total(main,
	      reason="epoll") / 1e6, took_ns / 1e6))
	assert scenarios.total(main, reason="idle") <= .05 * took_ns
	scenarios.near("main waits for its pool", scenarios.total(main,
	               reason="epoll", state="blocked"), took_ns, .1)
	for chain in json.load(open("chains.json"))["chains"]:
	    threads = chain["threads"]
	    if threads[0]["reason"] == "epoll" and len(threads) == 3 and \
	            threads[1]["reason"] == "file":
	        break
	print("%s: %.1f ms" % (chain["chain"], chain["time_ns"] / 1e6))
	assert threads[2]["thread"] == os.environ["WRITER"]
	assert chain["end"] == "not recorded"
	assert chain["time_ns"] >= .9 * took_ns
	END
	ok "node: its event loop waits for a pool that waits for a file"
}

if command -v node >/dev/null; then
	pool
else
	echo "no node: no exhausted pool"
fi

# -------------------------------------------------------- channels of Go

channels()
{
	cat >channels.go <<-'END'
	package main

	import (
		"fmt"
		"sync"
		"time"
	)

	func consume(from chan int, wait *sync.WaitGroup, sum *int64) {
		defer wait.Done()
		for {
			begin := time.Now()
			_, more := <-from
			*sum += time.Since(begin).Nanoseconds()
			if !more {
				return
			}
		}
	}

	func main() {
		var wait sync.WaitGroup
		sums := make([]int64, 8)
		channel := make(chan int)
		for n := range sums {
			wait.Add(1)
			go consume(channel, &wait, &sums[n])
		}
		for n := 0; n < 100; n++ {
			time.Sleep(5 * time.Millisecond)
			channel <- n
		}
		close(channel)
		wait.Wait()
		all := int64(0)
		for _, sum := range sums {
			all += sum
		}
		fmt.Println(all)
	}
	END
	HOME=$tmp GOCACHE=$tmp/go GOFLAGS=-mod=mod go build -o channels \
	    channels.go >go.log 2>&1 || fail "go: $(cat go.log)"
	record 0 -e off-cpu/min=0ns/ -o go.dtp -- ./channels
	mv out took
	scenario_report go.dtp tid,state,reason
	"$DTPROF" report --json --by state,reason,function go.dtp \
	    >functions.json || fail "no functions"
	"$DTPROF" report --by state,reason go.dtp >table || fail "no table"
	grep -q 'not of.* goroutines (Go scheduler)' table ||
	    fail "no note of goroutines: $(cat table)"
	py <<-'END'
	import json

	import scenarios

	waited_ns = int(open("took").read())
	document = json.load(open("tid,state,reason.json"))
	print("schedulers:", document["schedulers"])
	assert {"name": "Go scheduler", "part": "goroutines"} in \
	    document["schedulers"]
	rows = list(scenarios.rows("tid,state,reason"))
	scheduler = scenarios.total(rows, reason="Go scheduler") + \
	    scenarios.total(rows, reason="idle")
	blocked = scenarios.total(rows, state="blocked")
	in_main = [row for row in scenarios.rows("functions")
	           if row["name"].startswith("main.consume")]
	print("goroutines waited %.1f ms for a channel; threads were blocked"
	      " for %.1f ms, %.1f of it in the scheduler; %d rows of the"
	      " function" % (waited_ns / 1e6, blocked / 1e6, scheduler / 1e6,
	      len(in_main)))
	# The first waits of threads may have incomplete stacks.
	assert scheduler >= .2 * blocked
	assert not scenarios.total(in_main, state="blocked")
	END
	ok "Go: goroutines that wait for a channel have no thread"
}

if command -v go >/dev/null; then
	channels
else
	echo "no go: no channels"
fi
