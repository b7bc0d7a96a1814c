#!/bin/sh
# ASSERTION: doctor reads what the kernel really enforces: with knobs that are
# set for good, root and an ordinary user are told the value, the cure and
# what goes on; after that very cure the check is ok.  Counters in hardware
# are found, and how many count at once.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# Easy to get wrong: a knob that is read but means something else for who
# asks.  Settings of the machine are changed in the guest alone.

. "${SRC:=$PWD}/tests/guest/lib.sh"

guest_boot <<'END'
mkdir -p /etc
echo 'root:x:0:0::/:/bin/sh' >/etc/passwd
echo 'nobody:x:65534:65534::/:/bin/sh' >>/etc/passwd
chmod 755 / /bin
chmod 777 /tmp
user() { su -s /bin/sh nobody -c "$1"; }
knob() { echo "$2" >/proc/sys/kernel/$1 || exit 1; }
dtprof doctor --json >root
knob perf_event_paranoid 2
user 'dtprof doctor --json' >paranoid-2
knob perf_event_paranoid 0
knob kptr_restrict 0
user 'dtprof doctor --json' >paranoid-0
knob kptr_restrict 2
dtprof doctor --json >kptr-2
knob kptr_restrict 1
dtprof doctor --json >kptr-1
user 'dtprof doctor --json' >user-kptr-1
knob perf_event_max_sample_rate 400
dtprof doctor --json >rate
knob perf_event_max_sample_rate 100000
dtprof doctor --json >rate-cured
knob perf_event_mlock_kb 4
user 'ulimit -l 0; dtprof doctor --json' >locked
user 'ulimit -l 0; cd /tmp; dtprof record -o x -e cpu-clock:u -- true' \
    2>locked-record
true
END
look()		# file check state found cure
{
	verify results/"$1" "$2" "$3" "$4" "$5" <<-'END'
	import re
	row = {c["name"]: c for c in j["checks"]}[argv[0]]
	need(row["state"] == argv[1] and re.search(argv[2], row["found"]) and
	    (argv[1] == "ok" or re.search(argv[3], row["fix"])), str(row))
	END
}
look root pmu ok 'cycles can be counted; [1-9][0-9]* counters' ''
look root bpf ok . ''
look root kptr_restrict ok . ''
look paranoid-2 perf_event_paranoid degraded 'paranoid=2' 'paranoid=0'
look paranoid-2 bpf degraded 'CAP_BPF' 'setcap'
look paranoid-0 perf_event_paranoid ok '^0: all' ''
look paranoid-0 kptr_restrict ok . ''
look kptr-2 kptr_restrict degraded 'is 2' 'kptr_restrict=1 for root'
look kptr-1 kptr_restrict ok . ''
look user-kptr-1 kptr_restrict degraded 'is 1' 'kptr_restrict=0'
look rate sample_rate degraded '400 samples' '=100000'
look rate-cured sample_rate ok '100000 Hz' ''
look locked locked_memory degraded '4 KiB may be locked' 'now 4'
grep -Eq 'kernel.perf_event_mlock_kb \(now 4\)' results/locked-record ||
    fail "record says: $(cat results/locked-record)"
ok "what doctor foretold of locked memory, record says"
