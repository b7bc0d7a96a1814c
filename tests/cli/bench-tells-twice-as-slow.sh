#!/bin/sh
# ASSERTION: of two commands, of which one uses twice the CPU time, bench says
# so; every block has two runs of each in an order that the seed decides, and
# what it kept of a run is what the kernel says.  Easy to get wrong: an order
# that is the same in every block, times of all children instead of this one.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
spin=$B/tests/work/spin
expect 0 "$DTPROF" bench --seed 7 -w 0 -r 10 -n base -n new -n base2 \
    "$spin 60" "$spin 120" "'$spin' \"60\""
expect_out '^new is slower: wall time|^new: inconclusive' 'a verdict'
expect_err 'seed 7' 'the seed is printed'
expect 0 "$DTPROF" compare --json dtprof.bench
cp out compare.json
cpu='[m for m in j["comparisons"][%d]["metrics"] if m["name"] == "cpu"][0]'
[ "$(json compare.json "$(printf "$cpu" 0)['verdict']")" = slower ] ||
    fail "twice the time is not slower"
json compare.json "$(printf "$cpu" 0)['change']" >change
# To start one costs some time, too, and more on some machines.
awk '{ exit !($1 > 0.6 && $1 < 1.1) }' change || fail "by $(cat change)"
# Chance may call it so, once in a thousand, but not by much.
same=$(printf "$cpu" 1)
[ "$(json compare.json "(${same}['verdict'] != 'slower' or
    ${same}['change'] < 0.1)")" = True ] || fail "the same is called slower"
ok "twice is twice: +$(cat change); the same is not called slower"

json_lines dtprof.bench/runs.jsonl '" ".join(sorted("%d%d" % (r["block"],
    r["command"]) for r in j))' | tr ' ' '\n' | uniq -c | awk '
    $1 != 2 { print; bad = 1 } END { exit bad || NR != 15 }' ||
    fail "not two of each in each block"
orders=$(json_lines dtprof.bench/runs.jsonl 'len(set(tuple(r["command"]
    for r in j if r["block"] == b) for b in range(5)))')
[ "$orders" -ge 3 ] || fail "$orders orders in 5 blocks"
json_lines dtprof.bench/runs.jsonl '[r["command"] for r in j]' >order1
expect 0 "$DTPROF" bench --seed 7 -w 0 -r 10 -o again true /bin/true \
    "sh -c :"
json_lines again/runs.jsonl '[r["command"] for r in j]' >order2
cmp order1 order2 || fail "the same seed made another order"
ok "blocks of two each, $orders orders in 5, the same by seed"

# Of the child alone, as time(1) of bash and the program itself have it.
json_lines dtprof.bench/runs.jsonl '(all(r["cpu"] /
    (0.120 if r["command"] == 1 else 0.060) > 0.9 and
    abs(r["cpu"] - r["user"] - r["system"]) < 1e-9 and
    r["wall"] > 0.9 * r["cpu"] and
    r["status"] == 0 and r["minor_faults"] > 10 for r in j) and
    all(sorted(r["cpu"] / ms for r in j if r["command"] == c)[5] < 0.0015
        for c, ms in enumerate((60, 120, 60))))' >sane
[ "$(cat sane)" = True ] || { cat dtprof.bench/runs.jsonl; fail "times"; }
ok "times of each child"
