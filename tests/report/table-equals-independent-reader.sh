#!/bin/sh
# ASSERTION: the table of report has exactly the weights and samples that a
# reader sums up that shares nothing with libprof: for each event, pid, tid,
# CPU and range of time; self sums to the whole, no total is below its self,
# callees sum to the total of their function, and neither the number of CPUs
# nor the locale changes a byte.  Easy to get wrong in merging what threads
# found, and where a stack has a function twice.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 zstd taskset
tmpdir
cp "$SRC/doc/demo.dtp" demo.dtp || fail "no recording"
set -- demo.dtp
if "$B/tests/work/can" perf >/dev/null 2>&1; then
	expect 0 "$DTPROF" record -q -e cpu-clock -c 500000 -e page-faults \
	    -o own.dtp -- sh -c 'for n in 1 2 3; do
	    sh -c "i=0; while [ \$i -lt 20000 ]; do i=\$((i + 1)); done" &
	    done; wait'
	set -- "$@" own.dtp
fi

cat >check.py <<'END'
import collections, json, subprocess, sys
sys.path.insert(0, sys.argv[1])
import read_dtp
dtprof, path = sys.argv[2:4]
with open(path, "rb") as file:
    rec = read_dtp.Recording(file.read())
names = {n: e[0].decode() for n, e in rec.events.items()}
start = min([l[1] for l in rec.lives if l[0] == 9] or
            [min(s[1] for s in rec.samples)])

def report(*options):
    out = subprocess.run([dtprof, "report", "--json", *options, path],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=True).stdout
    return json.loads(out)

def sums(samples, key):
    found = collections.defaultdict(lambda: [0, 0])
    for s in samples:
        found[names[s[0]], key(s)][0] += s[5]
        found[names[s[0]], key(s)][1] += 1
    return dict(found)

def rows(j, member):
    return {(r["event"], r[member]): [r["total"], r["samples"]]
            for r in j["rows"]}

# Rows of who are made without callers, those of code with them.
quality = report()["quality_by_event"]
checked = 0
for member, column in (("pid", 3), ("tid", 4), ("cpu", 2)):
    want = sums(rec.samples, lambda s: s[column])
    j = report("--by", member)
    got = rows(j, member)
    assert got == want, (member, got, want)
    assert j["quality_by_event"] == quality, (member, quality)
    checked += len(want)
times = sorted(s[1] for s in rec.samples)
low, high = times[len(times) // 4], times[len(times) // 2]
want = sums([s for s in rec.samples if low <= s[1] < high], lambda s: s[3])
got = rows(report("--by", "pid", "--from", "%dns" % (low - start),
                  "--to", "%dns" % (high - start)), "pid")
assert got == want and want, ("range", got, want)

whole = {e: v for (e, _), v in sums(rec.samples, lambda s: 0).items()}
for j in (report(), report("--inline"), report("--by", "module"),
          report("--by", "line"), report("--by", "comm,function")):
    table = j.get("functions") or j["rows"]
    for event, (weight, samples) in whole.items():
        mine = [r for r in table if r["event"] == event]
        assert sum(r["self"] for r in mine) == weight, event
        assert sum(r["samples"] for r in mine) == samples, event
        for r in mine:
            assert r["self"] <= r["total"] <= weight, r
            assert r["samples"] <= r["total_samples"] <= samples, r
            assert r["self_low"] <= r["self_share"] <= r["self_high"], r
            checked += 1
j = report()
by_name = collections.defaultdict(list)
for r in j["functions"]:
    by_name[r["event"], r["name"]].append(r["total"])
tried = 0
for event in whole:
    for name in {r["name"] for r in j["functions"][:12]
                 if "[" not in r["name"] and "*" not in r["name"]}:
        totals = by_name[event, name]
        if len(totals) != 1:
            continue
        for how in ("--callers", "--callees"):
            flow = report(how, name, "--event", event)
            got = sum(r["total"] for r in flow["functions"])
            assert got == totals[0], (how, name, got, totals)
            tried += 1
assert tried > 0
print("%s: %d samples, %d rows and %d flows as computed otherwise" %
      (path, len(rec.samples), checked, tried))
END

for recording; do
	python3 check.py "$SRC/tests/interop" "$DTPROF" "$recording" ||
	    fail "$recording: the table is another"
	ok "$recording: sums are those of the other reader"
	for options in '' '--json' '--csv' '--by line' '--by comm,tid,module'
	do
		# shellcheck disable=SC2086 # a list of options
		for n in 1 2 3; do
			case $n in
			1) set -- env LC_ALL=C ;;
			2) set -- env LC_ALL=de_DE.UTF-8 taskset -c 0 ;;
			3) set -- env LC_ALL=C.UTF-8 COLUMNS=40 TERM=xterm ;;
			esac
			"$@" "$DTPROF" report $options "$recording" \
			    >"out.$n" 2>"err.$n" || fail "report $options"
		done
		cmp out.1 out.2 && cmp out.1 out.3 && cmp err.1 err.2 ||
		    fail "report $options: differs by locale or by CPUs"
		[ -s out.1 ] || fail "report $options: nothing"
	done
	ok "$recording: the same bytes on one CPU and in other locales"
done
