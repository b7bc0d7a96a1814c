#!/bin/sh
# ASSERTION: the cells of report --plot are the samples: each cell of heat
# map, timeline and rates has as many as script prints for its time, thread
# or CPU and event, none is left over, and gnuplot draws each cell where it
# belongs; a thread whose name is a command for gnuplot or markup is text.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 gnuplot
need_perf
tmpdir
cat >work.py <<'END'
import threading, time
open("/proc/self/comm", "w").write("\"`touch x`<b>")
end = time.monotonic() + 1.3
def spin():
    while time.monotonic() < end:
        bytearray(300000)
for n in range(3):
    threading.Thread(target=spin).start()
END
# The interpreter itself: what starts it on some machines are many processes.
python=$(python3 -c "import sys; print(sys.executable)")
expect 0 "$DTPROF" record -q -e cpu-clock -e task-clock -c 500000 -o x.dtp \
    -- "$python" work.py
expect 0 "$DTPROF" script --json --no-symbols x.dtp
mv out script.json
cat >check.py <<'END'
import collections, csv, json, re, subprocess, sys
import xml.etree.ElementTree as xml
dtprof = sys.argv[1]
samples = [r for r in map(json.loads, open("script.json"))
           if r.get("type", "sample") == "sample"]
begin, MS = min(r["time_ns"] for r in samples), 1000000
for r in samples:
    r["at"] = r["time_ns"] - begin

def plot(what, *options):
    for name in ("p.tsv", "p.svg"):
        out = subprocess.run([dtprof, "report", "--plot", what, "-o", name,
            *options, "x.dtp"], stderr=subprocess.PIPE, check=True)
        assert b"warning" not in out.stderr, out.stderr
    svg = xml.parse("p.svg").getroot()
    ns = "{http://www.w3.org/2000/svg}"
    shapes = what != "rates" and [[tuple(map(float, p.split(","))) for p in
        s.get("points").split()] for s in
        [g for g in svg.iter(ns + "g") if re.fullmatch(r"dtprof_plot_\d",
        g.get("id", ""))][-1].iter(ns + "polygon")]
    text = ["".join(t.itertext()).strip() for t in svg.iter(ns + "text")]
    with open("p.tsv", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t",
            quoting=csv.QUOTE_NONE)), shapes, text

def ns_of(seconds):
    whole, part = seconds.split(".")
    return int(whole) * 10**9 + int(part)

# Boxes of the plot, which have places in order of their numbers.
def check_boxes(rows, shapes, x, y, y_sign):
    boxes = shapes[:len(rows)]
    assert len(boxes) == len(rows), (len(boxes), len(rows))
    for place, axis, sign in ((x, 0, 1), (y, 1, y_sign)):
        where = collections.defaultdict(set)
        for row, box in zip(rows, boxes):
            where[place(row)].add(round(min(p[axis] for p in box)))
        order = [min(where[k]) * sign for k in sorted(where)]
        assert all(max(v) - min(v) <= 1 for v in where.values()), where
        assert order == sorted(order), order

# Heat map, of one event and of all; time counts from the first of all.
for options, mine in (((), samples), (("-e", "cpu-clock"),
        [r for r in samples if r["event"] == "cpu-clock"])):
    rows, shapes, text = plot("heatmap", *options)
    want = collections.Counter((r["at"] // 10**9, r["at"] % 10**9 //
        (20 * MS) * 20) for r in mine)
    got = {(int(r["second"]), int(r["ms"])): int(r["samples"]) for r in rows}
    assert got == want, (options, got, want)
    check_boxes(rows, shapes, lambda r: int(r["second"]),
                lambda r: int(r["ms"]), -1)
    assert "Samples within each second" in text
checked = len(rows)

for by, member in (("tid", "tid"), ("cpu", "cpu")):
    rows, shapes, text = plot("timeline", "--by", by)
    step = ns_of(rows[0]["length"])
    assert step % (20 * MS) == 0
    want = collections.Counter((str(r[member]), r["at"] // step)
                               for r in samples)
    got = {(r["name"].split()[-1] if by == "cpu" else r["name"].split()[0],
        ns_of(r["time"]) // step): int(r["samples"]) for r in rows}
    assert got == want, (by, got, want)
    check_boxes(rows, shapes, lambda r: ns_of(r["time"]),
                lambda r: int(r["lane"]), 1)
    names = {r["name"] for r in rows}
    assert names <= set(text), (names, text)
    assert by == "cpu" or any("touch x" in n for n in names), names
    checked += len(rows)

rows, shapes, text = plot("rates")
with open("p.tsv") as file:
    table = list(csv.reader(file, delimiter="\t"))
events = table[0][1::2]
assert len(events) == 2, events
step = ns_of(table[2][0]) - ns_of(table[1][0])
for n, event in enumerate(events):
    assert event in text, (event, text)
    mine = [r for r in samples if r["event"] == event.replace(" (ns)", "")]
    counts, weights = collections.Counter(), collections.Counter()
    for r in mine:
        counts[r["at"] // step] += 1
        weights[r["at"] // step] += r["weight"]
    for i, row in enumerate(table[1:]):
        assert int(row[2 + 2 * n]) == counts[i], (event, i, row)
        assert abs(int(row[1 + 2 * n]) - weights[i] * 1e9 / step) <= 1, row
    assert mine and sum(counts.values()) == len(mine)
checked += len(table) - 1
print(checked)
END
n=$(python3 check.py "$DTPROF") || fail "not the samples"
[ ! -e x ] || fail "a name was executed"
ok "$n cells are the samples, and are drawn where they belong"

expect 0 "$DTPROF" report --plot heatmap -o p.png x.dtp
[ "$(head -c 4 p.png | od -An -tx1)" = " 89 50 4e 47" ] || fail "no PNG"
mkdir empty
for what in heatmap timeline rates; do
	expect 0 "$DTPROF" report --plot $what -o 1.svg x.dtp
	expect 0 env LC_ALL=C.UTF-8 taskset -c 0 "$DTPROF" report \
	    --plot $what -o 2.svg x.dtp
	cmp 1.svg 2.svg || fail "$what is not the same again"
	expect 1 env PATH="$tmp/empty" "$DTPROF" report --plot $what \
	    -o q.svg x.dtp
	expect_err 'not installed' "$what"
	expect_err 'gnuplot-nox' "$what"
	(cd "$SRC/reports/plot-sample" && sed 's,"out.svg","/dev/null",' \
	    "../$what.gp" >"$tmp/s.gp" && gnuplot "$tmp/s.gp") 2>err ||
	    fail "$what with its sample"
	[ ! -s err ] || { cat err; fail "$what with its sample"; }
done
[ ! -e q.svg ] || fail "a picture without gnuplot"
expect 2 "$DTPROF" report --plot heatmap,rates x.dtp
expect 2 "$DTPROF" report --plot heatmap -o x.gif x.dtp
ok "PNG, the same each time, a word without gnuplot, the samples of templates"
