#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: record -D MS stores no sample of the first MS milliseconds, of a
# command, of one task alone and of a running process, by BPF and by perf
# rings; what was started and mapped meanwhile is known, and the pause is
# accounted for.  Easy to get wrong: counters that an exec switches on.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3 perl
tmpdir
# Set-up in one program, work in another, each of 600 ms of CPU time.
cat >run.pl <<'END'
sub burn {
	my ($end, $t) = ((times)[0] + 0.6, 0);
	while ((times)[0] < $end) { $t += $_ for 1 .. 20000 }
}
$0 = 'setup';
burn();
burn() if @ARGV;
exec('perl', '-e', '$0 = "work"; while ((times)[0] < 1.2) {
    $t += $_ for 1 .. 20000 }') unless @ARGV;
END
cat >check.py <<'END'
import json, sys
most, work = float(sys.argv[1]), sys.argv[2]
records = [json.loads(line) for line in open("out")]
at = {r["type"]: r["time_ns"] for r in reversed(records)}
delay = (at["resume"] - at["start"]) / 1e6
assert 500 <= delay <= most, delay
assert at["pause"] - at["start"] < 100e6, at
samples = [r for r in records if r["type"] == "sample"]
early = [r for r in samples if r["time_ns"] < at["resume"]]
assert not early, early[:3]
late = [r for r in samples if r["time_ns"] > at["resume"]]
assert len(late) > 50, len(late)
assert work == "" or late[-1]["comm"] == work, late[-1]["comm"]
frames = [f for r in late for f in r.get("user_frames", [])]
named = sum(f.get("module") is not None for f in frames)
assert named > 0.9 * len(frames) > 0, (named, len(frames))
print("%d samples, the first %.0f ms after the start" % (
    len(late), (late[0]["time_ns"] - at["start"]) / 1e6))
END
paths='perf'
"$B/tests/work/can" bpf >/dev/null 2>&1 && paths='bpf perf'
for path in $paths; do
	set -- "$DTPROF" record --backend "$path" -q -e cpu-clock -c 1000000
	# Timers are off meanwhile, while system calls are looked at.
	[ "$path" = perf ] || set -- "$@" -e syscall:times
	expect 0 "$@" -D 500 -o x.dtp -- perl run.pl
	expect 0 "$DTPROF" script --json --show all x.dtp
	python3 check.py 2000 work >said || fail "$path: $(cat said)"
	ok "$path, a command: $(cat said)"
	expect 0 "$DTPROF" report --stats x.dtp
	grep -q '^paused  *1 time, ' out && ! grep -q 'BALANCE' out ||
	    fail "$(cat out)"
	expect 0 "$@" --delay 500 --no-inherit -o x.dtp -- perl run.pl alone
	expect 0 "$DTPROF" script --json --show all x.dtp
	python3 check.py 2000 '' >said || fail "$path, alone: $(cat said)"
	ok "$path, one task: $(cat said)"
	perl -e 'for (;;) { times; $t += $_ for 1 .. 20000 }' &
	burner=$!
	kill_at_end $burner
	expect 0 "$@" -D 500 --duration 3s -o x.dtp -p $burner
	kill $burner
	expect 0 "$DTPROF" script --json --show all x.dtp
	python3 check.py 2000 '' >said || fail "$path, -p: $(cat said)"
	ok "$path, a process: $(cat said)"
done
expect 125 "$DTPROF" record -D soon -- true
expect_err '--delay soon: not a number'
ok "what is no number is refused"
