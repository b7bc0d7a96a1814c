# SPDX-License-Identifier: ISC
# ASSERTION: In Flask under load, in a script that uses NumPy and pandas, and in
# pip, each with a planted function that takes 12 % of the process's CPU time by
# its own clock, that function is the first one by self, within 2 points, and
# its caller is the function that calls it.  Where nothing is planted nothing
# has its name.
#
# Easy to get wrong: time of C code and of the interpreter, threads that come
# and go, programs that end at once.
# TIMEOUT: 600
#
# PYTHON is what runs them (python3); packages are fetched once, into $B/peers.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
python=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)') ||
    skip "no python3"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $version in
3.11|3.12|3.13|3.14) ;;
*)	skip "Python $version is not one whose frames are known" ;;
esac
packages=$B/peers/python-$version
if [ ! -e "$packages/done" ]; then
	mkdir -p "$packages"
	"$python" -m pip install --quiet --disable-pip-version-check \
	    --target "$packages" flask pandas pip >"$packages.log" 2>&1 ||
	    skip "packages cannot be had: $(tail -n 1 "$packages.log")"
	: >"$packages/done"
fi
PYTHONPATH=$packages
export PYTHONPATH
tmpdir

cat >plant.py <<'END'
"""Work that takes a share of the process's CPU time, where it is called; not
each time, or it would keep step with the sampling timer."""
import os
import random
import time

SHARE = float(os.environ["SHARE"])
own = 0


def planted():
    global own
    if random.random() > 0.1:
        return
    begin = time.thread_time_ns()
    x = 1
    while SHARE > 0 and own + time.thread_time_ns() - begin < \
            SHARE * time.process_time_ns():
        for i in range(3000):
            x = (x * 31 + i) % 1000003
    own += time.thread_time_ns() - begin


def say():
    print(own / time.process_time_ns())
END
cat >use_flask.py <<'END'
import http.client
import os
import threading

import flask
from werkzeug.serving import make_server

import plant

app = flask.Flask("app")


@app.route("/<name>/<int:n>")
def view(name, n):
    plant.planted()
    return flask.jsonify(name=name, values=[{"n": i} for i in range(n)],
                         page=flask.render_template_string(
                             "{% for i in n %}<b>{{ i }}</b>{% endfor %}",
                             n=range(n)))


server = make_server("127.0.0.1", 0, app, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
if os.fork() == 0:
    # The load is another process's.
    for n in range(2000):
        client = http.client.HTTPConnection("127.0.0.1", server.server_port)
        client.request("GET", "/user/%d" % (n % 50))
        client.getresponse().read()
        client.close()
    os._exit(0)
os.wait()
plant.say()
END
cat >use_pandas.py <<'END'
import time

import numpy as np
import pandas as pd

import plant


def summary(frame):
    plant.planted()
    return frame.groupby("key").agg({"a": "mean", "b": "sum"})


rng = np.random.default_rng(1)
for n in range(10 ** 9):
    frame = pd.DataFrame({"key": rng.integers(0, 50, 20000),
                          "a": rng.random(20000), "b": rng.random(20000)})
    frame["c"] = frame["a"].rolling(10).mean() + np.sqrt(frame["b"])
    frame["name"] = frame["key"] % 7
    frame.sort_values("c").merge(summary(frame), on="key").describe()
    if time.process_time() > 6:
        break
plant.say()
END
cat >use_pip.py <<'END'
import sys
import time
from email.feedparser import FeedParser

from pip._internal.cli.main import main

import plant

close = FeedParser.close


def patched(self):
    plant.planted()
    return close(self)


FeedParser.close = patched
out, sys.stdout = sys.stdout, open("/dev/null", "w")
while time.process_time() < 5:
    main(["list", "--format=json"])
sys.stdout = out
plant.say()
END
cat >check.py <<'END'
import json
import sys

program, caller, share = sys.argv[1], sys.argv[2], float(sys.argv[3])
table = json.load(open("report.json"))["functions"]
total = sum(row["self"] for row in table)
first = max(table, key=lambda row: row["self"])
rows = [row for row in table if row["name"] == "planted"]
if share == 0:
    assert not rows or rows[0]["self"] < 0.005 * total, rows
    print("ok: %s: nothing is planted, and nothing found" % program)
    sys.exit(0)
own = float(open("own").read())
seen = first["self"] / total
if first["name"] != "planted" or abs(seen - own) > 0.02 or \
        abs(own - 0.12) > 0.01:
    print("FAIL: %s: first is %s with %.3f, not planted with %.3f" %
          (program, first["name"], seen, own))
    sys.exit(1)
right = wrong = 0
for line in open("x.folded"):
    stack, n = line.rsplit(" ", 1)
    frames = [f.replace("_[py]", "") for f in stack.split(";")]
    if "planted" not in frames:
        continue
    if frames[frames.index("planted") - 1] == caller:
        right += int(n)
    else:
        wrong += int(n)
if wrong or right < 100:
    print("FAIL: %s: of %d samples %d have another caller" %
          (program, right + wrong, wrong))
    sys.exit(1)
print("ok: %s: planted is first with %.1f %%, by its own clock %.1f %%, below "
      "%s in all %d samples" % (program, 100 * seen, 100 * own, caller, right))
END
try()		# program, caller of what is planted, share
{
	SHARE=$3 "$DTPROF" record -q -F 997 -o x.dtp -- "$python" "$1.py" \
	    >own 2>record.err || fail "record $1: $(tail record.err)"
	pid=$("$DTPROF" script --json x.dtp 2>/dev/null | python3 -c '
import json, sys
for line in sys.stdin:
    record = json.loads(line)
    if record.get("type") == "sample":
        print(record["pid"])
        break')
	{
		"$DTPROF" report --json --filter "pid==$pid" x.dtp \
		    >report.json &&
		    "$DTPROF" export --frames script --filter "pid==$pid" \
		    -o x.folded x.dtp
	} 2>report.err || fail "report $1: $(cat report.err)"
	python3 check.py "$1" "$2" "$3" || fail "see above"
}

try use_flask view 0.12
try use_flask view 0
try use_pandas summary 0.12
try use_pip patched 0.12
