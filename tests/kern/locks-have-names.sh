#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: report names the lock of a wait by the variable that it is in, with
# the variable's address in the file as nm has it, also of a stripped program
# by its debug file, and also in the table of holders.  A lock that is in no
# variable has its address in memory, and so has each lock of a program that is
# stripped or that was replaced since.
# Easy to get wrong: two static variables of the same name; a lock within a
# structure; names of another build at the same path.
. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gcc
need_cmd nm
need_cmd objcopy
tmpdir

gcc -O1 -g -pthread -Wl,--build-id -o full "$SRC/tests/work/named_locks.c" ||
	fail "no program"
gcc -O2 -g -pthread -Wl,--build-id -o other "$SRC/tests/work/named_locks.c" ||
	fail "no other program"
nm full >symbols

locks_record()	# program
{
	"$DTPROF" record -q -e lock/min=1ms/ -o w.dtp -- "./$1" >truth ||
		fail "record $1"
}

locks_check()	# named|bare what
{
	"$DTPROF" report --json --by lock w.dtp >by || fail "report $2"
	"$DTPROF" report --json --by lock,holder w.dtp >blocked ||
		fail "report $2, holders"
	py "$1" <<'END'
import json
import re
import sys

is_named = sys.argv[1] == "named"
symbols = [(int(line.split()[0], 16), line.split()[2].split(".")[0])
           for line in open("symbols") if len(line.split()) == 3]
shown = {row["args"]["lock"] for row in json.load(open("by"))["rows"]}
held = {row["lock"] for row in json.load(open("blocked"))["blocked_by"]}
truth = [(name, int(within), address) for name, within, address in
         map(str.split, open("truth"))]
# The main thread may wait for the end of a thread, too.
assert len(truth) == 5 and len(shown) >= 5, shown
assert held == shown - {"-"}, (held, shown)
bias = None
for name, within, address in truth:
    if not is_named or name == "-":
        assert address in shown, (address, shown)
        continue
    of = [a for a, n in symbols if n == name]
    here = [int(address, 16) - within - a for a in of]
    bias = here[0] if bias is None else bias
    assert bias in here, (name, here, bias)
    at = int(address, 16) - bias
    text = re.escape(name) + r"(\.\d+)?" + \
        (re.escape("+0x%x" % within) if within > 0 else "") + \
        r" \(\w+\+0x%x\)" % at
    assert any(re.fullmatch(text, lock) for lock in shown), (text, shown)
print(*sorted(shown))
END
	ok "$2"
}

cp full program
locks_record program
locks_check named "names of variables"
mv other program
locks_check bare "another build at the same path"
objcopy --only-keep-debug full program.debug
objcopy --strip-all --add-gnu-debuglink=program.debug full program
locks_record program
locks_check named "names from a debug file"
rm program.debug
# An exported variable would still be there.
locks_record program
locks_check bare "stripped"

# Elapsed time is of the event that has all waits, else a note says whose.
"$DTPROF" report --by state w.dtp 2>err >table || fail "no states"
grep -q "only the waits that 'lock/min=1ms/' records" err ||
    fail "not of all waits, and no note: $(cat err)"
"$DTPROF" record -q -e lock,off-cpu -o both.dtp -- ./program >truth ||
    fail "record both"
"$DTPROF" report --json --by state both.dtp 2>err >states || fail "no states"
[ ! -s err ] || fail "of all waits: $(cat err)"
"$DTPROF" script --json both.dtp >samples || fail "no samples"
py <<'END'
import json

shown = {row["args"]["state"]: row["total"] for row in
         json.load(open("states"))["rows"]}
samples = [json.loads(line) for line in open("samples")]
waits = sum(s["weight"] for s in samples if s.get("event") == "off-cpu" and
            s["args"]["state"] == "blocked")
print("%d ns blocked, by itself %d ns" % (shown["blocked"], waits))
assert shown["blocked"] == waits > 0
END
ok "elapsed time has all waits that were recorded"
