#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What report, export and flamegraph make of a store is, byte by
# byte, what they make of the file that was pushed; labels choose recordings,
# other fields samples; a row that SQL deletes is missing from the report, that
# row alone, and it says so; what several hosts sent adds up.
#
# Easy to get wrong: names that were looked up become names of a module of no
# file; accounts of one time and samples of another; a store without reasons of
# waits that looks like a recording without waits.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/interop/lib-store.sh"
need_bpf
need_cmd clickhouse-server curl python3
tmpdir
store_start
expect 0 "$DTPROF" store init "$store"
"$DTPROF" record -q -o a.dtp -e cpu-clock -e page-faults -F 997 -- \
    "$B/tests/work/known" 700 >/dev/null 2>&1 ||
    "$DTPROF" record -q -o a.dtp -e cpu-clock -e page-faults -F 997 -- \
    "$B/tests/work/spin" 700 >/dev/null || fail "no recording"
"$DTPROF" record -q -o b.dtp -F 997 -- \
    sh -c 'ls -lR /usr/share/doc | sort | tail -1' >/dev/null ||
    fail "no recording"
expect 0 "$DTPROF" push --label version=1 --label zone=x "$store" a.dtp
expect 0 "$DTPROF" push --label version=2 --label "zone=it's" --label host=h2 \
    "$store" b.dtp

# The same of both; where a name is part of it, with that one's.
same()		# file filter command ...
{
	same_file=$1 same_filter=$2
	shift 2
	"$DTPROF" "$@" "$same_file" >file.out 2>file.err ||
	    fail "$*: $(cat file.err)"
	"$DTPROF" "$@" "$store" --filter "$same_filter" >store.out \
	    2>store.err || fail "$* of the store: $(cat store.err)"
	cmp file.out store.out || fail "$*: $(diff file.out store.out)"
	[ "$(wc -l <file.out)" -ge 2 ] || fail "$*: nothing"
}

for version in 1 2; do
	file=$(echo ab | cut -c "$version").dtp
	same "$file" "version=='$version'" report
	same "$file" "version=='$version'" report --tree
	same "$file" "version=='$version'" report --by comm,module
	same "$file" "version=='$version'" export
	same "$file" "version=='$version'" export --format speedscope
	"$DTPROF" flamegraph -o "$tmp/file.svg" "$file" 2>/dev/null
	"$DTPROF" flamegraph -o "$tmp/store.svg" "$store" \
	    --filter "version=='$version'" 2>/dev/null
	cmp file.svg store.svg || fail "flamegraph"
done
same b.dtp "label.zone==\"it's\" && host!='vm-of-nobody'" report
same b.dtp "(host=='h2' || host=='h3') && !(version=='1')" report
ok "reports, exports and drawings of a store and of files are equal"

filter='comm=="sort" && stack ~ "__libc_start_*"'
"$DTPROF" report b.dtp --filter "$filter" >file.out 2>/dev/null
"$DTPROF" report "$store" --filter "version==\"2\" && $filter" >store.out \
    2>/dev/null
grep -q __libc_start_ file.out || fail "no stack: $(cat file.out)"
cmp file.out store.out || fail "labels beside: $(diff file.out store.out)"
expect 1 "$DTPROF" report "$store" --filter 'comm=="sort" || host=="h2"'
expect_err 'join labels'
expect 1 "$DTPROF" report "$store" --filter 'host=="nobody"'
expect_err 'no samples that match the time range'
expect 1 "$DTPROF" report "$store" --from 10s
expect_err 'TIME is relative to now'
"$DTPROF" report "$store" --from -2h --filter 'version=="2"' >store.out \
    2>/dev/null
"$DTPROF" report b.dtp >file.out 2>/dev/null
cmp file.out store.out || fail "--from"
expect 1 "$DTPROF" report "$store" --from -3h --to -2h
expect 1 "$DTPROF" annotate main "$store"
expect_err 'this command does not read stores'
expect 1 "$DTPROF" report "$store" a.dtp
expect_err 'a store must be the only input'
ok "filters and times"

# Of both: sums, and a note.
"$DTPROF" export "$store" 2>err >store.out || fail "$(cat err)"
grep -q '2 recordings of 2 hosts' err || fail "no note: $(cat err)"
cat >sum.py <<'END'
import collections
import sys
total = collections.Counter()
for line in sys.stdin:
    stack, count = line.rstrip("\n").rsplit(" ", 1)
    total[stack] += int(count)
for stack, count in total.items():
    print(stack, count)
END
for file in a b; do
	"$DTPROF" export -e cpu-clock $file.dtp 2>/dev/null
done | python3 sum.py | sort >want
sort store.out | cmp - want || fail "sums of two hosts"
ok "two hosts add up"

# A row that is deleted.
row=$(sql "SELECT toString(stack), toString(weight), toString(tid),
    toString(cpu), comm, toString(n) FROM samples WHERE version = '2'
    ORDER BY n DESC LIMIT 1 FORMAT TabSeparated")
n=$(echo "$row" | cut -f6) comm=$(echo "$row" | cut -f5)
names=$(sql "SELECT arrayStringConcat(names, ';') FROM stacks WHERE stack =
    $(echo "$row" | cut -f1) LIMIT 1 FORMAT TabSeparatedRaw")
"$DTPROF" export b.dtp 2>/dev/null | python3 -c '
import sys
stack, n = sys.argv[1], int(sys.argv[2])
for line in sys.stdin:
    name, count = line.rstrip("\n").rsplit(" ", 1)
    if name == stack:
        count = str(int(count) - n)
        n = 0
    if count != "0":
        print(name, count)
assert n == 0, stack' "$comm;$names" "$n" | sort >want ||
    fail "the row is none of the file's"
where=$(echo "$row" | awk -F'\t' '{ print "stack = " $1 " AND weight = " $2 \
    " AND tid = " $3 " AND cpu = " $4 " AND comm = '"'"'" $5 "'"'"'" }')
before=$(sql "SELECT count() FROM samples")
curl -s --data-binary "CREATE TABLE kept AS samples" "http://127.0.0.1:$port\
/?database=dtprof&allow_experimental_low_cardinality_type=1"
sql "INSERT INTO kept SELECT * FROM samples WHERE NOT ($where AND version =
    '2' AND n = $n)"
sql "DROP TABLE samples"
sql "RENAME TABLE kept TO samples"
[ "$(sql "SELECT count() FROM samples")" -eq "$((before - 1))" ] ||
    fail "not one row was deleted"
"$DTPROF" export "$store" --filter 'version=="2"' 2>err | sort >got
cmp want got || fail "a deleted row: $(diff want got)"
grep -q '[0-9]* samples, but its accounts table says' err ||
    fail "nothing says so: $(cat err)"
ok "a deleted row of $n samples is missing, and is said"

# Samples of waits are there, but not why a thread waits, nor for whom.
refused()	# option ...
{
	"$DTPROF" report "$@" "$store" --filter "version=='3'" >out 2>err &&
		fail "report $* of a store"
	grep -q "a store does not keep states and reasons" err ||
		fail "$*: $(cat err)"
}

"$DTPROF" record -q -o c.dtp -e off-cpu/min=0ns/ -- sleep .1 ||
	fail "no recording of waits"
expect 0 "$DTPROF" push --label version=3 "$store" c.dtp
same c.dtp "version=='3'" report
refused --state blocked
refused --state running,runnable,blocked
refused --by reason
refused --by lock,holder
refused --by waker-chain
ok "what a store does not keep is refused"
