# SPDX-License-Identifier: ISC
"""What reports of waits say: sums of rows, and whether they are the truth."""

import json


def rows(by):
    """Rows of a report as dictionaries of keys and arguments."""
    for row in json.load(open(by + ".json"))["rows"]:
        yield {**row, **row.get("args", {})}


def total(of, **wanted):
    """Nanoseconds of all rows that have these values."""
    return sum(row["total"] for row in of
               if all(str(row[key]) == str(value)
                      for key, value in wanted.items()))


def near(what, got, true, share, ns=0):
    """Print both, and fail where they differ by more."""
    print("%s: %.1f ms, the program says %.1f" % (what, got / 1e6,
          true / 1e6))
    assert abs(got - true) <= share * true + ns, what
