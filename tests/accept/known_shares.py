# SPDX-License-Identifier: ISC
"""known_shares.py EXPECTED SEEDS: the functions of a program of
tests/work/known.py or known.js have the shares of samples that the program
itself measured, the same in all outputs.

EXPECTED is its output; report.json, x.folded, x.pb and x.html lie here and show
script frames alone.  All shares of all SEEDS together are to lie within their
99.9 % intervals, by the binomial distribution.
"""
import collections
import gzip
import json
import math
import os
import sys

sys.path[:0] = [os.path.join(os.environ["SRC"], "tests", folder)
                for folder in ("interop", "browser")]
import page_data        # noqa: E402
import pprof_rules      # noqa: E402


def of_report(path):
    for f in json.load(open(path, encoding="utf-8"))["functions"]:
        yield "self", f["name"], f["samples"]
        yield "total", f["name"], f["total_samples"]


def of_stacks(stacks):
    for names, n in stacks:
        if names:
            yield "self", names[-1], n
        for name in set(names):
            yield "total", name, n


def of_folded(path):
    for line in open(path, encoding="utf-8"):
        stack, n = line.rsplit(" ", 1)
        yield stack.split(";"), int(n)


def of_pprof(path):
    profile = pprof_rules.Profile(gzip.decompress(open(path, "rb").read()))
    assert not profile.bad, profile.bad
    types = [profile.string(pprof_rules.single(m)[1], "")
             for m in profile.by[1]]
    for message in profile.by[2]:
        parts = collections.defaultdict(list)
        for field, value in pprof_rules.fields(message):
            parts[field].append(value)
        names = [profile.string(profile.functions[line[1] - 1][2], "")
                 for at in pprof_rules.numbers(parts[1])
                 for line in profile.lines[at - 1]]
        yield names[::-1], list(pprof_rules.numbers(parts[2]))[
            types.index("samples")]


def of_page(path):
    _, names, _, kinds, stacks, cells = page_data.read(path)
    for _, node, _, samples, _ in cells:
        yield [names[n] for n in stacks[node] if kinds[n] & 7 == 1], samples


def sums(found, known):
    """Samples of the program's functions, by "self" or "total" and name."""
    result = collections.Counter()
    for kind, name, n in found:
        if name in known:
            result[kind, name] += n
    return +result


def log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def chance(n, share, ks):
    if share <= 0 or share >= 1:
        return 1.0 if (0 if share <= 0 else n) in ks else 0.0
    return sum(math.exp(log_choose(n, k) + k * math.log(share) +
                        (n - k) * math.log1p(-share)) for k in ks)


def read(path):
    own, total = {}, {}
    for line in open(path, encoding="utf-8"):
        name, self_ns, total_ns = line.split("\t")
        own[name], total[name] = int(self_ns), int(total_ns)
    clock = own.pop("")
    whole = sum(own.values())
    del total[""]
    shares = {("self", name): ns / whole for name, ns in own.items()}
    shares.update((("total", name), ns / whole) for name, ns in total.items())
    return shares, clock / whole


def main():
    shares, slack = read(sys.argv[1])
    root = max(shares, key=shares.get)[1]
    known = {name for _, name in shares}
    ways = {
        "report": sums(of_report("report.json"), known),
        "folded": sums(of_stacks(of_folded("x.folded")), known),
        "pprof": sums(of_stacks(of_pprof("x.pb")), known),
        "page": sums(of_stacks(of_page("x.html")), known),
    }
    n = ways["report"]["total", root]
    if n < 300 or slack > 0.02:
        print("FAIL: %d samples, the clock took %.4f" % (n, slack))
        sys.exit(1)
    limit = 0.001 / (len(shares) * int(sys.argv[2])) / 2
    bad = 0
    for what, found in ways.items():
        if found != ways["report"]:
            bad += 1
            print("FAIL: %s is not report: %s" % (what, dict(
                (found - ways["report"]) | (ways["report"] - found))))
        for key, share in shares.items():
            k = found[key]
            if min(chance(n, share - slack, range(k + 1)),
                   chance(n, share + slack, range(k, n + 1))) < limit:
                bad += 1
                print("FAIL: %s: %s of %s is %.4f of %d samples, not %.4f" %
                      ((what,) + key + (k / n, n, share)))
    if bad:
        sys.exit(1)
    print("ok: %d functions, %d samples, the clock took %.4f" % (
        len(known), n, slack))


main()
