#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: report --tree shows each call below its caller, heaviest first,
# with the totals of a tree made by another program: random trees of any
# depth, with recursion and equal weights, from a seed; --limit N has the N
# heaviest and all that call them, --by threads stand above, and text, JSON and
# CSV say the same.  A program that knows its shares has them in its tree.
# Easy to get wrong: a limit that leaves a call without its caller.
. "${SRC:=$PWD}/tests/report/lib-known.sh"
tmpdir
cat >check.py <<'PY'
import collections, csv, io, json, os, random, re, subprocess, sys
dtprof, seed, trials = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def run(*words):
    done = subprocess.run([dtprof, "report", *words], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout

def tree_of(stacks):
    """Path to totals and self, of folded stacks."""
    total, own = collections.Counter(), collections.Counter()
    for path, weight in stacks:
        own[path] += weight
        for n in range(len(path)):
            total[path[:n + 1]] += weight
    return total, own

def paths(rows):
    """JSON's rows, by id and parent, as paths."""
    out = {}
    for r in rows:
        up = out[r["parent"]] if r["parent"] is not None else ()
        out[r["id"]] = up + (r["name"],)
        assert r["depth"] == len(up), r
    return out

def check(stacks, rng):
    total, own = tree_of(stacks)
    with open("x.folded", "w") as file:
        for path, weight in stacks:
            file.write(";".join(path) + " %d\n" % weight)
    for limit in None, 1, rng.randint(1, len(total)), len(total) + 5:
        words = [] if limit is None else ["--limit", str(limit)]
        rows = json.loads(run("--tree", "--json", *words, "x.folded"))["tree"]
        names = paths(rows)
        everything = sum(own.values())
        wanted = {p for p in total if total[p] >= .005 * everything}
        if limit is not None:
            least = sorted(total.values(), reverse=True)[:limit][-1]
            wanted = {p for p in total if total[p] > least}
        assert wanted <= set(names.values()), wanted - set(names.values())
        if limit is not None:
            assert len(rows) == min(limit, len(total))
            assert all(total[p] >= least for p in names.values())
        else:
            assert wanted == set(names.values())
        last = {}
        for r in rows:
            path = names[r["id"]]
            assert (r["total"], r["self"]) == (total[path], own[path]), r
            before = last.get(path[:-1])
            assert before is None or before >= r["total"], r
            last[path[:-1]] = r["total"]
        table = list(csv.DictReader(io.StringIO(
            run("--tree", "--csv", *words, "x.folded"), newline="")))
        assert [(r["name"], int(r["total"]), int(r["depth"])) for r in
                table] == [(r["name"], r["total"], r["depth"]) for r in rows]
        text = run("--tree", *words, "x.folded").split("\n\n")[1].split("\n")
        seen = [re.match(r" *([\d.]+) +([\d.]+)  ( *)(\w+)", line)
                for line in text[1:] if line and line[:3] != "..."]
        assert [(len(m[3]) // 2, m[4]) for m in seen] == [
            (r["depth"], r["name"]) for r in rows]
        assert all(abs(float(m[1]) - 100 * r["total_share"]) < .006 and
            abs(float(m[2]) - 100 * r["self_share"]) < .006
            for m, r in zip(seen, rows)), text
        hidden = len(total) - len(rows)
        assert (text[-2].startswith("... %d more row" % hidden)) == \
            (hidden > 0), (hidden, text[-2])

rng = random.Random(seed)
for trial in range(trials):
    names = ["f%d" % n for n in range(rng.choice([1, 3, 12]))]
    check([(tuple(rng.choice(names) for _ in range(rng.randint(1, depth))),
            rng.choice([1, 1, 5, rng.randint(1, 2000)]))
           for depth in [rng.choice([1, 4, 40])]
           for _ in range(rng.randint(1, 40))], rng)
print("ok: %d random trees" % trials)
PY
seed=${SEED:-$(date +%s)}
echo "seed $seed"
python3 check.py "$DTPROF" "$seed" "${TRIALS:-6}" || fail "not that tree"

record_known 60
cat >real.py <<'PY'
import json
exec(open("check.py").read().split("def check(")[0])
truth = [json.loads(line) for line in open("truth")]
everything = json.loads(run("--tree", "--json", "--limit", "100000", "x.dtp"))
table = json.loads(run("--json", "x.dtp"))["functions"]
rows = everything["tree"]
names = paths(rows)
sums = collections.Counter()
for r in rows:
    path = names[r["id"]]
    if r["name"] not in path[:-1]:
        sums[r["name"]] += r["total"]
assert sums == collections.Counter({r["name"]: sum(t["total"] for t in table
    if t["name"] == r["name"]) for r in table}), "totals of the table"
used = {f: sum(t[f] for t in truth) for f in ("seventy", "twenty", "ten")}
below = sum(sums[f] for f in used)
for f in used:
    share, told = used[f] / sum(used.values()), sums[f] / below
    assert abs(share - told) < .08, (f, share, told)
deepest = max(p.count("again") for p in names.values())
assert deepest == 6, deepest
assert all("work" in p or "[callers not known]" in p for p in names.values()
           if p[-1] == "seventy"), "who calls seventy"
by = json.loads(run("--tree", "--by", "comm", "--json", "--limit", "100000",
                    "x.dtp"))["tree"]
roots = {r["name"]: r["total"] for r in by if r["depth"] == 0}
assert sum(roots.values()) == sum(r["self"] for r in table)
assert {"known-%d" % k for k in (1, 2, 3, 4)} <= set(roots), roots
print("ok: 70, 20 and 10 %% in a tree of %d calls; %d threads above" %
      (len(rows), len(roots)))
PY
python3 real.py "$DTPROF" 0 0 || fail "not what the program knows"
expect 2 "$DTPROF" report --tree --by module x.dtp
expect 2 "$DTPROF" report --tree --callers work x.dtp
ok "what is no tree is refused"
