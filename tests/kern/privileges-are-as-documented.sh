#!/bin/sh
# ASSERTION: from the start of a recording to its end the recorder, its threads
# and its children have exactly the capabilities, the flags and the user that
# doc/PRIVILEGES.md says, with a command and without, with BPF and without, as
# root and as an ordinary user; so has what counts, and what reads a recording
# as root, and its helper.
#
# Easy to get wrong: capabilities are a thread's, not a process's, so that one
# thread that was forgotten keeps all that root has.
. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd setpriv
tmpdir
cat >watch.py <<'END'
import os
import sys
import time
from recording import check, ok

names = """chown dac_override dac_read_search fowner fsetid kill setgid setuid
setpcap linux_immutable net_bind_service net_broadcast net_admin net_raw
ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct
sys_admin sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease
audit_write audit_control setfcap mac_override mac_admin syslog wake_alarm
block_suspend audit_read perfmon bpf checkpoint_restore""".split()
mode, doc, pid, user = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
LOOKS = 20      # before anything is done
want = {}
for line in open(doc):
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    if len(cells) == 6 and (cells[0] == mode or (
            cells[0] == "record" and mode.split()[0] in ("bpf", "perf"))):
        caps = sum(1 << names.index(cap) for cap in cells[2].split())
        want[cells[1]] = (caps if user == "0" else 0, cells[3], cells[4],
                          "65534" if cells[5] == "nobody" else user)
rows = {"bpf": 6, "perf": 6, "stat": 1, "read": 2}[mode.split()[0]]
check(len(want) == rows, "the table has %d rows for %s" % (len(want), mode))


def children(process):
    found = []
    for task in os.listdir("/proc/%d/task" % process):
        found += open("/proc/%d/task/%s/children" % (process, task)
                      ).read().split()
    return [int(child) for child in found]


def look(process):
    for task in os.listdir("/proc/%d/task" % process):
        text = open("/proc/%d/task/%s/status" % (process, task)).read()
        line = dict(part.split(":", 1) for part in text.splitlines())
        line = {key: value.strip() for key, value in line.items()}
        if line["Name"] not in want or line["State"][0] in "ZX":
            continue
        caps = {key: int(line[key], 16) for key in
                ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
        got = (caps["CapEff"], line["NoNewPrivs"], line["Seccomp"],
               line["Uid"].split()[0])
        # A recorder's name is also that of a command before its exec.
        check(got == want[line["Name"]] and caps["CapPrm"] == caps["CapEff"]
              and caps["CapInh"] == caps["CapAmb"] == 0 and
              (caps["CapBnd"] == 0 or user != "0" or got[1] == "0"),
              "%s: %s is %s, %s; not %s" % (mode, line["Name"], got, caps,
                                           want[line["Name"]]))
        seen[line["Name"]] = seen.get(line["Name"], 0) + 1


seen = {}
looks = 0
while True:
    looks += 1
    if looks == LOOKS:
        open("watched", "w").close()
    try:
        look(pid)
        for child in children(pid):
            name = open("/proc/%d/comm" % child).read().strip()
            if name in ("dtprof-keeper", "dtprof-reader"):
                look(child)
                for parser in children(child):
                    look(parser)
    except (FileNotFoundError, ProcessLookupError):
        if not os.path.exists("/proc/%d/task/%d" % (pid, pid)):
            break
    try:
        if open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1][1] in "ZX":
            break
    except (FileNotFoundError, ProcessLookupError):
        break
    time.sleep(0.002)
missing = set(want) - set(seen)
if mode.startswith("perf"):
    # Without BPF nobody makes tables.
    missing -= {"dtprof-opener", "dtprof-parser"}
if mode != "bpf":
    # Of all processes, this one has functions to be named.
    missing -= {"dtprof-namer"}
check(not missing, "%s: never seen: %s" % (mode, missing))
ok("%s, user %s: %s" % (mode, user, seen))
END

watched()	# mode user: begin
{
	rm -f watched
	python3 watch.py "$1" "$SRC/doc/PRIVILEGES.md" "$recorder" "$2" \
	    >watch.out 2>&1 8>&- &
	watcher=$!
	await "it is watched" test -e watched
}

watch()		# mode user status: from a mark that was answered to the end
{
	await_recording "$recorder"
	watched "$1" "$2"
	# Something new to read.
	"$work/known" 20 >/dev/null
	record_end "$3"
	wait "$watcher" || { cat watch.out; fail "$1"; }
	cat watch.out
}

begin()		# command ...
{
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null &
	recorder=$!
	kill_at_end "$recorder"
}

begin "$DTPROF" record -q -o a.dtp -a
watch bpf 0 0
begin "$DTPROF" record -q --ring 1M -o 'a.%n.dtp' -a
watch "bpf ring" 0 0
begin "$DTPROF" record -q -o a.dtp -- sleep 100
# It may move to CPUs.
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	watch "bpf command" 0 130
else
	watch "bpf reopen command" 0 130
fi
drop=-bpf,-sys_admin,-perfmon
begin setpriv --bounding-set "$drop" --inh-caps "$drop" "$DTPROF" record -q \
    -o a.dtp -- sleep 100
watch "perf command" 0 130

# What counts has no mark to wait for, but then it is confined.
is_confined()
{
	grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$recorder/status"
}

count()		# mode status argument ...
{
	count_mode=$1 count_status=$2
	shift 2
	begin "$DTPROF" stat -e task-clock "$@"
	await "$count_mode is confined" is_confined
	watched "$count_mode" 0
	record_end "$count_status"
	wait "$watcher" || { cat watch.out; fail "$count_mode"; }
	cat watch.out
}

count stat 0 -a
count "stat command" 130 -- sleep 100
count "stat command" 130 -r 1 -I 50 -- sleep 100
count "stat target" 0 -p $$
count "stat apart" 0 -a --per-process
# With more to do it is started again, as what it was.
begin "$DTPROF" stat -e task-clock -r 2 -- sh -c 'echo >>ran; sleep 2'
await "the first run" test -s ran
is_confined && fail "the second run could not be armed"
await "the second run is confined" is_confined
[ "$(wc -l <ran)" -eq 2 ] || fail "confined before the last run"
record_wait 0
ok "with -r the last run is"

# What reads has asked its helper for a file when that file is opened.
mkfifo pipe
begin "$DTPROF" report pipe
exec 8>pipe
watched read 0
cat a.dtp >&8
exec 8>&-
record_wait 0
wait "$watcher" || { cat watch.out; fail "read"; }
cat watch.out

[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || exit 0
mkdir -m 777 theirs
cp "$DTPROF" theirs/dtprof
cd theirs || fail "cd"
begin setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
    env HOME=/nonexistent TMPDIR="$PWD" ./dtprof record -q -o a.dtp -- sleep 100
TMPDIR=$PWD
export TMPDIR
cd ..
watch "perf command" 65534 130
