#!/bin/sh
# ASSERTION: of optimised code in two processes of two threads, with a clock
# and a probe at once, report shows what the program knows of itself: the
# shares of functions and of threads (its own CPU clock), recursion counted
# once, and each firing of the probe below the right function, but for few
# (2 %) that stand under "[callers not known]"; the flame graph's tree and
# report's table are the same to the sample, and its cells of time sum to
# them.  Easy to get wrong: tables that agree with each other
# alone, and totals where a function stands in a stack six times.
. "${SRC:=$PWD}/tests/report/lib-known.sh"
need_cmd zstd
tmpdir
record_known 120 -e syscall::getpgid:entry
[ "$(wc -l <truth)" -eq 4 ] || fail "not four threads: $(cat truth)"
"$DTPROF" report --json x.dtp >functions.json &&
    "$DTPROF" report --json --by tid x.dtp >threads.json &&
    "$DTPROF" report --json --by pid,function x.dtp >processes.json &&
    "$DTPROF" script --json x.dtp >script.json &&
    "$DTPROF" flamegraph -o x.html x.dtp || fail "no output"

cat >check.py <<'PY'
import collections, json, subprocess, sys
src, dtprof = sys.argv[1:]
sys.path[:0] = [src + "/tests/browser", src + "/tests/interop"]
import page_data, read_dtp

def load(name):
    with open(name) as file:
        return json.load(file)

def lines(name):
    with open(name) as file:
        return [json.loads(line) for line in file]

truth, table = lines("truth"), load("functions.json")
CLOCK, PROBE = [e["name"] for e in table["events"][1:]]
assert CLOCK == "cpu-clock", CLOCK
rows = {(r["event"], r["name"]): r for r in table["functions"]}
used = {f: sum(t[f] for t in truth) for f in ("seventy", "twenty", "ten")}
all_used = sum(used.values())

# Three half-widths of an interval of 95 % are six standard errors.
def agrees(row, share, what, part="total"):
    low, high = row[part + "_low"], row[part + "_high"]
    half = (high - low) / 2
    assert 0 < half < .05, (what, low, high)
    middle = (low + high) / 2
    assert abs(middle - share) <= 3 * half, (what, row, share)

# The program's own clock is the truth: what else runs on the machine does not
# leave 70, 20 and 10 % of the turns just as much of the time.  It leaves out
# what is before and between the functions; and it has what they call, the
# recorded calls among it, which self has not.
clock = [s for s in lines("script.json") if s.get("event") == CLOCK]
below = sum(rows[CLOCK, f]["total_samples"] for f in used) / len(clock)
assert .8 < below <= 1, below
frames = [[f["function"] for f in s.get("kernel_frames", []) +
           s.get("user_frames", [])] for s in clock]
called = sum("seventy" in f[1:] for f in frames) / len(clock)
assert called < .2, called
for name in used:
    agrees(rows[CLOCK, name], used[name] / all_used * below, name)
agrees(rows[CLOCK, "seventy"], used["seventy"] / all_used * below - called,
       "seventy alone", "self")
assert used["seventy"] > used["twenty"] > used["ten"] > 0, used
agrees(rows[CLOCK, "again"], used["ten"] / all_used * below, "recursion",
       "self")
print("ok: 70, 20 and 10 %% of %d samples" %
      sum(r["samples"] for r in table["functions"] if r["event"] == CLOCK))
# On a busy machine a program is new for longer than copies may be taken; so
# many more may stand below nobody known.
refused = int(table["recording"]["info"]["snapshots.refused"])

def cut_of(event, part):
    return rows.get((event, "[callers not known]"), {part: 0})[part]

again = [s for s in clock
         if any(f["function"] == "again" for f in s.get("user_frames", []))]
deepest = max(sum(f["function"] == "again" for f in s["user_frames"])
              for s in again)
assert deepest == 6, deepest
assert rows[CLOCK, "again"]["total_samples"] == len(again)
assert rows[CLOCK, "again"]["total"] <= \
    rows[CLOCK, "ten"]["total"] + cut_of(CLOCK, "total")
print("ok: again() stands in a stack six times, and counts once")

of_thread = {(r["event"], r["tid"]): r for r in load("threads.json")["rows"]}
for t in truth:
    agrees(of_thread[CLOCK, t["tid"]],
           sum(t[f] for f in used) / all_used, "thread %d" % t["k"])
    assert of_thread[PROBE, t["tid"]]["samples"] == t["asked"], t
by_pid = {(r["event"], r["pid"], r["name"]): r
          for r in load("processes.json")["rows"]}
assert len({t["pid"] for t in truth}) == 2
for pid in {t["pid"] for t in truth}:
    mine = sum(t["rounds"] for t in truth if t["pid"] == pid)
    for name, times in ("seventy", 2), ("twenty", 1), ("ask", 3):
        got = by_pid[PROBE, pid, name]["total_samples"]
        cut = by_pid.get((PROBE, pid, "[callers not known]"),
                         {"total_samples": 0})["total_samples"]
        assert cut <= mine * 3 / 50 + refused, (pid, cut, refused)
        assert got <= times * mine <= got + cut, (pid, name, got, cut, mine)
    assert (PROBE, pid, "ten") not in by_pid
asked = sum(t["asked"] for t in truth)
assert asked - cut_of(PROBE, "total_samples") <= \
    rows[PROBE, "ask"]["total_samples"] <= asked
print("ok: %d firings below the right functions, threads and processes" %
      sum(t["asked"] for t in truth))

head, names, modules, kinds, stacks, cells = page_data.read("x.html")
FUNCTION, CUT = 1, 6     # of enum prof_label_kind
sums = collections.defaultdict(lambda: [0, 0, 0, 0])
for _, node, event, samples, weight in cells:
    event = head["events"][event]["name"]
    keys = [(event, names[n], modules[n]) for n in stacks[node]
            if kinds[n] & 7 in (FUNCTION, CUT)]
    for key in set(keys):
        sums[key][2] += weight
        sums[key][3] += samples
    if keys:
        sums[keys[-1]][0] += weight
        sums[keys[-1]][1] += samples
shown = {(r["event"], r["name"], r["module"]):
         [r["self"], r["samples"], r["total"], r["total_samples"]]
         for r in table["functions"]}
# Somebody else's programs in the kernel: two of one name are two functions.
several = collections.Counter((r["event"], r["name"], r["module"])
                              for r in table["functions"])
for key in several:
    if several[key] > 1 and key[2] == "[bpf]":
        del shown[key], sums[key]
assert dict(sums) == shown, [(k, sums.get(k), shown.get(k))
    for k in sums.keys() | shown.keys() if sums.get(k) != shown.get(k)][:5]
print("ok: the flame graph's tree is the table, %d rows" % len(shown))

with open("x.dtp", "rb") as file:
    rec = read_dtp.Recording(file.read())
number = {n: e[0].decode() for n, e in rec.events.items()}
first = min(s[1] for s in rec.samples)
when = collections.Counter((number[s[0]], (s[1] - first) // head["cell_ns"])
                           for s in rec.samples)
mapped = collections.Counter()
for time, _, event, samples, _ in cells:
    mapped[head["events"][event]["name"], time] += samples
assert mapped == when, list((mapped - when).items())[:5]
assert sum(mapped.values()) == len(rec.samples)
last = max(cell for _, cell in when)
low, high = last // 4, last // 2
part = json.loads(subprocess.run([dtprof, "report", "--json",
    "--from", "%dns" % (head["begin_ns"] + low * head["cell_ns"]),
    "--to", "%dns" % (head["begin_ns"] + high * head["cell_ns"]), "x.dtp"],
    stdout=subprocess.PIPE, check=True).stdout)
got = sum(r["samples"] for r in part["functions"])
want = sum(n for (_, cell), n in when.items() if low <= cell < high)
assert 0 < want == got, (want, got)
print("ok: %d cells of time sum to the samples, %d of a range" %
      (len(when), want))
PY
python3 check.py "$SRC" "$DTPROF" || fail "see above"
