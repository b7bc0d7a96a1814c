# SPDX-License-Identifier: ISC
"""What dtprof compare --json says of recordings of hosts, by scipy.

deploys_as_scipy.py JSON CELLS N: CELLS has lines "host window side function
cost" and, for units, "host window side - units"; N is how many functions are
compared.  Costs per unit, on an average host, are regressed on host, window and
side by numpy, where windows have the weight of their work; p is by
scipy.stats.permutation_test, which deals what hosts ran to other hosts.
"""
import collections
import json
import math
import sys

import numpy
import scipy.stats

DRAWS = 4999

said = json.load(open(sys.argv[1]))["comparisons"][0]
cost = collections.defaultdict(lambda: collections.defaultdict(float))
units = collections.defaultdict(float)
for line in open(sys.argv[2]):
    host, window, side, function, n = line.split()
    if function == "-":
        units[host, int(window), int(side)] += float(n)
    else:
        cost[host, int(window), int(side)][function] += float(n)
both = {key for key in cost if (key[0], key[1], 1 - key[2]) in cost}
cells = sorted(key for key in cost if key not in both and units[key] > 0)
hosts = sorted({key[0] for key in cells})
windows = sorted({key[1] for key in cells})
of_host = [hosts.index(key[0]) for key in cells]
of_window = [windows.index(key[1]) for key in cells]
side = numpy.array([key[2] for key in cells], float)
total = numpy.array([sum(cost[key].values()) / units[key] for key in cells])
level = numpy.array([total[[h == host for h in of_host]].mean()
                     for host in range(len(hosts))])
scale = level.mean() / level[of_host]
# Windows in which a host is not seen have the side of those around, or half.
paths = numpy.zeros((len(hosts), len(windows)))
for host, name in enumerate(hosts):
    seen = {of_window[i]: key[2] for i, key in enumerate(cells)
            if key[0] == name}
    for window in range(len(windows)):
        around = [max((w for w in seen if w <= window), default=None),
                  min((w for w in seen if w >= window), default=None)]
        paths[host, window] = numpy.mean([seen[w] for w in around
                                          if w is not None])
work = numpy.array([units[key] for key in cells])
root = numpy.sqrt(work / numpy.array([work[numpy.equal(of_host, host)].mean()
                                      for host in of_host]))
nuisance = numpy.zeros((len(cells), len(hosts) + len(windows)))
for i in range(len(cells)):
    nuisance[i, of_host[i]] = nuisance[i, len(hosts) + of_window[i]] = root[i]
q, r = numpy.linalg.qr(nuisance)
q = numpy.linalg.svd(nuisance, full_matrices=False)
q = q[0][:, q[1] > 1e-9]


def rest(values):
    values = values * root
    return values - q @ (q.T @ values)


def correlation(values, order):
    dealt = rest(paths[order.astype(int)][of_host, of_window])
    return abs(values @ dealt) / math.sqrt(dealt @ dealt)


def check(what, got, want, off):
    if not abs(got - want) <= off:
        sys.exit(f"{what}: {got}, but scipy says {want}")


def row_check(row, values, whole, is_log):
    y = rest(numpy.log(values) if is_log else values)
    d = rest(side)
    shift = (y @ d) / (d @ d)
    change = math.expm1(shift) if is_log else shift / whole
    check(row["name"] + ": change", row["change"], change,
          1e-6 * (1 + abs(change)))
    test = scipy.stats.permutation_test(
        (numpy.arange(len(hosts)),), lambda order: correlation(y, order),
        permutation_type="pairings", alternative="greater", vectorized=False,
        n_resamples=DRAWS, random_state=numpy.random.RandomState(7))
    # Of both that many are drawn: five standard errors.
    p = test.pvalue
    check(row["name"] + ": p", row["p"], p,
          5 * math.sqrt(max(p * (1 - p), 1 / DRAWS) / DRAWS))
    low, high = row["ci95"]
    if not low <= change <= high:
        sys.exit(f"{row['name']}: {change} is not from {low} to {high}")
    return y


base = [i for i in range(len(cells)) if side[i] == 0]
values = total * scale
mean = numpy.mean([values[[i for i in base if of_host[i] == host]].mean()
                   for host in range(len(hosts))
                   if any(of_host[i] == host for i in base)])
check("mean of the base", said["total"]["mean"][0], mean, 1e-6 * mean)
row_check(said["total"], values, mean, True)
# Functions change by a share of what new hosts cost, without its change.
there = rest(side) * root * side
whole = there @ values / there.sum() / (1 + said["total"]["change"])
tested = [row for row in said["functions"] if row["p"] is not None]
rows = [row_check(row, numpy.array(
    [cost[key][row["name"]] / units[key] for key in cells]) * scale, whole,
    False) for row in tested[:int(sys.argv[3])]]
print(f"{len(cells)} windows of {len(hosts)} hosts: the total and "
      f"{len(rows)} of {len(tested)} functions are as scipy has them")
