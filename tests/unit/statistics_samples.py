#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
#
# Writes statistics_samples.txt: 1000 random small pairs of samples, with ties
# and constants among them, and what scipy says of each; permutation tests by
# enumeration; Benjamini-Hochberg by its definition.  Needs
# python3-scipy, which the test itself does not:
#	python3 tests/unit/statistics_samples.py >tests/unit/statistics_samples.txt
#
# A line of a sample: n m, n + m values; quantiles 10 % 50 % 90 % of x, its
# MAD; U, p, exact?, delta; t, df, p; rho, p of x; p of all permutations; p of
# permutations within blocks of four (0: not asked).  A line of p values: -n,
# n values, n by Benjamini-Hochberg.
import itertools
import math
import random
import warnings

import numpy
import scipy.stats

warnings.simplefilter("ignore")
random.seed(20261121)
NAN = float("nan")


def sample(kind, n):
    if kind == 0:
        return [float("%.6g" % random.gauss(100, 10)) for _ in range(n)]
    if kind == 1:
        return [float(random.randrange(0, 6)) for _ in range(n)]
    if kind == 2:
        return [float("%.5g" % random.expovariate(1e-9)) for _ in range(n)]
    if kind == 3:
        return [1e300 * random.randrange(1, 9) for _ in range(n)]
    return [float(random.randrange(2))] * n


def permutation(x, y):
    pool, seen = numpy.array(x + y), None
    if len(set(pool)) == 1:
        return 1.0
    pool = pool / numpy.abs(pool).max()
    mean = pool.mean()
    seen = abs(sum(v - mean for v in pool[len(x):]))
    count = every = 0
    for chosen in itertools.combinations(pool - mean, len(y)):
        every += 1
        count += abs(math.fsum(chosen)) >= seen - 1e-11
    p = count / every
    if len(x) == len(y) and len(x) > 2:
        other = scipy.stats.permutation_test((pool[:len(x)], pool[len(x):]),
            lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
            vectorized=True, n_resamples=numpy.inf).pvalue
        assert math.isclose(p, other, rel_tol=0.05, abs_tol=1e-3), (p, other)
    return p


# Blocks of two x and two y, in order; the sums of each, put together.
def within_blocks(x, y):
    most = max(map(abs, x + y)) or 1
    sums, seen = [0.0], 0.0
    for b in range(0, len(x), 2):
        block = [v / most for v in x[b:b + 2] + y[b:b + 2]]
        mean = math.fsum(block) / 4
        block = [v - mean for v in block]
        seen += block[2] + block[3]
        sums = [s + a + c for s in sums
            for a, c in itertools.combinations(block, 2)]
    return sum(abs(s) >= abs(seen) - 1e-11 for s in sums) / len(sums)


def say(*values):
    print(" ".join(repr(float(v)).removesuffix(".0") for v in values))


for i in range(1000):
    kind, other = random.choice([0, 0, 0, 1, 1, 2, 3, 4]), None
    n, m = random.randrange(1, 9), random.randrange(1, 9)
    if i % 3 == 0:
        m = n
    if i % 25 == 0:
        kind, n, m = 0, random.randrange(20, 51), random.randrange(20, 51)
    x = sample(kind, n)
    y = sample(kind if random.random() < 0.9 else 4, m)
    if random.random() < 0.3:
        y = [v * 1.25 for v in y]
    ties = len(set(x + y)) < n + m
    ranks = scipy.stats.mannwhitneyu(y, x,
        method="asymptotic" if ties else "exact")
    p = 1.0 if len(set(x + y)) == 1 else ranks.pvalue
    t, df, welch = NAN, NAN, NAN
    if n > 1 and m > 1 and (len(set(x)) > 1 or len(set(y)) > 1):
        # t does not change with the unit, and 1e300 has no square.
        most = max(map(abs, x + y))
        a, b = numpy.array(x) / most, numpy.array(y) / most
        t, welch = scipy.stats.ttest_ind(a, b, equal_var=False)
        va, vb = a.var(ddof=1) / n, b.var(ddof=1) / m
        df = (va + vb) ** 2 / (va ** 2 / (n - 1) + vb ** 2 / (m - 1))
    rho, drift = NAN, NAN
    if n > 2 and len(set(x)) > 1:
        rho, drift = scipy.stats.spearmanr(range(n), x)
        # scipy says 0; of all orders two are as plain as that.
        if abs(rho) > 1 - 1e-12:
            drift = 2 / math.factorial(n)
    small = math.comb(n + m, n) <= 20000
    say(n, m, *x, *y, *numpy.quantile(numpy.array(x) / 8, [.1, .5, .9]) * 8,
        scipy.stats.median_abs_deviation(numpy.array(x)),
        ranks.statistic, p, not ties, 2 * ranks.statistic / (n * m) - 1,
        t, df, welch, rho, drift, permutation(x, y) if small else 0,
        within_blocks(x, y) if n == m and n in (2, 4, 6) else 0)

for i in range(40):
    p = [random.choice([random.random(), random.random() ** 6,
        round(random.random(), 1)]) for _ in range(random.randrange(1, 30))]
    n, order = len(p), sorted(range(len(p)), key=lambda k: p[k])
    bh = [min([1] + [p[order[j]] * n / (j + 1) for j in range(n)
        if p[order[j]] >= p[k]]) for k in range(n)]
    say(-n, *p, *bh)
