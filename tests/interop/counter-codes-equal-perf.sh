#!/bin/sh
# ASSERTION: the codes that list --counters shows for PMUs of other machines
# are those of the tables inside perf, for 15 PMUs and thousands of events.
# SPDX-License-Identifier: ISC
#
# Easy to get wrong: a unit mask left out, edge or threshold bits misplaced, a
# PMU that is not the one asked for.  perf's program holds its tables as text,
# "event=0x24,umask=0x3f"; a name has one for each model that differs, and
# where perf's and libpfm4's tables themselves disagree, which is for less
# than 5 % of a PMU's events, nobody here can tell who is right.

. "${SRC:=$PWD}/tests/lib.sh"
need_cmd perf python3
[ "$(uname -m)" = x86_64 ] || skip "perf has these tables on x86-64 only"
tmpdir
perf=$(readlink -f "$(command -v perf)")
for pmu in snb ivb hsw bdw skl skx icl icx spr glm slm wsm nhm tmt knl; do
	expect 0 "$DTPROF" list --json --pmu $pmu
	mv out $pmu.json
done
python3 - "$perf" <<'END' || fail "codes"
import glob, json, sys
tables = open(sys.argv[1], 'rb').read()
if b'\0l2_rqsts.miss\0' not in tables:
    print('SKIP: this perf has no tables')
    sys.exit(77)

# Each string by itself, and where it stands among the others.
words = tables[tables.find(b'event='):tables.rfind(b'event=') + 200]
words = [w for w in words.split(b'\0') if w]
places = {}
for n, w in enumerate(words):
    places.setdefault(w, []).append(n)

def theirs(name):
    """All codes that a name has in the tables."""
    for at in places.get(name.encode(), ()):
        text = next((w for w in words[at + 1:at + 6] if b'event=' in w), None)
        if text is None:
            continue
        term = dict((t.split('=') + ['1'])[:2] for t in
            text.decode().split(','))
        value = lambda key: int(term.get(key, '0'), 0)
        yield (value('event') & 0xff | value('umask') << 8 |
            value('edge') << 18 | value('any') << 21 | value('inv') << 23 |
            value('cmask') << 24)

compared = 0
for path in sorted(glob.glob('*.json')):
    same = differ = 0
    for c in json.load(open(path))['counters']:
        pmu, name = c['name'].split('::')
        assert pmu + '.json' == path and c['pmu'] == pmu, c
        codes = set(theirs(name.lower().replace(':', '.')))
        if not codes or not c['code'].startswith('r'):
            continue
        same += int(c['code'][1:], 16) in codes
        differ += int(c['code'][1:], 16) not in codes
    assert same >= 20 and differ <= 0.05 * (same + differ) + 4, \
        (path, same, differ)
    print('ok: %s: %d codes, %d differ' % (path[:-5], same + differ, differ))
    compared += same
assert compared > 2500, compared
END
ok "all PMUs"
