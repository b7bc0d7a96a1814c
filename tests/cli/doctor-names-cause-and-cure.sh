#!/bin/sh
# ASSERTION: in each of these broken environments doctor blames the one thing
# that is broken, names what cures it, and its status says whether anything
# can be recorded; and record, which fails or does with less there, says the
# same.  Easy to get wrong because the kernel answers EPERM for all of them,
# and because a sandbox, a namespace and a lack of capabilities come together.
# shellcheck disable=SC2086
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_bpf
need_root
need_cmd setpriv unshare setarch python3
unshare -m true 2>/dev/null || skip "no mount namespaces here"
tmpdir
cp "$DTPROF" dtprof
cp "$B/tests/work/refuse" refuse
mkdir user bin
chmod 777 user
n=0

# What is wrong: name check state status; what record then does: event status;
# what both say: cause cure; how to break it: command ...  Event -: doctor
# alone.  Status 0: record says it in a note.
sick()
{
	name=$1 check=$2 state=$3 status=$4 event=$5 record=$6
	cause=$7 cure=$8
	shift 8
	"$@" "$tmp/dtprof" doctor --json >"$name.json" 2>"$name.err"
	got=$?
	[ $got -eq "$status" ] || fail "$name: doctor ended with $got"
	[ -s "$name.err" ] && fail "$name: $(cat "$name.err")"
	printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$check" "$state" "$cause" \
	    "$cure" >>table
	n=$((n + 1))
	[ "$event" = - ] && return
	rm -rf user/x
	"$@" "$tmp/dtprof" record -o user/x -e $event -- true 2>"$name.err"
	got=$?
	[ $got -eq "$record" ] || fail "$name: record ended with $got: $(
	    cat "$name.err")"
	tr '\n' ' ' <"$name.err" | grep -Eq "$cause.*$cure" ||
	    fail "$name: record says: $(cat "$name.err")"
	[ "$record" -eq 0 ] || { [ ! -e user/x ] &&
	    [ "$(wc -l <"$name.err")" -eq 2 ]; } ||
	    fail "$name: $(ls user) $(cat "$name.err")"
}

# These begin commands, and stand behind others.
as="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"
user="$as --ambient-caps=-all"
no_caps="setpriv --bounding-set=-all --inh-caps=-all"	# root in name only

inside()	# "shell commands" command ...: with mounts of its own
{
	setup=$1
	shift
	unshare -m sh -c "$setup"' && exec "$@"' sh "$@"
}

knob()		# name value command ...: as if the kernel said so
{
	knob_name=$1
	echo "$2" >value
	shift 2
	inside "mount --bind value /proc/sys/kernel/$knob_name" "$@"
}

with_limit()	# "ulimit arguments" command ...
{
	limit=$1
	shift
	(ulimit $limit && exec "$@")
}

paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
locked='mkdir -p l && mount -t tmpfs l /sys/kernel/security &&
    echo "none integrity [confidentiality]" >/sys/kernel/security/lockdown'

# Who we are.
sick user bpf degraded 0 sched:sched_switch 125 'CAP_BPF and CAP_PERFMON' \
    'run as root, or setcap cap_bpf,cap_perfmon' $user
sick user-tracefs tracefs degraded 0 - 0 'tracefs.*root' 'run as root' \
    $user
[ "$paranoid" -ge 1 ] && sick user-paranoid perf_event_paranoid degraded 0 \
    'cpu-clock -a' 125 "perf_event_paranoid=$paranoid" \
    'sysctl kernel.perf_event_paranoid=[02]' $user
sick user-kptr kptr_restrict degraded 0 - 0 'hides' \
    'kernel.(perf_event_paranoid=1|kptr_restrict=[01])' $user
sick cap-perfmon bpf degraded 0 cpu-clock 0 'CAP_BPF and CAP_PERFMON' 'setcap' \
    $as,+perfmon \
    --ambient-caps=-all,+perfmon
sick cap-bpf bpf degraded 0 cpu-clock:u 0 'CAP_BPF and CAP_PERFMON' 'setcap' \
    $as,+bpf --ambient-caps=-all,+bpf
sick both-caps bpf ok 0 - 0 "maps and programs" "^$" $as,+bpf,+perfmon \
    --ambient-caps=-all,+bpf,+perfmon
sick no-caps bpf degraded 0 sched:sched_switch 125 'CAP_BPF and CAP_PERFMON' \
    'docker: --cap-add BPF --cap-add PERFMON' $no_caps

sick no-setuid file_readers degraded 0 - 0 \
    'reader processes have.*same user as dtprof' 'allow setuid' \
    setpriv --bounding-set=-setuid,-setgid --inh-caps=-setuid,-setgid

# Sandboxes.
sick seccomp-perf seccomp failed 1 cpu-clock 125 'seccomp.*perf_event_open' \
    'allow perf_event_open' ./refuse perf
sick seccomp-perf-2 perf_events failed 1 - 0 'seccomp.*perf_event_open' \
    'allow perf_event_open' ./refuse perf
sick seccomp-bpf seccomp degraded 0 cpu-clock 0 'seccomp.*blocks bpf' \
    'allow bpf' ./refuse bpf
sick seccomp-bpf-2 bpf degraded 0 sched:sched_switch 125 \
    'seccomp.*blocks bpf' 'allow bpf' ./refuse bpf
sick seccomp-all seccomp failed 1 - 0 'perf_event_open and bpf' \
    'allow perf_event_open and bpf' ./refuse bpf,perf
sick seccomp-nosys perf_events failed 1 cpu-clock 125 'seccomp.*perf_event' \
    'allow perf_event_open' ./refuse perf,nosys
sick seccomp-none seccomp ok 0 - 0 'filter allows' '^$' ./refuse none
sick seccomp-not-it bpf degraded 0 sched:sched_switch 125 \
    'CAP_BPF and CAP_PERFMON' 'setcap' $user ./refuse none
sick docker perf_events failed 1 cpu-clock 125 'seccomp' 'seccomp profile' \
    unshare -pf --mount-proc $no_caps ./refuse bpf,perf

# Namespaces.
if unshare -Ur true 2>/dev/null; then
	sick user-ns container degraded 0 cpu-clock:u 0 'user namespace' \
	    'outside this user namespace' unshare -Ur
	sick user-ns-bpf bpf degraded 0 sched:sched_switch 125 \
	    'user namespace' 'outside this user namespace' unshare -Ur
fi
sick pid-ns container degraded 0 cpu-clock 0 'PID namespace' \
    'docker: --pid=host' unshare -pf --mount-proc
sick pid-ns-needs container degraded 0 sched:sched_switch 125 'PID namespace' \
    'docker: --pid=host' unshare -pf --mount-proc
sick pid-ns-proc proc failed 1 cpu-clock 125 'another PID namespace' \
    'mount -t proc proc /proc' unshare -pf

# Files that are missing or masked.
sick no-proc proc failed 1 cpu-clock 125 '/proc is not mounted' \
    'mount -t proc proc /proc' inside 'umount -l /proc'
sick no-sys proc failed 1 cpu-clock 125 '/sys is not mounted' \
    'mount -t sysfs sysfs /sys' inside 'mount -t tmpfs s /sys'
sick no-btf btf degraded 0 cpu-clock 0 'kernel types are not' \
    'CONFIG_DEBUG_INFO_BTF' inside 'mount -t tmpfs b /sys/kernel/btf'
sick no-btf-needs btf degraded 0 sched:sched_switch 125 \
    'kernel types are not' 'CONFIG_DEBUG_INFO_BTF' \
    inside 'mount -t tmpfs b /sys/kernel/btf'
sick no-kallsyms kptr_restrict degraded 0 cpu-clock 0 'kallsyms.*is missing' \
    'does not mask kallsyms' inside 'mount --bind /dev/null /proc/kallsyms'
sick no-debug debug_symbols degraded 0 - 0 'no debug file' 'libc6-dbg' \
    inside 'mkdir -p /usr/lib/debug && mount -t tmpfs d /usr/lib/debug'
sick no-gnuplot gnuplot degraded 0 - 0 'not installed' 'install gnuplot' \
    env PATH="$tmp/bin"
sick no-objdump objdump degraded 0 - 0 'not installed' 'binutils' \
    env PATH="$tmp/bin"

# Knobs and limits.
sick kptr-1 kptr_restrict degraded 0 - 0 'kptr_restrict is 1' \
    'sysctl kernel.kptr_restrict=0' knob kptr_restrict 1 $user
sick kptr-2 kptr_restrict degraded 0 - 0 'kptr_restrict is 2' \
    'sysctl kernel.kptr_restrict=1' knob kptr_restrict 2 $user
[ -d /sys/kernel/security ] && sick lockdown lockdown failed 0 \
    sched:sched_switch 125 'locked down' 'boot without' \
    inside "$locked" $no_caps
sick rate sample_rate degraded 0 - 0 'allows 500 samples' \
    'perf_event_max_sample_rate=100000' knob perf_event_max_sample_rate 500
sick watchdog nmi_watchdog "$("$B/tests/work/can" pmu 2>/dev/null &&
    echo degraded || echo ok)" 0 - 0 'counter' . knob nmi_watchdog 1
sick locked locked_memory degraded 0 - 0 '4 KiB may be locked' \
    'perf_event_mlock_kb \(now 4\)' knob perf_event_mlock_kb 4 \
    $user sh -c 'ulimit -l 0 && exec "$@"' sh
sick files open_files degraded 0 cpu-clock 125 'limit of 24 open files' \
    'ulimit -Hn' with_limit '-n 24'
sick old kernel degraded 0 - 0 'Linux 2[.]6.* is older than 6[.]1' \
    'Linux 6[.]1 or later' setarch --uname-2.6
"$B/tests/work/can" pmu 2>/dev/null || sick no-pmu pmu degraded 0 - 0 \
    'no hardware counter' 'enable a PMU in the virtual machine' env
[ $n -ge 20 ] || fail "only $n environments"

cat >judge.py <<'END'
import json, re
for line in open("table"):
    name, check, state, cause, cure = line.rstrip("\n").split("\t")
    j = json.load(open(name + ".json"))
    assert j["schema_version"] == 2
    rows = {c["name"]: c for c in j["checks"]}
    assert len(rows) == len(j["checks"]) >= 19, name
    row = rows[check]
    assert row["state"] == state, (name, row)
    assert re.search(cause, row["found"]), (name, row)
    ok = state == "ok"
    assert ok or re.search(cure, row["fix"]), (name, row)
    for c in j["checks"]:
        bad = c["state"] != "ok"
        assert c["found"] and bad == bool(c["fix"]) == bool(c["affects"]), c
        assert not re.search("errno|EPERM|EACCES", c["found"]), c
    print("ok: %s: %s; %s" % (name, row["found"], row["fix"]))
END
python3 judge.py || fail "doctor blames something else"
ok "$n environments"
