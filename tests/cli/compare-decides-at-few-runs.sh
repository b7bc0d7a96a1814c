#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: where all runs of one command take longer than all of the other,
# compare says so from five runs a side on: a bench of 5 and 5 in one block,
# of 6 and 6 in blocks of four, files of 6 and 6; the interval is on that side
# of 0, in every metric that says so.  Equals stay equals.
# Easy to get wrong: orders so few, and corrections so strict, that no verdict
# is possible at all, whatever the runs say.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >make.py <<'END2'
import json, os, random, sys
name, n, growth, seed = sys.argv[1], *map(float, sys.argv[2:])
n, rng = int(n), random.Random(int(seed))
os.makedirs(name)
json.dump({"schema_version": 2, "commands": [{"name": "a"}, {"name": "b"}]},
          open(name + "/bench.json", "w"))
files = [[], []]
with open(name + "/runs.jsonl", "w") as file:
    left, block, made = n, 0, 0
    while left:
        of = n if n <= 5 else min(2, left)
        for side in rng.sample([0, 1] * of, 2 * of):
            # 10 % slower at the end, and 2 % of noise.
            speed = (1 + 0.1 * made / (2 * n)) * rng.gauss(1, 0.01)
            run = {"command": side, "block": block, "of": of, "wall":
                   speed * (1 + growth * side), "cpu": 0.5 * speed *
                   rng.gauss(1, 0.01) * (1 + growth * side), "minor_faults":
                   rng.randrange(80, 90), "max_rss": 4096 * rng.randrange(9)}
            print(json.dumps(run), file=file)
            files[side].append(run["wall"])
            made += 1
        left, block = left - of, block + 1
for side in (0, 1):
    json.dump({"results": [{"command": "a", "times": files[side]}]},
              open(f"{name}.{side}", "w"))
END2
cat >words.py <<'END2'
import json
for m in json.load(open("out"))["comparisons"][0]["metrics"]:
    low, high = m["ci95"]
    changed = m["verdict"] in ("slower", "faster", "costs more", "costs less")
    if changed != (low > 0 or high < 0):
        print("contradiction:", m)
    if m["name"] in ("wall", "cpu"):
        print(m["verdict"], end=" ")
END2
says()		# what operands: verdicts on wall and CPU time
{
	what=$1
	shift
	expect 0 "$DTPROF" compare --json "$@"
	[ "$(python3 words.py)" = "$what" ] ||
	    fail "$*: $(python3 words.py), not $what: $(cat out)"
}
for seed in 1 2 3; do
	for n in 5 6 8; do
		python3 make.py "up$n$seed" $n 0.4 $seed || fail make.py
		says 'slower slower ' "up$n$seed"
		python3 make.py "down$n$seed" $n -0.6 $seed || fail make.py
		says 'faster faster ' "down$n$seed"
		says 'slower ' "up$n$seed.0" -- "up$n$seed.1"
	done
	python3 make.py "same$seed" 5 0 $seed || fail make.py
	says 'inconclusive inconclusive ' "same$seed"
done
ok "runs that lie apart are told from 5 a side on"
