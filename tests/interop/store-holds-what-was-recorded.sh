#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What push has sent to a real ClickHouse server is, by SQL on the
# documented tables, what the recordings hold: samples, weight and each counter
# of the accounting, to the unit; sent again, in another order, half or twice,
# it counts once.  The tables are those of doc/FLEET.md, its queries run, and
# a password is in no arguments, environment or output.
#
# Easy to get wrong: a batch whose answer was lost is there twice; an attempt
# that was cut short has rows and no account.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/interop/lib-store.sh"
need_bpf
need_cmd clickhouse-server curl python3
tmpdir

"$DTPROF" store init --print clickhouse+http://x/y >print ||
    fail "init --print"
sed -n '/^```ddl/,/^```$/p' "$SRC/doc/FLEET.md" | sed '/^```/d' >documented
cmp print documented || fail "doc/FLEET.md has other tables"
ok "tables as documented"

store_start
expect 1 "$DTPROF" push --timeout 0s "$store" /nowhere
expect 0 "$DTPROF" store init "$store"
expect 0 "$DTPROF" store init "$store"
"$DTPROF" record -q -o a.dtp -e cpu-clock -e syscall -F 997 -- \
    "$B/tests/work/calls" 20000 >/dev/null || fail "no recording"
# A minute ends in it, if we are lucky; another program, other events.
"$DTPROF" record -q -o b.dtp -e page-faults/period=1/ -e cpu-clock -- \
    sh -c 'ls -lR /usr/share/doc | sort | tail -1' >/dev/null ||
    fail "no recording"

# What a recording holds: event, samples, their weight, and counters.
sums()		# file
{
	"$DTPROF" script --json "$1" 2>/dev/null >samples.json
	"$DTPROF" report --stats --json "$1" >stats.json 2>/dev/null
	python3 - samples.json stats.json <<'END'
import json
import sys
weight = {}
for line in open(sys.argv[1]):
    sample = json.loads(line)
    if sample["type"] == "sample":
        event = sample["event"]
        weight[event] = weight.get(event, 0) + sample["weight"]
for event in json.load(open(sys.argv[2]))["accounting"]:
    if event["event"] != "proc":
        print(event["event"], event["stored"], weight[event["event"]],
              *[event[key] or 0 for key in ("fired", "filtered", "full",
              "nested", "error", "read", "count", "missed")], sep="\t")
END
}

holds()		# expression over the last output
{
	[ "$(json out "$1")" = True ] || fail "$1: $(cat out)"
}

committed='attempt IN (SELECT min(attempt) FROM accounts GROUP BY recording,
    batch)'

stored()	# label
{
	sql "SELECT event, any(ns), sum(a.stored), sum(fired), sum(filtered),
	    sum(full), sum(nested), sum(error), sum(read), sum(count),
	    sum(missed), any(ws), sum(batch_samples), sum(batch_weight)
	FROM accounts AS a ANY INNER JOIN (
	    SELECT event, sum(n) AS ns, sum(n * weight) AS ws FROM samples
	    WHERE $committed AND label_values[1] = '$1' GROUP BY event)
	AS sums USING event
	WHERE $committed AND label_values[1] = '$1' GROUP BY event
	ORDER BY event FORMAT TabSeparated"
}

compare()	# file label
{
	sums "$1" | sort >want
	stored "$2" >got
	python3 - want got <<'END' || fail "$2: $(cat want got)"
import sys
want = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
got = [line.rstrip("\n").split("\t") for line in open(sys.argv[2])]
assert want and len(want) == len(got), "events"
for w, g in zip(want, got):
    name, stored, weight, fired, filtered, full, nested, error, read, count, \
        missed = w
    assert g[:2] == [name, stored], "samples"
    assert g[2:11] == [stored, fired, filtered, full, nested, error, read,
                       count, missed], "accounts"
    assert g[11:] == [weight, stored, weight], "weights, batches"
END
	ok "$2: $(wc -l <want) events to the unit"
}

expect 0 "$DTPROF" push --label which=b "$store" b.dtp
expect 0 "$DTPROF" push --label which=a --json "$store" a.dtp
holds 'j["rows_sent"] > 0 and j["batches_duplicate"] == 0'
compare a.dtp a
compare b.dtp b
expect 0 "$DTPROF" push --label which=b --json "$store" b.dtp a.dtp
holds 'j["rows_sent"] == 0 and j["batches_duplicate"] >= 2'
compare a.dtp a

# An answer that was lost, and an attempt that was cut short.
columns=$(sql "SELECT arrayStringConcat(groupArray(name), ',') FROM
    system.columns WHERE database = 'dtprof' AND table = 'samples'")
for table in samples accounts; do
	columns=$(sql "SELECT arrayStringConcat(groupArray(name), ',') FROM
	    system.columns WHERE database = 'dtprof' AND table = '$table'")
	sql "INSERT INTO $table SELECT $(echo "$columns" |
	    sed 's/\battempt\b/attempt + 7/') FROM $table"
done
sql "INSERT INTO samples SELECT $(sql "SELECT
    arrayStringConcat(groupArray(name), ',') FROM system.columns WHERE
    database = 'dtprof' AND table = 'samples'" |
    sed 's/\battempt\b/attempt - 9/') FROM samples"
[ "$(sql 'SELECT count() / uniq(host, event, pid, tid, cpu, time, stack,
    weight, comm) > 2 FROM samples')" = 1 ] || fail "no duplicates"
compare a.dtp a
compare b.dtp b

# The queries of the document.
python3 - "$SRC/doc/FLEET.md" <<'END' >queries || fail "no queries"
import re
import sys
text = open(sys.argv[1]).read()
for block in re.findall(r"^```sql\n(.*?)^```", text, re.M | re.S):
    print(block.replace("\n", " "))
END
[ "$(wc -l <queries)" -ge 5 ] || fail "few queries"
while read -r query; do
	sql "$query" >answer
	grep -q '^Code:' answer && fail "$query: $(cat answer)"
	[ -s answer ] || fail "$query: no rows"
done <queries
ok "$(wc -l <queries) documented queries run"
sql "$(tail -1 queries)" | awk -F'\t' '$2 != $3 { exit 1 }' ||
    fail "does not balance"

# Its password is nowhere.
printf 'open sesame\n' >password
url="clickhouse+http://writer@127.0.0.1:$port/dtprof"
expect 1 "$DTPROF" store status "$url"
expect_err 'secret-file'
expect 0 "$DTPROF" push --secret-file password "$url" a.dtp
grep -l sesame out err ./*.dtp && fail "the password is in an output"
expect 1 "$DTPROF" push "clickhouse+http://writer:pw@127.0.0.1:$port/x" a.dtp
expect_err 'the URL contains a password'
ok "a user with a password"

agrees()	# schema, of the last output
{
	python3 -W ignore "$SRC/tests/cli/json_schema.py" \
	    "$SRC/doc/schema/$1.json" out >agreed 2>&1 ||
	    fail "$1: $(cat agreed)"
}

expect 0 "$DTPROF" push --json "$store" a.dtp
agrees push
expect 0 "$DTPROF" store status --json "$store"
agrees store
holds 'all(t["rows"] > 0 and t["oldest"] for t in j["tables"])'
expect 2 "$DTPROF" store drop-before 30 "$store"
expect_err 'at least 1d'
expect 0 "$DTPROF" store drop-before 1d "$store"
expect 0 "$DTPROF" store status --json "$store"
holds 'all(t["rows"] > 0 for t in j["tables"])'
expect 0 "$DTPROF" store drop-before \
    "$(date -u -d '+2 days' +%Y-%m-%d)" "$store"
expect 0 "$DTPROF" store status --json "$store"
holds 'all(t["rows"] == 0 and t["exists"] for t in j["tables"])'
ok "old days are deleted"

# Tables as they were when texts were no numbers.
old=clickhouse+http://127.0.0.1:$port/old
sql "CREATE DATABASE old"
"$DTPROF" store init --print "$old" | sed 's/LowCardinality(String)/String/
    /TABLE.* samples/,/ENGINE/s/attempt/recording UInt64, batch UInt64, &/' |
    tr '\n' ' ' | tr ';' '\n' | while read -r create; do
	[ -z "$create" ] || curl -s --data-binary "$create" \
	    "http://127.0.0.1:$port/?database=old"
done
expect 1 "$DTPROF" push --timeout 1s "$old" a.dtp
expect_err 'tables of database old do not have the columns'
expect 1 "$DTPROF" store init "$old"
expect_err 'tables were created by another version of dtprof'
[ "$(sql 'SELECT count() FROM old.samples')" = 0 ] || fail "rows in old tables"
ok "tables of another version are refused"

store_kill
expect 1 "$DTPROF" push --timeout 1s "$store" a.dtp
expect_err 'cannot reach the store'
ok "a store that is gone is said"
