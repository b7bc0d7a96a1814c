# SPDX-License-Identifier: ISC
"""javascript_known.py EXPECTED SEEDS < SCRIPT: the functions of a program of
tests/work/known.js have the shares of samples that the program itself measured.

EXPECTED is its output, SCRIPT what "dtprof script --json" prints.  All shares
of all SEEDS together are to lie within their 99.9 % intervals.
"""
import json
import math
import statistics
import sys

OFF = 0.01      # of what the clock costs, which is read beside the work


def main():
    own, total = {}, {}
    for line in open(sys.argv[1], encoding="utf-8"):
        name, self_ns, total_ns = line.split("\t")
        own[name], total[name] = int(self_ns), int(total_ns)
    whole = sum(own.values())
    n, found = 0, {}
    for line in sys.stdin:
        record = json.loads(line)
        names = [frame["function"] for frame in record.get("user_frames", [])
                 if frame["kind"] == "js" and
                 frame["function"] in own]
        if not names:
            continue
        n += 1
        for key in {("self", names[0])} | {("total", x) for x in names}:
            found[key] = found.get(key, 0) + 1
    if n < 300 or not own:
        print("FAIL: %d functions, %d samples" % (len(own), n))
        sys.exit(1)
    tests = 2 * len(own) * int(sys.argv[2])
    z = statistics.NormalDist().inv_cdf(1 - 0.001 / tests / 2)
    bad = 0
    for kind, expected in ("self", own), ("total", total):
        for name, ns in expected.items():
            share, seen = ns / whole, found.get((kind, name), 0) / n
            reach = z * math.sqrt(max(share * (1 - share), 1 / n) / n) + OFF
            if abs(seen - share) > reach:
                bad += 1
                print("FAIL: %s of %s is %.3f of %d samples, not %.3f +- %.3f"
                      % (kind, name, seen, n, share, reach))
    if bad:
        print("FAIL: %d shares of %d are wrong, %d samples" %
              (bad, 2 * len(own), n))
        sys.exit(1)
    print("ok: %d functions, %d samples" % (len(own), n))


main()
