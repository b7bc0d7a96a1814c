#!/bin/sh
# ASSERTION: compare reads what it says it reads; verdicts, exit statuses and
# the JSON are those of the contract; few runs, equal runs, no numbers and
# unlike machines are said to be so, and nothing is claimed of them.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
# Results as hyperfine writes them, of made-up runs around a mean.
cat >make.py <<'END'
import json, random, sys
random.seed(int(sys.argv[1]))
def times(n, mean, noise=0.002):
    return [float(mean) * random.gauss(1, float(noise)) for _ in range(n)]
results = []
for name, *how in (word.split("=") for word in sys.argv[3:]):
    results.append({"command": name, "times": times(int(sys.argv[2]), *how)})
print(json.dumps({"results": results}))
END
make()	# seed runs name=mean[=noise] ...
{
	python3 make.py "$@"
}
verdict()	# file
{
	json "$1" '" ".join(c["verdict"] for c in j["comparisons"])'
}
compare()	# status verdict arguments
{
	want_status=$1 want=$2
	shift 2
	expect "$want_status" "$DTPROF" compare --json "$@"
	[ "$(verdict out)" = "$want" ] ||
	    fail "$*: $(verdict out), not $want"
}
make 1 10 a=1 >a
make 2 10 a=1.05 >b
make 3 4 a=1.05 >few
make 4 10 a=1.012=0.1 >open
make 10 10 a=1.0005 >near
make 5 10 a=1 x=2 y=3 >many1
make 6 10 a=1.1 x=2 z=3 >many2
compare 0 slower a -- b
compare 0 faster b -- a
compare 0 'no change' a -- a
compare 0 'no change' a -- near
compare 0 inconclusive --threshold 0.1 a -- near
compare 0 slower --threshold 20 a -- b
compare 0 too_few_runs a -- few
compare 0 inconclusive a -- open
json out 'j["comparisons"][0]["metrics"][0]["runs_needed"] > 10' |
    grep -q True || fail "inconclusive, but no number of runs"
compare 0 'slower slower' many1
compare 0 'slower no change' many1 -- many2
json out '(round(j["geomean"]["change"], 2) == 0.05 and
    j["geomean"]["ci95"][0] < j["geomean"]["change"] <
    j["geomean"]["ci95"][1])' | grep -q True || fail "geometric mean"
expect_err 'y: only in the base' 'what is on one side only'
expect_err 'z: only in new' 'what is on the other side only'
make 11 10 a=1.1 >long
make 12 4 x=2 >short
compare 0 'slower too_few_runs' many1 -- long short
[ "$(json out 'j["geomean"]["comparisons"]')" = 1 ] ||
    fail "a mean of what has no interval: $(cat out)"
expect 0 "$DTPROF" compare many1 -- long short
expect_out 'geometric mean of 1 of 2' 'what the mean leaves out'
ok "verdicts, from hyperfine's form of results"

compare 3 slower --fail-on slower a -- b
compare 3 slower --fail-on slower:2 a -- b
compare 0 slower --fail-on slower:8 a -- b
compare 0 faster --fail-on slower b -- a
compare 4 inconclusive --strict a -- open
compare 4 too_few_runs --strict a -- few
compare 0 'no change' --strict a -- a
expect 1 "$DTPROF" compare nosuch -- a
expect 1 "$DTPROF" compare a
expect 2 "$DTPROF" compare
expect 2 "$DTPROF" compare --fail-on fast a -- b
expect 2 "$DTPROF" compare --nosuch a -- b
echo '{"a":1}' >other
expect 1 "$DTPROF" compare other -- a
printf '{"results": [' >broken
expect 1 "$DTPROF" compare broken -- a
ok "exit statuses 0, 1, 2, 3, 4"

# Whichever comes first: one that is worse, or one that is open.
make 4 10 a=1.012=0.1 b=1.05 >open2
make 9 10 a=1 b=1 >both
compare 3 'inconclusive slower' --strict --fail-on slower both -- open2
compare 4 'inconclusive slower' --strict --fail-on slower:8 both -- open2
for run in 1 2 3 4 5 6 7 8; do
	for cost in 90 110; do
		printf 'main;a %d\nmain;b 50\n' $((cost + run % 3)) >$cost-$run
	done
done
compare 3 'costs more' --fail-on slower:5 90-? -- 110-?
compare 0 'costs less' --fail-on slower 110-? -- 90-?
compare 4 too_few_runs --strict 90-1 -- 110-1
ok "exit statuses of several commands, and of costs"

# Each name, type and value of the contract, and nothing else: what is added
# to it is added here and in the manual, what changes is another version.
cat >schema.py <<'END'
import json, sys
j = json.load(open(sys.argv[1]))
number, known = (int, float, type(None)), (int, float)
text, two = str, [(int, float, type(None))] * 2
words = {"faster", "slower", "costs less", "costs more", "no change",
    "inconclusive", "too_few_runs"}
def is_of(o, spec, at):
    if isinstance(spec, dict):
        assert isinstance(o, dict) and set(o) == set(spec), (at, set(o) ^
            set(spec))
        for name in spec:
            is_of(o[name], spec[name], at + "." + name)
    elif isinstance(spec, list):
        assert isinstance(o, list) and len(o) == len(spec), (at, o)
        for one, of in zip(o, spec):
            is_of(one, of, at + "[]")
    elif isinstance(spec, set):
        assert o in spec, (at, o)
    else:
        assert isinstance(o, spec) and not (spec in (number, known) and
            isinstance(o, bool)), (at, o)
change = {"name": text, "verdict": words, "runs": [int, int], "median": two,
    "mean": two, "change": number, "ci95": two, "p": number,
    "p_adjusted": number, "smallest_change": number, "exact": bool,
    "runs_needed": (int, type(None))}
metric = change | {"p_mann_whitney": number, "p_welch": number,
    "cliffs_delta": number, "effect": {"unknown", "negligible", "small",
    "medium", "large"}, "unit": text}
presence = {"none", "inlined", "out_of_line"}
function = change | {"share": two, "part": number,
    "presence": [presence, presence], "module": text,
    "state": (str, type(None))}
name = (str, type(None))
pair = {"base": text, "new": text, "build_ids": [name, name],
    "verdict": words, "assumes_no_drift": bool, "hosts": type(None),
    "metrics": list,
    "total": object, "by": {"function", "module", "line"},
    "functions_tested": int, "functions": list, "notes": list}
is_of(j, {"schema_version": int, "version": text, "threshold": known,
    "comparisons": list, "geomean": object}, "")
assert j["schema_version"] == 2
assert j["comparisons"]
for c in j["comparisons"]:
    is_of(c, pair, "comparison")
    for m in c["metrics"] + [c["total"]] * (c["total"] is not None):
        is_of(m, metric, "metric")
    assert c["metrics"] or c["functions"]
    assert (c["total"] is None) == (not c["functions"])
    for f in c["functions"]:
        is_of(f, function, "function")
    is_of(c["notes"], [text] * len(c["notes"]), "notes")
assert (j["geomean"] is None) == (len(j["comparisons"]) == 1)
if j["geomean"]:
    is_of(j["geomean"], {"change": known, "ci95": [known, known],
        "comparisons": int}, "geomean")
END
schema()	# arguments of compare
{
	"$DTPROF" compare --json "$@" >out 2>err
	python3 schema.py out || fail "the schema: $*"
}
schema 90-? -- 110-?
schema 90-1 -- 110-1
schema --by module 90-? -- 110-?
schema both -- open2
schema a -- few
# The manual names what there is.
for name in schema_version comparisons base new build_ids verdict metrics \
    total by functions functions_tested notes assumes_no_drift \
    p_adjusted geomean p_mann_whitney p_welch \
    cliffs_delta; do
	sed -n '/^.Sh JSON OUTPUT/,/^.Sh PRIV/p' \
	    "$SRC/cmd/dtprof/dtprof.1" | grep -Eq "^\.Cm (.* )?$name( |\$)" ||
	    fail "$name is not in the manual"
done
schema a -- b
json out '[m["name"] for m in j["comparisons"][0]["metrics"]]' | grep -q wall ||
    fail "no wall"
cp out first
expect 0 "$DTPROF" compare --json a -- b
cmp out first || fail "not the same again"
expect 0 "$DTPROF" compare --markdown a -- b
grep -c '^|' out | grep -qx 3 || fail "Markdown"
ok "the JSON, the same each time; Markdown"

# What is no number claims nothing; huge and equal values are no trouble.
echo '{"results":[{"command":"a","times":[1,null,"x",1e999,1,1,1,1]}]}' >odd
compare 0 'no change' odd -- odd
expect_out 'runs have no value' 'a note'
echo '{"results":[{"command":"a","times":[2e300,2e300,2e300,2e300,2e300,2e300]
}]}' >huge
compare 0 slower odd -- huge
echo '{"results":[{"command":"a","times":[0,0,0,0,0,0,0,0]}]}' >zero
compare 0 'no change' zero -- zero
compare 0 slower zero -- huge
echo '{"results":[{"command":"a","times":[]}]}' >none
expect 0 "$DTPROF" compare --json none -- a
for n in 1 2 3; do
	make 7 $n a=1 >n$n
	compare 0 too_few_runs n$n -- n$n
done
ok "no numbers, huge, zero, none, 1, 2 and 3 runs"

# Of another version of bench nothing is known, and no verdict is made up.
mkdir this earlier
echo '{"schema_version":2,"commands":[{"name":"a"},{"name":"b"}]}' \
    >this/bench.json
sed 's/:2,/:1,/' this/bench.json >earlier/bench.json
for run in 0 1 2 3 4 5 6 7 8 9; do
	printf '{"command":%d,"block":%d,"wall":1.%d}\n' $((run % 2)) \
	    $((run / 4)) "$run"
done | tee this/runs.jsonl >earlier/runs.jsonl
compare 0 inconclusive this
expect 1 "$DTPROF" compare earlier
expect_err 'another version of dtprof bench' 'an earlier bench'
schema this
ok "benches of another version are refused"

# What a bench says of its machine, each trait from its own file.
expect 0 "$DTPROF" bench -w 0 -r 5 -n t -o d1 true
python3 - <<'END' || fail "the environment in bench.json"
import json, re
def first(path):
    try:
        return open(path).readline().strip()
    except OSError:
        return ""
def one(pattern, text):
    return (re.findall(pattern, text) or [""])[0]
cpu = "/sys/devices/system/cpu/"
want = {
    "cpu_model": one("model name\s*: (.*)", open("/proc/cpuinfo").read()),
    "governor": first(cpu + "cpu0/cpufreq/scaling_governor"),
    "no_turbo": first(cpu + "intel_pstate/no_turbo"),
    "boost": first(cpu + "cpufreq/boost"),
    "smt": first(cpu + "smt/control"),
    "aslr": first("/proc/sys/kernel/randomize_va_space"),
    "huge_pages": one(r"\[(.*)\]",
        first("/sys/kernel/mm/transparent_hugepage/enabled")),
}
said = json.load(open("d1/bench.json"))["environment"]
assert all(said.get(name, "") == want[name] for name in want), (said, want)
assert re.match(r"[\d.]+ [\d.]+ [\d.]+ \d+/\d+ \d+$", said["load"]), said
END
ok "the machine of a bench"

# The same machine but for its CPU.
cp -r d1 d2
sed -i 's/"cpus": *[0-9]*/"cpus": 4096/' d2/bench.json
expect 1 "$DTPROF" compare d1 -- d2
expect_err 'machines differ: "cpus: ' 'which trait'
expect 0 "$DTPROF" compare --anyway d1 -- d2
sed 's/"cpus":/"governor": "x", &/' d1/bench.json >d2/bench.json
sed 's/"governor": *[^,]*,//' d1/bench.json >d1/other
mv d1/other d1/bench.json
expect 0 "$DTPROF" compare d1 -- d2
ok "machines that are not alike"

# Of one side, whichever of its files it is; traits that a file does not know
# are those of the others.
cp -r d1 d3
sed -i 's/"cpus": *[0-9]*/"cpus": 4096/' d3/bench.json
for files in 'd1 d3 -- d1' 'd3 d1 -- d1' 'd1 -- d1 d3' 'd1 -- d3 d1'; do
	# shellcheck disable=SC2086 # a list of files
	expect 1 "$DTPROF" compare $files
	expect_err 'machines differ: "cpus: .*of one input' "$files"
	# shellcheck disable=SC2086 # a list of files
	expect 0 "$DTPROF" compare --anyway $files
	expect_err 'warning: the machines differ' "$files anyway"
done
sed 's/"governor": *"x"/"governor": "y"/' d2/bench.json >d3/bench.json
expect 1 "$DTPROF" compare d1 d2 -- d1 d3
expect_err 'machines differ: "governor: x" and "governor: y"$' \
    'the second of each'
expect 0 "$DTPROF" compare d1 d2 -- d2 d1
! grep -q 'machines differ' err || fail "alike"

${CC:-cc} -O0 -Wl,--build-id -xc -o busy - <<'END' || fail "cc"
void work(void) { }
int main(void) { work(); return (0); }
END
python3 - <<'END' || fail "cannot write perf.data"
import os, struct, sys
sys.path.insert(0, os.environ["SRC"] + "/tests/report")
from perfdata import Program
def text(words):
    return struct.pack("<I", 64) + words.encode().ljust(64, b"\0")
program = Program("busy")
stacks = [[("work", 0)]] * 9 + [[("main", 0)]]
# Kernel, number of CPUs and their model; of the last nothing is known.
for name, kernel, cpus, model in (("p1", "6.1", 2, "x"),
                                  ("p2", "6.2", 2, "x"),
                                  ("p3", "6.1", 4, "x"),
                                  ("p4", "6.1", 2, "y")):
    program.write(name, stacks, features={
        4: text(kernel), 7: struct.pack("<II", cpus, cpus), 8: text(model)})
program.write("p5", stacks)
END
for n in 1 2 3 4 5; do
	expect 0 "$DTPROF" import -q -o p$n.dtp p$n
done
while read -r n what; do
	for files in "p1 p$n -- p1 p1" "p$n p1 -- p1 p1" "p1 p1 -- p1 p$n" \
	    "p5 p1 p$n -- p5 p5"; do
		files=$(echo "$files" | sed 's/p[0-9]/&.dtp/g')
		# shellcheck disable=SC2086 # a list of files
		expect 1 "$DTPROF" compare $files
		expect_err "machines differ: \"$what: .*of one input" "$files"
		# shellcheck disable=SC2086 # a list of files
		expect 0 "$DTPROF" compare --anyway $files
		expect_err 'warning: the machines differ' "$files anyway"
	done
done <<'END'
2 kernel
3 cpus
4 cpu_model
END
expect 0 "$DTPROF" compare p1.dtp p5.dtp -- p5.dtp p1.dtp
! grep -q 'machines differ' err || fail "alike: $(cat err)"
ok "machines of one side that are not alike"

expect 0 "$DTPROF" stat --json -r 6 -- true
cp out stat.json
expect 0 "$DTPROF" compare --json stat.json -- stat.json
# An ordinary user gets task-clock:u.
json out '{"wall", "user", "task-clock"} <= {m["name"].removesuffix(":u")
    for m in j["comparisons"][0]["metrics"]}' | grep -q True ||
    fail "of stat: $(cat out)"
ok "results of stat"
if command -v hyperfine >/dev/null; then
	hyperfine -N -w 1 -r 8 --export-json hf.json true 'sleep 0.001' \
	    >/dev/null 2>&1 || fail "hyperfine"
	expect 0 "$DTPROF" compare --json hf.json
	python3 - out hf.json <<'END' || fail "not hyperfine's medians"
import json, math, sys
ours = json.load(open(sys.argv[1]))["comparisons"][0]["metrics"][0]
theirs = json.load(open(sys.argv[2]))["results"]
for i in 0, 1:
    assert math.isclose(ours["median"][i], theirs[i]["median"], rel_tol=1e-9)
    assert math.isclose(ours["mean"][i], theirs[i]["mean"], rel_tol=1e-9)
END
	ok "medians and means are those of hyperfine itself"
fi
