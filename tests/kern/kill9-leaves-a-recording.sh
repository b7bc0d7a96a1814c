#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Killed with -9 at any moment, a recorder leaves nothing in the
# kernel: no program, map, link or perf event; and a file that reads to its
# last whole chunk, says that it was cut, and whose accounting says how much
# is not in it.
# TIMEOUT: 300
#
# Easy to get wrong: an object that is pinned, or held by a child, outlives
# its maker; a chunk that was written in part must not be believed.  The
# moments are random, from a seed that is printed; at every other one the
# recorder is stopped first, to see what it holds at that moment, and only
# then killed.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
: "${KILLS:=10}" "${SEED:=$(date +%s)}"
echo "seed $SEED"

# What looks for leftovers has to know what to look for.
for name in $(sed -n 's/^\(on_[a-z_]*\)(.*/\1/p' "$SRC"/sys/*.bpf.c); do
	grep -q "\"$name\"" "$SRC/tests/work/orphans.c" ||
	    fail "tests/work/orphans.c does not know $name"
done

# Objects of ours that a process holds, by its fdinfo; its perf events.
holds()		# pid
{
	cat "/proc/$1/fdinfo/"* 2>/dev/null | grep -Ec '^(prog|map|link)_id:'
}

perf_events()	# pid
{
	find "/proc/$1/fd" -lname '*perf_event*' 2>/dev/null | wc -l
}

python3 -c 'import random, sys
random.seed(int(sys.argv[1]))
for i in range(int(sys.argv[2])):
    print("%.3f %d" % (random.uniform(0, 0.8), random.random() < 0.7))' \
    "$SEED" "$KILLS" >moments
"$work/calls" -u 100 0 >/dev/null &
kill_at_end $!
files=0 held=0 killed=0
while read -r moment ready; do
	rm -f a.dtp
	"$DTPROF" record -q -a -o a.dtp -e cpu-clock -c 1000000 \
	    -e sched:sched_switch -e syscall::close:entry >out 2>err &
	recorder=$!
	kill_at_end "$recorder"
	# Most are killed while they record, the others on their way there.
	[ "$ready" = 1 ] && await_recording "$recorder"
	sleep "$moment"
	if [ $((killed % 2)) -eq 0 ]; then
		kill -STOP "$recorder" || fail "it ended: $(cat err)"
		await "the recorder stops" stopped "$recorder"
		held=$((held + $(holds "$recorder")))
		held=$((held + $(perf_events "$recorder")))
	fi
	kill -9 "$recorder" || fail "it ended by itself: $(cat err)"
	wait "$recorder" 2>/dev/null
	killed=$((killed + 1))
	no_orphans
	[ -s a.dtp ] || continue
	files=$((files + 1))
	"$DTPROF" script --json --show all a.dtp >script.out 2>script.err ||
	    fail "script: $(cat script.err)"
	grep -q 'cut' script.err || fail "it does not say that it was cut"
	"$DTPROF" report --stats a.dtp >stats.out 2>stats.err ||
	    fail "report: $(cat stats.err)"
	grep -q '^CUT SHORT' stats.out || fail "the report does not say CUT"
	py "$ready" <<'END'
import sys
import recording as rec

report = rec.report("a.dtp")
rec.check(report["recording"]["cut"], "not cut, says the report")
records = rec.in_order("a.dtp")
if any(r["type"] == "sample" for r in records):
    rec.check(report["accounting"], "samples, but no accounting")
for row in report["accounting"]:
    # Counters are read one by one while programs add to them, so here they
    # need not balance; but nothing is in the file that was not read.
    rec.check(row["event"] == "proc" or row["read"] <= row["fired"],
              "%r" % row)
END
done <moments
[ "$files" -gt 0 ] || fail "no recording was ever begun"
[ "$held" -gt 0 ] || fail "nothing was ever held"
ok "$killed kills: $files files read and say that they were cut; $held" \
    "objects and perf events were held at those moments, none was left"

# Without BPF, too; and what was not yet read then is not said to be hidden.
sh -c "while :; do $work/faults 2000; done" >/dev/null &
kill_at_end $!
rm -f a.dtp
"$DTPROF" record -q --backend perf -o a.dtp -e page-faults -p $! >out 2>err &
recorder=$!
kill_at_end "$recorder"
accounted()
{
	"$DTPROF" report --stats --json a.dtp >stats.out 2>/dev/null &&
	    [ "$(json stats.out 'sum(a["read"] for a in j["accounting"])' \
	    )" -gt 4000 ]
}
await "an accounting is in the file" accounted
kill -9 "$recorder" || fail "it ended by itself: $(cat err)"
wait "$recorder" 2>/dev/null
expect 0 "$DTPROF" report --stats a.dtp
expect_out '^CUT SHORT'
grep UNACCOUNTED out && fail "nothing hides from perf's rings"
ok "without BPF the file says that it was cut, and of nothing hidden"
