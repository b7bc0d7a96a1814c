#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the recorder forgets the mappings of processes that exited, even
# if the exit events were lost: after 60 such processes, 60 others need at most
# half as much memory again.  Exits without an event are not in the recording.
#
# Easy to get wrong: if the event is lost, nothing else reports the exit, and
# the recorder grows.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

cat >holders.c <<'END'
/* So many children with so many executable mappings wait to be killed. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	int children = atoi(argv[1]), mappings = atoi(argv[2]), status;
	int fd = open("/proc/self/exe", O_RDONLY);

	for (int n = 0; n < children; n++) {
		pid_t child = fork();
		char *at;

		if (child != 0) {
			printf("%d\n", child);
			continue;
		}
		at = mmap(NULL, 8192ul * mappings, PROT_NONE, MAP_PRIVATE |
		    MAP_ANONYMOUS, -1, 0);
		for (int m = 0; m < mappings; m++) {
			if (mmap(at + 8192ul * m, 4096, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
				abort();
			if (m % 50 == 0)
				usleep(100000);
		}
		kill(getpid(), SIGSTOP);
		for (;;)
			pause();
	}
	fclose(stdout);
	for (int n = 0; n < children; n++)
		waitpid(-1, &status, WUNTRACED);
	close(open("ready", O_CREAT | O_WRONLY, 0644));
	while (wait(&status) > 0)
		continue;
	return (argc != 3);
}
END
compile -o holders holders.c || fail "no program"

memory()	# kB
{
	awk '/^RssAnon/ { print $2 }' "/proc/$recorder/status"
}

# Two marks: what happened before the first was read then.
caught_up()
{
	"$DTPROF" mark --recorder "$recorder" one &&
	    "$DTPROF" mark --recorder "$recorder" two || fail "no marks"
}

# 1,000 processes fill the buffer of a CPU, which has 128 KiB.
buffers_fill()
{
	for cpu in $(python3 -c '
import os
print(*os.sched_getaffinity(0))'); do
		taskset -c "$cpu" "$work/spawn" names 1000 >spawned ||
		    fail "no processes on CPU $cpu"
	done
}

# Processes whose mappings are recorded, and whose exit events find no room.
wave()		# number
{
	rm -f ready
	./holders 60 2000 >"pids.$1" &
	holders=$!
	kill_at_end $holders
	await "children that wait" test -e ready
	caught_up
	full=$(memory)
	kill -STOP "$recorder"
	buffers_fill
	xargs kill -9 <"pids.$1"
	wait $holders
	kill -CONT "$recorder"
}

mkdir names
for n in $(seq 0 99); do
	ln -s "$work/spawn" "names/p$n"
done
# With a limit, process events have small buffers.
record_begin -a -o a.dtp -e cpu-clock -F 49 --max-overhead 90
before=$(memory)
wave 1
first=$((full - before))
[ $first -gt 10000 ] || fail "$first kB"
# At most every 10 s the recorder looks for them, and it forgets them 4 s later.
sleep 15
caught_up
wave 2
second=$((full - before))
[ $((2 * second)) -lt $((3 * first)) ] || fail "$first kB, then $second kB"
ok "60 processes: $first kB, another 60: $second kB"
record_end 0
balance a.dtp
"$DTPROF" script --show process-events --json a.dtp >events ||
    fail "no script"
py <<'END'
import json

pids = {int(line) for line in open("pids.1")}
events = [json.loads(line) for line in open("events")]
ends = {e["pid"] for e in events if e["type"] == "exit"} & pids
begins = {e["pid"] for e in events if e["type"] == "fork"} & pids
print("%d forks and %d exits are in the recording" % (len(begins), len(ends)))
assert not ends
END
ok "lost exits are not in the recording"
