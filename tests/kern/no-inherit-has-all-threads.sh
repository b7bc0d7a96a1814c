#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: with --no-inherit -p means all threads of the process, by BPF and
# without, in recordings and in counts; with -t just the one.
#
# Easy to get wrong: to the kernel a task is a thread, and the number of a
# process that of its first one, which here only waits.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

cat >idle.c <<'END'
#include <pthread.h>
#include <stdio.h>
static volatile unsigned long n;
static void *turn(void *arg)
{
	for (;;)
		n++;
	return arg;
}
int main(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, turn, NULL) != 0)
			return 1;
	puts("ready");
	fflush(stdout);
	return pthread_join(thread[0], NULL);
}
END
${CC:-cc} -o idle idle.c -lpthread || fail "the program does not compile"
./idle >ready 9>&- &
pid=$!
kill_at_end $pid
await "its threads run" grep -q ready ready
for path in bpf perf; do
	for what in -p -t; do
		record 0 --backend $path --no-inherit -e cpu-clock -c 1000000 \
		    -o a.dtp --duration 300ms $what $pid
		py $what $pid <<'END'
import os
import sys
import recording as rec

what, pid = sys.argv[1:]
threads = {int(tid) for tid in os.listdir("/proc/%s/task" % pid)}
seen = {s["tid"] for s in rec.samples("a.dtp")}
rec.check(len(threads) == 3, "%r" % threads)
rec.check(seen - {int(pid)} == (threads - {int(pid)} if what == "-p"
                                else set()), "%s: %r" % (what, seen))
END
	done
	ok "$path: samples of both threads that run"
done
"$DTPROF" stat --json --no-inherit -e task-clock --duration 300ms -p $pid \
    >all.json 2>err || fail "$(cat err)"
"$DTPROF" stat --json --no-inherit -e task-clock --duration 300ms -t $pid \
    >first.json 2>err || fail "$(cat err)"
# The first waits all the time.
[ "$(json first.json 'j["events"][0]["values"][0]')" = 0 ] ||
    fail "the first thread: $(cat first.json)"
[ "$(json all.json 'j["events"][0]["values"][0]')" -gt 0 ] ||
    fail "all threads: $(cat all.json)"
ok "stat counts all threads of a process, or the one"
