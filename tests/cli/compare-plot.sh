#!/bin/sh
# ASSERTION: what gnuplot draws is what was measured: in each of the six
# panels every point, box, step and interval is where the axes say that the
# figures are which the files and JSON have; titles, axes and units are there,
# zero is in sight of changes, and a name that gnuplot or XML would take for
# more than text is only text.
# Easy to get wrong: points that fit their own axis, but not its numbers;
# steps of a distribution that begin above nothing.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd gnuplot python3
tmpdir
python3 - <<'END'
import json, random
random.seed(5)
names = ["a`touch hacked`\"$(touch hacked)<b>&'#", "new\t@x_y^z"]
json.dump({"results": [{"command": n, "times": [0.1 * (i + 1) *
    random.gauss(1, 0.02) for _ in range(12 - 3 * i)]} for i, n in
    enumerate(names)]}, open("r.json", "w"))
for side in "ab":
    for run in range(8):
        with open("%s%d" % (side, run), "w") as f:
            for k in range(9):
                w = 100 + 10 * k + (20 if side == "b" and k == 4 else 0)
                f.write("main;<f%d> %d\n" % (k, w + random.randrange(5)))
END
expect 0 "$DTPROF" compare --plot p.svg --json r.json
[ ! -s err ] || { cat err; fail "gnuplot had something to say"; }
[ ! -e hacked ] || fail "a name was executed"
cp out p.out
expect 0 "$DTPROF" compare --plot f.svg --json a? -- b?
cp out f.out
cat >read.py <<'END'
import json, math, re, sys
import xml.etree.ElementTree as xml
SVG = "{http://www.w3.org/2000/svg}"
SHIFT = "Change at each quantile of the runs"
points = 0

def pairs(text):
    return [tuple(map(float, p)) for p in
            re.findall(r"(-?[\d.]+),(-?[\d.]+)", text)]

def words(g):
    return "".join(t.text for t in g.iter(SVG + "text")).strip()

class Panel:
    """Elements up to the title, which gnuplot draws last."""
    def __init__(self, elements):
        self.title = words(elements[-1])
        self.axis, self.names, self.labels, self.plots = {}, {}, {}, []
        self.zero = [pairs(p.get("d")) for g in elements for p in
                     g.iter(SVG + "path") if "51,  51" in p.get("stroke")]
        ticks = {"x": [], "y": []}
        for g in elements[:-1]:
            if g.get("id"):
                self.plots.append(g)
                continue
            text = g.find(SVG + "g")
            if text is None or not words(text):
                continue
            mark = g.find(SVG + "path")
            if mark is None:
                way = "y" if "rotate(270)" in text.get("transform") else "x"
                self.labels[way] = words(text)
                continue
            (x0, y0), (x1, y1) = pairs(mark.get("d"))
            way, at = ("x", x0) if x0 == x1 else ("y", y0)
            try:
                ticks[way].append((at, float(words(text))))
            except ValueError:
                self.names[words(text)] = at
        for way, at in ticks.items():
            if not at:
                continue
            assert len(at) >= 3, (self.title, way, at)
            per = (at[-1][1] - at[0][1]) / (at[-1][0] - at[0][0])
            self.axis[way] = at[0][0], at[0][1], per
            for pixel, value in at:
                self.check(way, pixel, value)

    def check(self, way, pixel, wanted):
        pixel0, value0, per = self.axis[way]
        got = value0 + per * (pixel - pixel0)
        # Coordinates have two digits.
        assert abs(got - wanted) <= 0.03 * abs(per) + 1e-9 * abs(wanted), (
            self.title, way, got, wanted)

    def points(self, plot):
        return [pairs(u.get("transform"))[0] for u in
                self.plots[plot].iter(SVG + "use")]

    def paths(self, plot):
        """Strokes, each a list of its corners."""
        d = " ".join(p.get("d") for p in self.plots[plot].iter(SVG + "path"))
        return [pairs(s) for s in d.split("M") if s.strip()]

def panels(path):
    title = r"Runs( in order)?$|Cumulative|Change (of|at)"
    canvas = [g for g in xml.parse(path).getroot().iter(SVG + "g")
              if g.get("id") == "gnuplot_canvas"][0]
    found, elements = {}, []
    for g in canvas.findall(SVG + "g"):
        if re.match("(base|new):  ", words(g)):
            found.setdefault("", []).append(words(g))
            continue
        elements.append(g)
        if not g.get("id") and re.match(title, words(g)):
            panel = Panel(elements)
            found[panel.title], elements = panel, []
    return found

def quantile(values, p):
    values, at = sorted(values), p * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])

def quarters(values):
    """As gnuplot has them: a value, or the middle of two."""
    v, n = sorted(values), len(values)
    middle = (v[(n - 1) // 2] + v[n // 2]) / 2
    if n % 4 == 0:
        return ((v[n // 4 - 1] + v[n // 4]) / 2, middle,
                (v[n - n // 4] + v[n - n // 4 - 1]) / 2)
    return v[(n + 3) // 4 - 1], middle, v[n - (n + 3) // 4]

def runs(panel, sides):
    global points
    for s, values in enumerate(sides):
        q1, q2, q3 = quarters(values)
        corners = sorted({y for _, y in panel.paths(s)[0]})
        assert len(corners) == 2, corners
        panel.check("y", corners[0], q3)
        panel.check("y", corners[1], q1)
        (x0, y0), (x1, y1) = panel.paths(s)[1]
        assert y0 == y1 and x0 < panel.names[("base", "new")[s]] < x1
        panel.check("y", y0, q2)
        inside = [v for v in values if
                  q1 - 1.5 * (q3 - q1) <= v <= q3 + 1.5 * (q3 - q1)]
        ends = [y for path in panel.paths(s)[2:] for _, y in path]
        panel.check("y", min(ends), max(inside))
        panel.check("y", max(ends), min(inside))
        drawn = panel.points(2 + s)
        assert len(drawn) == len(values)
        for (x, y), v in zip(sorted(drawn, key=lambda p: -p[1]),
                             sorted(values)):
            panel.check("y", y, v)
            assert x0 <= x <= x1
            points += 1

def shares(panel, sides, svg):
    global points
    for s, values in enumerate(sides):
        # Where the steps arrive at each height; what is near is drawn as one.
        steps, at = panel.paths(s)[1], {}
        for x, y in steps:
            at[y] = min(x, at.get(y, x))
        where = sorted(set(values))
        assert len(at) == len(where), (len(at), len(where))
        for y, v in zip(sorted(at, reverse=True), where):
            panel.check("x", at[y], v)
            panel.check("y", y, sum(w <= v for w in values) / len(values))
            points += 1
        assert all(a[0] == b[0] or a[1] == b[1]
                   for a, b in zip(steps, steps[1:])), steps
        # And the first one, which is an arrow, from nothing.
        x, y = steps[0]
        first = [pairs(p.get("d")) for p in svg.iter(SVG + "path")]
        low = [a[1] for a, *rest in first if len(rest) == 1 and a[1] > y and
               max(abs(a[0] - x), abs(rest[0][0] - x), abs(rest[0][1] - y)) <
               0.03]
        assert len(low) == 1, (x, y, low)
        panel.check("y", low[0], 0)

def order(panel, sides):
    global points
    for s, values in enumerate(sides):
        assert len(panel.points(s)) == len(values)
        for i, (x, y) in enumerate(panel.points(s)):
            panel.check("x", x, i + 1)
            panel.check("y", y, values[i])
            points += 1

def forest(panel, names, changes):
    global points
    drawn = panel.points(0)
    bars = [p for p in panel.paths(0) if p[0][1] == p[1][1]]
    assert len(drawn) == len(bars) == len(changes) == len(panel.names), (
        panel.names, names)
    for (x, y), bar, name, c in zip(drawn, bars, names, changes):
        assert y == bar[0][1] and abs(panel.names[name] - y) < 0.02, name
        panel.check("x", x, 100 * c["change"])
        panel.check("x", bar[0][0], 100 * c["ci95"][0])
        panel.check("x", bar[1][0], 100 * c["ci95"][1])
        points += 1
    (x, _), (x1, _) = panel.zero[0]
    assert x == x1
    panel.check("x", x, 0)

def shift(panel, sides):
    global points
    assert len(panel.points(1)) == 19
    for i, (x, y) in enumerate(panel.points(1)):
        p = (i + 1) / 20
        panel.check("x", x, 100 * p)
        panel.check("y", y, 100 * (quantile(sides[1], p) /
                    quantile(sides[0], p) - 1))
        points += 1
    for x, y in panel.paths(0)[0]:
        panel.check("y", y, 0)

def check(name, sides, what, changes):
    svg = xml.parse(name + ".svg").getroot()
    of = panels(name + ".svg")
    heading = of.pop("")
    j = json.load(open(name + ".out"))["comparisons"][0]
    wanted = {"Runs": {"y": what},
        "Cumulative distribution of the runs":
            {"x": what, "y": "share of the runs"},
        "Runs in order": {"x": "run", "y": what},
        "Change of each metric, with 95% interval": {"x": "change (%)"},
        SHIFT: {"x": "share of the runs (%)", "y": "change (%)"}}
    functions = "Change of each function, of the total, 95% interval"
    if j["functions"]:
        wanted[functions] = {"x": "change of the total (%)"}
    assert {t: p.labels for t, p in of.items()} == wanted, (
        {t: p.labels for t, p in of.items()})
    runs(of["Runs"], sides)
    shares(of["Cumulative distribution of the runs"], sides, svg)
    order(of["Runs in order"], sides)
    forest(of["Change of each metric, with 95% interval"], *changes(j))
    if j["functions"]:
        forest(of[functions], [f["name"] for f in j["functions"]],
               j["functions"])
    shift(of[SHIFT], sides)
    return heading

heading = check("p", [[1000 * t for t in r["times"]] for r in
    json.load(open("r.json"))["results"]], "wall time (ms)",
    lambda j: (["wall time"], j["metrics"]))
assert heading == ["base:  a`touch hacked`?$(touch hacked)<b>&'#"
    "new:  new?@x_y^z"], heading
print(points)
points = 0
sums = [[sum(int(line.split()[-1]) for line in open("%s%d" % (side, run)))
         for run in range(8)] for side in "ab"]
check("f", sums, "total (cost)", lambda j: (["total cost"], [j["total"]]))
print(points)
END
python3 read.py >n || fail "what stands in the pictures"
[ "$(paste -sd' ' n)" = "83 73" ] || fail "$(paste -sd' ' n) points"
ok "$(paste -sd' ' n) points, boxes, steps and intervals are where the" \
    "axes say; names are text"

expect 0 "$DTPROF" compare --plot p.png r.json
[ "$(head -c 4 p.png | od -An -tx1)" = " 89 50 4e 47" ] || fail "no PNG"
cp p.svg first.svg
expect 0 "$DTPROF" compare --plot p.svg r.json
cmp p.svg first.svg || fail "not the same again"
expect 2 "$DTPROF" compare --plot p.gif r.json
mkdir empty
expect 1 env PATH="$tmp/empty" "$DTPROF" compare --plot q.svg r.json
expect_err 'not installed' 'without gnuplot'
[ ! -e q.svg ] || fail "a picture without gnuplot"
expect 1 env TMPDIR="$tmp/none" "$DTPROF" compare --plot q.svg r.json
expect_err "$tmp/none" 'another directory for what is in between'
(cd "$SRC/reports/compare-sample" &&
    sed 's,"out.svg","/dev/null",' ../compare.gp >"$tmp/s.gp" &&
    gnuplot "$tmp/s.gp") 2>err || fail "the template with its sample"
[ ! -s err ] || { cat err; fail "the template with its sample"; }
# A range of nothing, nothing at all, and far apart.
for times in 1,1,1,1,1/1,1,1,1,1 1/2 0,0,0,0,0/0,0,0,0,0 0,0,0,0,0/0,0,0,0,1 \
    1,null,3,4,5/2,2,2,2,2 1e300,2e300,1e300,1e300,1e300/0,0,0,0,1e-300; do
	printf '{"results":[{"command":"a","times":[%s]},' "${times%/*}" >c.json
	printf '{"command":"b","times":[%s]}]}' "${times#*/}" >>c.json
	expect 0 "$DTPROF" compare --plot c.svg c.json
	[ ! -s err ] || { cat err; fail "gnuplot had something to say"; }
done
ok "PNG, the same each time, a word without gnuplot, the sample"
