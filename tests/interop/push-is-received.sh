#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: push to a receiver of OpenTelemetry, Pyroscope or Parca sends the
# very bytes that export writes, in the request that each publishes, with the
# labels; it tries again where a server is busy, counts and prints what a
# server refuses or rejects, and ends with 1 then; no answer, however huge or
# malformed, does harm, and the token is in no argument, environment or output.
# A store
# that is busy is asked again, too.  Easy to get wrong: a server says 200 and
# takes half of it; requests that were never made are counted as sent.
. "${SRC:=$PWD}/tests/lib.sh"
python=
for one in python3 /usr/bin/python3; do
	"$one" -c 'import google.protobuf' 2>/dev/null && python=$one && break
done
[ -n "$python" ] || skip "no python3-protobuf here"
[ -n "$(ldconfig -p 2>/dev/null | grep libcurl.so.4)" ] || skip "no libcurl"
tmpdir
cp "$SRC/tests/report/known.dtp" a.dtp
"$python" "$SRC/tests/work/http_server.py" log >port 2>/dev/null &
test_pids="$test_pids $!"
await "a port" test -s port
at=http://127.0.0.1:$(cat port)
printf 'tok-of-the-test\n' >token
"$DTPROF" export --format otlp -o a.otlp a.dtp 2>/dev/null || fail export
"$DTPROF" export --format pprof -o a.pprof a.dtp 2>/dev/null || fail export

expect 0 "$DTPROF" push --secret-file token "otlp+$at/takes" a.dtp
expect_out '^731 samples: 4 profiles in 1 batches sent$' "what was sent"
expect 0 "$DTPROF" push --label service=shop --label version=1.42 \
    --label zone=a "otlp+$at/takes" a.dtp
expect 0 "$DTPROF" push --label version=1.42 \
    --label 'my-zone=a"<\' "pyroscope+$at/takes/" a.dtp
expect_out '1 profiles in 1 batches sent' "Pyroscope"
expect 0 "$DTPROF" push "parca+$at/takes" a.dtp
cat >check.py <<'END'
import base64, json, os, sys
sys.path.insert(0, os.environ['SRC'] + '/tests/interop')
import otlp
log = [json.loads(line) for line in open('log')]
plain, labeled, pyroscope, parca = log
assert [r['path'] for r in log] == [
    '/takes/v1development/profiles', '/takes/v1development/profiles',
    '/takes/push.v1.PusherService/Push', '/takes/api/profiles/writeraw']
assert plain['headers']['Content-Type'] == 'application/x-protobuf'
assert plain['headers']['Content-Encoding'] == 'gzip'
assert plain['headers']['Authorization'] == 'Bearer tok-of-the-test'
assert 'Authorization' not in labeled['headers']
written = open('a.otlp', 'rb').read()
assert plain['body'].encode('latin-1') == written
data = otlp.decode(labeled['body'].encode('latin-1'))
otlp.check(data)
want = otlp.decode(written)
assert data.dictionary == want.dictionary
assert otlp.profiles(data) == otlp.profiles(want)
resource = otlp.resource(data)
assert resource['service.name'] == 'shop' and resource['zone'] == 'a'
assert resource['service.version'] == '1.42', resource
keys = [a.key for a in data.resource_profiles[0].resource.attributes]
assert len(set(keys)) == len(keys)
pprof = open('a.pprof', 'rb').read()
def series(request, labels):
    assert request['headers']['Content-Type'] == 'application/json'
    body = json.loads(request['body'])
    assert list(body) == ['series'] and len(body['series']) == 1
    one = body['series'][0]
    assert base64.b64decode(one['samples'][0]['rawProfile'],
                            validate=True) == pprof
    return {x['name']: x['value'] for x in labels(one['labels'])}
got = series(pyroscope, lambda x: x)
assert got == {'__name__': 'process_cpu', 'service_name': 'known',
               'version': '1.42', 'my_zone': 'a"<\\'}, got
got = series(parca, lambda x: x['labels'])
assert got == {'__name__': 'process_cpu', 'service_name': 'known'}, got
print('ok: the bytes of export, as the three publish their requests')
END
"$python" check.py || fail "a request is another one"

# What perf recorded is not perf.
cat >other.txt <<'END'
# ========
# cmdline : /usr/bin/perf record -a sleep 1
# ========
myapp 7 [000] 1.000001: 250 cycles:
	1145 main+0x1 (/bin/prog)

END
expect 0 "$DTPROF" push "otlp+$at/takes" other.txt
expect 0 "$DTPROF" push "pyroscope+$at/takes" other.txt
python3 - <<'END' || fail "the service of an import"
import json
otlp, series = [json.loads(line)['body'] for line in open('log')][-2:]
assert 'myapp' in otlp and 'perf' not in otlp
assert '"service_name","value":"myapp"' in series, series
END

expect 0 "$DTPROF" push --timeout 20s "otlp+$at/after/2/0" a.dtp
[ "$(grep -c '/after/2/0' log)" = 3 ] || fail "it was not tried three times"
expect 1 "$DTPROF" push --timeout 0s "otlp+$at/status/429" a.dtp
expect_out '0 profiles in 0 batches sent, 4 profiles not sent' "the count"
expect_err 'the server refused the request: HTTP 429' "what the server said"
expect 1 "$DTPROF" push "parca+$at/status/400" a.dtp
expect_out '1 profiles not sent' "the count"
expect 1 "$DTPROF" push --secret-file token "otlp+$at/status/401" a.dtp
expect_err 'secret-file' "the cure"
expect 1 "$DTPROF" push "otlp+$at/rejects/1" a.dtp
expect_out '3 profiles in 1 batches sent, 1 profiles not sent' "rejected"
expect_err 'rejected 1 profiles: no .x1b\[31mroom' "what the server said"
expect 1 "$DTPROF" push --json "otlp+$at/rejects/99" a.dtp
expect_out '"rows_sent":0,"rows_spooled":0,"rows_dropped":4' \
    "no more than there were"
expect 1 "$DTPROF" push --json --timeout 0s "otlp+$at/status/429" a.dtp
expect_out '"rows_sent":0,"rows_spooled":4,"rows_dropped":0' "for later"
expect 0 "$DTPROF" push --timeout 20s "clickhouse+$at/after_1_0" a.dtp
expect 2 "$DTPROF" push --follow "otlp+$at/takes" a.dtp
expect_err '--follow needs a store'
ok "refused and rejected profiles are counted and said"

expect 0 "$DTPROF" push "otlp+$at/echo" a.dtp
expect_err "answer of the server is not OpenTelemetry:" "malformed"
for hostile in huge garbage drop; do
	expect 1 "$DTPROF" push --timeout 0s "otlp+$at/$hostile" a.dtp
	expect_out '4 profiles not sent' "$hostile"
	expect 1 "$DTPROF" push --timeout 0s "parca+$at/$hostile" a.dtp
done
ok "huge, malformed and cut answers are refused"

# While it waits for an answer that never comes.
"$DTPROF" push --secret-file token "otlp+$at/slow" a.dtp >slow 2>&1 &
pusher=$!
test_pids="$test_pids $pusher"
await "a request" grep -q '"/slow.*profiles"' log
family=$(ps -o pid= --ppid "$pusher"; echo "$pusher")
for pid in $family; do
	if tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null |
	    grep -q tok-of-the-test; then
		fail "the token is an argument"
	fi
	if tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null |
	    grep -q tok-of-the-test; then
		fail "the token is in the environment"
	fi
done
for pid in $family; do
	[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != dtprof-network ] ||
		kill -9 "$pid"
done
wait "$pusher" && fail "it has sent something"
grep -q '0 profiles in 0 batches sent, 4 profiles not sent' slow ||
	fail "counts without a network process: $(cat slow)"
grep -q tok-of-the-test slow && fail "the token is in the output"
ok "the token is in no arguments, no environment and no output"

expect 0 "$DTPROF" push --dry-run "otlp+http://127.0.0.1:1" a.dtp
expect_out '731 samples: 4 profiles in 1 batches to send' "--dry-run"
ok "--dry-run asks nobody"

expect 2 "$DTPROF" push --label a=1 --label ab=2 --label a=3 \
    "otlp+$at/takes" a.dtp
expect_err 'label a=3: duplicate key'
for wrong in 'push ftp://me:pa55@x a.dtp' 'store status ftp://me:pa55@x' \
    'store clickhouse+http://me:pa55@x status' \
    'store drop-before clickhouse+http://me:pa55@x 30d' \
    'push otlp+http://me:pa55@x a.dtp' \
    'push otlp+http://x?me:pa55@y a.dtp' \
    'store status clickhouse+http://me:pa55@x/y' \
    'report clickhouse+http://me:pa55@x/y' \
    'record --push http://me:pa55@x -- true'; do
	# shellcheck disable=SC2086 # words
	"$DTPROF" $wrong >"$tmp/out" 2>"$tmp/err" && fail "done: $wrong"
	grep -q pa55 "$tmp/out" "$tmp/err" && fail "$wrong: $(cat "$tmp/err")"
done
ok "a label given twice is refused; no message repeats a password"
