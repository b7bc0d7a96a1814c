#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of recordings of hosts that changed their version one after the
# other, the change, the mean and the p-value of the total and of functions are
# what numpy's least squares and scipy's permutation test say of the same
# windows; equals, a planted function, and more traffic.
# Easy to get wrong: a test that is only compared with itself.
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
if [ -n "$SCIPY" ]; then
	PYTHONPATH=$SCIPY
	export PYTHONPATH
	python=python3
elif python3 -m venv venv >pip.log 2>&1 &&
    venv/bin/pip install -q numpy scipy >pip.log 2>&1; then
	python=venv/bin/python
else
	skip "no scipy: $(tail -1 pip.log)"
fi
cells()		# directory: what each host did in each window, by function
{
	for file in "$1"/*.dtp; do
		case $file in
		*/base*) side=0 ;;
		*) side=1 ;;
		esac
		"$DTPROF" script --json "$file" 2>/dev/null |
		    python3 -c '
import collections, json, sys
sums = collections.Counter()
host = sys.argv[1]
for line in sys.stdin:
    sample = json.loads(line)
    if sample["type"] != "sample":
        continue
    window = sample["time_ns"] // 600000000000
    if sample["event"].startswith("uprobe"):
        sums[host, window, "-"] += sample["weight"]
    else:
        name = sample["user_frames"][0]["function"]
        sums[host, window, name] += sample["weight"]
for (host, window, name), n in sums.items():
    print(host, window, sys.argv[2], name, n)' "$(basename "$file" .dtp |
		    sed 's/.*-//')" "$side" || return 1
	done
}
per=uprobe:/srv/app:handle
world()		# number ...
{
	rm -rf hosts
	mkdir hosts
	"$B/tests/unit/deploys-are-told" write hosts "$@" || fail "recordings"
	expect 0 "$DTPROF" compare --per "$per" --json hosts/base*.dtp -- \
	    hosts/new*.dtp
	cp out said.json
	cells hosts >cells || fail "cells"
	"$python" "$SRC/tests/accept/deploys_as_scipy.py" said.json cells 3 ||
	    fail "world $*"
}
world 0 0 0 0 1 1
world 0.05 0 0 0 2 1
world 0 0.05 0 0 3 1
world 0 0 0 0 4 3
