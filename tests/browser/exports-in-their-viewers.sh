#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what npm's pprof-format reads of a pprof file, and what speedscope
# in a browser has and shows of its own, are the self and total figures of the
# report, of each event and function, to the unit; and a file in which one
# weight is other by one does not pass.
# Easy to get wrong: what only our own readers of these formats take.
. "${SRC:=$PWD}/tests/interop/lib-export.sh"
. "$SRC/tests/browser/lib-browser.sh"
need_browser
"$DTPROF" export --format pprof -o x.pb.gz x.dtp 2>/dev/null || fail pprof
strict_pprof x.pb.gz
"$DTPROF" export --format speedscope -o x.json x.dtp 2>/dev/null ||
    fail speedscope
in_browser exports.mjs "$tmp"
# Stacks as the others read them: a file for each event.
cat >check.py <<'END'
import json, sys
from lib import compare
for event, column in (("cpu-clock", 0), ("page-faults", 0),
                      ("samples", 1), ("samples of page-faults", 1)):
    path = "%s.%s.json" % (sys.argv[2], event)
    if column == 1 and sys.argv[2].startswith("speedscope"):
        continue
    of = {"samples": "cpu-clock"}.get(event, event.split()[-1])
    compare(sys.argv[1], of, json.load(open(path)), column, sys.argv[2])
END
for reader in pprof speedscope; do
	python3 check.py "$DTPROF" "$reader" >said 2>&1 ||
	    fail "$reader: $(cat said)"
	ok "$(sort -u said)"
	python3 check.py "$DTPROF" "$reader-off-by-one" >said 2>&1 &&
	    fail "$reader: a weight that is other by one is not noticed"
	# It is the comparison that says so, and not something that broke.
	grep -q "^$reader-off-by-one, cpu-clock: \[(" said ||
	    fail "$reader: $(cat said)"
	ok "$reader: a weight that is other by one is: $(tail -n 1 said)"
done
