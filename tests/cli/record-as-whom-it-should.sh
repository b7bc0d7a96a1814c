#!/bin/sh
# ASSERTION: A copy of dtprof with cap_bpf and cap_perfmon, and neither less
# nor more, lets an ordinary user record commands, the whole machine and
# tracepoints through BPF; cap_syslog adds names of the kernel, cap_sys_ptrace
# what other users' processes have mapped.  What is recorded has none of these
# capabilities; under sudo it is the caller's process, with the caller's
# groups; so is all that bench --record runs.  Recordings belong to who asked.
#
# Easy to get wrong: a command that is started with the recorder's privileges
# behaves otherwise than it does alone, and leaves files that its owner cannot
# remove.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_bpf
need_root
need_cmd setcap setpriv python3
tmpdir
mkdir user
chown 65534:65534 user
cp "$B/tests/work/spin" .
user="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"

with()		# capabilities: a copy of the program that has them
{
	rm -f dtprof
	cp "$DTPROF" dtprof
	setcap "$1+ep" dtprof || fail "setcap $1"
}

path_of()	# recording
{
	"$DTPROF" report --stats --json "$1" 2>/dev/null |
	    json /dev/stdin 'j["recording"]["backend"]'
}

# Does a recording hold names of the kernel, for who may see no others?  In
# $named, True or False; in $() a failure would end just what is in there.
kernel_names()	# recording
{
	# shellcheck disable=SC2086
	$user "$tmp/dtprof" report --json "$1" 2>/dev/null >r.json ||
	    fail "report"
	named=$(json r.json 'any(f["module"] == "[kernel]" and
    f["name"] != "[kernel]" for f in j["functions"])') || fail "$named"
}

own='id -u; id -G; grep -E "^Cap(Inh|Prm|Eff|Amb)" /proc/self/status |
    cut -f 2 | sort -u'

with cap_bpf,cap_perfmon
# shellcheck disable=SC2086
{
	expect 0 $user ./dtprof record -q -o user/a -e cpu-clock -- sh -c "$own"
	[ "$(cat out)" = "65534
65534
0000000000000000" ] || fail "the command ran as: $(cat out)"
	[ "$(path_of user/a)" = bpf ] || fail "two capabilities do not do"
	[ "$(stat -c %u:%g:%a user/a)" = 65534:65534:600 ] ||
	    fail "$(ls -l user/a)"
	expect 0 $user ./dtprof record -q -o user/b -e sched:sched_switch -- \
	    sleep 0.01
	[ "$(path_of user/b)" = bpf ] || fail "no tracepoint"
	"$DTPROF" script user/b 2>/dev/null | grep -q sched_switch ||
	    fail "a tracepoint that did not fire"
	expect 0 $user ./dtprof record -q -a -o user/c -e cpu-clock -- \
	    dd if=/dev/zero of=/dev/null bs=64k count=20000
	[ "$(path_of user/c)" = bpf ] || fail "not the whole machine"
	ok "cap_bpf and cap_perfmon: commands, everything, tracepoints"

	for one in cap_bpf cap_perfmon; do
		with $one
		expect 125 $user ./dtprof record -q -o user/d \
		    -e sched:sched_switch -- true
		expect_err 'CAP_BPF and CAP_PERFMON'
	done
	ok "neither does alone"

	kernel_names user/c
	if [ "$named" = False ]; then
		with cap_bpf,cap_perfmon,cap_syslog
		expect 0 $user ./dtprof record -q -a -o user/c -e cpu-clock \
		    -- dd if=/dev/zero of=/dev/null bs=64k count=20000
		kernel_names user/c
		[ "$named" = True ] || fail "cap_syslog: none"
		ok "cap_syslog: names of the kernel"
	fi
	./spin 60000 >/dev/null &
	kill_at_end $!
	await "spin runs" grep -qx spin "/proc/$!/comm"
	with cap_bpf,cap_perfmon,cap_sys_ptrace
	expect 0 $user ./dtprof record -q -o user/e -e cpu-clock -c 100000 \
	    -p $! --duration 500ms
	"$DTPROF" report --json user/e >r.json 2>/dev/null || fail "report"
	json r.json '(j["quality"]["complete_stacks"] >= 0.95 and
    any(f["name"] == "turn" for f in j["functions"]))' | grep -q True ||
	    fail "cap_sys_ptrace: $("$DTPROF" report user/e 2>&1 | head -n 5)"
	ok "cap_sys_ptrace: whole stacks of processes of others"

	expect 0 env SUDO_UID=65534 SUDO_GID=65534 "$DTPROF" record -q \
	    -o user/f -e cpu-clock -- sh -c "$own; touch user/made"
	[ "$(cat out)" = "65534
65534
0000000000000000" ] || fail "under sudo the command ran as: $(cat out)"
	for file in user/f user/made; do
		[ "$(stat -c %u:%g $file)" = 65534:65534 ] ||
		    fail "under sudo: $(ls -l $file)"
	done
	ok "under sudo all is the caller's"

	# Warm-ups and --prepare are not recorded.
	set -- env SUDO_UID=65534 SUDO_GID=65534 "$DTPROF" bench -o user/bench
	me='id -u >>user/who'
	expect 0 "$@" --record -S -w 1 -r 2 --prepare "$me" \
	    "$me; ./spin 50" "$me; ./spin 51"
	[ "$(sort user/who | uniq -c | tr -s ' ')" = ' 12 65534' ] ||
	    fail "bench ran as: $(cat user/who)"
	expect 0 "$@" -w 0 -r 3
	[ "$(path_of user/bench/b00001-a-1.dtp)" = bpf ] ||
	    fail "what goes on is recorded otherwise"
	[ "$(find user/bench -uid 65534 | wc -l)" -eq 9 ] ||
	    fail "under sudo: $(ls -la user/bench)"
	ok "so is what bench --record runs and makes"
}
