#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of PostgreSQL, where two sessions wait for a row that a third one
# has updated: each waits in epoll, in ProcSleep, for as long as its own clock
# says, is not idle, and was woken by the process that pg_blocking_pids names;
# the chain of wakers leads from the last session to the first, and to its
# timer.  A session that updates another row waits for none.  Where sessions
# commit, waits in the function that syncs the write-ahead log are as long as
# pg_stat_wal says, and are for fsync of a file of it, but for those for a CPU.
# Easy to get wrong: a session that waits for a lock waits in the same system
# call as one that waits for work; who waits for a tuple is not woken by whom
# holds the row, but by whom is before it.
# TIMEOUT: 300
. "${SRC:=$PWD}/tests/accept/lib-scenarios.sh"
need_recording
tmpdir

# Shorter waits are in no chain.
pg_begin row.dtp 1ms "deadlock_timeout = 60s" "autovacuum = off" \
    "synchronous_commit = off"
psql -c 'create table r (id int primary key, v int);
    insert into r values (1, 0), (2, 0)'

# ------------------------------------------------- waits for a row

holder()
{
	psql -c 'select pg_backend_pid()' -c 'do $$ begin
	    update r set v = v + 1 where id = 1;
	    perform pg_sleep(2);
	end $$' >holder
}

row_is_locked()
{
	[ -s holder ] && [ "$(psql -c 'select count(*) from (select 1 from r
	    where id = 1 for update skip locked) s')" -eq 0 ]
}

# Its own process and nanoseconds, in a file of that name.
waiter()		# name row
{
	psql >"$1" 2>&1 <<-E
	do \$\$ declare t timestamptz = clock_timestamp();
	begin
	    update r set v = v + 1 where id = $2;
	    raise notice '% %', pg_backend_pid(), (1e9 * extract(epoch from
	        clock_timestamp() - t))::bigint;
	end \$\$
	E
}

# So many sessions wait for a lock, by pg_stat_activity.
locked()		# number
{
	psql -c "select wait_event, pid, pg_blocking_pids(pid)
	    from pg_stat_activity where wait_event_type = 'Lock'
	    order by wait_event" >locked
	[ "$(wc -l <locked)" -eq "$1" ]
}

holder &
sessions=$!
await "a row lock" row_is_locked
waiter first 1 &
sessions="$sessions $!"
await "a session that waits" locked 1
waiter second 1 &
sessions="$sessions $!"
await "two sessions that wait" locked 2
waiter other 2
wait $sessions

pg_end

scenario_report row.dtp tid,state,reason,waker_tid
"$DTPROF" report --json --by tid,reason,state --filter 'stack == "ProcSleep"' \
    row.dtp >sleep.json || fail "no report of ProcSleep"
"$DTPROF" report --json --by waker-chain row.dtp >chains.json ||
    fail "no chains"
py <<'END'
import json
import re

import scenarios

def waiter(name):
    return map(int, re.search(r"NOTICE: +(\d+) (\d+)", open(name).read())
               .groups())

holder = int(open("holder").read().split()[0])
first, first_ns = waiter("first")
second, second_ns = waiter("second")
other, other_ns = waiter("other")
# wait event, process, who blocks it
locked = [line.strip().split("|") for line in open("locked")]
print("pg_stat_activity:", locked)
assert locked == [["transactionid", str(first), "{%d}" % holder],
                  ["tuple", str(second), "{%d}" % first]]
rows = list(scenarios.rows("tid,state,reason,waker_tid"))
sleep = list(scenarios.rows("sleep"))
for name, tid, ns, waker in (("first", first, first_ns, holder),
                             ("second", second, second_ns, first)):
    got = scenarios.total(rows, tid=tid, state="blocked", reason="epoll",
                          waker_tid=waker)
    late = scenarios.total(rows, tid=tid, state="runnable")
    scenarios.near(name + ": woken by %d" % waker, got, ns, .02, late + 2e7)
    scenarios.near(name + ": in ProcSleep", scenarios.total(sleep, tid=tid,
                   state="blocked", reason="epoll"), ns, .02, late + 2e7)
    idle = scenarios.total(rows, tid=tid, reason="idle")
    print("%s: idle %.1f ms" % (name, idle / 1e6))
    assert idle <= .2 * ns
assert not scenarios.total(sleep, tid=other)
print("other: %.1f ms, none in ProcSleep" % (other_ns / 1e6))
chain = [c for c in json.load(open("chains.json"))["chains"]
         if c["chain"] == " <- ".join(["postgres (epoll)"] * 3 + ["hardirq"])]
print("chain:", chain)
assert sum(c["longest_ns"] for c in chain) >= .9 * second_ns
END
ok "sessions that wait for a row"

# ------------------------------------------------------------ fsync

synced()
{
	psql -c 'select wal_sync, wal_sync_time from pg_stat_wal' >synced
	[ "$(cut -d '|' -f 1 synced)" -ge 150 ]
}

mark()			# text
{
	"$DTPROF" mark --recorder "$recorder" "$1" >/dev/null ||
	    fail "no marker"
}

pg_begin sync.dtp 0ns "track_wal_io_timing = on" "autovacuum = off"
psql -c 'create table w (v int)' -c 'checkpoint' \
    -c "select pg_stat_reset_shared('wal')" >/dev/null
mark inserts
n=0
while [ $((n += 1)) -le 150 ]; do
	echo "insert into w values ($n);"
done | psql
mark end
await "the sum of 150 commits" synced
pg_end
scenario_report sync.dtp state,reason,file --between inserts,end \
    --filter 'stack == "fdatasync"'
py <<'END'
import scenarios

count, ms = open("synced").read().strip().split("|")
of = list(scenarios.rows("state,reason,file"))
blocked = [row for row in of if row["state"] == "blocked"]
named = [row for row in blocked if "/pg_wal/" in row["file"]]
# The file of a session that has ended is not known.
assert all(row["reason"] == "fsync" and (row in named or row["file"] == "-")
           for row in blocked), blocked
assert scenarios.total(named) > .5 * scenarios.total(blocked) > 0
# A wait for the disk is followed by one for a CPU; the rest is running time.
print("%s syncs of the log: blocked %.1f ms" %
      (count, scenarios.total(blocked) / 1e6))
scenarios.near("blocked or runnable in fdatasync",
               scenarios.total(of), 1e6 * float(ms), .25)
assert scenarios.total(of) <= 1.01e6 * float(ms)
END
ok "sessions that wait for fsync"
