#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A token that --secret-file names is in no arguments, environment,
# output, journal, recording, page or core of any process that push or record
# --push starts, not in the memory of any but the network process, and in no
# core of that one: neither the kernel's nor gdb's.
#
# Easy to get wrong: what read the file keeps a copy; libcurl keeps several.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
need_cmd gdb gcore python3
tmpdir
token=tok-$(python3 -c 'import os; print(os.urandom(12).hex())')
printf '%s\n' "$token" >secret
basic=$(printf 'someone:%s' "$token" | base64 -w0 | cut -c1-24)
cp "$SRC/tests/report/known.dtp" a.dtp
python3 "$SRC/tests/work/http_server.py" log >port 2>/dev/null &
test_pids="$test_pids $!"
await "a port" test -s port
at=127.0.0.1:$(cat port)
prlimit --core=unlimited --pid $$

family()	# pid: it and what it started, at all depths
{
	echo "$1"
	for child in $(ps -o pid= --ppid "$1"); do
		family "$child"
	done
}

# What names a process's memory, and what a core of it has.
look()		# pid
{
	for file in cmdline environ; do
		grep -qa "$token" "/proc/$1/$file" 2>/dev/null &&
			fail "$(cat "/proc/$1/comm"): in its $file"
	done
	name=$(cat "/proc/$1/comm" 2>/dev/null) || return 0
	echo "$name" >>looked
	gcore -o core "$1" >gcore.log 2>&1 || return 0
	[ -s "core.$1" ] || fail "no core of $name"
	grep -qa -e "$token" -e "$basic" "core.$1" &&
		fail "$name: in its core"
	rm -f "core.$1"
	python3 - "$1" "$token" <<'END' >found || return 0
import sys
pid, token = sys.argv[1], sys.argv[2].encode()
found = 0
with open(f"/proc/{pid}/mem", "rb", 0) as mem:
    for line in open(f"/proc/{pid}/maps"):
        span, mode = line.split()[:2]
        low, high = (int(n, 16) for n in span.split("-"))
        if "r" not in mode or "[v" in line:
            continue
        try:
            mem.seek(low)
            found += mem.read(high - low).count(token)
        except OSError:
            pass
print(found)
END
	echo "$name $(cat found)" >>memory
}

# A receiver that never answers, and a store that does not.
for url in "otlp+http://$at/slow" "otlp+http://someone@$at/slow"; do
	: >log
	"$DTPROF" push --secret-file secret "$url" a.dtp >out.push 2>&1 &
	pusher=$!
	test_pids="$test_pids $pusher"
	await "a request" grep -q slow log
	for pid in $(family $pusher); do
		look "$pid"
	done
	for pid in $(family $pusher); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != dtprof-network ] ||
			kill -SEGV "$pid"
	done
	wait $pusher && fail "it has sent something"
done
grep -q '^dtprof-network [1-9]' memory ||
	fail "the search finds nothing: $(cat memory)"
awk '$1 != "dtprof-network" && $2 != 0' memory >other
[ ! -s other ] || fail "in memory of: $(cat other)"

# The kernel's own core of each process: it has none of the network process.
pattern=$(cat /proc/sys/kernel/core_pattern)
: >log
"$DTPROF" push --secret-file secret "otlp+http://$at/slow" a.dtp >out.abort \
    2>&1 &
pusher=$!
test_pids="$test_pids $pusher"
await "a request" grep -q slow log
has_ended()	# pid; nobody has waited for it
{
	grep -q '^State:.Z' "/proc/$1/status" || [ ! -e "/proc/$1" ]
}
core_look()	# pid name
{
	for file in core "core.$1"; do
		[ -e "$file" ] || continue
		grep -qa -e "$token" -e "$basic" "$file" &&
			fail "the kernel's core of $2"
		rm "$file"
		echo "$2" >>cores
	done
}
: >cores
# The parent would see its children die, and end.
family $pusher >all
kill -STOP $pusher
while read -r pid; do
	name=$(cat "/proc/$pid/comm" 2>/dev/null) || continue
	[ "$pid" != "$pusher" ] || continue
	kill -ABRT "$pid" 2>/dev/null || continue
	await "the end of $name" has_ended "$pid"
	core_look "$pid" "$name"
done <all
kill -ABRT $pusher
kill -CONT $pusher
wait $pusher 2>/dev/null && fail "it has sent something"
core_look "$pusher" parent
[ "$pattern" != core ] || grep -q parent cores || fail "no core: $(ls)"
grep -q dtprof-network cores && fail "a core of the network process"
ok "aborted; the kernel's cores, without the token: $(sort cores | tr '\n' ' ')"

if [ -x /lib/systemd/systemd-journald ]; then
	unshare -m sh "$SRC/tests/accept/lib-journal.sh" \
	    otlp+http://127.0.0.1:9 "$token"
	case $? in
	0) ok "a journal of what push prints has it not" ;;
	77) echo "no journal can be started here" ;;
	*) fail "in the journal, or nothing is" ;;
	esac
fi

touch go
"$DTPROF" record -q -o b.dtp --secret-file secret --push \
    "clickhouse+http://$at/slow" -- sh -c 'while [ -e go ]; do :; done' \
    >out.record 2>&1 &
recorder=$!
test_pids="$test_pids $recorder"
await "a request of the follower" grep -q 'database=slow' log
for pid in $(family $recorder); do
	look "$pid"
done
rm go
for pid in $(family $recorder); do
	[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != dtprof-network ] ||
		kill -9 "$pid"
done
wait $recorder || fail "the recorder failed: $(cat out.record)"
"$DTPROF" flamegraph -o page.html b.dtp >out.page 2>&1 || fail "no page"
for file in out.push out.record out.page b.dtp page.html ./*core*; do
	[ -e "$file" ] || continue
	grep -qa -e "$token" -e "$basic" "$file" && fail "in $file"
done
awk '$1 != "dtprof-network" && $2 != 0' memory >other
[ ! -s other ] || fail "in memory of: $(cat other)"
ok "looked at $(wc -l <looked) processes: $(sort memory | uniq -c |
    tr '\n' ' ')"
