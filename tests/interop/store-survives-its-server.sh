#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: When requests to a ClickHouse server end before, in the middle or
# behind them, are refused or late, and the server is killed while it takes
# one, the store has in the end the sums of the recordings, to the unit, and
# their stacks; so it has of a recording that push follows while it is written.
# A store that has a batch, but other names of its stacks, gets those that the
# next one needs.
#
# Easy to get wrong: a request whose answer was lost has been done; stacks that
# went with a batch that failed go with no other; push that is begun again, when
# more names are known.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/interop/lib-store.sh"
need_bpf
need_cmd clickhouse-server curl python3
tmpdir
store_start
expect 0 "$DTPROF" store init "$store"
seed=${SEED:-7}
store_proxy "$seed"

# One across a minute, so in two batches or more, for the end.
second=$(date +%S)
second=${second#0}
[ "$second" -lt 55 ] || second=$((second - 60))
nice -n 10 "$DTPROF" record -q -o minutes.dtp -F 99 -- "$B/tests/work/spin" \
    $(((62 - second) * 1000)) >spun &
minutes=$!
kill_at_end "$minutes"

# One that is followed, and others.
touch go
"$DTPROF" record -q -o live.dtp -F 499 --push "$proxy" \
    --label kind=live -- \
    sh -c 'while [ -e go ]; do ls -l /usr/lib >/dev/null; done' &
live=$!
kill_at_end "$live"
for n in 1 2 3 4 5; do
	"$DTPROF" record -q -o "$n.dtp" -F 997 -e cpu-clock -e page-faults -- \
	    sh -c "ls -lR /usr/share/doc/*$n /usr/lib/python3 | sort" \
	    >/dev/null 2>&1 || fail "no recording"
	expect 0 "$DTPROF" push --timeout 100s "$proxy" $n.dtp
done
rm go
wait "$live" || fail "the recorder failed"
# Whatever became of that: what is missing is sent, the rest is there.
expect 0 "$DTPROF" push --timeout 100s "$proxy" live.dtp

for file in live 1 2 3 4 5; do
	"$DTPROF" script --json $file.dtp 2>/dev/null
done | store_sums >want
committed='attempt IN (SELECT min(attempt) FROM accounts GROUP BY recording,
    batch)'
sql "SELECT event, sum(n), sum(n * weight) FROM samples WHERE $committed
    GROUP BY event ORDER BY event FORMAT TabSeparated" >got
cmp want got || fail "samples: $(cat want got)"
sql "SELECT event, sum(batch_samples), sum(batch_weight) FROM accounts
    WHERE $committed AND batch_samples > 0 GROUP BY event ORDER BY event
    FORMAT TabSeparated" >got
cmp want got || fail "accounts: $(cat want got)"
[ "$(sql "SELECT count() FROM samples WHERE stack NOT IN (SELECT stack FROM
    stacks)")" = 0 ] || fail "samples without stacks"
ended=$(sql "SELECT uniqExact(recording) FROM accounts WHERE is_last = 1")
[ "$ended" = 6 ] ||
    fail "not six recordings that ended"
all=$(sql "SELECT count() FROM samples")
counted=$(sql "SELECT count() FROM samples WHERE $committed")
faults=$(curl -s "http://127.0.0.1:$(cat proxy.port)/faults")
echo "$faults" | python3 -c '
import json, sys
faults = json.load(sys.stdin)
sys.exit(sum(faults.values()) - faults["pass"] < 4)' ||
    fail "few faults: $faults"
wait "$minutes" || fail "no recording of two minutes"
for base in one two; do
	expect 0 "$DTPROF" store init "${store%/*}/$base"
	[ $base = one ] || sql "INSERT INTO two.accounts SELECT * FROM
	    one.accounts WHERE batch IN (SELECT min(batch) FROM one.accounts)"
	expect 0 "$DTPROF" push "${store%/*}/$base" minutes.dtp
done
got=$(sql "SELECT (SELECT uniqExact(batch) FROM one.accounts), count() > 0,
    countIf(stack NOT IN (SELECT stack FROM two.stacks)) FROM two.samples
    FORMAT CSV")
case $got in
[2-9],1,0) ;;
*) fail "batches, samples, those without a stack: $got" ;;
esac
# A store that is not there costs the recording nothing.
expect 0 "$DTPROF" record -o gone.dtp -F 997 --push \
    clickhouse+http://127.0.0.1:9/x -- "$B/tests/work/spin" 100
expect_err '[1-9][0-9]* rows not sent; send gone.dtp with dtprof push'
expect 125 "$DTPROF" record -o x.dtp --label a=b -- true
ok "seed $seed: $faults; $counted of $all rows count, as recorded"
