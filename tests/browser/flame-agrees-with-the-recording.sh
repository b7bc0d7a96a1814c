# SPDX-License-Identifier: ISC
# ASSERTION: Page and drawing of a recorded program whose answer is known show
# that answer, and exactly the samples that script counts: per event, per
# thread, per range of time; the same bytes each time.
#
# Easy to get wrong: a page that agrees with itself.  Its data is read here by
# a reader made from reports/README.md, and the samples by dtprof script.

. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
need_perf
tmpdir

expect 0 "$DTPROF" record -e cpu-clock -F 1999 -o x.dtp -- \
    "$B/tests/work/demo"
expect 0 "$DTPROF" flamegraph x.dtp -o x.html
expect 0 env LC_ALL=C.UTF-8 TZ=Asia/Tokyo "$DTPROF" flamegraph -i x.dtp \
    --output y.html
cmp x.html y.html || fail "the page differs from run to run"
ok "the same bytes again"
"$DTPROF" script --json x.dtp >script.json || fail "script"
"$DTPROF" flamegraph -o part.html --from 500ms --to 1s x.dtp || fail part
"$DTPROF" flamegraph -o reverse.html --reverse x.dtp || fail reverse
"$DTPROF" flamegraph -o x.svg x.dtp || fail svg
python3 - "$SRC" <<'END' || fail "see above"
import json, sys
import xml.etree.ElementTree as tree
sys.path.insert(0, sys.argv[1] + '/tests/browser')
import page_data

def totals(path):
    head, names, _, _, stacks, cells = page_data.read(path)
    sums = {}
    for _, node, _, samples, _ in cells:
        for name in {names[label] for label in stacks[node]}:
            sums[name] = sums.get(name, 0) + samples
    return head, sums, sum(c[3] for c in cells), sum(c[4] for c in cells)

script = [json.loads(line) for line in open('script.json')]
samples = [r for r in script if r.get('event') == 'cpu-clock']
assert len(samples) > 1000, len(samples)
head, sums, n, weight = totals('x.html')
assert n == len(samples) == head['events'][0]['samples'], (n, len(samples))
assert weight == sum(r['weight'] for r in samples)
assert sums['demo'] == sum(1 for r in samples if r['comm'] == 'demo')
print(f'ok: {n} samples, as many as script prints')
for name, share in ('seventy', .7), ('twenty', .2), ('ten', .1):
    seen = sums[name] / n
    assert abs(seen - share) < .05, (name, seen)
print('ok: 70, 20 and 10 %, by name')
times = sorted(t[0] for t in head['timeline']['read'])
first = min(r['time_ns'] for r in samples) - times[0]
assert times == sorted(r['time_ns'] - first for r in samples)
assert sorted({t[2][:2] for t in head['timeline']['read']}) == sorted(
    {(r['pid'], r['tid']) for r in samples})
print(f'ok: the timeline has {len(times)} samples when they were')
head, _, part, _ = totals('part.html')
assert 0 < part < n and head['begin_ns'] >= 500000000, (part, head)
assert head['span_ns'] <= 500000000
print(f'ok: {part} samples in half a second')
_, again, m, _ = totals('reverse.html')
assert m == n and again == sums
print('ok: reversed, every function has the same total')
root = tree.parse('x.svg').getroot()
text = ''.join(root.itertext())
assert head['events'][0]['name'] in text
boxes = [g for g in root.iter('{http://www.w3.org/2000/svg}g')]
wide = [g for g in boxes if g[0].text.startswith('seventy\n')][0]
shown = float(wide[1].get('width')) / 1180
assert abs(shown - sums['seventy'] / n) < .001, shown
print('ok: the drawing has the same share, and names the event')
END
