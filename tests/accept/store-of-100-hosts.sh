#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A ClickHouse server to which 100 generated hosts push, with equal
# boot ids, clocks that are 3 hours off, a disk that is full for a while,
# requests that arrive in reverse and all batches a second and third time, has
# by SQL the samples, weights, fired and lost that the generator counted, to
# the unit, as a whole and of each host; so it has of five recorders in
# network namespaces of their own, over links that are slow, lose packets or
# are cut, and each of them records what it records without a store.
#
# Easy to get wrong: a server without disk space says that it failed, and has
# taken half; accounts that arrive first commit samples that are not there yet.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/interop/lib-store.sh"
need_root
need_bpf
need_cmd clickhouse-server curl python3 ip
tmpdir
: "${CC:=cc}"
compile -I"$SRC/libprof" -I"$SRC/sys" -o generate \
    "$SRC/tests/interop/generated_host.c" "$B/libprof.a" -lzstd -lm \
    -pthread || fail "generated_host does not build"

nets='1 2 3 4 5'
at_end()
{
	for n in $nets; do
		ip netns del "dtp$$-$n" 2>/dev/null
	done
	ip link del "dtp$$" 2>/dev/null
	umount -l "$tmp/ch/data" 2>/dev/null
}

# A disk of its own, and links to it.
store_config
sed -i 's#<listen_host>127.0.0.1#<listen_host>0.0.0.0#
s#<timezone>#<merge_tree><parts_to_delay_insert>5000</parts_to_delay_insert>\
<parts_to_throw_insert>5000</parts_to_throw_insert></merge_tree>&#' \
    ch/config.xml
mount -t tmpfs -o size=300m none ch/data || skip "no tmpfs"
store_start
expect 0 "$DTPROF" store init "$store"
python3 "$SRC/tests/interop/store_replay.py" "$port" >replay.port 2>replay.err &
kill_at_end $!
await "a port" test -s replay.port
at=127.0.0.1:$(cat replay.port)
via=clickhouse+http://$at/dtprof

now=$(date +%s) n=0
while [ $n -lt 100 ]; do
	# Two hosts of each boot id; a third of the clocks late, one early.
	./generate $n.dtp $((n + ${SEED:-1})) samples=3000 seconds=40 \
	    stacks=300 start=$((now - (n % 3 - 1) * 10800)) host=h$n \
	    boot=b$((n / 2)) >>counted || fail "no host"
	n=$((n + 1))
done
ls -- *.dtp | sort -n >hosts

committed='attempt IN (SELECT min(attempt) FROM accounts GROUP BY recording,
    batch)'
stored()
{
	sql "SELECT event, sum(n), sum(n * weight) FROM samples
	    WHERE $committed AND host LIKE 'h%' GROUP BY event ORDER BY event
	    FORMAT TabSeparated" >got.samples
	sql "SELECT event, sum(batch_samples), sum(batch_weight), sum(fired),
	    sum(full), sum(batch_lost) FROM accounts WHERE $committed AND
	    event != 'proc' AND host LIKE 'h%' GROUP BY event ORDER BY event
	    FORMAT TabSeparated" >got.accounts
}
equal()		# after what
{
	stored
	python3 -c '
import collections
sums = collections.defaultdict(lambda: [0] * 5)
for line in open("counted"):
    event, n, weight, fired, lost = line.split()
    sums[event] = [a + int(b) for a, b in zip(sums[event],
                   [n, weight, fired, lost, lost])]
for event in sorted(sums):
    print(event, *sums[event], sep="\t")' >want
	cmp want got.accounts || fail "$1: accounts $(cat want got.accounts)"
	cut -f1-3 want | cmp - got.samples ||
	    fail "$1: samples $(cat want got.samples)"
	[ "$(sql "SELECT count() FROM (SELECT host, sum(fired) AS f FROM
	    accounts WHERE $committed AND host LIKE 'h%' GROUP BY host)
	    WHERE f > 0")" = 100 ] || fail "$1: not 100 hosts"
	ok "$1: $(sql "SELECT count() FROM samples WHERE host LIKE 'h%'") rows"
}
push()		# to: the list of recordings on standard input
{
	xargs "$DTPROF" push --timeout 100s "$1" >out 2>err || fail "$(cat err)"
}

# All requests are kept back; then the disk is full.
curl -s "http://$at/hold" >/dev/null
push "$via" <hosts
[ "$(sql "SELECT count() FROM samples")" = 0 ] || fail "not kept"
curl -s "http://$at/pass" >/dev/null
python3 -c 'import os, sys
f = os.open("ch/data/filler", os.O_CREAT | os.O_WRONLY)
try:
    while os.write(f, bytes(1 << 16)):
        pass
except OSError:
    pass'
"$DTPROF" push --timeout 60s "$store" 0.dtp 1.dtp >full.out 2>&1 &
pusher=$!
"$DTPROF" push --timeout 0s "$store" 2.dtp >gone.out 2>&1 &&
	fail "a full disk has taken it: $(cat gone.out)"
grep -q 'rows not sent' gone.out || fail "not counted: $(cat gone.out)"
grep -q "free space on the server's disk" gone.out ||
	fail "not said: $(cat gone.out)"
refused()
{
	[ "$(grep -ci 'space' ch/err)" -gt 1 ]
}
await "both are refused" refused
rm ch/data/filler
# Of small parts it keeps the old ones, too.
mount -o remount,size=4g ch/data || skip "no larger tmpfs"
wait $pusher || fail "a disk that was full: $(cat full.out)"
push "$store" <hosts
equal "disk full, then sent"
[ "$(curl -s "http://$at/reverse")" = 0 ] || fail "refused: $(cat replay.err)"
equal "all of it again, in reverse, with earlier numbers"
curl -s "http://$at/forget" >/dev/null
tac hosts | push "$via"
equal "a third time, the last host first"
"$DTPROF" report "$store" --filter 'host!=""' >report 2>report.err ||
    fail "$(cat report.err)"
grep -q '100 recordings of 100 hosts' report.err || fail "$(cat report.err)"
grep -q 'samples, but its accounts table says' report.err &&
    fail "$(cat report.err)"
ok "equal boot ids are two hosts"

# Recorders of real programs, each behind a link of its own.
ip link add "dtp$$" type bridge || skip "no bridge"
ip addr add 10.213.7.1/24 dev "dtp$$"
ip link set "dtp$$" up
for n in $nets; do
	ns=dtp$$-$n
	ip netns add "$ns" && ip link add "v$$-$n" type veth peer name eth0 \
	    netns "$ns" && ip link set "v$$-$n" master "dtp$$" up &&
	    ip -n "$ns" addr add 10.213.7.$((n + 1))/24 dev eth0 &&
	    ip -n "$ns" link set eth0 up || skip "no network namespaces"
done
# One takes 2 kB a second, and one drops what does not fit into two packets.
tc -n "dtp$$-2" qdisc add dev eth0 root tbf rate 16kbit burst 2000 \
    latency 4s && tc -n "dtp$$-3" qdisc add dev eth0 root tbf rate 64kbit \
    burst 2000 limit 3200 || skip "no slow links"
dropped()
{
	tc -n "dtp$$-3" -s qdisc show dev eth0 |
	    sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'
}
work='n=0; while [ $n -lt 12 ]; do
    i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; n=$((n+1)); sleep 0.5
    done'
started=$(date +%s)
"$DTPROF" record -q -o alone.dtp -F 499 -- sh -c "$work" >/dev/null 2>&1 ||
    fail "no recording"
took_alone=$(($(date +%s) - started))
started=$(date +%s)
for n in $nets; do
	ip netns exec "dtp$$-$n" "$DTPROF" record -q -o real$n.dtp -F 499 \
	    --label kind=real --push \
	    "clickhouse+http://10.213.7.1:$port/dtprof" -- sh -c \
	    "$work; touch real$n.done" >real$n.out 2>&1 &
	eval "real$n=\$!"
	kill_at_end $!
done
all_begun()
{
	[ -s real1.dtp ] && [ -s real2.dtp ] && [ -s real3.dtp ] &&
	    [ -s real4.dtp ] && [ -s real5.dtp ]
}
await "five recordings" all_begun
ip link set "v$$-4" down
ip link set "v$$-5" down
all_done()
{
	[ -e real1.done ] && [ -e real2.done ] && [ -e real3.done ] &&
	    [ -e real4.done ] && [ -e real5.done ]
}
await "five commands" all_done
took=$(($(date +%s) - started))
ip link set "v$$-5" up
for n in $nets; do
	eval "wait \$real$n" || fail "recorder $n: $(cat real$n.out)"
done
ip link set "v$$-4" up
# What was cut is told, and sent afterwards.
grep -q 'send real4.dtp with dtprof push' real4.out ||
	fail "nothing says so: $(cat real4.out)"
for n in $nets; do
	expect 0 "$DTPROF" push --timeout 60s --label kind=real "$store" \
	    real$n.dtp
	"$DTPROF" report --stats --json real$n.dtp >stats.json 2>/dev/null
	[ "$(json stats.json 'sum(e["full"] + e["nested"] + e["error"]
	    for e in j["accounting"] if e["event"] != "proc")')" = 0 ] ||
	    fail "recorder $n lost samples"
	"$DTPROF" script --json real$n.dtp 2>/dev/null
done | store_sums >want
sql "SELECT event, sum(n), sum(n * weight) FROM samples WHERE $committed AND
    has(label_values, 'real') GROUP BY event ORDER BY event
    FORMAT TabSeparated" >got
cmp want got || fail "real: $(cat want got)"
sql "SELECT event, sum(stored), sum(batch_weight) FROM accounts WHERE
    $committed AND has(label_values, 'real') AND stored > 0 AND event !=
    'proc' GROUP BY event ORDER BY event FORMAT TabSeparated" >got
cut -f1,2 want >want.n
cut -f1,2 got | cmp - want.n || fail "real accounts: $(cat want got)"
ok "five recorders ($(dropped) packets dropped): $(cat want); nothing lost;
    $took s beside four others, $took_alone s alone"
