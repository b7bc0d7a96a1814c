# SPDX-License-Identifier: ISC
"""python_tokens.py TOKENS < SCRIPT: each call of tests/work/tokens.py has the
stack that the program wrote down.

TOKENS is its output, SCRIPT what "dtprof script --json --lines" prints.  All
calls have a sample; its frames of kind python are the list of the program,
names, files and lines.  A frame without a name is allowed in code that was
gone when it was read, which is "<made>", and nowhere else.
"""
import json
import re
import sys

GONE = "<made>"


def expected(path):
    stacks = {}
    for line in open(path, encoding="utf-8"):
        number, frames = json.loads(line)
        stacks[number] = [tuple(frame) for frame in frames]
    return stacks


def seen(text):
    for line in text:
        record = json.loads(line)
        args = record.get("args", {})
        match = re.fullmatch("/tok/([0-9]+)", str(args.get("filename")))
        if match:
            yield int(match.group(1)), [
                (frame["function"], frame.get("file"), frame.get("line"))
                for frame in record["user_frames"]
                if frame["kind"] == "py"], record


def differs(found, want):
    """The first frame that differs, or None."""
    if len(found) != len(want):
        return "%d frames, not %d" % (len(found), len(want))
    for n, (has, is_) in enumerate(zip(found, want)):
        if has != is_ and not (is_[1] == GONE and has[0] is None):
            return "frame %d is %s, not %s" % (n, has, is_)
    return None


def main():
    stacks = expected(sys.argv[1])
    bad, frames, nameless, met, whole = [], 0, 0, set(), 0
    for number, found, record in seen(sys.stdin):
        met.add(number)
        why = differs(found, stacks[number])
        if why:
            bad.append("call %d: %s" % (number, why))
        frames += len(found)
        nameless += sum(name is None for name, _, _ in found)
        whole += record["user_status"] == "ok"
    missing = set(stacks) - met
    for line in bad[:10]:
        print("FAIL:", line)
    if bad or missing or not stacks:
        print("FAIL: %d of %d stacks are wrong, %d are missing" %
              (len(bad), len(stacks), len(missing)))
        sys.exit(1)
    print("ok: %d stacks, %d Python frames as the interpreter says, %d of them "
          "without a name; native stacks complete: %.1f%%" %
          (len(met), frames, nameless, 100 * whole / len(met)))


main()
