#!/bin/sh
# ASSERTION: compare says of runs that drift, lie in two heaps, began slowly,
# scatter, or have a few far off, just that, of the right side; of runs that
# are as they should be it says nothing; and no run is left out because of it.
# Easy to get wrong: a note that chance alone brings with few runs.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >make.py <<'END2'
import json, os, random, sys
random.seed(int(sys.argv[2]))
def times(kind, n=15):
    t = [1 + random.gauss(0, 0.005) for _ in range(n)]
    for i in range(n):
        t[i] += {"drift": 0.004 * i, "falling": -0.004 * i,
            "clusters": 0.1 * random.randrange(2),
            "first": 0.2 * (i == 0), "noisy": random.gauss(0, 0.15),
            "off": 0.2 * (i in (3, 8, 11))}.get(kind, 0)
    return t
side = ["good", sys.argv[1]]
os.makedirs("d", exist_ok=True)
json.dump({"schema_version": 2, "commands": [{"name": "a"}, {"name": "b"}]},
          open("d/bench.json", "w"))
of = [times(kind) for kind in side]
with open("d/runs.jsonl", "w") as file:
    for i in range(15):
        for s in (0, 1):
            print(json.dumps({"command": s, "block": i // 2,
                              "wall": of[s][i]}), file=file)
END2
notes()		# kind seed
{
	python3 make.py "$@" || fail "make.py"
	expect 0 "$DTPROF" compare --json d
	[ "$(json out 'j["comparisons"][0]["metrics"][0]["runs"]')" = \
	    "[15, 15]" ] || fail "$1: a run is left out"
	json out '"\n".join(j["comparisons"][0]["notes"])' >notes
}
while read -r kind words; do
	for seed in 1 2 3; do
		notes "$kind" $seed
		grep -q "^new, wall: .*$words" notes ||
		    fail "$kind, seed $seed: $(cat notes)"
		! grep -q '^base' notes || fail "the base: $(cat notes)"
	done
done <<'END2'
drift rises during the runs (drift
falling falls during the runs (drift
clusters the runs form several clusters
first the first run was slow
noisy noisy, the runs vary by [0-9]
off 3 of 15 runs are outliers
END2
ok "drift, clusters, a slow start, noise and runs far off are said"
: >all
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	notes good $seed
	! grep . notes >>all || echo "seed $seed" >>all
done
[ "$(grep -c seed all)" -le 2 ] ||
    fail "runs as they should be: $(cat all)"
ok "of good runs nothing, but by chance: $(grep -c seed all) of 12"
