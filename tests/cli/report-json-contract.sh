#!/bin/sh
# ASSERTION: report --json has the members that the contract names, its
# accounting balances to the unit, and text and JSON show the same figures.
# Easy to get wrong when a figure is not known: null, not 0.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
tmpdir
expect 0 "$DTPROF" record -q -e cpu-clock -c 100000 -e page-faults -o x.dtp \
    -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
expect 0 "$DTPROF" report --stats x.dtp
cp out text
expect_out 'accounting balances'
expect 0 "$DTPROF" report --stats --json -i x.dtp
python3 - <<'END' || fail "the contract is not kept"
import json
j = json.load(open('out'))
assert j['schema_version'] == 2
assert j['recording']['file'] == 'x.dtp' and j['recording']['cut'] is None
names = [e['name'] for e in j['events']]
assert names[1:] == ['cpu-clock', 'page-faults'], names
for e in j['events']:
    for key in ('name', 'probe', 'provider', 'unit', 'period',
        'frequency_hz', 'args'):
        assert key in e, key
text = open('text').read()
assert len(j['accounting']) == 3
for a in j['accounting']:
    for key in ('event', 'fired', 'stored', 'full', 'nested', 'filtered',
        'error', 'unaccounted', 'nested_stored', 'self', 'outside', 'overruns',
        'missed', 'count'):
        assert key in a, key
    assert a['fired'] == sum(a[k] for k in ('stored', 'full', 'nested',
        'filtered', 'error')), a
    assert a['balances'] is True and a['imbalance'] is None, a
    row = [l.split() for l in text.splitlines() if l.split()[:1] ==
        [a['event']] and len(l.split()) == 7]
    assert row and [int(x) for x in row[0][1:]] == [a[k] for k in ('fired',
        'stored', 'full', 'nested', 'filtered', 'error')], (row, a)
clock = j['accounting'][1]
assert clock['stored'] > 10 and clock['written'] == clock['stored']
assert clock['in_file'] == clock['stored']
q = j['quality']
assert set(q) == {'complete_stacks', 'unresolved', 'lost', 'sideband_lost',
    'throttled', 'multiplexed'}
for share in q.values():
    assert share is None or 0 <= share <= 1, q
assert q['complete_stacks'] is not None
END
ok "members, sums and text agree"
"$DTPROF" script --json --show samples x.dtp >samples || fail "script"
cp "$tmp/out" stats.json
python3 - <<'END' || fail "the names do not add up"
import collections
import json
j = json.load(open('stats.json'))
n = j['symbols']
assert n['samples'] == sum(a['in_file'] for a in j['accounting'])
assert n['samples'] == n['resolved'] + n['without_pc'] + n['unresolved'] > 10
seen, short, named, stacks = (collections.Counter(), collections.Counter(),
    0, 0)
for line in open('samples'):
    r = json.loads(line)
    user, kernel = r.get('user_frames') or [], r.get('kernel_frames') or []
    inner = (kernel or user or [None])[0]
    if inner is not None and inner['function'] is not None:
        named += 1
    elif inner is not None:
        seen[inner['unresolved'], inner['module']] += 1
    status = r.get('user_status')
    if status not in (None, 'none', 'ok'):
        short[status, user[-1]['module'] if user else ''] += 1
def rows(name):
    return {(x['reason'], x['module']): x['samples'] for x in n[name]}
assert n['resolved'] == named, (n, named)
assert rows('unresolved_by') == dict(seen), (rows('unresolved_by'), seen)
for name in ('unresolved', 'truncated'):
    counts = [x['samples'] for x in n[name + '_by']]
    assert counts == sorted(counts, reverse=True), counts
    assert sum(counts) + n[name + '_others'] == n[name], n
accounted = sum(sum(c for s, c in a['user_stacks'].items()
    if s not in ('none', 'ok')) for a in j['accounting'][1:])
assert n['truncated'] == accounted, (n['truncated'], accounted)
assert rows('truncated_by') == dict(short), (n, short)
line = 'addresses of %d samples: %d resolved, %d without a program counter, ' \
    '%d unresolved' % (
    n['samples'], n['resolved'], n['without_pc'], n['unresolved'])
assert line in open('text').read().splitlines(), line
END
ok "names and truncated stacks by reason and module, as script has them"
expect 0 "$DTPROF" report --stats -v x.dtp
expect_out '^cpu [0-9]|^by cpu: unknown, recorded without BPF'
ok "--stats -v shows each CPU, or that they are not told apart"
