#!/bin/sh
# ASSERTION: whether perf_event_paranoid is 2 or 3, a lower rate and a move from
# tasks to CPUs open their events after privileges are dropped, and a recorder
# has the capabilities that doc/PRIVILEGES.md says.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# Easy to get wrong: CAP_PERFMON does on mainline, but Debian's kernels, where
# 3 is the default, refuse each event without CAP_SYS_ADMIN.

. "${SRC:=$PWD}/tests/guest/lib.sh"

guest_boot <<'END'
record='dtprof record -q --call-graph none -e cpu-clock'
for knob in 2 3; do
	echo $knob >/proc/sys/kernel/perf_event_paranoid
	$record -F 5000 --max-overhead 0.01 --attach cpus -o rate$knob.dtp \
	    -- sh -c "guest_burn 500; cat /proc/\$PPID/status >rate$knob" ||
	    exit
	$record -F 100 -o place$knob.dtp -- sh -c "n=0
	    while [ \$n -lt 100 ]; do n=\$((n + 1)); /bin/true; done
	    cat /proc/\$PPID/status >place$knob; guest_burn 100" || exit
	$record --attach tasks -o tasks$knob.dtp -- sh -c "guest_burn 100
	    cat /proc/\$PPID/status >tasks$knob" || exit
done
END

same_as()	# status mode
{
	python3 - "$1" "$2" "$SRC/doc/PRIVILEGES.md" <<-'END' || fail "$1"
	import sys
	bits = {"dac_read_search": 2, "kill": 5, "sys_ptrace": 19,
	    "sys_admin": 21, "perfmon": 38, "bpf": 39,
	    "checkpoint_restore": 40}
	rows = [[cell.strip() for cell in line.split("|")[1:-1]]
	    for line in open(sys.argv[3])]
	caps = [row[2].split() for row in rows if len(row) == 6 and
	    row[0] == sys.argv[2] and row[1] == "dtprof"]
	want = sum(1 << bits[cap] for cap in caps[0])
	lines = dict(line.split(":", 1) for line in open(sys.argv[1]))
	got = [int(lines[key], 16) for key in ("CapPrm", "CapEff")]
	print("%s: %x, %s" % (sys.argv[1], want, ["%x" % n for n in got]))
	sys.exit(got != [want, want])
	END
}

for knob in 2 3; do
	for what in rate place; do
		"$DTPROF" report --stats --json results/$what$knob.dtp \
		    >$what.json || fail "$what$knob"
		verify $what.json $what $knob <<-'END'
		info = j["recording"]["info"]
		say = {"rate": "less.rate", "place": "attach.moved"}[argv[0]]
		need(say in info, "paranoid %s: %s" % (argv[1], info.get(say,
		    [info[key] for key in info if key.startswith("note")])))
		END
	done
done
for what in rate2 place2 tasks2 tasks3; do
	same_as results/$what 'bpf command'
done
for what in rate3 place3; do
	same_as results/$what 'bpf reopen command'
done
ok "capabilities are as documented"
