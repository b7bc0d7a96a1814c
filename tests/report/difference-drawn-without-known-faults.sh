#!/bin/sh
# ASSERTION: the drawing of a difference, without a browser, has none of the
# known faults either: callers have the colour of what they call, what is gone
# stands in its place and is as wide as it was, noise, other rates and lengths
# are grey, and one run a side is said to be untested; what is written at each
# frame are the figures of the fixture.
# Easy to get wrong: the page is right, and the drawing that the library makes
# by itself is not.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
for fixture in parents vanished noise one rates planted totals; do
	"$B/tests/browser/make_difference" "$fixture" "$fixture.svg" ||
	    fail "make_difference $fixture"
done
cat >check.py <<'END2'
import re
import xml.etree.ElementTree as tree
COLOURS = {"8": "red", "214": "blue", "42": "yellow", "268": "violet"}
checks = 0

class Drawing:
    def __init__(self, name):
        self.root = tree.parse(name + ".svg").getroot()
        self.words = " ".join(self.root.itertext())
        self.box = {}
        for g in self.root.findall(".//{*}g"):
            title = g.find("{*}title")
            if title is not None:
                self.box[title.text.split("\n")[0]] = (
                    title.text, g.findall("{*}rect"))
    def colour(self, name):
        fill = self.box[name][1][0].get("fill")
        hue = re.match(r"hsl\((\d+),", fill)
        return COLOURS[hue.group(1)] if hue else {"#d3d6db": "grey"}[fill]
    def width(self, name):
        return float(self.box[name][1][0].get("width"))
    def x(self, name):
        return float(self.box[name][1][0].get("x"))

def colours(drawing, **wanted):
    global checks
    for name, colour in wanted.items():
        assert drawing.colour(name) == colour, (name, drawing.box[name][0])
        striped = len(drawing.box[name][1]) == 2
        assert striped == (colour in ("violet", "yellow")), name
        checks += 1

def says(drawing, name, *texts):
    global checks
    for text in texts:
        assert text in drawing.box[name][0], drawing.box[name][0]
        checks += 1

d = Drawing("parents")
colours(d, read="red", decode="red", inflate="red", write="blue", main="grey")
says(d, "read", "1.00 s to 4.00 s a run, +30.00 points", "itself: 0",
     "not tested; the difference exceeds sampling noise")
assert "not tested; the difference is within" in d.words
assert "+30.00 points or +3.00 s per run" in d.words

d = Drawing("vanished")
colours(d, old="violet", copy="violet", fresh="yellow", move="yellow",
        same="grey")
says(d, "copy", " s to 0.00 us a run, -33.", "differs")
# As wide as it was: 3000 of the base's 9000; both lie within main.
assert abs(d.width("copy") / d.width("same") - 0.5) < 0.02
assert abs(d.width("move") / d.width("same") - 1 / 6) < 0.02
for name in "old", "fresh", "same":
    assert d.x("main") - 0.1 <= d.x(name) and d.x(name) + d.width(name) <= \
        d.x("main") + d.width("main") + 0.1, name
    checks += 1

for name, frames in (("noise", "abcdefg"), ("one", "abcd")):
    d = Drawing(name)
    colours(d, **{frame: "grey" for frame in frames})
assert "the difference is within sampling noise" in d.words

d = Drawing("rates")
colours(d, hot="grey", warm="grey", cool="grey", main="grey")
says(d, "hot", "7.00 s to 3.50 s a run, +0.00 points")
assert "10.00 s, 10000 samples; new 1 run of 5.00 s, 500 samples" in d.words

d = Drawing("planted")
colours(d, parse="red", number="red", string="grey", sort="grey")
says(d, "number", "differs")
says(d, "sort", "not significant")
d = Drawing("totals")
colours(d, hot="red", inner="red", warm="red", main="red")
says(d, "main", "differs")
print(checks)
END2
n=$(python3 check.py) || fail "see above"
[ "$n" -ge 40 ] || fail "$n checks"
ok "$n colours, widths and figures of 7 drawings"
