# SPDX-License-Identifier: ISC
# ASSERTION: In two real programs, a server of express under load and tsc, which
# checks its own declarations, a function that is planted into them and takes
# 12 % of their CPU time is the first one by self, within 2 points of what the
# program itself measured, and its caller is the one that calls it.  Without
# it nothing has its name.
#
# Easy to get wrong: functions that are inlined into others, code that is
# compiled again and again while the program warms up, frames of builtins.
# TIMEOUT: 900

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "frames of V8 are known on x86-64"
need_cmd node npm python3
tmpdir

at=$B/npm/programs
if [ ! -e "$at/done" ]; then
	mkdir -p "$at"
	(cd "$at" && npm install --no-audit --no-fund express@4 \
	    typescript@5) >npm.log 2>&1 ||
	    skip "npm cannot get it: $(grep -m 1 -i err npm.log)"
	: >"$at/done"
fi
cp "$SRC/tests/work/planted.js" "$at/planted.js"

cat >"$at/server.js" <<'E'
'use strict';
const express = require('express');
const planted = require('./planted.js');
const app = express();
function handleOrder(req, res) {
	for (let from; planted.isDue(); planted.took(from)) {
		from = planted.used();
		planted.plantedHot(20000);
	}
	res.json({ order: req.params.id, at: req.headers, of: req.query });
}
app.use(express.json());
app.get('/order/:id', handleOrder);
const server = app.listen(0, '127.0.0.1', () =>
	require('fs').writeFileSync(process.env.PORT_TO,
		String(server.address().port)));
setTimeout(() => process.exit(0), 9000);
E
cat >load.js <<'E'
'use strict';
const http = require('http');
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
const port = Number(process.argv[2]);
let n = 0;
function ask() {
	const path = '/order/' + ++n + '?a=b';
	http.get({ agent, port, host: '127.0.0.1', path },
		(res) => res.resume().on('end', ask)).on('error', () => {
		process.exit(0);
	});
}
for (let i = 0; i < 16; i++)
	ask();
E
# A call in the checker: once in 64 elements, as asking costs.
python3 - "$at" <<'E' || fail "tsc is another one"
import sys
lib = sys.argv[1] + "/node_modules/typescript/lib/"
text = open(lib + "_tsc.js", encoding="utf-8").read()
where = "  function checkSourceElement(node) {\n"
assert text.count(where) == 1
text = text.replace(where, where + """    if ((++plantedCalls & 63) === 0)
      for (let from; planted.isDue(); planted.took(from)) {
        from = planted.used();
        planted.plantedHot(20000);
      }
""")
with open(lib + "_planted.js", "w", encoding="utf-8") as file:
    file.write("let plantedCalls = 0; const planted = require(%r);\n" %
               (sys.argv[1] + "/planted.js") + text)
E

# Record one: share, program, arguments.
run()
{
	export PLANTED_SHARE="$1" PLANTED_TO="$tmp/took" PORT_TO="$tmp/port"
	shift
	rm -f port took
	"$DTPROF" record -q -o x.dtp -F 997 -- node "$@" >out 2>record.err &
	recorder=$!
	case "$1" in
	*server.js)
		await "a port" test -s port
		node load.js "$(cat port)" >load.err 2>&1
		;;
	esac
	# What a compiler finds is no error of ours.
	wait $recorder || [ -s took ] || fail "record: $(cat out record.err)"
	[ -s took ] || fail "it did not end: $(cat out record.err)"
	"$DTPROF" report --json x.dtp >report.json 2>report.err &&
	    "$DTPROF" export --format folded -o x.folded x.dtp \
	    2>>report.err || fail "no report: $(cat report.err)"
}

judge()			# program, caller; "": nothing was planted
{
	python3 - "$1" "$2" <<'E' || fail "$1: see above"
import json
import sys
program, caller = sys.argv[1:]
rows = json.load(open("report.json"))["functions"]
whole = sum(row["self"] for row in rows)
samples = sum(row["samples"] for row in rows)
rows.sort(key=lambda row: -row["self"])
took, used = map(int, open("took").read().split())
mine = [row for row in rows if row["name"] == "plantedHot"]
if not caller:
    assert not mine, mine
    print("ok: %s without it: first is %s" % (program, rows[0]["name"]))
    sys.exit(0)
assert rows[0]["name"] == "plantedHot" and len(mine) == 1, [
    (row["name"], row["self"] / whole) for row in rows[:5]]
share, real = mine[0]["self"] / whole, took / used
assert abs(share - real) < 0.02 and abs(real - 0.12) < 0.01, (share, real)
calls = wrong = 0
for line in open("x.folded", encoding="utf-8"):
    stack, n = line.rsplit(" ", 1)
    names = stack.split(";")
    if "plantedHot" not in names:
        continue
    calls += int(n)
    wrong += int(n) * (names[names.index("plantedHot") - 1] != caller)
assert calls > 0 and wrong == 0, (calls, wrong)
print("ok: %s: %.1f %% of %d samples, %.1f %% measured; next is %s with "
      "%.1f %%" % (program, 100 * share, samples, 100 * real,
                   rows[1]["name"], 100 * rows[1]["self"] / whole))
E
}

tsc=$at/node_modules/typescript/lib
for share in 0.12 0; do
	run $share "$at/server.js"
	judge express "$([ $share = 0 ] || echo handleOrder)"
	run $share "$tsc/_planted.js" --noEmit "$tsc/typescript.d.ts"
	judge tsc "$([ $share = 0 ] || echo checkSourceElement)"
done
ok "express and tsc"
