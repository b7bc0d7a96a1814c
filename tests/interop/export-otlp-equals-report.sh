#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the profile that export --format otlp writes is one that the
# decoder of protobuf reads by the published fields, keeps the rules of the
# dictionary, and has the very stacks, weights, numbers of samples, units,
# times, periods, threads, kinds of frames, files and build-ids of the
# recording.  Easy to get wrong: elements 0, numbers one off, equal elements
# twice, and hostile names, which must be text.
. "${SRC:=$PWD}/tests/lib.sh"
python=
for one in python3 /usr/bin/python3; do
	"$one" -c 'import google.protobuf' 2>/dev/null && python=$one && break
done
[ -n "$python" ] || skip "no python3-protobuf here"
tmpdir
"${CC:=gcc}" -std=gnu11 -D_GNU_SOURCE -I"$SRC/libprof" -I"$SRC/sys" -I"$B" \
    -o made "$SRC/tests/interop/script_frames.c" "$B/libprof.a" -lzstd -lm \
    -pthread || fail "script_frames does not build"
./made script.dtp || fail "script_frames"
cp "$SRC/tests/report/known.dtp" "$SRC/tests/report/hostile.dtp" \
    "$SRC/tests/interop/bpf-amid-kernel.dtp" .
cat >check.py <<'END'
import collections, gzip, json, os, subprocess, sys
sys.path.insert(0, os.environ['SRC'] + '/tests/interop')
import otlp
from folded import folded
D = os.environ['DTPROF']
def run(*args):
    return subprocess.run([D] + list(args), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout
def check(file, *more):
    data = otlp.decode(run('export', '--format', 'otlp', *more, file))
    otlp.check(data)
    stats = json.loads(run('report', '--stats', '--json', file))
    info = stats['recording']['info']
    events = {e['name']: e for e in stats['events']}
    seen = set()
    for profile in otlp.profiles(data):
        type, unit = otlp.type_of(data, profile)
        is_count = type == 'samples' or type.startswith('samples of ')
        if not is_count:
            event = type
        e = events[event]
        assert unit == ('count' if is_count or e['unit'] == 'events' else
                        'nanoseconds'), unit
        got = collections.Counter()
        for s in profile.samples:
            thread = otlp.attributes(data, s).get('thread.name')
            names = ([thread] if thread else []) + otlp.frames(data, s)
            got[';'.join(n.replace(';', ':') for n in names)] += s.values[0]
        want = folded(file, event, 'samples' if is_count else 'weight',
                      *more)
        assert got == want, (file, type, got - want, want - got)
        seen.add((event, is_count))
        if 'time.realtime_ns' in info:
            first = int(info['time.realtime_ns'])
            assert first <= profile.time_unix_nano <= first + stats[
                'recording']['duration_ns'] + 10**9
        assert profile.duration_nano <= stats['recording']['duration_ns'] \
            or stats['recording']['duration_ns'] == 0
        if e['period']:
            assert profile.period == e['period']
            assert data.dictionary.string_table[
                profile.period_type.type_strindex] == event
    assert len(seen) == 2 * len({event for event, _ in seen})
    d = data.dictionary
    # pprof has the same files, build-ids and ranges, by its own writer.
    ranges = {(d.string_table[m.filename_strindex], m.memory_start,
               m.memory_limit, m.file_offset) for m in d.mapping_table[1:]}
    for o in d.location_table[1:]:
        m = d.mapping_table[o.mapping_index]
        assert o.mapping_index == 0 or o.address == 0 or \
            m.memory_start <= o.address < m.memory_limit
    ids = {d.string_table[m.filename_strindex]: otlp.attributes(data, m)
           .get('process.executable.build_id.gnu')
           for m in d.mapping_table[1:]}
    said = {r['path']: r['build_id'] for r in map(json.loads, run('script',
            '--json', '--show', 'mapping-events', file).decode().splitlines())
            if r.get('build_id')}
    for path, id in ids.items():
        # A hostile path is shown in other characters.
        assert id == said.get(path) or ('\\' in path and
            id in said.values()), (path, id, said.get(path))
    kinds = collections.Counter(otlp.attributes(data, o).get(
        'profile.frame.type') for o in d.location_table[1:])
    return otlp.resource(data), kinds, len(ranges), \
        sum(len(p.samples) for p in otlp.profiles(data))
total, every = 0, collections.Counter()
for file in sys.argv[1:]:
    resource, kinds, ranges, n = check(file)
    total += n
    every += kinds
    if file == 'known.dtp':
        assert resource['service.name'] == 'known', resource
        assert resource['os.type'] == 'linux'
        assert ranges > 0
assert every['native'] > 0 and every['kernel'] > 0, every
print(f'ok: {len(sys.argv) - 1} recordings: {total} samples equal those of '
      'report, with threads, times, periods, build-ids and kinds')
END
"$python" check.py known.dtp hostile.dtp bpf-amid-kernel.dtp script.dtp ||
    fail "the profile is another one"
expect 0 "$DTPROF" export --format otlp -o a known.dtp
expect 0 "$DTPROF" export --format otlp -o b known.dtp
cmp a b || fail "the same recording gives two profiles"
ok "the same recording gives the same profile"
