#!/bin/sh
# ASSERTION: what gnuplot draws is what was measured: every run is a point
# whose height follows from its value, titles, axes and units are there, and
# a name that gnuplot or XML would take for more than text is only text.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd gnuplot
tmpdir
python3 - <<'END'
import json, random
random.seed(5)
names = ["a`touch hacked`\"$(touch hacked)<b>&'#", "new\t@x_y^z"]
json.dump({"results": [{"command": n, "times": [0.1 * (i + 1) *
    random.gauss(1, 0.02) for _ in range(12)]} for i, n in
    enumerate(names)]}, open("r.json", "w"))
END
expect 0 "$DTPROF" compare --plot p.svg r.json
[ ! -s err ] || { cat err; fail "gnuplot had something to say"; }
[ ! -e hacked ] || fail "a name was executed"
cat >read.py <<'END'
import json, re, sys
import xml.etree.ElementTree as xml
svg = xml.parse("p.svg").getroot()
ns = "{http://www.w3.org/2000/svg}"
text = ["".join(t.itertext()).strip() for t in svg.iter(ns + "text")]
for want in ("Runs", "time or amount (ms)", "run", "share of the runs (%)",
    "Change of each metric, with 95 % interval", "change (%)", "wall time"):
    assert want in text, (want, text)
assert any("touch hacked" in t and "<b>&'#" in t for t in text), text
results = json.load(open("r.json"))["results"]
# The panel in the order of runs: groups ...1c and ...2c.
for n, result in enumerate(results):
    group = [g for g in svg.iter(ns + "g")
        if g.get("id") == "dtprof_plot_%dc" % (n + 1)][0]
    at = [tuple(map(float, re.match(r"translate\(([\d.]+),([\d.]+)\)",
        u.get("transform")).groups())) for u in group.iter(ns + "use")]
    values = [v * 1000 for v in result["times"]]
    assert len(at) == len(values), (len(at), len(values))
    if n == 0:
        points, all_values = at, values
    else:
        points, all_values = points + at, all_values + values
# One line through all: height is a linear function of value.
hi, lo = all_values.index(max(all_values)), all_values.index(min(all_values))
slope = (points[hi][1] - points[lo][1]) / (all_values[hi] - all_values[lo])
assert slope < 0
for (x, y), v in zip(points, all_values):
    off = y - (points[lo][1] + slope * (v - all_values[lo]))
    assert abs(off) < 0.2, off
assert all(a[0] < b[0] for a, b in zip(points[:11], points[1:12]))
print(len(points))
END
n=$(python3 read.py) || fail "what stands in the picture"
[ "$n" -eq 24 ] || fail "$n points"
ok "24 runs, 24 points, at the right height; names are text"

expect 0 "$DTPROF" compare --plot p.png r.json
[ "$(head -c 4 p.png | od -An -tx1)" = " 89 50 4e 47" ] || fail "no PNG"
cp p.svg first.svg
expect 0 "$DTPROF" compare --plot p.svg r.json
cmp p.svg first.svg || fail "not the same again"
expect 1 "$DTPROF" compare --plot p.gif r.json
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
ok "PNG, the same each time, a word without gnuplot, the sample"
