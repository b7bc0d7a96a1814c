# SPDX-License-Identifier: ISC
# ASSERTION: Two processes that have different JavaScript functions at the same
# addresses have each their own names; a function that was freed, and whose
# place another one has taken before the recorder looked, has its own name or
# none.
#
# Easy to get wrong: heaps that lie alike in all processes of a program without
# randomness; a recorder that comes late.
# TIMEOUT: 120

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "frames of V8 are known on x86-64"
: "${NODE:=node}"
need_cmd "$NODE" setarch python3
tmpdir

# Both say where their function is.
cat >alpha.js <<'E'
'use strict';
let x = 0;
function alphaHot(ms) {
	for (const end = Date.now() + ms; Date.now() < end;)
		for (let i = 0; i < 20000; i++)
			x += i % 7;
}
setTimeout(() => {
	alphaHot(1500);
	%DebugPrint(alphaHot);
	setTimeout(() => {}, 300);
}, 700);
E
sed 's/alpha/bravo/g' alpha.js >bravo.js
cp alpha.js one.js
"$DTPROF" record -q -F 997 -o x.dtp -- sh -c '
for n in alpha bravo; do
	mkdir $n && cp $n.js $n/main.js
	(cd $n && exec setarch -R "$0" --allow-natives-syntax --random-seed=7 \
	    --no-opt main.js >said) &
done
wait' "$NODE" >out 2>record.err || fail "record: $(cat out record.err)"
where()		# program
{
	sed -n 's/.*shared_info: \(0x[0-9a-f]*\).*/\1/p' "$1/said"
}
[ -n "$(where alpha)" ] || fail "no address: $(cat alpha/said)"
"$DTPROF" script --json x.dtp >script.json 2>script.err ||
    fail "script: $(cat script.err)"
python3 - <<'E' || fail "two processes: see above"
import collections
import json
seen = collections.defaultdict(collections.Counter)
for line in open("script.json", encoding="utf-8"):
    record = json.loads(line)
    for frame in record.get("user_frames", ()):
        if str(frame["function"]).endswith("Hot"):
            seen[record["pid"]][frame["function"]] += 1
assert len(seen) == 2, seen
names = [set(names) for names in seen.values()]
assert sorted(map(sorted, names)) == [["alphaHot"], ["bravoHot"]], seen
print("ok: each process has its own:", *map(dict, seen.values()))
E
echo "addresses: $(where alpha) $(where bravo)"
[ "$(where alpha)" = "$(where bravo)" ] ||
    fail "the functions do not lie alike, so this shows nothing"

cat >reuse.js <<'E'
'use strict';
const fs = require('fs');
const phases = [];
function turn(n) {
	if (n === 150)
		return setTimeout(() => fs.writeFileSync('phases',
			phases.join('\n') + '\n'), 300);
	const from = process.hrtime.bigint();
	// A loop that is optimized while it runs, or calls that are.
	const own = new Function(`return function reused${n}(times, depth) {
		let x = ${n};
		for (let t = 0; t < times; t++)
			for (let i = 0; i < 30; i++)
				x += i % 7;
		return depth > 0 ? reused${n}(times, depth - 1) : x;
	}`)();
	for (const end = Date.now() + 15; Date.now() < end;)
		own(n % 2 ? 100000 : 1, n % 2 ? 0 : 3);
	phases.push([n, from, process.hrtime.bigint()].join(' '));
	%DebugPrint(own);
	gc();
	setImmediate(turn, n + 1);
}
setTimeout(turn, 800, 0);
E
"$NODE" --expose-gc --allow-natives-syntax reuse.js >said &
target=$!
kill_at_end $target
"$DTPROF" record -q -F 1999 -o y.dtp -p $target 2>record.err &
recorder=$!
await "the first function" test -s said
# The recorder and its parsers sleep most of the time.
while kill -0 $target 2>/dev/null; do
	pkill -STOP -P $recorder
	kill -STOP $recorder 2>/dev/null
	sleep 0.2
	pkill -CONT -P $recorder
	kill -CONT $recorder 2>/dev/null
	sleep 0.02
done
wait $recorder || fail "record: $(cat record.err)"
places=$(sed -n 's/.*shared_info: \(0x[0-9a-f]*\).*/\1/p' said | sort |
    uniq -d | wc -l)
[ "$places" -gt 5 ] || fail "$places places were used again"
"$DTPROF" script --json y.dtp >script.json 2>script.err ||
    fail "script: $(cat script.err)"
python3 - <<'E' || fail "reused places: see above"
import json
phases = [tuple(map(int, line.split())) for line in open("phases")]
right = wrong = none = 0
for line in open("script.json", encoding="utf-8"):
    record = json.loads(line)
    time = record.get("time_ns")
    if time is None:
        continue
    of = [n for n, start, end in phases if start <= time < end]
    names = [str(frame["function"]) for frame in record.get("user_frames", ())
             if frame["kind"] == "js"]
    mine = [name for name in names if name.startswith("reused")]
    if not of or not names:
        continue
    if any(name != "reused%d" % of[0] for name in mine):
        wrong += 1
        print("FAIL:", of, names)
    right += bool(mine)
    none += not mine
print("%d samples have the name of their own function, %d none, %d another's" %
      (right, none, wrong))
assert wrong == 0 and right > 50 and none > 50, (right, none, wrong)
E
ok "$places places had functions one after the other: own names or none"
