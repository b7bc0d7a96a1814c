# SPDX-License-Identifier: ISC
"""javascript_tokens.py TOKENS [LINES] < SCRIPT: each call of
tests/work/tokens.js has the stack that V8 wrote down.

TOKENS is its output, SCRIPT what "dtprof script --json --lines" prints.  All
calls have a sample; its frames of scripts, from the function that calls on,
are the list of V8: names, files and lines.  A line may be missing in LINES
percent of the frames (default 1), a name in 1 percent of the calls; none may
be another one.
"""
import json
import re
import sys


def expected(path):
    stacks = {}
    for line in open(path, encoding="utf-8"):
        number, stack = line.split("\t")
        # Functions of V8 itself have no file.
        stacks[int(number)] = [
            (name, file.removeprefix("file://"), at)
            for name, file, at in json.loads(stack) if file is not None]
    return stacks


def seen(text):
    for line in text:
        record = json.loads(line)
        args = record.get("args", {})
        match = re.fullmatch("/tok/([0-9]+)", str(args.get("filename")))
        if not match:
            continue
        frames = [(frame["function"], frame["module"], frame.get("line"))
                  for frame in record["user_frames"]
                  if frame["kind"] == "js"]
        while frames and frames[0][0] != "token":
            del frames[0]
        yield int(match.group(1)), frames, record


def is_it(has, want):
    """V8 has no name for some functions, of which we show the place."""
    return (has[0] == want[0] or want[0] is None) and has[1] == want[1] and (
        has[2] == want[2] or has[2] is None)


def judge(found, want):
    """Why it differs; or None, and whether all its names are known."""
    named = [frame for frame in found if frame[0] is not None]
    is_whole = bool(found) and len(named) == len(found)
    named = [frame for frame in named if frame[1] != "[javascript]"]
    if is_whole and len(named) != len(want):
        return "%d frames, not %d: %s, not %s" % (
            len(named), len(want), named[:8], want[:8]), True
    rest = iter(want)
    for frame in named:
        for other in rest:
            if is_it(frame, other):
                break
            if is_whole:
                return "%s is %s" % (other, frame), True
        else:
            return "%s is none of %s" % (frame, want), is_whole
    return None, is_whole


def main():
    stacks = expected(sys.argv[1])
    most = float(sys.argv[2]) if len(sys.argv) > 2 else 1
    bad, met, frames, nameless, lineless, complete = [], set(), 0, 0, 0, 0
    for number, found, record in seen(sys.stdin):
        met.add(number)
        why, is_whole = judge(found, stacks[number])
        if why:
            bad.append("call %d: %s" % (number, why))
        frames += len(found)
        nameless += not is_whole
        lineless += sum(frame[2] is None and frame[1] != "[javascript]"
                        for frame in found)
        complete += record["user_status"] == "ok"
    for line in bad[:10]:
        print("FAIL:", line)
    missing = len(stacks) - len(met)
    if (bad or missing or not stacks or nameless > 0.01 * len(met) or
            lineless > most / 100 * frames):
        print("FAIL: of %d stacks %d are wrong, %d missing, %d without a "
              "name; of %d frames %d have no line" % (
                  len(stacks), len(bad), missing, nameless, frames, lineless))
        sys.exit(1)
    print("ok: %d stacks, %d frames as V8 says; %d stacks without a name, %d "
          "frames without a line; native stacks complete: %.1f%%" % (
              len(met), frames, nameless, lineless,
              100 * complete / len(met)))


main()
