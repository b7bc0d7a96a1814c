# SPDX-License-Identifier: ISC
"""A recording as the tests look at it: through dtprof's own JSON."""

import json
import os
import re
import subprocess
import sys

DTPROF = os.environ["DTPROF"]


def fail(text):
    """End the test."""
    print("FAIL: " + text)
    sys.exit(1)


def check(holds, text):
    """Go on only when it holds."""
    if not holds:
        fail(text)


def ok(text):
    """Say what was shown."""
    print("ok: " + text)


def run(*args):
    """Standard output of dtprof, which has to succeed."""
    done = subprocess.run([DTPROF, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        fail("dtprof %s: status %d: %s" % (" ".join(args), done.returncode,
                                           done.stderr.decode()))
    return done.stdout


def report(path):
    """The report as JSON."""
    return json.loads(run("report", "--json", path))


def accounting(path):
    """Name of each event -> its accounting."""
    return {row["event"]: row for row in report(path)["accounting"]}


def records(path, show="all", *args):
    """Every record, as a dictionary."""
    out = run("script", "--json", "--show", show, *args, path)
    return [json.loads(line) for line in out.splitlines()]


def samples(path, event=None, *args):
    """Samples, of one event or of all."""
    return [r for r in records(path, "samples", *args) if
            r["type"] == "sample" and (event is None or r["event"] == event)]


def sum_of(row):
    """Events stored, lost and filtered."""
    return (row["stored"] + row["full"] + row["nested"] + row["filtered"] +
            row["error"])


def balance_row(name, row):
    """The identity, to the unit."""
    check(row["fired"] == sum_of(row), "%s: fired %d, but stored %d + full %d"
          " + nested %d + filtered %d + error %d = %d" %
          (name, row["fired"], row["stored"], row["full"], row["nested"],
           row["filtered"], row["error"], sum_of(row)))
    check(row["stored"] == row["read"], "%s: stored %d, read %d" %
          (name, row["stored"], row["read"]))
    check(row["nested_stored"] <= row["stored"], "%s: nested_stored %d of %d" %
          (name, row["nested_stored"], row["stored"]))


def balance(path, events=None):
    """All events of a whole recording; returns its accounting."""
    whole = report(path)
    rows = {row["event"]: row for row in whole["accounting"]}
    counters = [e["name"] for e in whole["events"] if e["is_counter"]]
    for name, row in rows.items():
        balance_row(name, row)
        if name != "proc":
            later = row["nested_stored"] if name in counters else 0
            check(row["in_file"] == row["stored"] - later,
                  "%s: stored %d, in the file %d" %
                  (name, row["stored"], row["in_file"]))
    for name in events or []:
        check(name in rows and rows[name]["fired"] > 0,
              "%s never fired" % name)
    ok("balanced: " + ", ".join(
        "%s %d = %d stored + %d full + %d nested + %d filtered + %d error" %
        (name, row["fired"], row["stored"], row["full"], row["nested"],
         row["filtered"], row["error"]) for name, row in rows.items()))
    return rows


def in_order(path):
    """Times never go back; returns the records."""
    last = 0
    every = records(path)
    for record in every:
        check(record["time_ns"] >= last, "time goes back: %r" % record)
        last = record["time_ns"]
    return every


def lowered(path, period):
    """Each sample weighs what the marks say; what the marks changed it to.

    Other timers take over at once, and then the mark is made: those between
    have its weight, and none the old one any more.
    """
    said, weighs, marks, weights, after = 1, 1, [], 0, 0
    change = re.compile("rate (?:lowered|raised) to (?:1/([0-9]+)|the requ)")
    for r in records(path, "all", "--no-symbols"):
        if r["type"] == "sample":
            weights += r["weight"]
            after += said > 1
            if r["weight"] != weighs * period:
                check(weighs == said and r["weight"] % period == 0,
                      "1/%d: %r" % (said, r))
                weighs = r["weight"] / period
        elif r["type"] == "marker" and (got := change.match(r["text"])):
            before, said = said, int(got[1] or 1)
            check((said > before) == r["text"].startswith("rate lowered") and
                  said != before and weighs in (before, said),
                  "1/%d, then 1/%d: %r" % (before, weighs, r))
            weighs = said
            marks.append(said)
    check(weighs == said, "1/%d, and no mark says so" % weighs)
    return marks, weights, after
