#!/bin/sh
# ASSERTION: a mark stands in each running recording of this user at the time
# at which it was sent, in order among the samples, and mark says how many
# took it; without a recording it fails.  Easy to get wrong where the recorder
# reads it late.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
tmpdir
# Recordings of others, in other directories, are not ours.
TMPDIR=$tmp
export TMPDIR
cat >run.sh <<'END'
uptime_ns() { python3 -c 'import time; print(time.monotonic_ns())'; }
for n in 1 2 3; do
	uptime_ns
	"$DTPROF" mark --recorder $PPID "phase $n" || exit 9
	uptime_ns
done
END
expect 0 "$DTPROF" record -q -e cpu-clock -c 100000 -o x.dtp -- sh run.sh
[ "$(grep -c '^1 recording marked' out)" -eq 3 ] ||
    fail "not taken: $(cat out)"
grep -v recording out >"times"
expect 0 "$DTPROF" script --json x.dtp
[ "$(json_lines out 'sum(r["type"] == "marker" for r in j)')" -eq 3 ] ||
    fail "not three marks"
python3 - <<'END' || fail "marks are out of place"
import json
records = [json.loads(line) for line in open('out')]
times = [int(line) for line in open('times')]
marks = [r for r in records if r['type'] == 'marker']
assert [m['text'] for m in marks] == ['phase 1', 'phase 2', 'phase 3'], marks
for n, m in enumerate(marks):
    assert times[2 * n] <= m['time_ns'] <= times[2 * n + 1], (n, m, times)
assert records == sorted(records, key=lambda r: r['time_ns'])
assert any(r['type'] == 'sample' for r in records)
END
ok "three marks, each at its time, among samples in order"
expect 1 "$DTPROF" mark --recorder $$ nobody
expect_err 'not a recorder of this user'
ok "no recording: a failure"
[ -z "$(find "$tmp" -name '*.mark')" ] || fail "a socket was left behind"
ok "no socket is left"
