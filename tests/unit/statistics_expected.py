#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
#
# Writes statistics_expected.h: what scipy says of some sets of values and of
# Student's t.  Needs python3-scipy, which the test itself does not:
#	python3 tests/unit/statistics_expected.py >tests/unit/statistics_expected.h
import math
import random

import numpy
import scipy.special
import scipy.stats


def t_quantile(p, df):
    # scipy.stats.t.ppf is right to 10 digits only: tan(0.475 pi) is 12.7062...
    x = scipy.special.betaincinv(df / 2, 0.5, 2 * min(p, 1 - p))
    return math.copysign(math.sqrt(df * (1 / x - 1)), p - 0.5)


random.seed(20261121)
SETS = [
    [3.0],
    [1.0, 2.0],
    [5.0, 5.0, 5.0],
    [0.1, 0.2, 0.4],
    # A small spread on large values: naive sums of squares lose it.
    [1e12 + x for x in (1.0, 2.0, 3.0, 4.0, 5.0)],
    [random.gauss(100, 7) for _ in range(10)],
    [random.expovariate(1e-6) for _ in range(31)],
    [float(random.randrange(-50, 50)) for _ in range(200)],
]

print("/* SPDX-License-Identifier: ISC */")
print("/* Written by statistics_expected.py, scipy %s.  Do not edit. */"
    % scipy.__version__)
print("static const double set_values[] = {")
for s in SETS:
    for v in s:
        print("\t%r," % float(v))
print("};\n")
print("/* n, mean, stddev, median, low and high end of the interval */")
print("static const double set_expected[][6] = {")
for s in SETS:
    a = numpy.array(s)
    n = len(a)
    mean, median = a.mean(), numpy.median(a)
    stddev = a.std(ddof=1) if n > 1 else 0.0
    low = high = 0.0
    if n > 1 and stddev > 0:
        half = t_quantile(0.975, n - 1) * scipy.stats.sem(a)
        low, high = mean - half, mean + half
    elif n > 1:
        low = high = mean
    print("\t{ %d, %r, %r,\n\t    %r, %r,\n\t    %r }," % (n, float(mean),
        float(stddev), float(median), float(low), float(high)))
print("};\n")
print("/* t, df, P(T <= t) */")
print("static const double t_cdf[][3] = {")
for df in (0.5, 1, 2, 3.7, 9, 30, 199, 1e5):
    for t in (-40.0, -3.0, -0.5, 0.0, 1e-9, 0.7, 2.2, 12.0):
        print("\t{ %r, %r, %r }," % (t, float(df),
            float(scipy.stats.t.cdf(t, df))))
print("};\n")
print("/* p, df, t */")
print("static const double t_quantile[][3] = {")
for df in (1, 2, 3, 5, 9, 14, 29, 99, 1e4):
    for p in (0.005, 0.3, 0.9, 0.975, 0.995):
        print("\t{ %r, %r, %r }," % (p, float(df),
            float(t_quantile(p, df))))
print("};")
