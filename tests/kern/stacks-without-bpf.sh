#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Where BPF may not be used, an ordinary user's recording still has
# whole stacks of programs without frame pointers: odd kinds of them frame by
# frame what the program did, and of python3, xz and sqlite3 as installed at
# least 95 in 100 end where a process begins.
#
# Easy to get wrong: mappings that come after the sample, an entry of the
# neighbour, guesses where there is no rule, a copy that ends too early.

. "${SRC:=$PWD}/tests/kern/lib-stacks.sh"
need_root
need_cmd setpriv python3 xz sqlite3
tmpdir
build_stacks
mkdir theirs && chown 65534:65534 theirs && chmod 755 theirs
as_user test -x "$DTPROF" || skip "an ordinary user cannot reach $DTPROF"
as_user "$work/can" bpf && skip "ordinary users may use BPF here"
as_user "$work/can" perf || skip "ordinary users may not use perf here"

own()		# title command ...
{
	title=$1
	shift
	begin "$title" setpriv --reuid=65534 --regid=65534 --clear-groups \
	    --inh-caps=-all "$@"
}

for what in alloca realign callback longjmp signal threads fork vdso
do
	own $what ./stacks $what
done
own throws ./throws
own python3 /usr/bin/python3 -c '
def fall(n):
    return sum(range(9)) + (fall(n - 1) if n else 0)
while True:
    fall(9)'
own xz sh -c 'exec xz -9 -c /dev/zero >/dev/null'
own sqlite3 sqlite3 :memory: 'with recursive c(x) as (select 1 union all
    select x + 1 from c) select sum(x * x) from c'
for pid in $test_pids; do
	await "$pid runs as nobody" grep -q '^Uid:.65534' "/proc/$pid/status"
done
compute 5		# they have begun
# Not by as_user: the pid has to be that of the recorder.
setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
    env HOME=/nonexistent "$DTPROF" record -q -o theirs/a.dtp \
    -e cpu-clock -c 200000 -p "$(pids_begun)" 2>err 9>&- &
recorder=$!
kill_at_end "$recorder"
await_recording "$recorder"
compute 30
record_end 0
end_all
[ "$("$DTPROF" report --json theirs/a.dtp |
    json /dev/stdin 'j["recording"]["backend"]')" = perf ] ||
    fail "it was not recorded without BPF"
judge theirs/a.dtp 9500
ok "an ordinary user's stacks are whole"

# perf says of a fork who forked, not the name, which is the same at first.
as_user "$DTPROF" record -q -o theirs/b.dtp -e cpu-clock -c 1000000 -- sh -c '
    n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done &
    n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done; wait' ||
    fail "record"
expect 0 "$DTPROF" script --json --no-symbols theirs/b.dtp
python3 - <<'END' || fail "names of forked tasks"
import json
mine = [json.loads(line) for line in open("out")]
mine = [r for r in mine if r["type"] == "sample"]
assert len({r["pid"] for r in mine}) >= 2 and len(mine) > 20, len(mine)
assert {r["comm"] for r in mine} == {"sh"}, {r["comm"] for r in mine}
END
expect 0 "$DTPROF" report --csv --by comm theirs/b.dtp
[ "$(wc -l <out)" -eq 2 ] && grep -q ',"sh"' out ||
    fail "other names in the report: $(cat out)"
ok "a task has the name of who forked it"
