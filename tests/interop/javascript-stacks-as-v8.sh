# SPDX-License-Identifier: ISC
# ASSERTION: In 2,100 calls of a node program, started without flags, with
# worker threads, recursion to 900, callbacks through builtins and C++,
# generators, async functions, exceptions and functions that are inlined, the
# JavaScript frames of each sample are the list that V8 itself has at that
# moment: functions, files and lines.  Nobody traces the program meanwhile.
#
# Easy to get wrong: what is inlined, which has no frame of its own; the line
# of a caller in interpreted, baseline and optimized code; objects that the
# collector of garbage moves between the sample and its naming.
# tests/accept/node-versions.sh does the same with more calls and versions.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "frames of V8 are known on x86-64"
command -v node >/dev/null || skip "no node"
case "$(node -p process.versions.v8)" in
10.2.*|11.3.*|12.4.*) ;;
*) skip "node's V8 is not one of those that this test knows" ;;
esac
tmpdir

"$DTPROF" record -o x.dtp -e syscall::statx:entry -- \
    node "$SRC/tests/work/tokens.js" 700 3 >tokens 2>record.err || {
	cat record.err
	fail record
}
"$DTPROF" script --json --lines x.dtp >script.json 2>script.err ||
    fail "script: $(cat script.err)"
python3 "$SRC/tests/interop/javascript_tokens.py" tokens <script.json ||
    fail "see above"

# Functions have one row, however many places they are compiled into.
"$DTPROF" report --json --sort total x.dtp >report.json || fail report
python3 - report.json <<'E' || fail "see above"
import collections, json, sys
rows = json.load(open(sys.argv[1]))["functions"]
names = collections.Counter(
    row["name"] for row in rows if row["module"].endswith("/tokens.js"))
assert names["two"] == names["recurse"] == 1, names
E
"$DTPROF" report --sort total x.dtp >report 2>&1 || fail report
[ "$(grep -c 'get area *.*tokens.js:[0-9]*$' report)" = 2 ] ||
    fail "two functions of one name: $(grep area report)"
ok "a function has one row"

# A program that reads its own status all the time.
"$DTPROF" record -q -o y.dtp -F 997 -- node -e '
const fs = require("fs");
const end = Date.now() + 500, traced = new Set();
while (Date.now() < end)
	for (const line of
	    fs.readFileSync("/proc/self/status", "utf8").split("\n"))
		if (line.startsWith("TracerPid"))
			traced.add(line.split("\t")[1]);
console.log("traced by", ...traced);' >traced 2>&1 ||
    fail "record: $(cat traced)"
grep -qx "traced by 0" traced || fail "$(cat traced)"
ok "$(cat traced)"
