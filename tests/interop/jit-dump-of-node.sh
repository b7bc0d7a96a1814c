# SPDX-License-Identifier: ISC
# ASSERTION: code of V8 has the names that node --perf-prof writes for perf into
# a dump, with file and place; the shares that two functions have by these are
# those that they have as script frames, which are found without the dump.
#
# Easy to get wrong: a name that another record took over, as code is compiled
# anew while the program runs.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "frames of V8 are known on x86-64"
command -v node >/dev/null || skip "no node"
tmpdir

cat >work.js <<'E'
function cold(n, s) {
	for (let i = 0; i < n; i++)
		s = (s * 31 + i) % 1000003;
	return s;
}
function hot(n, s) {
	for (let i = 0; i < n; i++)
		s = (s * 37 + i) % 1000003;
	return s;
}
function compute() {
	const end = process.cpuUsage().user + 700000;
	let s = 1;
	do {
		for (let i = 0; i < 50; i++)
			s = hot(3000, s) + cold(1000, s);
	} while (process.cpuUsage().user < end);
}
// By then dtprof has read node's file.
setTimeout(compute, 2000);
E
"$DTPROF" record -q -F 997 -o x.dtp -- \
    node --perf-prof --no-turbo-inlining work.js >record.err 2>&1 ||
    fail "record: $(cat record.err)"
for frames in native script; do
	"$DTPROF" report --json --frames $frames x.dtp >$frames.json ||
	    fail "report $frames"
done
python3 - <<'E' || fail "see above"
import json, re

def shares(path, pattern, module):
    found = {}
    for row in json.load(open(path))["functions"]:
        name = re.fullmatch(pattern, row["name"])
        if name and row["module"].endswith(module):
            found[name[1]] = found.get(name[1], 0) + 100 * row["self_share"]
    print(path, found)
    return found

dump = shares("native.json", r"JS:\W?(hot|cold) \S*/work\.js:\d+:\d+",
              "[jit]")
ours = shares("script.json", "(hot|cold)", "/work.js")
assert set(dump) == set(ours) == {"hot", "cold"}, "functions without a name"
assert dump["hot"] > dump["cold"] > 0 and sum(dump.values()) > 50
for name in dump:
    assert abs(dump[name] - ours[name]) < 3, name
E
ok "functions of a dump have their names and shares"
