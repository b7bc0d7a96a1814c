#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: report, script, export, flamegraph and annotate of several
# recordings show the sum of what they show of each: stacks, samples, the
# accounting and durations, whether they are merged by dtprof merge or by the
# command itself, in two steps or in one; perf.data counts as a recording; what
# cannot be merged is refused before anything is written.  Easy to get wrong
# for events that only one of them has, and for names that differ by machine.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cp "$SRC/tests/report/known.dtp" a.dtp
cp "$SRC/tests/report/hostile.dtp" b.dtp
cp "$SRC/tests/interop/bpf-amid-kernel.dtp" c.dtp
expect 0 "$DTPROF" merge -o ab.dtp a.dtp b.dtp
expect 0 "$DTPROF" merge -o abc.dtp a.dtp b.dtp c.dtp
expect_err "event 'syscall::getpgid:entry' is in only 1 of 3 recordings" note
expect_err '3 recordings, 3017 samples in abc.dtp' "the summary"
expect 0 "$DTPROF" merge -q -o steps.dtp ab.dtp c.dtp
[ ! -s err ] || fail "-q prints: $(cat err)"

cat >check.py <<'END'
import collections, json, os, subprocess
D = os.environ['DTPROF']
def run(*args):
    return subprocess.run([D] + list(args), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout
def folded(event, weight, *files):
    sums = collections.Counter()
    done = subprocess.run([D, 'export', '-e', event, '--weight', weight] +
                          list(files), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    for line in done.stdout.decode().splitlines():
        stack, n = line.rsplit(' ', 1)
        sums[stack] += int(n)
    return sums
each = ['a.dtp', 'b.dtp', 'c.dtp']
ways = [['abc.dtp'], ['steps.dtp'], each]
stacks = 0
for event in 'cpu-clock', 'syscall::getpgid:entry', \
        'syscalls:sys_enter_getppid':
    for weight in 'samples', 'weight':
        want = sum((folded(event, weight, f) for f in each),
                   collections.Counter())
        assert want, event
        stacks += len(want)
        for way in ways:
            assert folded(event, weight, *way) == want, (event, way)
def stats(*files):
    return json.loads(run('report', '--stats', '--json', *files))
parts, shown = [stats(f) for f in each], 0
for way in ways:
    whole = stats(*way)
    assert whole['recording']['backend'] == 'merge'
    assert whole['recording']['info']['merged'] == '3'
    for key in 'samples', 'duration_ns', 'markers', 'pauses':
        assert whole['recording'][key] == sum(
            p['recording'][key] for p in parts), key
    for row in whole['accounting']:
        of = [r for p in parts for r in p['accounting']
              if r['event'] == row['event']]
        for key, value in row.items():
            if key.endswith('_stacks'):
                for status in value:
                    assert value[status] == sum(r[key][status] for r in of)
            elif isinstance(value, int) and not isinstance(value, bool):
                assert value == sum(r[key] for r in of), (row['event'], key)
                shown += 1
        assert row['balances']
    for key in 'samples', 'resolved', 'unresolved', 'user_stacks':
        assert whole['symbols'][key] == sum(
            p['symbols'][key] for p in parts), key
def lines(*files):
    return [json.loads(line) for line in run('script', '--json', *files)
            .decode().splitlines()]
def samples(records):
    return [{k: v for k, v in r.items() if k in ('event', 'pid', 'tid',
            'cpu', 'comm', 'weight', 'args')} for r in records
            if r.get('type') == 'sample']
want = [s for f in each for s in samples(lines(f))]
assert len(want) == 3017
for way in ways:
    got = lines(*way)
    assert samples(got) == want
    times = [r['time_ns'] for r in got if r.get('type') == 'sample']
    assert times == sorted(times)
print(f'ok: {stacks} stacks, {shown} counters and {len(want)} samples add up '
      'in each of 3 ways')
END
python3 check.py || fail "the sum is another one"
expect 0 "$DTPROF" report a.dtp b.dtp c.dtp
expect_out '^3 recordings, 2\.76 s: 2\.28 s of CPU time' "the headline"
expect 0 "$DTPROF" flamegraph -o all.svg a.dtp b.dtp c.dtp
grep -q seventy all.svg && grep -q turn all.svg ||
    fail "the drawing lacks functions"
expect 0 "$DTPROF" annotate turn a.dtp c.dtp
expect_out turn "annotate of several"
ok "report, flamegraph and annotate take several recordings"

cp a.dtp again.dtp
expect 1 "$DTPROF" merge -o no.dtp a.dtp again.dtp
expect_err 'again.dtp: the same recording is given twice' "twice"
expect 0 "$DTPROF" merge -o ab.dtp a.dtp b.dtp
cp ab.dtp again.dtp
expect 1 "$DTPROF" merge -o no.dtp ab.dtp again.dtp
expect_err 'again.dtp: the same recording is given twice' "twice, merged"
printf 'main;work 30\n' >x.folded
expect 1 "$DTPROF" merge -o no.dtp a.dtp x.folded
expect_err 'x.folded: cannot be merged: it was imported from folded' "folded"
expect 1 "$DTPROF" report a.dtp nosuch.dtp
expect_err 'nosuch.dtp: no such file' "a missing one"
[ ! -e no.dtp ] || fail "something was written"
ok "what cannot be merged is refused, and nothing written"
