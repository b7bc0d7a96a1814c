# SPDX-License-Identifier: ISC
"""python_frames.py SCRIPT ALL DEFAULT ONLY REPORT: what --frames does to self
and total, out of "dtprof script --json --frames all".

ALL, DEFAULT and ONLY are "report --json" with --frames all, without, and with
--frames script; REPORT is what report prints for people.  A frame of the
interpreter is a native one of the file that has its loop, in a stack with
Python frames.
"""
import collections
import json
import re
import sys

LOOP = "_PyEval_EvalFrameDefault"


def stacks(path):
    for line in open(path):
        record = json.loads(line)
        if record.get("type") != "sample" or record["event"] != "cpu-clock":
            continue
        frames = record.get("kernel_frames", []) + record["user_frames"]
        yield record["weight"], [(f["function"] or f["module"], f["module"],
                                  f["kind"]) for f in frames]


def interpreter_of(path):
    """The file of the loop: it is there before the first script frame is."""
    for _, frames in stacks(path):
        for function, module, _ in frames:
            if function == LOOP or re.search("/(lib)?python3[^/]*$", module):
                return module


def functions(path):
    found = json.load(open(path))["functions"]
    return {(f["name"], f["module"], f.get("kind")): (f["self"], f["total"])
            for f in found}


def expected(path, shown):
    sums = collections.defaultdict(lambda: [0, 0])
    for weight, frames in stacks(path):
        frames = [f for f in frames if shown(f, frames)]
        for frame in frames[:1]:
            sums[frame][0] += weight
        for frame in set(frames):
            sums[frame][1] += weight
    return {key: tuple(sums[key]) for key in sums if key[2] == "py"}


script, all_, default, only, report = sys.argv[1:]
interpreter = interpreter_of(script)


def is_folded(frame, frames):
    return (frame[1:] == (interpreter, "native") and
            any(kind == "py" for _, _, kind in frames))


ways = {
    "all": (all_, lambda f, fs: True),
    "default": (default, lambda f, fs: not is_folded(f, fs)),
    "script": (only, lambda f, fs: f[2] == "py"),
}
for name, (path, shown) in ways.items():
    want = expected(script, shown)
    has = {key: value for key, value in functions(path).items()
           if key[2] == "py"}
    for key in set(want) | set(has):
        if want.get(key) != has.get(key):
            print("FAIL: --frames %s: %s is %s, not %s" % (
                name, key, has.get(key), want.get(key)))
            sys.exit(1)
    print("ok: --frames %s: self and total of %d Python functions" %
          (name, len(has)))
whole = sum(weight for weight, _ in stacks(script))
folded = sum(weight for weight, frames in stacks(script)
             if frames and is_folded(frames[0], frames))
match = re.search(r"interpreter internals \(([0-9.]+)%\)",
                  open(report).read())
share = "%.1f" % (100 * folded / whole)
if not match or match.group(1) != share:
    print("FAIL: folded are %s%%, report says %s" % (
        share, match and match.group(0)))
    sys.exit(1)
print("ok: %s%% are counted to Python functions, and said" % share)
