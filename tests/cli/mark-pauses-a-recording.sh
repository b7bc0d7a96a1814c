#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: between mark --pause and mark --resume no sample is recorded, of
# what runs on and of what is begun meanwhile; lives and marks are; --stats
# and JSON say for how long.  By BPF and by perf rings.  Easy to get wrong:
# what starts in the pause starts counting, a timer seems to be late, and the
# counters of --no-inherit, which an exec switches on, stay off.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3 perl
tmpdir
TMPDIR=$tmp
export TMPDIR
cat >run.sh <<'END'
burn='$t = 0; $t += $_ for 1 .. 3e6'
perl -e "$burn"
"$DTPROF" mark --recorder $PPID --pause 'no set-up' || exit 9
perl -e "\$0 = 'inpause'; for (1 .. 12) { $burn }
    system('perl', '-e', '\$0 = q(inpause);$burn')"
"$DTPROF" mark --recorder $PPID 'meanwhile' || exit 9
"$DTPROF" mark --recorder $PPID --resume || exit 9
perl -e "\$0 = 'after'; $burn"
END
cat >check.py <<'END'
import json
records = [json.loads(line) for line in open("out")]
at = {r["type"]: r for r in records}
begun, ended = at["pause"]["time_ns"], at["resume"]["time_ns"]
assert at["pause"]["text"] == "no set-up" and at["resume"]["text"] == ""
assert begun < at["marker"]["time_ns"] < ended
samples = [r for r in records if r["type"] == "sample"]
during = [r for r in samples if begun < r["time_ns"] < ended]
assert not during, during[:3]
assert not [r for r in samples if r["comm"] == "inpause"]
before = [r for r in samples if r["time_ns"] < begun]
after = [r for r in samples if r["comm"] == "after"]
assert len(before) > 20 and len(after) > 20, (len(before), len(after))
assert sum(r["type"] == "fork" and begun < r["time_ns"] < ended
           for r in records) >= 2
print("%d samples before, %d after, none of %.3f s between" %
      (len(before), len(after), (ended - begun) / 1e9))
END
# One task alone, whose counters its exec has switched on.
cat >alone.pl <<'END'
sub burn { my $t = 0; $t += $_ for 1 .. 3e6 }
my @mark = ($ENV{DTPROF}, "mark", "--recorder", getppid);
burn();
system(@mark, "--pause") == 0 or exit 9;
burn();
system(@mark, "--resume") == 0 or exit 9;
burn();
END
cat >alone.py <<'END'
import json
records = [json.loads(line) for line in open("out")]
at = {r["type"]: r["time_ns"] for r in records}
times = [r["time_ns"] for r in records if r["type"] == "sample"]
before = sum(t < at["pause"] for t in times)
after = sum(t > at["resume"] for t in times)
assert before + after == len(times), (before, after, len(times))
assert before > 20 and after > 20, (before, after)
print("%d samples of one task before, %d after" % (before, after))
END
paths='perf'
"$B/tests/work/can" bpf >/dev/null 2>&1 && paths='bpf perf'
for path in $paths; do
	expect 0 "$DTPROF" record --backend "$path" -q -e cpu-clock -c 1000000 \
	    -o x.dtp -- sh run.sh
	grep -q '^1 recording paused' out && grep -q '^1 recording resumed' \
	    out || fail "not taken: $(cat out)"
	expect 0 "$DTPROF" script --json --show all x.dtp
	python3 check.py >said || fail "$path: $(cat said)"
	ok "$path: $(cat said)"
	expect 0 "$DTPROF" report --stats x.dtp
	grep -q '^paused  *1 time, ' out || fail "$(cat out)"
	expect 0 "$DTPROF" report --json x.dtp
	python3 - <<'END' || fail "$path: the timers seem to be late"
import json
report = json.load(open("out"))
late = sum(row["overruns"] for row in report["accounting"]) * 1000000
# Longer than all that is recorded, and counted on each CPU if it were.
paused = report["recording"]["paused_ns"]
assert late < paused * 3 / 4, (late, paused)
END
	expect 0 "$DTPROF" record --backend "$path" -q --no-inherit \
	    -e cpu-clock -c 1000000 -o y.dtp -- perl alone.pl
	expect 0 "$DTPROF" script --json --show all y.dtp
	python3 alone.py >said || fail "$path, alone: $(cat said)"
	ok "$path: $(cat said)"
done
expect 2 "$DTPROF" mark --pause --resume
expect_err 'exclude each other'
expect 2 "$DTPROF" mark
expect_err 'missing marker text'
ok "--stats and JSON say so; what contradicts itself is refused"
