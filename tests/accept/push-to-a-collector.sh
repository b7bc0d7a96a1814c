#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a real OpenTelemetry Collector, built of its modules by its own
# builder, takes what push sends to otlp+http, rejects nothing, and prints the
# profiles with the weights, numbers of samples, names, threads, build-ids and
# times of the recording; and classes generated from the published descriptors
# decode the file of export to the same.  Easy to get wrong: our reading of the
# format, which every test that we write of it shares.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 go
version=0.165.0
tmpdir
work=${COLLECTOR:-$tmp/collector}
mkdir -p "$work"
if [ ! -x "$work/out/collector" ]; then
	GOPATH=$work/go
	GOCACHE=$work/cache
	export GOPATH GOCACHE
	go install "go.opentelemetry.io/collector/cmd/builder@v$version" \
	    >go.log 2>&1 || skip "no builder: $(tail -1 go.log)"
	cat >manifest.yaml <<END
dist:
  name: collector
  output_path: $work/out
receivers:
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v$version
exporters:
  - gomod: go.opentelemetry.io/collector/exporter/debugexporter v$version
END
	"$GOPATH/bin/builder" --config manifest.yaml >go.log 2>&1 ||
	    skip "no Collector: $(tail -1 go.log)"
	chmod -R u+w "$GOPATH"
fi
port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
cat >config.yaml <<END
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:$port
exporters:
  debug:
    verbosity: detailed
    sampling_initial: 1000000
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    profiles:
      receivers: [otlp]
      exporters: [debug]
END
"$work/out/collector" --config config.yaml \
    --feature-gates=service.profilesSupport >collector.log 2>&1 &
test_pids="$test_pids $!"
await "a Collector" grep -q 'Everything is ready' collector.log
cp "$SRC/tests/report/known.dtp" "$SRC/tests/interop/bpf-amid-kernel.dtp" .
for file in known bpf-amid-kernel; do
	expect 0 "$DTPROF" push --label service=shop \
	    "otlp+http://127.0.0.1:$port" "$file.dtp"
	expect_out '4 profiles in 1 batches sent' "$file"
done
shows_two()
{
	[ "$(grep -c 'info.*Profiles.*resource profiles' collector.log)" -ge 2 ]
}
await "two profiles" shows_two
"$DTPROF" export --format otlp -o known.otlp known.dtp 2>/dev/null
"$DTPROF" export --format otlp -o bpf.otlp bpf-amid-kernel.dtp 2>/dev/null
if ! python3 -m venv venv >pip.log 2>&1 ||
    ! venv/bin/pip install -q opentelemetry-proto==1.45.0 >pip.log 2>&1; then
	skip "no opentelemetry-proto: $(tail -1 pip.log)"
fi
cat >check.py <<'END'
import collections, os, re, sys
sys.path.insert(0, os.environ['SRC'] + '/tests/interop')
from folded import folded
from opentelemetry.proto.profiles.v1development import profiles_pb2
log = open('collector.log').read()
shown = [int(n) for values in re.findall(r'Values: \[([^]]*)\]', log)
         for n in values.split()]
total, samples = collections.Counter(), 0
for file, otlp in ('known.dtp', 'known.otlp'), \
        ('bpf-amid-kernel.dtp', 'bpf.otlp'):
    data = profiles_pb2.ProfilesData()
    data.ParseFromString(open(otlp, 'rb').read())
    d = data.dictionary
    for p in data.resource_profiles[0].scope_profiles[0].profiles:
        type = d.string_table[p.sample_type.type_strindex]
        is_count = type.startswith('samples')
        event = d.string_table[p.period_type.type_strindex] or \
            type.replace('samples of ', '')
        got = collections.Counter()
        for s in p.samples:
            thread = [d.attribute_table[n].value.string_value
                      for n in s.attribute_indices]
            names = [d.string_table[d.function_table[line.function_index]
                     .name_strindex] for n in
                     d.stack_table[s.stack_index].location_indices
                     for line in d.location_table[n].lines]
            got[';'.join(thread + names[::-1])] += s.values[0]
            total[s.values[0]] += 1
            samples += 1
        assert got == folded(file, event, 'samples' if is_count else
                             'weight'), (file, type)
assert samples > 0 and collections.Counter(shown) == total, \
    (len(shown), samples)
for name in 'seventy', 'turn', 'cpu-clock', 'nanoseconds', 'thread.name', \
        'process.executable.build_id.gnu', 'shop':
    assert name in log, name
print(f'ok: the Collector shows {len(shown)} samples, whose values sum up to '
      f'{sum(shown)}, those of the recordings; the published classes decode '
      'the same stacks')
END
venv/bin/python check.py || fail "$(grep -c Values collector.log) samples"
