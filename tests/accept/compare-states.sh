#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what cli/compare-tells-states demands of few trials holds of 200.
# Of a real program, recorded by bench --off-cpu with an extra wait of 50 % or
# computing of 50 % planted in one function, or nothing: of 100 comparisons of
# 10 and 10 runs drawn from the pool, at least 90 call the planted function in
# its state changed; of 100 of equal runs at most 11 call anything changed.
# Easy to get wrong: a rate of errors that few trials cannot tell from a good
# one; a wait in the C library has the name of the library's function.
# TIMEOUT: 7200
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
need_cmd python3
tmpdir
TRIALS=${TRIALS:-200} sh "$SRC/tests/cli/compare-tells-states.sh" ||
	fail "made recordings"
: "${POOL_RUNS:=20}"
worker="$B/tests/work/worker 60"
"$DTPROF" bench --off-cpu -w 1 -r "$POOL_RUNS" -n base -n wait -n cpu \
    -o pool "$worker 3000 2000 3000" "$worker 4500 2000 3000" \
    "$worker 3000 2000 4500" >bench.out 2>&1 ||
	{ tail -n 3 bench.out; fail bench; }
cat >draw.py <<'END'
import glob, json, math, os, random, subprocess
random.seed(1)
about = json.load(open("pool/bench.json"))
runs = [json.loads(line) for line in open("pool/runs.jsonl")]
files = {c["name"]: ["pool/" + r["profile"] for r in runs
                     if r["command"] == n]
         for n, c in enumerate(about["commands"])}
TRIALS, RUNS = 100, 10

def called(base, new):
    text = subprocess.run([os.environ["DTPROF"], "compare", "--json", *base,
                           "--", *new], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    return {(f["state"], f["name"]) for f in
            json.loads(text)["comparisons"][0]["functions"]
            if f["verdict"] in ("costs more", "costs less")}

named = {("wait", "blocked", "fetch"): 0, ("cpu", "running", "parse"): 0}
alarms = 0
for _ in range(TRIALS):
    for kind, state, function in named:
        named[kind, state, function] += (state, function) in called(
            random.sample(files["base"], RUNS),
            random.sample(files[kind], RUNS))
    equal = random.sample(files["base"], 2 * RUNS)
    alarms += len(called(equal[:RUNS], equal[RUNS:])) > 0
print("of %d: named %s, equal runs called changed %d" % (TRIALS, named,
                                                          alarms))
assert min(named.values()) >= .9 * TRIALS
assert alarms <= .05 * TRIALS + 2.5 * math.sqrt(.05 * TRIALS)
END
python3 draw.py || fail "see above"
ok "a real program, its waits and its computing"
