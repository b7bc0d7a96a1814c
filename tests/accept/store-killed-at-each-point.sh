#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a ClickHouse server is killed at 21 points of a batch: when it has
# no, a sixth, ... and all bytes of the stacks, of the samples and of the
# accounts; each time it is started again, push sends the batch once more, and
# the store has the sums of the recordings, to the unit.
# Easy to get wrong: a server that has taken a request, and could not say so.
# TIMEOUT: 600
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/interop/lib-store.sh"
need_cmd clickhouse-server curl python3
tmpdir
: "${CC:=cc}"
compile -I"$SRC/libprof" -I"$SRC/sys" -o generate \
    "$SRC/tests/interop/generated_host.c" "$B/libprof.a" -lzstd -lm \
    -pthread || fail "generated_host does not build"
store_start
expect 0 "$DTPROF" store init "$store"
store_proxy points
n=0
while [ $n -lt 21 ]; do
	./generate $n.dtp $((n + ${SEED:-1})) samples=20000 seconds=40 \
	    stacks=2000 start=1790000040 host=h$n boot=b >>counted ||
	    fail "no host"
	expect 0 "$DTPROF" push --timeout 100s "$proxy" $n.dtp
	n=$((n + 1))
done
killed=$(curl -s "http://127.0.0.1:$(cat proxy.port)/faults")
[ "$(echo "$killed" | python3 -c 'import json, sys
print(json.load(sys.stdin)["kill"])')" = 21 ] || fail "kills: $killed"
python3 -c '
import collections
sums = collections.defaultdict(lambda: [0, 0])
for line in open("counted"):
    event, n, weight = line.split()[:3]
    sums[event] = [sums[event][0] + int(n), sums[event][1] + int(weight)]
for event in sorted(sums):
    print(event, *sums[event], sep="\t")' >want
committed='attempt IN (SELECT min(attempt) FROM accounts GROUP BY recording,
    batch)'
sql "SELECT event, sum(n), sum(n * weight) FROM samples WHERE $committed
    GROUP BY event ORDER BY event FORMAT TabSeparated" >got
cmp want got || fail "samples: $(cat want got)"
sql "SELECT event, sum(batch_samples), sum(batch_weight) FROM accounts WHERE
    $committed AND batch_samples > 0 GROUP BY event ORDER BY event FORMAT
    TabSeparated" >got
cmp want got || fail "accounts: $(cat want got)"
[ "$(sql "SELECT count() FROM samples WHERE stack NOT IN (SELECT stack FROM
    stacks)")" = 0 ] || fail "samples without stacks"
all=$(sql "SELECT count() FROM samples")
counted=$(sql "SELECT count() FROM samples WHERE $committed")
ok "killed 21 times; $counted of $all rows count: $(tr '\t\n' '  ' <want)"
