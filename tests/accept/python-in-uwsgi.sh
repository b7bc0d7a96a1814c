# SPDX-License-Identifier: ISC
# ASSERTION: Of Debian's uWSGI, which has Python as a library of a plugin, the
# functions of a request's handler are shown by name, with their callers, in
# 80 % of samples: with -p while it serves, and started as a command.
# TIMEOUT: 300

. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_cmd apt-get dpkg-deb python3
tmpdir
uwsgi=$B/peers/uwsgi
if [ ! -e "$uwsgi/done" ]; then
	mkdir -p "$uwsgi" debs
	(cd debs && apt-get -qq download uwsgi-core uwsgi-plugin-python3 \
	    libnorm1 libpgm-5.3-0 libyajl2 libzmq5) >apt.log 2>&1 ||
	    skip "no uwsgi: $(tail -n 1 apt.log)"
	for deb in debs/*.deb; do
		dpkg-deb -x "$deb" "$uwsgi" || fail "$deb"
	done
	: >"$uwsgi/done"
fi
LD_LIBRARY_PATH=$uwsgi/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH
plugin=$(echo "$uwsgi"/usr/lib/uwsgi/plugins/python3*_plugin.so)
plugin=${plugin##*/}

cat >app.py <<'END'
def inner(n):
    x = 1
    for i in range(n):
        x = (x * 31 + i) % 1000003
    return x


def application(environ, start_response):
    value = inner(20000)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(value).encode()]
END
cat >load.py <<'END'
import http.client
import sys

for _ in range(int(sys.argv[2])):
    c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
    c.request("GET", "/")
    c.getresponse().read()
END
cat >judge.py <<'END'
import collections
import json
import sys

found = collections.Counter()
for line in sys.stdin:
    frames = json.loads(line).get("user_frames") or []
    found[tuple(f["function"] for f in frames if f["kind"] == "py")] += 1
right, total = found[("inner", "application")], sum(found.values())
print(right, "of", total, "samples:", found.most_common(3))
sys.exit(total < 200 or right < 0.8 * total)
END

judge()		# what
{
	"$DTPROF" script --json x.dtp >script.json 2>script.err ||
	    fail "script: $(cat script.err)"
	python3 judge.py <script.json >judged || fail "$1: $(cat judged)"
	ok "$1: $(cat judged)"
}

port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
set -- "$uwsgi/usr/bin/uwsgi-core" --plugin-dir "$uwsgi/usr/lib/uwsgi/plugins" \
    --plugin "${plugin%_plugin.so}" --http-socket 127.0.0.1:"$port" \
    --wsgi-file app.py --need-app --disable-logging

# So many requests are enough samples, however busy the machine is.
"$@" >server.log 2>&1 &
server=$!
kill_at_end $server
await "an answer of uWSGI" python3 load.py "$port" 1
"$DTPROF" record -q -o x.dtp -F 997 -p $server -- \
    python3 load.py "$port" 500 2>record.err ||
    fail "record: $(cat record.err server.log)"
kill -INT $server
wait $server
judge "with -p"

"$DTPROF" record -q -o x.dtp -F 997 -- "$@" --pidfile pid >server.log 2>&1 &
recorder=$!
await "an answer of uWSGI" python3 load.py "$port" 1
python3 load.py "$port" 1000 || fail "no answers: $(cat server.log)"
kill -INT "$(cat pid)"
wait $recorder
judge "as a command"
