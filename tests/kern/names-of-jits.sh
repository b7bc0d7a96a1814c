#!/bin/sh
# ASSERTION: code that a process made in memory has the names that it left in
# perf-PID.map, also in a container and when the process is gone; but no map
# is believed that belongs to a stranger, is a link, is older than the process
# or was changed after its end.
. "${SRC:=$PWD}/tests/kern/lib-names.sh"
need_cmd unshare
cat >jit.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* mov %edi,%ecx; dec %ecx; jnz -4; ret */
static const unsigned char code[] =
	{ 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
/* jit NAME LOG COMMAND: NAME_a and NAME_b, the same code at two places. */
int main(int argc, char **argv)
{
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64], line[128];
	void (*fn[2])(int) = { (void *)(at + 64), (void *)(at + 256) };
	struct timespec ts;
	FILE *log, *map;

	memcpy(at + 64, code, sizeof(code));
	memcpy(at + 256, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (strcmp(argv[1], "none") != 0) {
		map = fopen(path, "w");
		fprintf(map, "%lx %zx %s_a\n%lx %zx %s_b\n", (long)fn[0],
		    sizeof(code), argv[1], (long)fn[1], sizeof(code), argv[1]);
		fclose(map);
	}
	log = fopen(argv[2], "a");
	snprintf(line, sizeof(line), "%s %lx %lx\n", argv[1], (long)fn[0],
	    (long)fn[1]);
	fputs(line, log);
	fclose(log);
	do {
		fn[0](20000);
		fn[1](20000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while (ts.tv_nsec < 40000000 && ts.tv_sec == 0);
	snprintf(line, sizeof(line), "PID=%d; %s", getpid(), argv[3]);
	return system(line) != 0;
}
END
[ "$(uname -m)" = x86_64 ] || skip "its code is for x86-64"
cc -O1 -o jit jit.c || fail "cc"
for who in own box stranger link old fifo late; do cp jit jit-$who; done
cp "$DTPROF" ours
mkfifo ready hold
cat >seen.sh <<'END'
for n in 1 2 3; do
	tries=100	# a busy recorder may answer too late
	until ./ours mark --recorder "$1" seen; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || exit 1
	done
done
END
# In a /tmp of its own.  Processes without a map of their own find one of each
# kind that is to be refused; it would name everything.
cat >work.sh <<'END'
map='/tmp/perf-$PID.map' seen="sh seen.sh $PPID"
fake='printf "0 7fffffffffff fake_name\n"'
./jit-own own log "$seen" || exit 1
./jit-stranger none log "$fake >$map; chown 65534 $map; $seen" || exit 2
./jit-link none log "$fake >/tmp/other; ln -s other $map; $seen" || exit 3
./jit-old none log "$fake >$map; touch -d 2001-01-01 $map; $seen" || exit 4
./jit-fifo none log "mkfifo $map; $seen" || exit 5
./jit-late late log "cp $map late.map; echo $map >late.path; $seen" || exit 6
$seen || exit 7
printf '0 7fffffffffff fake_name\n' >"$(cat late.path)"
# Another pid inside than outside.
unshare -p -f --mount-proc ./jit-box box log 'echo >ready; read x <hold' &
read -r x <ready && $seen && echo >hold
wait
END
# Where marks go is seen from in there as /mnt.
TMPDIR=$PWD
export TMPDIR
record 0 -o a.dtp -F 4999 --call-graph fp -- unshare -m sh -c \
    'mount --bind . /mnt && mount -t tmpfs none /tmp &&
    TMPDIR=/mnt exec sh work.sh'
"$names" a.dtp >names || fail "the tool"
cat >check.py <<'END'
import collections
from recording import check, ok

places = {}
for line in open("log"):
    who, *starts = line.split()
    for start, letter in zip(starts, "ab"):
        places.setdefault(int(start, 16), set()).add((who, letter))
seen = collections.Counter()
for line in open("names"):
    _, pid, time, side, depth, pc, module, why, name = line.rstrip(
        "\n").split("\t")
    check("fake" not in name, "pid %s believed: %s" % (pid, name))
    if side != "u" or depth != "0" or module not in ("[jit]", "[anon]"):
        continue
    pc = int(pc, 16)
    here = [who + "_" + letter for start in places if
            start <= pc < start + 7 for who, letter in places[start]]
    if module == "[jit]":
        check(name in here, "%x is %s, not one of %s" % (pc, name, here))
    seen[name if module == "[jit]" else here[0][:-2]] += 1
for name in ("own_a", "own_b", "box_a", "box_b", "none", "late"):
    check(seen[name] > 10, "%s: %d samples" % (name, seen[name]))
for name in ("none_a", "late_a", "late_b"):
    check(seen[name] == 0, "named: %s" % name)
ok("maps of processes that ended, one in a namespace: %s" % dict(seen))
ok("of strangers, through links, of before, changed since: none believed")
END
python3 check.py
