#!/bin/sh
# ASSERTION: the three examples of libprof(3), for prof.h, prof_recording.h and
# prof_compare.h, compile as C99 without a warning, link with libprof.so.0 and
# do what their captions say; the first, which only polls prof_session_fd,
# ends with its command and loses nothing.  Easy to get wrong when the
# interface changes.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd gcc python3
tmpdir
python3 - "$SRC/doc/libprof.3" <<'END' || fail "no examples"
import re, sys
page = open(sys.argv[1]).read()
page = page[page.index(".Sh EXAMPLES"):]
blocks = re.findall(r"^\.Bd -literal\n(.*?)^\.Ed$", page, re.M | re.S)
assert len(blocks) == 3, len(blocks)
for n, block in enumerate(blocks, 1):
    with open("example%d.c" % n, "w") as file:
        file.write(block.replace("\\&", "").replace("\\e", "\\"))
END
for n in 1 2 3; do
	gcc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -pedantic \
	    -I"$SRC/libprof" -o "example$n" "example$n.c" "$B/libprof.so.0" ||
	    fail "example $n does not compile"
done
export LD_LIBRARY_PATH="$B"

./example2 "$SRC/tests/report/known.dtp" >samples || fail "example 2"
"$DTPROF" report --json "$SRC/tests/report/known.dtp" | python3 -c '
import collections, json, sys
ours = collections.Counter()
for line in open("samples"):
    event, weight, name = line.rstrip("\n").split("\t")
    ours[event, name] += int(weight)
report = {(f["event"], f["name"]): f["self"]
    for f in json.load(sys.stdin)["functions"] if f["self"] > 0}
assert len(report) >= 3 and dict(ours) == report, (ours, report)
print("ok: weights of %d functions are those of the report" % len(report))
' || fail "example 2 and the report differ"

./example3 >verdict || fail "example 3"
grep -q '^time: +20.[0-9]%, p = 0.008, more$' verdict || fail "$(cat verdict)"
ok "$(cat verdict)"

if ! "$B/tests/work/can" perf >/dev/null 2>&1; then
	ok "the first is not run: perf_event_open is refused here"
	exit 0
fi
timeout 60 ./example1 sh -c \
    'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' >counts ||
    fail "example 1: $(cat counts)"
grep -q '^[1-9][0-9]* samples, 0 lost$' counts || fail "$(cat counts)"
"$DTPROF" report --json --stats example.dtp | python3 -c '
import json, sys
report = json.load(sys.stdin)
(clock,) = [a for a in report["accounting"] if a["event"] == "cpu-clock"]
said = int(open("counts").read().split()[0])
assert clock["balances"] and clock["in_file"] == said, (clock, said)
' || fail "its counts are not those of the recording"
ok "$(cat counts), by polling alone"
