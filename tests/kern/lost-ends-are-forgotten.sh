#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what the recorder keeps of processes it lets go after they ended,
# also where the events of their ends were lost: mappings of 60 other processes
# have room where theirs had.  The recording tells of no end that was not seen.
#
# Easy to get wrong: without the event nothing ever says that they ended, and a
# recorder beside storms grows until its limit.

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
				usleep(20000);
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

# Their mappings are recorded, their ends are not: the buffers are full then.
wave()		# number
{
	rm -f ready
	./holders 60 4000 >"pids.$1" &
	holders=$!
	kill_at_end $holders
	await "children that wait" test -e ready
	sleep 2
	full=$(memory)
	kill -STOP "$recorder"
	"$work/storms" vfork >storms.out &
	storms=$!
	kill_at_end $storms
	sleep 3
	xargs kill -9 <"pids.$1"
	wait $holders
	kill $storms
	kill -CONT "$recorder"
}

# A limit makes buffers small.
record_begin -a -o a.dtp -e cpu-clock -F 49 --max-overhead 90
before=$(memory)
wave 1
first=$((full - before))
[ $first -gt 10000 ] || fail "$first kB"
# The kernel is asked after a loss, and not more than every 10 s.
sleep 25
wave 2
second=$((full - before))
[ $((2 * second)) -lt $((3 * first)) ] || fail "$first kB, then $second kB"
ok "mappings of 60 processes: $first kB, of others after them: $second kB"
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
print("%d begins, %d ends were seen" % (len(begins), len(ends)))
assert len(ends) < 60
END
ok "no end is told of that was lost"
