#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A recorder whose ring would make it need more than --max-memory
# gives up the oldest samples and stays within it, by /proc; the newest samples
# are there without a gap, and what was given up is counted, so that the
# accounting balances; the recording says so at the time, and so do reports,
# which with the recorder's status say how much memory it had, by /proc.
# Where the limit is far away nothing is given up.  Without a ring the recorder
# stops, with a whole recording.
#
# Easy to get wrong: what is freed stays with the allocator, and the ring is
# made smaller and smaller for it.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd python3
tmpdir

resident()	# kB
{
	awk '/^VmRSS/ { print $2 }' "/proc/$recorder/status"
}

# The most, in $most, until this succeeds and for so many looks from then on.
watch()		# looks command ...
{
	most=0
	looks=$1
	shift
	while [ "$looks" -gt 0 ]; do
		now=$(resident)
		[ -n "$now" ] || fail "the recorder has ended: $(cat err)"
		[ "$now" -le "$most" ] || most=$now
		! "$@" || looks=$((looks - 1))
		nap
	done
}

has_bytes()	# of the ring
{
	[ "$(ring_bytes)" -ge "$1" ]
}

has_warned()
{
	grep -q 'warning: only .* of samples are kept: .* --max-memory is' err
}

# The warning comes before the ring is full.  A full one drops old samples.
has_overwritten()
{
	has_warned || return 1
	bytes=$(ring_bytes) || fail "no status"
	[ "$bytes" -ge "$ring_most" ] || return 0
	ring_most=$bytes
	return 1
}

ring_bytes()
{
	"$DTPROF" ctl --recorder "$recorder" status --json >status.json &&
	    json status.json 'j["recorders"][0]["ring_bytes"]'
}

recording()	# limit argument ...
{
	limit=$1
	shift
	"$DTPROF" record --call-graph none -e syscall:close \
	    -e syscall::close:entry "$@" --dump-on exit --dump-max 1 \
	    -- "$work/calls" 0 >made 2>err </dev/null &
	recorder=$!
	kill_at_end $recorder
	await_recording $recorder err
	if [ "$limit" = none ]; then
		watch 1 has_bytes 200000
	else
		ring_most=0
		watch 20 has_overwritten
	fi
	pkill -TERM -P $recorder calls
	record_wait 0
}

recording none --ring 256M --max-memory 1G -o free.dtp
limit=$((most + 8192))
recording "$limit" --ring 256M --max-memory "${limit}K" -o held.dtp
[ "$most" -le "$limit" ] ||
    fail "$most kB, above the limit of $limit kB"
"$DTPROF" report --stats held.dtp 2>/dev/null |
    grep '^degraded .*ring reduced to ' || fail "report does not tell"
py "$limit" "$most" <<'END'
import json
import sys
import recording as rec

NAME = "syscall:close"


def calls(*args):
    return [r["args"]["fd"] - 0x40000000
            for r in rec.samples("held.dtp", NAME, "-e", NAME, *args)
            if r["args"]["fd"] >= 0x40000000]


def budget(budgets):
    return {b["name"]: b for b in budgets}["max-memory"]


limit, most = (1024 * int(arg) for arg in sys.argv[1:])
kept = budget(rec.report("held.dtp")["budgets"])
asked = budget(json.load(open("status.json"))["recorders"][0]["budgets"])
rec.check(kept["limit"] == asked["limit"] == limit, "%r %r" % (kept, asked))
# The kernel's count of pages lags behind.
rec.check(0.98 * most <= kept["used_max"] <= 1.1 * limit, "%r, %d by /proc" %
          (kept, most))
rec.check(0 < asked["used_max"] <= kept["used_max"], "%r" % asked)
rec.check(kept["action"].endswith("MB of samples are kept"), "%r" % kept)
made = json.load(open("made"))["calls"]
free = rec.accounting("free.dtp")[NAME]
rec.check(free["overwritten"] == 0, "%r" % free)
row = rec.accounting("held.dtp")[NAME]
first = calls("--limit", "1")[0]
last = calls("--from", "-50ms")
rec.check(row["fired"] == rec.sum_of(row), "%r" % row)
rec.check(row["stored"] == row["in_file"] + row["overwritten"] and
          row["overwritten"] > 0, "%r" % row)
if row["full"] + row["nested"] + row["error"] == 0:
    rec.check(last == list(range(made - len(last), made)), "not the newest")
    rec.check(made - first - row["in_file"] in range(0, 64), "a gap: %d to %d, "
              "%d samples" % (first, made, row["in_file"]))
rec.ok("%d of %d calls kept, %d overwritten" %
       (made - first, made, row["overwritten"]))
END
ok "limit $limit kB: at most $most kB"

# Without a ring.
"$DTPROF" record --max-memory 32M -o none.dtp -e cpu-clock -p $$ 2>err ||
    fail "$(cat err)"
grep 'warning: stopped: memory was .* --max-memory is' err ||
    fail "no stop: $(cat err)"
"$DTPROF" script --show markers none.dtp | grep 'stopped: memory was ' ||
    fail "no marker"
balance none.dtp

# What had the process before it was a recorder, had no recorder.
python3 -c 'import os, sys
large = bytes(300 << 20).replace(b"\0", b"x")
os.execv(sys.argv[1], sys.argv[1:])' "$DTPROF" record --max-memory 1G \
    -o after.dtp -e cpu-clock -- sleep 0.3 2>err || fail "$(cat err)"
"$DTPROF" report --stats --json after.dtp >stats.json 2>err ||
    fail "$(cat err)"
used=$(json stats.json 'int(j["budgets"][0]["used_max"])')
[ "$used" -lt 300000000 ] || fail "$used bytes, of a program before"
