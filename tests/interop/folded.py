# SPDX-License-Identifier: ISC
"""What dtprof export writes of a file, and its sums by folded stack."""
import collections
import os
import subprocess


def export(*args):
    return subprocess.run([os.environ["DTPROF"], "export", *args],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout


def folded(file, event, weight, *more):
    sums = collections.Counter()
    for line in export("-e", event, "--weight", weight, *more,
                       file).decode().splitlines():
        stack, n = line.rsplit(" ", 1)
        sums[stack] += int(n)
    return sums
