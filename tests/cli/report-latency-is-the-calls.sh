#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: report --plot latency shows each call and span that has a duration
# once, in the cell of its end and its duration, as the raw stream has them: in
# the numbers, the text, the page and the picture by gnuplot; p50, p90 and p99
# are within a bucket of the sorted raw stream; filters choose as elsewhere.
#
# Easy to get wrong: calls without a duration, what ends on a bucket's edge,
# rows that are put together, rows without a call, several events.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gnuplot
tmpdir

record 0 -o a.dtp -e cpu-clock -e syscall:clock_nanosleep -e syscall:getppid \
    --span sleep=syscall:clock_nanosleep:entry \
    --span 'pair=syscall:write:entry,syscall:read:return' \
    -- "$work/syscalls" 300
expect 0 "$DTPROF" report --by span --json a.dtp
cp out spans.json
py <<'END'
import csv
import json
import math
import re
import subprocess
import xml.etree.ElementTree as xml
import recording as rec

calls = {name: rec.samples("a.dtp", name) for name in
         ("syscall:clock_nanosleep", "syscall:getppid")}
spans = {"span:" + s["name"]: s for s in json.load(open("spans.json"))
         ["spans"]}


def plot(path, *options):
    ran = subprocess.run([rec.DTPROF, "report", "--plot", "latency", "-o",
                          path, *options, "a.dtp"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, check=False)
    rec.check(ran.returncode == 0, "%s: %s" % (options, ran.stderr))
    return ran.stdout


def ns_of(seconds):
    whole, part = seconds.split(".")
    return int(whole) * 10**9 + int(part)


def rows(*options):
    plot("p.tsv", *options)
    with open("p.tsv", encoding="utf-8") as file:
        return [(r["of"], ns_of(r["time"]), ns_of(r["length"]),
                 ns_of(r["from"]), ns_of(r["below"]), int(r["count"]))
                for r in csv.DictReader(file, delimiter="\t")]


everything = rows()
names = set(r[0] for r in everything)
rec.check(names == set(calls) | set(spans), "%r" % names)
start = next(r["time_ns"] for r in rec.records("a.dtp")
             if r["type"] == "start")
for name, made in calls.items():
    mine = [r for r in everything if r[0] == name]
    timed = [c for c in made if c.get("duration_ns")]
    rec.check(all(0 < high - low <= max(low * 0.032, 1) and count > 0
                  for _, _, _, low, high, count in mine), "%r" % mine)
    for low, high in {r[3:5] for r in mine}:
        rec.check(sum(r[5] for r in mine if r[3] == low) ==
                  sum(low <= c["duration_ns"] < high for c in timed),
                  "%s from %d" % (name, low))
    length = mine[0][2]
    for at in {r[1] for r in mine}:
        rec.check(sum(r[5] for r in mine if r[1] == at) == sum(
            at <= c["time_ns"] - start < at + length for c in timed),
            "%s at %d" % (name, at))
    rec.check(sum(r[5] for r in mine) == len(timed), name)
rec.ok("%d rows are %d calls, by duration and by time" %
       (len(everything), sum(len(c) for c in calls.values())))
for name, span in spans.items():
    mine = sorted((r for r in everything if r[0] == name), key=lambda r: r[3])
    rec.check(sum(r[5] for r in mine) == span["count"], name)
    for key, share in (("p50_ns", .5), ("p99_ns", .99)):
        rank = math.ceil(share * span["count"])
        low, high = next(r[3:5] for n, r in enumerate(mine) if
                         sum(q[5] for q in mine[:n + 1]) >= rank)
        rec.check(low <= span[key] < high, "%s: %s" % (name, key))
rec.ok("%d spans, quantiles as report --by span has them" %
       sum(s["count"] for s in spans.values()))

UNITS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9}


def time_of(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def look_at_text(text, durations):
    count = int(re.search(r": (\d+) (?:calls|spans)", text).group(1))
    rec.check(count == len(durations), text)
    ordered = sorted(durations)
    for name, share in (("p50", .5), ("p90", .9), ("p99", .99), ("max", 1)):
        got = time_of(re.search(name + r" ([\d.]+ [num]?s)", text).group(1))
        true = ordered[math.ceil(share * len(ordered)) - 1]
        # Shown with three digits.
        rec.check(true * 0.994 <= got <= true * 1.032 * 1.006 + 1,
                  "%s %g, not %d" % (name, got, true))
    lines = re.findall(r"^ +([\d.]+ [num]?s) \|(.*)\| +(\d+)$", text, re.M)
    ends = [time_of(line[0]) for line in lines]
    rec.check(ends == sorted(ends, reverse=True), "order: %r" % ends)
    for _, shades, number in lines:
        rec.check((shades.strip() != "") == (int(number) > 0), text)
    powers = [d.bit_length() for d in durations]
    want = [powers.count(n) for n in range(max(powers), min(powers) - 1, -1)]
    rec.check([int(line[2]) for line in lines] == want, "%r: %s" %
              (want, text))


for name, made in calls.items():
    look_at_text(plot("-", "-e", name), [c["duration_ns"] for c in made
                                         if c.get("duration_ns")])
rec.ok("the same as text, with its quantiles")
middle = sorted(c["duration_ns"] for c in calls["syscall:getppid"])
middle = middle[len(middle) // 2]
look_at_text(plot("-", "--filter", "duration > %d" % middle, "-e",
                  "*getppid"), [c["duration_ns"] for c in
                                calls["syscall:getppid"]
                                if c["duration_ns"] > middle])
rec.ok("--filter chooses calls")
# Times stay those of the recording.
nth = sorted(c["time_ns"] for c in calls["syscall:getppid"])
half = nth[len(nth) // 2] - start
later = rows("--from", "%dns" % half, "-e", "syscall:getppid")
rec.check(sum(r[5] for r in later) == sum(
    n - start >= half for n in nth), "%r" % later)
rec.check(all(r[1] >= half for r in later) and
          0 <= nth[-1] - start - max(r[1] for r in later) < later[0][2],
          "%r" % later)
rec.check("time since the start, from " in plot(
    "-", "--from", "%dns" % half, "-e", "syscall:getppid"), "from")
rec.ok("what begins later has its time of the recording")

plot("p.svg", "-e", "syscall:getppid")
svg = xml.parse("p.svg").getroot()
ns = "{http://www.w3.org/2000/svg}"
group = [g for g in svg.iter(ns + "g")
         if re.fullmatch(r"dtprof_plot_\d", g.get("id", ""))][-1]
boxes = len(list(group.iter(ns + "polygon")))
# A row of the picture is a quarter of a power of 2.
drawn = {(r[1], r[3] >> max(r[3].bit_length() - 3, 3)
          << max(r[3].bit_length() - 3, 3))
         for r in everything if r[0] == "syscall:getppid"}
rec.check(boxes - len(drawn) in (0, 1, 2), "%d boxes, not %d" %
          (boxes, len(drawn)))
words = " ".join("".join(t.itertext()) for t in svg.iter(ns + "text"))
rec.check("syscall:getppid: %d calls, 0 lost; p50 " %
          len(calls["syscall:getppid"]) in words, words)
rec.ok("%d cells are drawn, with a title" % len(drawn))
END

expect 0 "$DTPROF" flamegraph -o a.html a.dtp
py <<'END'
import collections
import json
import re
import recording as rec

page = open("a.html", encoding="utf-8").read()
head = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
start = next(r["time_ns"] for r in rec.records("a.dtp")
             if r["type"] == "start")
spans = {"span:" + s["name"]: s for s in json.load(open("spans.json"))
         ["spans"]}
latency = {of["name"]: of for of in head["latency"]}
for name, of in latency.items():
    cells = list(zip(of["cells"][::3], of["cells"][1::3], of["cells"][2::3]))
    rec.check(len(set(c[:2] for c in cells)) == len(cells), "twice: " + name)
    rec.check(sum(c[2] for c in cells) == of["count"] and of["lost"] == 0,
              "%s: %r" % (name, of))
    if name in spans:
        rec.check(of["count"] == spans[name]["count"], name)
        continue
    ends = of["rows_ns"]
    rec.check(ends == sorted(ends), "%r" % ends)
    want = collections.Counter()
    for c in rec.samples("a.dtp", name):
        if c.get("duration_ns"):
            row = sum(c["duration_ns"] >= low for low in ends) - 1
            want[(c["time_ns"] - start - of["begin_ns"]) // of["cell_ns"],
                 row] += 1
    rec.check(want == {c[:2]: c[2] for c in cells}, "%s: %r, not %r" %
              (name, cells, want))
rec.check(set(latency) == set(spans) | {"syscall:clock_nanosleep",
                                        "syscall:getppid"}, "%r" %
          set(latency))
rec.ok("the page has the same %d calls and spans in its cells" %
       sum(of["count"] for of in latency.values()))
END

expect 1 "$DTPROF" report --plot latency -o x.svg a.dtp
expect_err "draws only one event or kind of span, and there are 4"
expect_err "hint: choose an event or span with -e"
expect 1 "$DTPROF" report --plot latency -e nothing -e syscall:getppid \
    -o - a.dtp
expect_err '--event nothing: no such call or span'
expect 1 "$DTPROF" report --plot latency --filter 'duration > 1000000000000' \
    -e syscall:getppid -o x.svg a.dtp
expect_err 'syscall:getppid: 0 calls, 0 lost'
expect 2 "$DTPROF" report --plot heatmap -o - a.dtp
expect_err 'only --plot latency can be drawn as text'
[ ! -e x.svg ] || fail "a picture of several"
record 0 -o none.dtp -e cpu-clock -- true
expect 1 "$DTPROF" report --plot latency -o - none.dtp
expect_err 'hint: record calls, waits or spans'
(cd "$SRC/reports/plot-sample" && sed 's,"out.svg","/dev/null",' \
    ../latency.gp >"$tmp/s.gp" && gnuplot "$tmp/s.gp") 2>err ||
    fail "the template with its sample"
[ ! -s err ] || { cat err; fail "the template with its sample"; }
ok "what cannot be drawn is refused; the template draws its sample"
