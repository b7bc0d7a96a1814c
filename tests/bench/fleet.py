#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""fleet.py [KEY=NUMBER ...]: what a fleet's samples take in a store.

Prints a table of rows, bytes, inserts and query times for sampling always and
for so many samples of each service and hour as a question needs.  Bytes of a
row and rows a second of a query come from store.sh.

hosts, cpus, hz, busy (share), services, wanted (samples a service and hour),
days, bytes (of a row), rate (rows a second and query), cores (of the server)
"""
import math
import sys

given = dict(hosts=10000, cpus=64, hz=19, busy=0.5, services=500,
             wanted=40000, days=30, bytes=10.0, rate=5e6, cores=2)
for word in sys.argv[1:]:
    key, value = word.split("=")
    if key not in given:
        sys.exit("fleet.py: no such key: " + key)
    given[key] = float(value)
g = type("Given", (), given)


def large(n, unit=""):
    for factor, name in (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"):
        if n >= factor:
            return "%.3g %s%s" % (n / factor, name, unit)
    return "%.3g %s" % (n, unit)


def seconds(n):
    return "%.2g s" % n if n < 60 else "%.2g min" % (n / 60)


def column(a_day):
    """Samples of all hosts on a day, each a row."""
    service = a_day / g.services
    return [large(a_day), large(a_day * g.bytes, "B"),
            large(a_day * g.days), large(a_day * g.days * g.bytes, "B"),
            seconds(service / 24 / g.rate), seconds(service / g.rate),
            seconds(service * g.days / g.rate), seconds(a_day / g.rate)]


always = g.hosts * g.cpus * g.busy * g.hz * 86400
wanted = min(always, g.services * g.wanted * 24)
names = ["rows a day", "on disk a day", "rows in %d days" % g.days,
         "on disk in %d days" % g.days,
         "flame graph of a service, an hour",
         "flame graph of a service, a day",
         "flame graph of a service, %d days" % g.days,
         "flame graph of all services, a day"]
print("| what | always, %g Hz | %s samples a service and hour |" %
      (g.hz, large(g.wanted)))
print("|---|---|---|")
for row in zip(names, column(always), column(wanted)):
    print("| %s |" % " | ".join(row))
share = wanted / always
p = 0.01
print("\nA share of 1%% of an hour's samples is known to +-%.2f%%.\n"
      "Each host records %.2g s an hour at %g Hz: %s batches a day, %.2g "
      "inserts a second." % (100 * 1.96 * math.sqrt(p * (1 - p) / g.wanted),
                             3600 * share, g.hz, large(g.hosts * 24),
                             3 * g.hosts * 24 / 86400))
