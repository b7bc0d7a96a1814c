# SPDX-License-Identifier: ISC
# shellcheck shell=sh disable=SC2034 # variables of the tests
#
# What the tests of exports share: a recording with two events in x.dtp, and
# what the report says of it: $tmp/figures, a line "event function self
# total samples" for each, names of different modules added up.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
tmpdir
"$DTPROF" record -q -e cpu-clock -e page-faults -o x.dtp -- \
    "$B/tests/work/demo" 0.4 >/dev/null || fail "record"
cat >lib.py <<'END'
import collections, json, subprocess, sys
def report(dtprof, event):
    """{function: [self, samples]} of an event, and by stacks total."""
    text = subprocess.run([dtprof, "report", "--json", "-e", event, "x.dtp"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    by = collections.defaultdict(lambda: [0, 0, 0, 0])
    for f in json.loads(text)["functions"]:
        if f.get("event", event) != event:
            continue
        row = by[f["name"]]
        row[0] += f["self"]
        row[1] += f["samples"]
        row[2] = f["total"] if row[3] == 0 else None
        row[3] += 1
    return by
def compare(dtprof, event, stacks, column, what):
    """stacks: [(frames from the root, value)], without thread names."""
    own, total = collections.Counter(), collections.Counter()
    for frames, value in stacks:
        own[frames[-1]] += value
        for name in set(frames):
            total[name] += value
    wanted = report(dtprof, event)
    bad = [(n, own[n], w[column]) for n, w in wanted.items()
           if own[n] != w[column]]
    if column == 0:
        # Of names that stand for two functions the sum counts some twice.
        bad += [(n, total[n], w[2]) for n, w in wanted.items()
                if w[3] == 1 and total[n] != w[2]]
    bad += [(n, v) for n, v in own.items() if n not in wanted and
            n not in ("[callers not known]", "[no stack recorded]")]
    if bad or not wanted or not sum(own.values()):
        sys.exit("%s, %s: %s" % (what, event, bad[:5]))
    print("%s: %s of %d functions" % (what, event, len(wanted)))
END
