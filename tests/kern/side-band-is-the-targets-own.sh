#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What others map costs a recorder of some tasks nothing: beside a
# storm of executable mappings it wakes less than 20 times a second and loses
# no mapping or process event of a command, a process, a thread or a cgroup,
# whose children and threads are heard of, too.  Where there are too many
# threads for an event each, it wakes for none of those mappings alone.
#
# Easy to get wrong: the kernel tells of mappings by CPU as readily as by
# task, and the recorder that drops those of others works just as well.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

"$work/storms" mmap >storm.txt &
storm=$!
kill_at_end "$storm"

wakes()
{
	awk '/^voluntary_ctxt/ { print $2 }' "/proc/$recorder/status"
}

# A recorder that has nothing to do, for a second or so.
idle()		# argument ...
{
	record_begin -o idle.dtp "$@" -e syscall::close:entry
	from=$(date +%s%N) woken=$(wakes)
	sleep 1
	woken=$(($(wakes) - woken)) passed=$(($(date +%s%N) - from))
	record_end 0
}
seldom()	# what
{
	[ $((woken * 50000000)) -lt "$passed" ] ||
	    fail "$1: $woken wake-ups in $passed ns"
	ok "$1: $woken wake-ups in $((passed / 1000000)) ms"
}

sleep 1000 &
sleeper=$!
kill_at_end "$sleeper"
idle -p "$sleeper"
seldom "a process"
idle -t "$sleeper"
seldom "a thread"

# Its own mappings, at once: each is heard of, or is said to be lost.
cat >family.py <<'END'
import mmap
import os
import sys
import threading

def maps(n):
    with open(sys.argv[1], "rb") as file:
        for i in range(n):
            mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE,
                      prot=mmap.PROT_READ | mmap.PROT_EXEC).close()

sys.stdin.readline()
maps(100)
thread = threading.Thread(target=maps, args=(100,))
thread.start()
thread.join()
if os.fork() == 0:
    maps(100)
    os._exit(0)
os.wait()
END
cp "$DTPROF" mapped || fail "no file to map"
heard()		# what file
{
	py "$1" "$2" <<'END'
import sys
import recording as rec

what, file = sys.argv[1:]
lost = rec.report(file)["recording"]["sideband_lost"]
mine = [r["pid"] for r in rec.records(file, "mapping-events")
        if r["type"] == "mmap" and r["path"].endswith("/mapped")]
rec.check(lost == 0, "%s: %d lost" % (what, lost))
rec.check(len(mine) == 300 and len(set(mine)) == 2,
          "%s: %d mappings of %d processes" % (what, len(mine),
                                               len(set(mine))))
rec.ok("%s: 300 mappings, by a thread and a child too, none lost" % what)
END
}

record 0 -o command.dtp -F 99 -- sh -c \
    "exec python3 family.py mapped </dev/null"
heard "a command" command.dtp

mkfifo go
python3 family.py mapped <go &
family=$!
kill_at_end "$family"
exec 8>go
record_begin -o pid.dtp -F 99 -p "$family"
echo >&8
wait "$family" || fail "the family: status $?"
record_wait 0
heard "a process" pid.dtp

cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
group=$cgroups/dtprof-test.$$
if [ -n "$cgroups" ] && mkdir "$group" 2>/dev/null; then
	at_end()
	{
		rmdir "$group" 2>/dev/null
	}
	python3 family.py mapped <go &
	family=$!
	kill_at_end "$family"
	exec 8>go
	echo "$family" >"$group/cgroup.procs"
	record_begin -o group.dtp -F 99 --cgroup "$group"
	echo >&8
	wait "$family" || fail "the family: status $?"
	record_end 0
	heard "a cgroup" group.dtp
fi

# Too many threads for as many descriptors as there may be.
cat >threads.py <<'END'
import threading

go = threading.Event()
for n in range(200):
    threading.Thread(target=go.wait, daemon=True).start()
print("ready", flush=True)
go.wait()
END
python3 threads.py >ready &
threads=$!
kill_at_end "$threads"
await "200 threads" grep -q ready ready
cpus=$(getconf _NPROCESSORS_ONLN)
# shellcheck disable=SC3045	# dash has it, too
ulimit -n $((cpus * 200)) || fail "no limit of open files"
idle -p "$threads"

kill "$storm"
wait "$storm"
[ "$(cat storm.txt)" -gt 10000 ] || fail "no storm: $(cat storm.txt)"
ok "beside a storm of $(cat storm.txt) mappings"
[ $((woken * 2000)) -lt "$(cat storm.txt)" ] ||
    fail "200 threads: $woken wake-ups for $(cat storm.txt) mappings"
ok "200 threads for which there are no descriptors: $woken wake-ups"
