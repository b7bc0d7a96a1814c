#!/bin/sh
# ASSERTION: in the page of a comparison every point, step and interval of
# each picture is where the axes say that the figures are which JSON has; the
# titles and units are there; the page has no script, its style is the one
# that its policy allows, and a name that is markup is only text.
# Easy to get wrong: points that fit their own axis, but not its numbers.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
cat >make.py <<'END2'
import json, random
random.seed(6)
names = ["<script>alert(1)</script>", "new'\"&\x1b[31m"]
json.dump({"results": [{"command": n, "times": [0.1 * (1 + i / 9) *
    random.gauss(1, 0.02) for _ in range(12)]} for i, n in
    enumerate(names)]}, open("r.json", "w"))
for side in "ab":
    for run in range(8):
        with open("%s%d" % (side, run), "w") as f:
            for k in range(9):
                w = 100 + 10 * k + (20 if side == "b" and k == 4 else 0)
                f.write("main;<f%d> %d\n" % (k, w + random.randrange(5)))
END2
python3 make.py
expect 0 "$DTPROF" compare -o r.html --json r.json
cp out r.out
expect 0 "$DTPROF" compare -o f.html --json a? -- b?
cp out f.out
cat >read.py <<'END2'
import base64, hashlib, json, re, sys
import xml.etree.ElementTree as xml
page = open(sys.argv[1]).read()
j = json.load(open(sys.argv[2]))["comparisons"][0]
assert "<script" not in page and " style=" not in page and "\x1b" not in page
style = re.search("<style>(.*?)</style>", page, re.S).group(1)
digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
policy = re.search('Content-Security-Policy" content="(.*?)">', page).group(1)
assert policy.startswith("default-src 'none'; style-src 'sha256-%s'" %
    digest), policy
points = 0

def near(a, b, scale):
    # Coordinates have two digits, numbers on an axis six.
    assert abs(a - b) <= 0.01 * abs(scale) + 1e-5 * abs(b), (a, b, scale)

class Picture:
    def __init__(self, svg):
        self.svg = xml.fromstring(svg)
        texts = [(t.get("class"), "".join(t.itertext()), t) for t in
                 self.svg.iter("text")]
        self.title = [t for c, t, _ in texts if c == "title"][0]
        self.labels = [t for c, t, _ in texts if c in ("lx", "ly")]
        self.names = [t for c, t, _ in texts if c == "name"]
        self.axis = {}
        for c, way in (("tx", "x"), ("ty", "y")):
            at = [(float(e.get(way)), float(t)) for k, t, e in texts if k == c]
            if at:
                assert len(at) >= 3, (self.title, way, at)
                per = (at[-1][1] - at[0][1]) / (at[-1][0] - at[0][0])
                for pixel, value in at:
                    near(at[0][1] + per * (pixel - at[0][0]), value, per)
                self.axis[way] = (at[0][0], at[0][1], per)
    def value(self, way, pixel):
        pixel0, value0, per = self.axis[way]
        return value0 + per * (float(pixel) - pixel0)
    def check(self, way, pixel, wanted):
        near(self.value(way, pixel), wanted, self.axis[way][2])
    def circles(self, side):
        return [(c.get("cx"), c.get("cy")) for c in self.svg.iter("circle")
                if c.get("class") == side]
    def paths(self, side):
        return [p.get("d") for p in self.svg.iter("path")
                if p.get("class") == side]

pictures = {p.title: p for p in map(Picture, re.findall(
    "<svg.*?</svg>", page, re.S))}

def quantile(values, p):
    values, at = sorted(values), p * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])

def forest(picture, changes):
    global points
    assert len(picture.circles("change")) == len(changes) == \
        len(picture.names)
    for (x, _), path, c in zip(picture.circles("change"),
                               picture.paths("change"), changes):
        picture.check("x", x, 100 * c["change"])
        low, high = re.match(r"M(\S+) \S+H(\S+)$", path).groups()
        picture.check("x", low, 100 * c["ci95"][0])
        picture.check("x", high, 100 * c["ci95"][1])
        points += 1

if sys.argv[1] == "r.html":
    assert "&#60;script&#62;" in page
    sides = {s: [t * 1000 for t in r["times"]] for s, r in
             zip(("base", "new"), json.load(open("r.json"))["results"])}
    runs, order = pictures["Runs"], pictures["Runs in order"]
    shares = pictures["Cumulative distribution of the runs"]
    assert "wall time (ms)" in runs.labels and "run" in order.labels
    assert "wall time (ms)" in shares.labels
    for side, values in sides.items():
        assert len(runs.circles(side)) == len(order.circles(side)) == 12
        for i, v in enumerate(values):
            runs.check("y", runs.circles(side)[i][1], v)
            order.check("x", order.circles(side)[i][0], i + 1)
            order.check("y", order.circles(side)[i][1], v)
            points += 2
        box = [r for r in runs.svg.iter("rect") if r.get("class") == side][0]
        runs.check("y", box.get("y"), quantile(values, 0.75))
        runs.check("y", float(box.get("y")) + float(box.get("height")),
                   quantile(values, 0.25))
        runs.check("y", re.match(r"M\S+ (\S+)H", runs.paths(side)[0]).group(1),
                   quantile(values, 0.5))
        steps = re.findall(r"H(\S+?)V([\d.]+)", shares.paths(side)[0])
        assert len(steps) == 12
        for i, (x, y) in enumerate(steps):
            shares.check("x", x, sorted(values)[i])
            shares.check("y", y, (i + 1) / 12)
            points += 1
    shift = pictures["Change at each quantile of the runs"]
    assert {"share of the runs (%)", "change (%)"} <= set(shift.labels)
    assert len(shift.circles("change")) == 19
    for i, (x, y) in enumerate(shift.circles("change")):
        p = (i + 1) / 20
        shift.check("x", x, 100 * p)
        shift.check("y", y, 100 * (quantile(sides["new"], p) /
                    quantile(sides["base"], p) - 1))
        points += 1
    forest(pictures["Change of each metric, with 95% interval"],
           j["metrics"])
else:
    picture = pictures["Largest changes of cost, with 95% interval"]
    assert picture.names == [f["name"] for f in j["functions"]]
    assert "change of the total (%)" in picture.labels
    forest(picture, j["functions"])
    forest(pictures["Change of each metric, with 95% interval"],
           [j["total"]])
print(points)
END2
n=$(python3 read.py r.html r.out) || fail "the page of metrics"
[ "$n" -eq 92 ] || fail "$n points"
m=$(python3 read.py f.html f.out) || fail "the page of functions"
[ "$m" -eq 10 ] || fail "$m points"
ok "$n and $m points, steps and intervals are where the axes say"
expect 0 "$DTPROF" compare -o again.html r.json
cmp r.html again.html || fail "not the same again"
mkdir closed
expect 1 "$DTPROF" compare -o closed r.json
ok "the same page again; a directory is refused"

# A full disk is an error, and the page that was there stays.
for how in --json --markdown --limit=3; do
	"$DTPROF" compare "$how" r.json >/dev/full 2>err
	[ $? -eq 1 ] || fail "$how on a full disk"
	expect_err 'standard output: No space left' "$how"
done
[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null ||
    { ok "full; no small disk can be mounted here"; exit 0; }
cat >full.sh <<'END2'
mkdir small && mount -t tmpfs -o size=64k none small || exit 77
"$1" compare -o small/x.html r.json >o || exit 1
head -c 60000 /dev/zero >small/rest 2>/dev/null
"$1" compare -o small/x.html a? -- b? >o 2>e && { echo "went well"; exit 1; }
grep -q 'small/x.html: No space left' e || { cat e; exit 1; }
cmp small/x.html r.html || exit 1
[ "$(ls small)" = "rest
x.html" ] || { ls small; exit 1; }
END2
unshare -m sh full.sh "$DTPROF" || fail "a full disk"
ok "a full disk is an error, and the page that was there stays"
