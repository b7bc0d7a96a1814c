#!/bin/sh
# ASSERTION: stat --json has the members that dtprof(1) promises, the value of
# each run, and mean, spread, median and interval that are those of the
# values; --csv has the same values; neither is mixed with what the command
# writes.  Easy to get wrong with a run more or less, or a warm-up counted.
# SPDX-License-Identifier: ISC
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
tmpdir

# The command knows which run it is: it faults more each time.
cat >work.sh <<'END'
echo run >>runs
echo "noise on standard output"
exec "$B/tests/work/faults" $(($(wc -l <runs) * 500))
END
expect 0 "$DTPROF" stat --json -r 10 -w 2 -e page-faults:u,task-clock:u -- \
    sh work.sh
[ "$(wc -l <runs)" -eq 12 ] || fail "$(wc -l <runs) runs"
cp out all.json
grep -c 'noise on' err | grep -qx 12 || fail "the command's output"
python3 - <<'END' || fail "the contract"
import json, math, statistics
j = json.load(open('all.json'))
assert j['schema_version'] == 2 and j['warmups'] == 2, j
assert j['command'] == ['sh', 'work.sh'] and j['target'] == 'command'
assert [r['run'] for r in j['runs']] == list(range(1, 11))
for r in j['runs']:
    assert r['exit_status'] == 0 and r['wall_s'] > 0, r
    assert r['user_s'] >= 0 and r['system_s'] >= 0, r
assert [e['name'] for e in j['events']] == ['page-faults:u', 'task-clock:u']
assert [e['unit'] for e in j['events']] == ['events', 'ns']
t9 = 2.2621571627409915     # Student's t, 97.5 %, 9 degrees of freedom
for e in j['events'] + [j['wall_s']] + j['metrics']:
    v = e['values']
    m, s = statistics.fmean(v), statistics.stdev(v)
    half = t9 * s / math.sqrt(10)
    assert len(v) == 10 and math.isclose(e['mean'], m, rel_tol=1e-12), e
    assert math.isclose(e['stddev'], s, rel_tol=1e-9), e
    assert math.isclose(e['median'], statistics.median(v), rel_tol=1e-12)
    assert math.isclose(e['ci95'][0], m - half, rel_tol=1e-9), e
    assert math.isclose(e['ci95'][1], m + half, rel_tol=1e-9), e
for e in j['events']:
    assert e['running_pct'] == 100 and e['estimated'] is False
    assert e['values'] == e['counts'] and e['group'] is None, e
    assert e['enabled_ns'] == e['running_ns'] and min(e['enabled_ns']) > 0
# Each run faulted 500 pages more than the one before: none is left out.
# What sh, wc and ld.so fault depends on addresses and on what is cached.
f = j['events'][0]['values']
assert all(300 < b - a < 700 for a, b in zip(f, f[1:])), f
END
ok "JSON: the members, and their figures"

expect 0 "$DTPROF" stat --csv -r 3 -e '{page-faults:u,task-clock:u}' -- echo x,y
cp out all.csv
python3 - <<'END' || fail "CSV"
import csv
rows = list(csv.DictReader(open('all.csv')))
assert all(None not in r and None not in r.values() for r in rows), rows
events = [r for r in rows if r['kind'] == 'event']
assert [(r['run'], r['name']) for r in events] == [(str(n), e)
    for n in (1, 2, 3) for e in ('page-faults:u', 'task-clock:u')], events
assert all(r['value'] == r['count'] != '' and r['running_pct'] == '100.000'
    for r in events), events
# In a group both count in the same time.
for a, b in zip(events[::2], events[1::2]):
    assert a['enabled_ns'] == b['enabled_ns'], (a, b)
assert len([r for r in rows if r['kind'] == 'time']) == 9
END
ok "CSV: the same"

expect 0 "$DTPROF" stat --json -e task-clock -- true
[ "$(json out 'j["events"][0]["stddev"], j["events"][0]["ci95"]')" = \
    "(None, None)" ] || fail "one run has no spread"
ok "of one run there is no interval"
