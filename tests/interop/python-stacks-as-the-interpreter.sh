# SPDX-License-Identifier: ISC
# ASSERTION: In 1,000 calls of a Python program with threads, recursion to 900,
# callbacks through C code, exceptions, generators, coroutines and code that is
# compiled and freed, the Python frames of each sample are the list that the
# interpreter itself has at that moment: functions, files and lines.  Nobody
# traces the program meanwhile.  A frame that cannot be read truncates a stack;
# one of more frames than a record holds keeps its root and its leaf, also where
# the native frames around it have a gap of their own.
#
# Easy to get wrong: frames of another thread, of a generator that waits, of a
# function that is just being called; the line of a caller; code that took the
# place of code that was freed.  tests/accept/python-versions.sh does the same
# with more calls and other versions.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
. "$SRC/tests/interop/lib-python.sh"
need_known_python
tmpdir

"$DTPROF" record -o x.dtp -e syscall:newfstatat:entry -- \
    $python "$SRC/tests/work/tokens.py" 1000 4 tokens.json 2>record.err || {
	cat record.err
	fail record
}
"$DTPROF" script --json --lines x.dtp >script.json 2>script.err ||
    fail "script: $(cat script.err)"
$python "$SRC/tests/interop/python_tokens.py" tokens.json <script.json ||
    fail "see above"
"$DTPROF" report --csv x.dtp >report.csv || fail report
grep -q '"\[python\]","\[python\]"' report.csv ||
    fail "freed code has no row: $(head -3 report.csv)"
ok "freed code has a row without a name"

# A program that reads its own status all the time, and sorts.
"$DTPROF" record -q -o y.dtp -F 997 -- $python -c '
import time
end = time.monotonic() + 0.5
traced = set()
while time.monotonic() < end:
    sorted(range(100), key=lambda x: -x)
    for line in open("/proc/self/status"):
        if line.startswith("TracerPid"):
            traced.add(line.split()[1])
print("traced by", *traced)' >traced 2>&1 || fail "record: $(cat traced)"
grep -qx "traced by 0" traced || fail "$(cat traced)"
ok "$(cat traced)"

"$DTPROF" script --json --frames all y.dtp >all.script &&
    "$DTPROF" report --json --frames all y.dtp >all.json &&
    "$DTPROF" report --json y.dtp >default.json &&
    "$DTPROF" report --json --frames script y.dtp >only.json &&
    "$DTPROF" report y.dtp >report.txt || fail "reports"
$python "$SRC/tests/interop/python_frames.py" all.script all.json \
    default.json only.json report.txt || fail "see above"

# Of 300 calls some frames are on a page that cannot be read.
cat >unread.py <<'EOF'
import ctypes
import os
import sys
import time

libc = ctypes.CDLL(None)

def known(path):
    try:
        os.stat(path)
    except OSError:
        pass

def down(n):
    if n > 0:
        return down(n - 1)
    known("/known/before")
    frame = sys._getframe(150)
    page = ctypes.c_void_p(
        ctypes.c_void_p.from_address(id(frame) + 24).value & -4096)
    del frame
    libc.mprotect(page, 4096, 0)
    known("/known/without")
    libc.mprotect(page, 4096, 3)

def deep(n):
    if n > 0:
        return deep(n - 1)
    known("/known/deep")

def through(n):
    if n > 0:
        return list(map(through, [n - 1]))
    known("/known/through")

# An interpreter has frames when it was found, names while it lives.
time.sleep(1)
down(300)
sys.setrecursionlimit(6000)
deep(5000)
through(400)
time.sleep(1)
EOF
"$DTPROF" record -q -o u.dtp -e syscall:newfstatat:entry -- \
    $python unread.py || fail "record"
"$DTPROF" script --json u.dtp >unread.json 2>/dev/null || fail "script"
$python - <<'EOF' || fail "see above"
import itertools
import json

whole = ["known"] + 301 * ["down"] + ["<module>"]
seen, kinds = {}, {}
for line in open("unread.json"):
    record = json.loads(line)
    path = str(record.get("args", {}).get("filename"))
    if path.startswith("/known/"):
        kinds[path[7:]] = [f["kind"] for f in record["user_frames"]]
        seen[path[7:]] = [f["function"] if f["kind"] == "py" else f["kind"]
                          for f in record["user_frames"]
                          if f["kind"] != "native"]
print({name: len(frames) for name, frames in seen.items()})
assert seen["before"] == whole, seen["before"]
cut = seen["without"]
assert 100 < len(cut) < 250 and cut == whole[:len(cut) - 1] + ["boundary"], cut
runs = [(name, len(list(same))) for name, same in
        itertools.groupby(seen["deep"])]
assert runs == [("known", 1), ("deep", 851), ("boundary", 1), ("deep", 510),
                ("<module>", 1)], runs
runs = [(name, len(list(same))) for name, same in itertools.groupby(
    name for name in seen["through"] if name != "boundary")]
assert runs == [("known", 1), ("through", 401), ("<module>", 1)], runs
assert "boundary" in kinds["through"], kinds["through"]
for name in "deep", "through":
    assert kinds[name][-1] == "native", kinds[name][-9:]
EOF
ok "a stack with a frame that cannot be read is truncated there"
ok "of 5,000 frames the root and the leaf are kept"
