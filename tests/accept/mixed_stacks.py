# SPDX-License-Identifier: ISC
"""mixed_stacks.py WHAT LEVELS DEPTH LEAST < SCRIPT: how many timer samples of
tests/work/mixed.py have the stack that the program has, of Python and C, to
its root, by "dtprof script --json --frames all".

LEAST is how many of 100 are to have it; -N: at most N are to be said to be
complete, of a program whose stacks cannot be followed.
"""
import json
import sys

ROOT = "Py_BytesMain"
KNOWN = {"<module>", "step", "deep", "leaf", "spine_a", "spine_b",
         "spine_leaf", ROOT}

what, levels, depth = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
least = float(sys.argv[4])
level = ["deep"] * (depth + 1) + ["step"]
spine = ["leaf"] + (level + ["spine_b", "spine_a"]) * levels + level + [
    "<module>", ROOT]
npython = spine.count("deep") + spine.count("step") + 2
total = right = frames = early = said = 0
example = None
is_on = False
for line in sys.stdin:
    record = json.loads(line)
    path = str(record.get("args", {}).get("filename"))
    if path in ("/tok/begin", "/tok/end"):
        is_on = path == "/tok/begin"
    if not is_on or record.get("event") != "cpu-clock":
        continue
    names = [frame["function"] for frame in record["user_frames"]
             if frame["function"] in KNOWN]
    if names[:1] == ["spine_leaf"]:
        names = names[1:]
    of_python = sum(f["kind"] == "py" and
                    not str(f["function"]).startswith("py::")
                    for f in record["user_frames"])
    # On a busy machine the interpreter is not found for a while.
    if right == 0 and of_python == 0 and least > 0:
        early += 1
        continue
    is_right = (names == spine and of_python == npython and
                record["user_status"] == "ok")
    total += 1
    right += is_right
    said += record["user_status"] == "ok"
    frames = max(frames, len(record["user_frames"]) * is_right)
    if not is_right and example is None:
        example = record["user_status"], of_python, names[:12], names[-6:]
share = 100 * right / max(total, 1)
text = "%s: %d of %d samples (%.1f %%) have the program's stack, of up to " \
    "%d frames; said to be complete: %.1f %%; %d before" % (
        what, right, total, share, frames, 100 * said / max(total, 1), early)
is_bad = share < least if least >= 0 else 100 * said > -least * total
if total < 200 or is_bad or said < right:
    print("FAIL: %s; the first other one: %s" % (text, example))
    sys.exit(1)
print("ok: " + text)
