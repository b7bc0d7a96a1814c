#!/bin/sh
# ASSERTION: what list prints, record -e takes, with the arguments that list
# promised; what is unavailable has a reason; a provider without probes has
# one too.  Easy to get wrong where list and record resolve names separately.
. "${SRC:=$PWD}/tests/lib.sh"
need_bpf
need_root
need_cmd python3
tmpdir
expect 0 "$DTPROF" list --json
cp out all.json
python3 - <<'END' >probes || fail "the list"
import json
j = json.load(open('all.json'))
assert j['schema_version'] == 2
assert len(j['probes']) > 500, len(j['probes'])
for p in j['probes']:
    assert p['probe'].count(':') >= 3 or \
        p['probe'].startswith('syscall:') or \
        p['probe'] in ('alloc', 'off-cpu', 'wall'), p
    assert p['why_not'] is None or len(p['why_not']) > 5, p
for m in j['missing']:
    assert m['provider'] and m['reason'], m
usable = [p for p in j['probes'] if p['why_not'] is None]
# Spread over all providers, and always the same ones.
by = {}
for p in usable:
    by.setdefault(p['probe'].split(':')[0], []).append(p)
for provider, probes in sorted(by.items()):
    for p in probes[::max(1, len(probes) // 4)][:4]:
        print(p['probe'], ','.join(a['name'] for a in p['args']))
END
ok "$(wc -l <all.json) lines of JSON"
n=0
while read -r probe args; do
	case $probe in
	proc:*) continue ;;	# always recorded, never asked for
	alloc) continue ;;	# not of all processes
	esac
	expect 0 "$DTPROF" record -q -a -e "$probe" -o x.dtp --duration 1ms
	expect 0 "$DTPROF" report --json x.dtp
	got=$(json out '",".join(a["name"] for a in j["events"][1]["args"])')
	[ "$got" = "$args" ] || fail "$probe: $got, listed as $args"
	n=$((n + 1))
done <probes
[ "$n" -ge 10 ] || fail "only $n"
ok "$n probes were recorded with the arguments listed"
expect 0 "$DTPROF" list 'sched:sched_switch'
expect_out 'sched_switch.*prev.*next'
expect 0 "$DTPROF" list -v 'static:sched::sched_switch'
expect_out 'sched:sched_switch'
ok "by perf's name and by our own"
