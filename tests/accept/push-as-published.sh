#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What push sends to Pyroscope and to Parca is, decoded by classes
# that protoc generates from the descriptors that both publish, a request of
# theirs, with nothing that the descriptors do not know, and its profile, by
# the published descriptor of pprof, has the stacks, totals, units, times and
# build-ids of the recording.
#
# Easy to get wrong: our reading of their formats, which every test that we
# write of it shares; a JSON key that a decoder drops silently.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd go protoc python3
tmpdir
python=
for one in python3 /usr/bin/python3; do
	"$one" -c 'import google.protobuf.json_format' 2>/dev/null &&
		python=$one && break
done
[ -n "$python" ] || skip "no python3-protobuf here"

# Descriptors, from the modules that the servers publish.
GOPATH=${PUBLISHED:-$tmp/go}
GOFLAGS='-mod=mod -modcacherw'
GOCACHE=$tmp/cache
export GOPATH GOCACHE GOFLAGS
mkdir empty
module()	# path@version: prints its folder
{
	(cd empty && go mod download -json "$1") 2>go.log | python3 -c '
import json, sys
print(json.load(sys.stdin)["Dir"])' 2>/dev/null ||
	    skip "no $1: $(head -1 go.log)"
}
pyroscope=$(module github.com/grafana/pyroscope/api@v1.6.0) || exit
parca=$(module github.com/parca-dev/parca@v0.20.0) || exit
pprof=$(module github.com/google/pprof@v0.0.0-20261105003125-4bf881d7fb0b) ||
	exit
[ -d "$pyroscope" ] && [ -d "$parca" ] && [ -d "$pprof" ] ||
	skip "no modules: $(head -1 go.log)"

# As they are, without annotations for HTTP and OpenAPI, which need more.
cat >plain.py <<'END'
import os
import re
import sys
for root, name in (sys.argv[1], "push/v1/push.proto"), \
        (sys.argv[1], "types/v1/types.proto"), \
        (sys.argv[2] + "/proto", "parca/profilestore/v1alpha1/"
         "profilestore.proto"), (sys.argv[3] + "/proto", "profile.proto"):
    text = open(os.path.join(root, name)).read()
    text = re.sub(r'import "(gnostic|google/api)/[^\n]*\n', "", text)
    # A module of Python's has that name.
    name = name.replace("types/v1", "shared/v1")
    text = text.replace('"types/v1', '"shared/v1')
    text = re.sub(r"(?ms)^service .*?^}\n", "", text)
    text = re.sub(r"\s*\[\s*\(gnostic[^;]*\];", ";", text)
    text = re.sub(r"(?ms)^ *option \(gnostic.*?^  };?\n|"
                  r"^ *option \(gnostic[^\n]*;\n", "", text)
    os.makedirs(os.path.dirname("proto/" + name), exist_ok=True)
    open("proto/" + name, "w").write(text)
END
python3 plain.py "$pyroscope" "$parca" "$pprof" || fail "no descriptors"
"$python" - <<'END'
from google.protobuf import descriptor_pb2, duration_pb2, timestamp_pb2
known = descriptor_pb2.FileDescriptorSet()
for module in duration_pb2, timestamp_pb2:
    module.DESCRIPTOR.CopyToProto(known.file.add())
open("known.pb", "wb").write(known.SerializeToString())
END
mkdir pb
(cd proto && find . -name '*.proto' | sed 's#^./##' | xargs protoc \
    --python_out=../pb -I . --descriptor_set_in=../known.pb) || fail "protoc"

python3 "$SRC/tests/work/http_server.py" log >port 2>/dev/null &
test_pids="$test_pids $!"
await "a port" test -s port
at=http://127.0.0.1:$(cat port)
cp "$SRC/tests/report/known.dtp" "$SRC/tests/interop/bpf-amid-kernel.dtp" .
for file in known bpf-amid-kernel; do
	for kind in pyroscope parca; do
		expect 0 "$DTPROF" push --label service=shop \
		    --label 'zone=a"<\' "$kind+$at/takes" $file.dtp
	done
done
cat >check.py <<'END'
import collections, gzip, json, os, subprocess, sys
sys.path[:0] = ["pb", os.environ["SRC"] + "/tests/interop"]
from google.protobuf import json_format
import profile_pb2, read_dtp
from folded import folded
from push.v1 import push_pb2
from parca.profilestore.v1alpha1 import profilestore_pb2
log = [json.loads(line) for line in open("log")]
assert len(log) == 4
total = 0
for n, request in enumerate(log):
    file = ("known.dtp", "bpf-amid-kernel.dtp")[n // 2]
    is_parca = n % 2 == 1
    message = profilestore_pb2.WriteRawRequest() if is_parca else \
        push_pb2.PushRequest()
    # Refuses a name that it does not know.
    json_format.Parse(request["body"].encode("latin-1"), message)
    series, = message.series
    labels = {l.name: l.value for l in
              (series.labels.labels if is_parca else series.labels)}
    assert labels["__name__"] == "process_cpu", labels
    assert labels["service_name"] == "shop", labels
    assert labels["zone"] == 'a"<\\', labels
    sample, = series.samples
    p = profile_pb2.Profile()
    p.ParseFromString(gzip.decompress(sample.raw_profile))
    s = p.string_table
    assert s[0] == "" and len(p.sample_type) == 4
    info = read_dtp.Recording(open(file, "rb").read()).info
    if "time.realtime_ns" in info:
        first = int(info["time.realtime_ns"])
        assert 0 <= p.time_nanos - first < 60e9, (first, p.time_nanos)
    assert p.duration_nanos > 0 and p.period > 0
    functions = {f.id: s[f.name] for f in p.function}
    chains = {l.id: [functions[x.function_id] for x in l.line]
              for l in p.location}
    assert any(s[m.build_id] for m in p.mapping)
    for i, type in enumerate(p.sample_type):
        name, unit = s[type.type], s[type.unit]
        is_count = name.startswith("samples")
        event = name.replace("samples of ", "") if " of " in name else \
            s[p.sample_type[i + is_count].type] if is_count else name
        assert unit == ("nanoseconds" if event == "cpu-clock" and
                        not is_count else "count"), (name, unit)
        got = collections.Counter()
        for x in p.sample:
            comm, = [s[l.str] for l in x.label if s[l.key] == "comm"]
            names = [name for l in x.location_id for name in chains[l]]
            got[";".join([comm] + names[::-1])] += x.value[i]
        got = +got
        want = folded(file, event, "samples" if is_count else "weight")
        assert got == +want, (file, name, got - want, want - got)
        total += sum(got.values())
print(f"ok: 4 requests by the published descriptors; all values: {total}")
END
"$python" check.py || fail "a request is another one"
