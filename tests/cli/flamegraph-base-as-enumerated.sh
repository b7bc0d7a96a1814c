#!/bin/sh
# ASSERTION: of runs of two sides a differential flame graph has the sums of
# all frames to the unit, and for each frame and function the adjusted p that
# counting all orders of the runs gives, by a program that knows just the
# contract of the page, and of functions what compare says of the same runs; it
# takes runs from files and from a bench directory,
# in blocks, and ranges of one recording; and says when it claims nothing.
# Easy to get wrong: p values that stand beside other frames than their own
# once a tree has been put in order, recursion that counts twice, names that
# compilers change, blocks that are ignored.
# TIMEOUT: 120
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >make.py <<'END'
import json, random
random.seed(11)
# path -> cost on either side; run is called ran at first
rows = {"main;parse;number": (300, 390), "main;parse;string": (200, 200),
        "main;sort;cmp": (250, 250), "main;sort": (40, 40),
        "main;walk;walk;walk": (60, 90), "main;walk;cmp": (30, 30),
        "main;old;copy": (50, 0), "main;fresh": (0, 45),
        "main;ran;number": (80, 120), "main;tiny": (1, 2)}
runs = []
for side in (0, 1):
    for r in range(6):
        level = random.gauss(1, 0.02)
        run = {}
        for path, cost in rows.items():
            value = int(random.gauss(100 * cost[side],
                                     3 * cost[side]) * level)
            if value > 0:
                run[path.replace("ran", "run") if side else path] = value
        name = "%s%d" % ("bn"[side], r)
        with open(name + ".folded", "w") as file:
            for path, value in run.items():
                suffix = ".constprop.0" if side else ""
                file.write("%s%s %d\n" % (path, suffix, value))
        runs.append((side, r // 2, {path.replace("ran", "run"): value
                                    for path, value in run.items()}))
json.dump(runs, open("runs.json", "w"))
END
python3 make.py || fail make.py
set --
for run in 0 1 2 3 4 5; do
	for side in b n; do
		expect 0 "$DTPROF" import -o $side$run.dtp $side$run.folded
	done
	set -- "$@" --base b$run.dtp
done
mkdir x.bench
cp ./*.dtp x.bench
python3 - >x.bench/runs.jsonl <<'END'
for r in range(6):
    for side in (0, 1):
        print('{"command":%d,"block":%d,"profile":"%s%d.dtp"}' % (
            side, r // 2, "bn"[side], r))
END
echo '{"schema_version":2,"commands":[{"name":"first"},{"name":"a:b"}],
"environment":{}}' >x.bench/bench.json
expect 0 "$DTPROF" flamegraph "$@" --rename ran=run -o files.html n?.dtp
expect_err 'assumes no drift' 'a note'
expect 0 "$DTPROF" flamegraph --base x.bench --rename ran=run -o bench.html
expect 0 "$DTPROF" flamegraph --base x.bench:first --rename ran=run \
    -o named.html x.bench:a:b
cmp bench.html named.html || fail "names of commands"
expect 0 "$DTPROF" compare --json --rename ran=run b?.dtp -- n?.dtp
mv out files.json
expect 0 "$DTPROF" compare --json --rename ran=run x.bench
mv out bench.json
cat >check.py <<'END'
import itertools, json, math, operator, sys
sys.path.insert(0, sys.argv[1] + "/tests/browser")
import page_data

def frames(runs):
    """By stack and by function: the values of all runs, total and self."""
    of = {}
    def add(key, r, value):
        of.setdefault(key, [0] * len(runs))[r] += value
    for r, (_, _, run) in enumerate(runs):
        for path, value in run.items():
            stack = ("main",) if path == "main" else tuple(path.split(";"))
            for k in range(len(stack) + 1):
                add(("node", 0, stack[:k]), r, value)
            for name in set(stack) | {"all"}:
                add(("label", 0, name), r, value)
            add(("node", 1, stack), r, value)
            add(("label", 1, stack[-1]), r, value)
    return of

def orders(runs, blocks):
    """All ways to choose which runs are new, block by block."""
    places = {}
    for r, (_, block, _) in enumerate(runs):
        places.setdefault(block if blocks else 0, []).append(r)
    ways = [[c for c in itertools.combinations(at, len(at) // 2)]
            for at in places.values()]
    return [sum(way, ()) for way in itertools.product(*ways)]

def residual(x, time):
    """What is left of values without their mean and, in blocks, time."""
    n = len(x)
    x = [v - math.fsum(x) / n for v in x]
    if time:
        t = [v - math.fsum(time) / n for v in time]
        slope = math.fsum(map(operator.mul, x, t)) / math.fsum(
            v * v for v in t)
        x = [v - slope * u for v, u in zip(x, t)]
    return x

def length(x):
    return math.sqrt(math.fsum(v * v for v in x))

def family(rows, runs, ways, time):
    """By row: p, adjusted by step-down maxT over all of them."""
    n = len(runs)
    sides = []
    for way in ways:
        side = residual([float(r in way) for r in range(n)], time)
        sides.append([v / length(side) for v in side])
    seen_as = [run[0] for run in runs]
    seen = ways.index(tuple(r for r in range(n) if seen_as[r] == 1))
    at = {}
    for row in set(rows):
        y = residual([math.log(v) for v in row] if min(row) > 0 else
                     list(row), time)
        size = length(y)
        at[row] = [abs(math.fsum(map(operator.mul, y, side))) / size
                   if size > 1e-12 * max(row) else 0 for side in sides]
    ranked = sorted(at, key=lambda row: at[row][seen])
    p, most, count = {}, [0] * len(ways), {}
    for row in ranked:
        most = list(map(max, most, at[row]))
        count[row] = sum(v >= at[row][seen] - 1e-9 for v in most)
    least = 0
    for row in reversed(ranked):
        p[row] = least = max(least, count[row] / len(ways))
    return p

def check(path, blocks, words):
    runs = json.load(open("runs.json"))
    head, names, _, _, stacks, cells = page_data.read(path)
    told = [tuple(names[label] for label in stack) for stack in stacks]
    of, seen = frames(runs), {}
    totals = of["node", 0, ()]
    for _, node, event, _, weight in cells:
        seen[told[node], event] = weight
    for (kind, part, stack), values in of.items():
        if kind == "node" and part == 1:
            for event, side in (0, 1), (1, 0):
                want = sum(v for v, run in zip(values, runs)
                           if run[0] == side)
                assert seen.pop((stack, event), 0) == want, (stack, event)
    assert not seen, seen
    least = head["difference"]["share"] / 10000
    tested = {key: v for key, v in of.items() if sum(
        a / t for a, t in zip(v, totals)) / len(runs) >= least}
    assert 0 < len(tested) < len(of)
    ways = orders(runs, blocks)
    # Line by line of the bench; files have no order.
    time = [2 * (r % 6) + run[0] for r, run in enumerate(runs)] if blocks \
        else None
    rows = [{key: tuple(v) for key, v in tested.items()},
            {key: tuple(a / t for a, t in zip(v, totals))
             for key, v in tested.items()}]
    frame = family([row for some in rows for row in some.values()], runs,
                   ways, time)
    functions = {name: tuple(v) for (kind, part, name), v in of.items()
                 if kind == "label" and part == 1 and sum(sorted(
                     a / t for a, t in zip(v, totals))[6:]) / 6 >= 0.001}
    function = family(functions.values(), runs, ways, time)
    total = family([tuple(totals)], runs, ways, time)
    by_cost = {**frame, **function, **total}
    for f in words["functions"]:
        want = function.get(functions.get(f["name"]))
        assert (f["p_adjusted"] is None) == (want is None), f
        assert want is None or abs(f["p_adjusted"] - want) < 1e-9, (f, want)
    assert abs(words["total"]["p_adjusted"] - total[tuple(totals)]) < 1e-9
    says = {f["name"]: f["verdict"] for f in words["functions"]}
    found = claims = 0
    for measure, ps in (0, by_cost), (1, frame):
        for part in (0, 1):
            nodes, labels = (of[2 * measure + part]
                             for of in head["chances"])
            got = {("node", part, s): c for s, c in zip(told, nodes)}
            got.update({("label", part, n): c
                        for n, c in zip(names, labels)})
            for key, chance in got.items():
                row = rows[measure].get(key)
                if key[:2] == ("label", 1) and measure == 0:
                    row = functions.get(key[2])
                    assert (chance is not None and chance[1]) == says.get(
                        key[2], "").startswith("costs"), (key, chance)
                if key[1] == 1 and chance is None and key not in tested:
                    continue
                want = ps.get(row)
                assert (chance is None) == (want is None), (key, chance, want)
                if want is not None:
                    assert abs(chance[0] - want) < 1.01e-4, (key, chance, want)
                    limit = 0.03 if measure == 0 and row in function else 0.01
                    assert chance[1] == (want <= limit), (key, chance)
                    found += 1
                    claims += chance[1]
    assert found > 80 and claims > 10, (found, claims)
    print("ok: %s: %d frames and functions, p as of %d orders, %d differ"
          % (path, found, len(ways), claims))
for path, blocks, words in ("files.html", False, "files.json"), (
        "bench.html", True, "bench.json"):
    check(path, blocks, json.load(open(words))["comparisons"][0])
END
python3 check.py "$SRC" || fail "see above"

# The drawing: what is gone stands in it, and the words are the page's.
expect 0 "$DTPROF" flamegraph "$@" --rename ran=run -o x.svg n?.dtp
python3 - <<'END' || fail "the drawing"
import xml.etree.ElementTree as tree
boxes = {}
for g in tree.parse("x.svg").getroot().findall(".//{*}g"):
    title = g.find("{*}title").text.split("\n")
    boxes[title[0]] = (title, g.findall("{*}rect"))
def fill(name):
    return boxes[name][1][0].get("fill")
assert fill("copy").startswith("hsl(268"), fill("copy")
assert fill("fresh").startswith("hsl(42"), fill("fresh")
assert len(boxes["copy"][1]) == 2 and len(boxes["cmp"][1]) == 1
assert fill("string") == "#d3d6db" and boxes["string"][0][-1] == \
    "not significant", boxes["string"]
assert fill("parse").startswith("hsl(8") and boxes["parse"][0][-1] == "differs"
END
ok "the drawing has colours and words of the page"

expect 0 "$DTPROF" flamegraph --base b0.dtp -o one.svg n0.dtp
expect_err 'not tested: one run each' 'one run'
grep -q 'not tested: one run each' one.svg || fail "no claim in the drawing"
ok "one run a side claims nothing"

# Two ranges of one recording, each with the samples that report has in it.
cp "$SRC/doc/demo.dtp" dtprof.dtp
expect 0 "$DTPROF" flamegraph --from 100ms --to 200ms --base-from 300ms \
    --base-to 600ms -o range.html
for range in '--from 100ms --to 200ms' '--from 300ms --to 600ms'; do
	# shellcheck disable=SC2086 # words
	expect 0 "$DTPROF" report --json -e cpu-clock $range
	json out 'sum(f["samples"] for f in j["functions"])'
done >want
python3 - "$SRC" >got <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/tests/browser")
import page_data
head, *_, cells = page_data.read("range.html")
for event in (0, 1):
    print(sum(c[3] for c in cells if c[2] == event))
END
cmp want got || fail "ranges: $(cat want got)"
grep -q '^0$' want && fail "an empty range"
ok "one range against another: $(tr '\n' ' ' <want)samples"
for bad in "--base none" "--base x.bench:none" "--base b0.dtp --ratio a/b" \
    "n0.dtp n1.dtp" "--base b0.dtp --rename x" "--base $tmp"; do
	# shellcheck disable=SC2086 # words
	"$DTPROF" flamegraph $bad >out 2>err && fail "went well: $bad"
	expect_err '^dtprof: flamegraph: ' "$bad"
	[ "$(wc -l <err)" -ge 2 ] || fail "no cure: $bad"
done
ok "what cannot be done is named, with a cure"
