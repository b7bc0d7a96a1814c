#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: each capability that doc/PRIVILEGES.md lists for a mode is needed
# there: without this one alone something is missing that is there with it, and
# the table has no capability besides those that are looked at here.
#
# Easy to get wrong: a list of capabilities only grows, and what one is for may
# long be done by another, or not at all.
# TIMEOUT: 600
. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd setpriv unshare clang++ gdb bpftrace
faulty=$B/tests/interop/dtprof_faulty
tmpdir

user()		# command ...
{
	setpriv --reuid=1234 --regid=1234 --clear-groups --inh-caps=-all "$@"
}

# What is recorded is done when there is a recorder already without it.
begin()		# argument ...
{
	"$faulty" record -q -o a.dtp "$@" >out 2>err </dev/null &
	recorder=$!
	kill_at_end "$recorder"
	await_recording "$recorder"
}

end()
{
	kill -INT "$recorder"
	wait "$recorder"
}

# Resolved now, without the file: so it was while recording.
named()		# function
{
	"$faulty" report --by function --csv a.dtp 2>err2 | grep -q "\"$1\""
}

# ------------------------------------------------------------- scenarios
# Each succeeds if what the capability is for is done.

more_tables()
{
	printf '#include <map>\nstd::map<int, int> a;\n' >a.cc
	"$faulty" record -q -o a.dtp -F 500 -e cpu-clock -- \
	    sh -c 'until grep -q "^NoNewPrivs:.*1" /proc/$PPID/status; do :
	    done; clang++ -O2 -c a.cc; gdb --version' >out 2>err
	"$faulty" report --stats --json a.dtp >tables.json 2>err2
	bytes=$(json tables.json 'j["recording"]["info"]["unwind.bytes"]')
	echo "$bytes bytes of tables"
	# More than what there was room for when it began.
	[ "$bytes" -gt 8388608 ]
}

lower_rate()
{
	"$faulty" record -o a.dtp -a --include-self -e cpu-clock -c 200000 \
	    --max-overhead 0.001 --duration 3s >out 2>err
	grep -q 'rate lowered to' err
}

walk_what_has_no_name()
{
	begin -a -F 500 -e cpu-clock
	python3 -c 'import os
fd = os.memfd_create("gone", 0)
os.write(fd, open(os.environ["work"] + "/spin", "rb").read())
os.execve(fd, ["gone", "500"], os.environ)' >/dev/null
	end
	"$faulty" script a.dtp 2>err2 | grep -q 'turn+.*memfd:gone'
}

name_in_namespace()
{
	begin -a -F 500 -e cpu-clock
	cp "$work/spin" in
	unshare -m sh -c 'mount -t tmpfs none /mnt && cp in /mnt/in &&
	    chmod 755 /mnt /mnt/in && exec setpriv --reuid=1234 --regid=1234 \
	    --clear-groups --inh-caps=-all /mnt/in 500' >/dev/null
	end
	named turn
}

name_private()
{
	cp "$work/spin" private && chown 1234 private && chmod 700 private
	chmod 755 .
	begin -a -F 500 -e cpu-clock
	user ./private 500 >/dev/null
	end
	rm private
	named turn
}

name_kernel()
{
	"$work/refuse" bpf "$faulty" record -q -o a.dtp -F 500 -e cpu-clock -- \
	    dd if=/dev/zero of=/dev/null bs=1M count=2000 >out 2>err
	! "$faulty" report --stats a.dtp 2>err2 | grep 'hidden .*kernel'
}

# The command is 1234's, and does not end by itself.
interrupt()	# word argument ...
{
	SUDO_UID=1234 SUDO_GID=1234 "$faulty" "$@" -- sleep 6 >out 2>err \
	    </dev/null &
	recorder=$!
	kill_at_end "$recorder"
	await "it is confined" grep -q '^NoNewPrivs:[[:space:]]*1' \
	    "/proc/$recorder/status"
	kill -INT "$recorder"
	wait "$recorder"
	[ $? -eq 130 ]
}

interrupt_recorded()
{
	interrupt record -q -o a.dtp
}

interrupt_counted()
{
	interrupt stat -e task-clock
}

note_of_tracer()
{
	bpftrace -e 'tracepoint:sched:sched_process_fork { }' >out 2>err &
	tracer=$!
	kill_at_end "$tracer"
	await "it traces" grep -q Attach out
	"$faulty" stat -a -e sched:sched_process_fork --duration 300ms \
	    >out 2>err
	kill "$tracer"
	wait "$tracer"
	grep -q "another tracer's BPF program" err
}

wait_without_membarrier()
{
	"$B/tests/work/refuse" membarrier "$faulty" stat -e context-switches \
	    --per-process -a -- true >out 2>err
}

see_target()
{
	user sleep 20 &
	target=$!
	kill_at_end "$target"
	unshare -m sh -c 'mount -t proc -o hidepid=2,gid=27 proc /proc &&
	    exec "$@"' sh "$faulty" stat -e task-clock --json -p "$target" \
	    --duration 1s >out 2>err
	[ "$(json out 'j["runs"][0]["wall_s"] > 0.9')" = True ]
}

has_kernel()
{
	"$DTPROF" report --csv "$CUT" | grep -Fq '[kernel]'
}

# Of a program of 1234's, whose source only 1234 may read; and one that was
# killed before the kernel's names were in it.
prepare()
{
	DATA=$tmp/data.dtp CUT=$tmp/cut.dtp
	mkdir -m 755 src
	for n in 1 2 3 4 5 6 7 8; do
		echo "secret line $n"
	done >src/secret
	cat >work.c <<-END
	#line 1 "$tmp/src/secret"
	int main(void)
	{
		volatile unsigned n = 0;
		while (n < 90000000) n++;
		return (0);
	}
	END
	"${CC:-cc}" -g -O0 -Wl,--build-id -o src/work work.c || fail cc
	chown 1234:1234 src/secret src/work
	chmod 600 src/secret
	"$DTPROF" record -q -F 500 -e cpu-clock -o "$DATA" -- src/work ||
	    fail record
	"$DTPROF" record -q -F 500 -e cpu-clock -o "$CUT" -a >out 2>err &
	recorder=$!
	kill_at_end "$recorder"
	dd if=/dev/zero of=/dev/null bs=1M 2>/dev/null &
	writer=$!
	kill_at_end "$writer"
	await "samples of the kernel are in the file" has_kernel
	kill -9 "$recorder" "$writer"
	wait "$recorder" "$writer"
}

write_his()
{
	rm -rf his
	mkdir -m 755 his && chown 1234 his
	"$faulty" export -o his/out "$DATA" >out 2>err
}

give_his()
{
	rm -rf his
	mkdir -m 777 his
	SUDO_UID=1234 SUDO_GID=1234 "$faulty" export -o his/out "$DATA" \
	    >out 2>err
	[ "$(stat -c %u his/out 2>/dev/null)" = 1234 ]
}

# By the writer of a ring, long after the recorder began.
dump_his()
{
	rm -rf his
	mkdir -m 755 his && chown 1234 his
	"$faulty" record -q --ring 1M -o 'his/d.%n' -- true >out 2>err
	[ -f his/d.1 ]
}

give_dump()
{
	rm -rf his
	mkdir -m 777 his
	SUDO_UID=1234 SUDO_GID=1234 "$faulty" record -q --ring 1M \
	    -o 'his/d.%n' -- true >out 2>err
	[ "$(stat -c %u his/d.1 2>/dev/null)" = 1234 ]
}

name_kernel_later()
{
	"$faulty" report --stats "$CUT" >out 2>err
	grep -q '^addresses of [1-9]' out || {
		echo "nothing in it: $(cat out)"
		return 1
	}
	! grep 'hidden .*kernel' out
}

show_source()
{
	"$faulty" annotate --source main "$DATA" >out 2>err
	grep -q 'secret line' out
}

# --------------------------------------------------------------- the rows

rows=$SRC/doc/PRIVILEGES.md
names="chown dac_override dac_read_search fowner fsetid kill setgid setuid
setpcap linux_immutable net_bind_service net_broadcast net_admin net_raw
ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct
sys_admin sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease
audit_write audit_control setfcap mac_override mac_admin syslog wake_alarm
block_suspend audit_read perfmon bpf checkpoint_restore"

number_of()	# capability
{
	number=0
	for name in $names; do
		[ "$name" = "$1" ] && return
		number=$((number + 1))
	done
	fail "no such capability: $1"
}

needs()		# mode capability scenario
{
	DTPROF_WITHOUT=63
	export DTPROF_WITHOUT
	"$3" >said || {
		cat said err
		fail "$1: $3 fails with all of them"
	}
	number_of "$2"
	DTPROF_WITHOUT=$number
	if "$3" >said; then
		fail "$1: $3 does without $2: $(cat said err)"
	fi
	unset DTPROF_WITHOUT
	echo "$1 $2" >>asked
	ok "$1, $2: not $3: $(cat said err | tail -n 1 | cut -c 1-120)"
}

prepare
needs bpf bpf more_tables
needs bpf perfmon lower_rate
needs bpf checkpoint_restore walk_what_has_no_name
needs bpf sys_ptrace name_in_namespace
needs bpf dac_read_search name_private
# Without BPF the kernel is sampled, and hidden, only where both are so.
if [ "$(cat /proc/sys/kernel/kptr_restrict)" -eq 1 ] &&
    [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]; then
	needs perf syslog name_kernel
else
	echo "perf syslog" >>asked
	echo "perf, syslog: these settings do not show it"
fi
# Only some kernels want it: tests/guest/privileges-open-events-later.sh.
echo "bpf reopen sys_admin" >>asked
needs "bpf command" kill interrupt_recorded
needs "bpf ring" dac_override dump_his
needs "bpf ring" chown give_dump
needs stat perfmon note_of_tracer
needs "stat target" sys_ptrace see_target
needs "stat apart" bpf wait_without_membarrier
needs "stat command" kill interrupt_counted
needs read dac_override write_his
needs read chown give_his
needs read fowner give_his
needs read setuid show_source
needs read setgid show_source
needs read syslog name_kernel_later

# Which the table has: modes besides have what these have.
py "$rows" asked <<'END'
import sys
from recording import check, ok

asked = set(line.strip() for line in open(sys.argv[2]))
base = {"bpf command": ["bpf"], "bpf reopen": ["bpf"],
        "bpf ring": ["bpf"],
        "bpf reopen command": ["bpf", "bpf command", "bpf reopen"],
        "stat command": ["stat"],
        "stat target": ["stat"], "stat apart": ["stat"], "perf": ["bpf"],
        "perf command": ["bpf", "bpf command", "perf"]}
n = 0
for line in open(sys.argv[1]):
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    if len(cells) != 6 or cells[4] != "0" or (
            cells[1] != "dtprof" and cells[:2] != ["bpf ring",
                                                   "dtprof-writer"]):
        continue
    for cap in cells[2].split():
        n += 1
        check(any("%s %s" % (mode, cap) in asked for mode in
                  [cells[0]] + base.get(cells[0], [])),
              "%s: what is %s for?" % (cells[0], cap))
check(n > 20, "%d capabilities in the table" % n)
ok("%d capabilities of the table are needed" % n)
END
