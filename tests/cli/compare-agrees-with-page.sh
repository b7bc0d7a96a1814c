#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: compare and flamegraph --base never disagree on the same runs of a
# bench: what the page colors of a function's own cost is what compare calls
# changed, with the same p; the whole has the same verdict; and in compare an
# interval excludes 0 just where the verdict is a change.  Runs are drawn from
# pools of real ones, 5 to 10 a side, of equals and with something planted.
# Easy to get wrong: two corrections, of which one is for functions and one
# for frames; a total that one of them tests beside other metrics.
# TRIALS=1000 is the full size (accept/compare-real-runs).
# TIMEOUT: 1200
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >trials.py <<'END2'
import json, os, random, subprocess, sys
sys.path.insert(0, os.environ["SRC"] + "/tests/browser")
import page_data
dtprof, src = os.environ["DTPROF"], os.environ["SRC"]
trials, seed = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)

def quiet(*argv):
    return subprocess.run([dtprof, *argv], check=True, capture_output=True)

def load(name):
    """Runs of a pool by kind, each with a recording of its functions."""
    runs = {}
    for line in open(f"{src}/tests/bench/pools/{name}.txt"):
        if line[0] == "#":
            continue
        kind, *values = line.split()
        path = f"{name}{sum(map(len, runs.values()))}.dtp"
        if len(runs.setdefault(kind, [])) == 20:
            continue
        with open("folded", "w") as file:
            for f, n in enumerate(values[6:]):
                # Every fourth is called from two places.
                for k in range(2 if f % 4 == 0 else 1):
                    print(f"main;p{k * f % 7};f{f + 10} "
                          f"{int(n) * (k + 1) // 2 + 1}", file=file)
        quiet("import", "-o", path, "folded")
        runs[kind].append((path, list(map(int, values[:3]))))
    return runs

pools = [load("quiet"), load("hogs")]
os.mkdir("d")
json.dump({"schema_version": 2, "commands": [{"name": "a"}, {"name": "b"}]},
          open("d/bench.json", "w"))

def bench(n):
    """As bench makes it: lines in the order in which runs were made."""
    pool, new = rng.choice(pools), rng.choice(["base", "half", "two"])
    both = rng.sample(pool["base"], 2 * n)
    runs = [both[:n], both[n:] if new == "base" else rng.sample(pool[new], n)]
    for name in os.listdir("d"):
        if name.endswith(".dtp"):
            os.unlink("d/" + name)
    with open("d/runs.jsonl", "w") as file:
        left, block = n, 0
        while left:
            of = n if n <= 5 else min(2, left)
            for side in rng.sample([0, 1] * of, 2 * of):
                path, times = runs[side].pop()
                name = f"{side}{len(runs[side])}.dtp"
                os.link(path, "d/" + name)
                print(json.dumps({"command": side, "block": block, "of": of,
                    "wall": times[0] / 1e6, "user": times[1] / 1e6,
                    "system": times[2] / 1e6, "profile": name}), file=file)
            left, block = left - of, block + 1
    return new

def check_interval(c):
    changed = c["verdict"] in ("slower", "faster", "costs more", "costs less")
    low, high = c["ci95"]
    assert low is None or changed == (low > 0 or high < 0), c
    assert not changed or (c["change"] > 0) == (
        c["verdict"] in ("slower", "costs more")), c

called = {}
for trial in range(trials):
    new = bench(rng.choice([5, 6, 8, 10]))
    c = json.loads(quiet("compare", "--json", "d").stdout)["comparisons"][0]
    said = quiet("flamegraph", "--base", "d", "-o", "x.html").stderr.decode()
    head, names, _, _, _, _ = page_data.read("x.html")
    for change in c["metrics"] + c["functions"] + [c["total"]]:
        check_interval(change)
    says = {f["name"]: f for f in c["functions"]}
    # Of each label what it takes itself, by cost.
    for name, chance in zip(names, head["chances"][1][1]):
        f = says.pop(name, None)
        if f is None or f["p_adjusted"] is None:
            assert chance is None, (trial, name, chance, f)
            continue
        assert chance is not None and chance[1] == (
            f["verdict"] in ("costs more", "costs less")), (trial, f, chance)
        assert abs(chance[0] - f["p_adjusted"]) < 1e-4, (trial, f, chance)
        called[new] = called.get(new, 0) + chance[1]
    assert not says, (trial, says)
    root = head["chances"][0][0][0]
    total = c["total"]["verdict"]
    assert root[1] == total.startswith("costs"), (trial, root, c["total"])
    assert abs(root[0] - c["total"]["p_adjusted"]) < 1e-4, (trial, root)
    words = {"costs more": "% more", "costs less": "% less",
             "no change": "no change", "inconclusive": "inconclusive"}
    assert words[total] in said, (trial, total, said)
print(f"seed {seed}: {trials} comparisons, page and compare agree; functions "
      f"called changed: {called}")
assert called.get("half", 0) > 0
END2
python3 trials.py "${TRIALS:-10}" "${SEED:-20261125}" >trials ||
    fail "$(cat trials)"
ok "$(cat trials)"
