#!/bin/sh
# ASSERTION: of 400 benches of equals --fail-on slower:2 fails at most 5, and
# at most 31 have a metric that is called changed, be the machine quiet, noisy,
# or 10 % slower at the end; what is 10 % slower fails each time.
# Easy to get wrong: a verdict that is right for one metric, of many; noise
# that makes 2 % of nothing.
# TRIALS=400 is the full size (accept/compare-simulated).
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >trials.py <<'END2'
import json, math, os, random, subprocess, sys
trials, seed = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)

def bench(noise, drift, growth):
    """Ten runs a side, in blocks of two a side, in an order of chance."""
    with open("d/runs.jsonl", "w") as file:
        for run in range(20):
            if run % 4 == 0:
                order = rng.sample([0, 0, 1, 1], 4)
            side = order[run % 4]
            speed = (1 + drift * run / 19) * rng.lognormvariate(0, noise) * (
                1 + growth * side)
            print(json.dumps({"command": side, "block": run // 4,
                "wall": 0.2 * speed * rng.lognormvariate(0, 0.005),
                "user": 0.18 * speed * rng.lognormvariate(0, 0.005),
                "system": 0.001 * rng.randrange(12, 18),
                "max_rss": 4096 * rng.randrange(500, 510),
                "minor_faults": rng.randrange(80, 90),
                "voluntary_switches": rng.randrange(2),
                "involuntary_switches": rng.randrange(40)}), file=file)
    done = subprocess.run([os.environ["DTPROF"], "compare", "--json",
        "--fail-on", "slower:2", "d"], stdout=subprocess.PIPE)
    assert done.returncode in (0, 3), done.returncode
    pair = json.loads(done.stdout)["comparisons"][0]
    called = any(m["verdict"] not in ("no change", "inconclusive")
                 for m in pair["metrics"])
    return done.returncode == 3, called

os.mkdir("d")
json.dump({"schema_version": 2, "commands": [{"name": "a"}, {"name": "b"}]},
          open("d/bench.json", "w"))
worlds = [(0.01, 0), (0.08, 0), (0.01, 0.1), (0.08, 0.1)]
fails = called = 0
for t in range(trials):
    failed, changed = bench(*worlds[t % 4], 0)
    fails += failed
    called += changed
slower = sum(bench(0.01, 0.1, 0.1)[0] for _ in range(max(5, trials // 20)))
print(f"seed {seed}: of {trials} equals, {fails} fail by slower:2, "
      f"{called} have a metric called changed; "
      f"of {max(5, trials // 20)} that are 10 % slower, {slower} fail")
# 5 and 31 of 400; of fewer, what chance adds in one of a hundred tests.
def most(share, n):
    at, sum_ = 0, (1 - share) ** n
    while sum_ < 0.99:
        at += 1
        sum_ += math.comb(n, at) * share ** at * (1 - share) ** (n - at)
    return at
assert fails <= (5 if trials >= 400 else most(0.005, trials)), "fail"
assert called <= (31 if trials >= 400 else most(0.05, trials)), "called"
assert slower == max(5, trials // 20), "slower"
END2
python3 trials.py "${TRIALS:-100}" "${SEED:-20261122}" >trials ||
    fail "$(cat trials)"
ok "$(cat trials)"
