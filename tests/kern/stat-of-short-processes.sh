#!/bin/sh
# ASSERTION: of many short processes, counted on the whole machine, each is in
# the list once with what it had, the sum over all is what the CPUs counted,
# and nothing is left behind.
# SPDX-License-Identifier: ISC
#
# Easy to get wrong: a number that is used again, a process that is gone
# before anybody has looked.  PROCESSES: how many (make accept: 10,000).

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_perf
need_root
need_bpf
need_cmd python3
tmpdir
: "${PROCESSES:=400}"

true=$(command -v true)
[ -x /bin/true ] && true=/bin/true
cp "$true" ./brief || fail "no copy of $true"
expect 0 "$DTPROF" stat --json -o all.json -a --per-process \
    -e page-faults,cpu-clock,context-switches -- \
    sh -c "n=0; while [ \$n -lt $PROCESSES ]; do ./brief; n=\$((n + 1)); done"
python3 - "$PROCESSES" <<'END' || fail "the list"
import json, sys
j, n = json.load(open('all.json')), int(sys.argv[1])
brief = [t for t in j['tasks'] if t['comm'] == 'brief']
print(len(brief), 'short processes of', len(j['tasks']))
assert len(brief) == n and len({t['pid'] for t in brief}) == n, len(brief)
assert all(t['ended'] and t['counts'][0] > 20 and t['counts'][1] > 0 and
    t['counts'][2] > 0 for t in brief), brief[-1]
# They are alike, so a lost part would show.
faults = sorted(t['counts'][0] for t in brief)
assert faults[0] > 0.8 * faults[n // 2] and \
    faults[int(n * 0.99)] < 1.2 * faults[n // 2], faults
for e, event in enumerate(j['events']):
    s = sum(t['counts'][e] for t in j['tasks'])
    assert s == event['counts'][0] > 0, (event['name'], s, event)
assert j['notes'] == [], j['notes']
END
no_orphans
ok "$PROCESSES processes, each once, and nothing is left"
