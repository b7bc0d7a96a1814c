#!/bin/sh
# ASSERTION: a file that is no recording, one by a newer dtprof and one cut
# within its header are refused in two lines with status 1; one cut later is
# read to its last whole chunk, and said to be cut.  Easy to get wrong where
# the message comes after data, or not at all.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
tmpdir
expect 0 "$DTPROF" record -q -e cpu-clock -o whole.dtp -- true
for bytes in 0 1 5 20; do
	head -c "$bytes" whole.dtp >cut.dtp
	expect 1 "$DTPROF" script cut.dtp
	[ "$(wc -l <err)" -eq 2 ] || fail "$bytes bytes: $(cat err)"
done
ok "cut within the header"
# The major version is what the format says it is: found by trying.
python3 - <<'END' || fail "no byte holds the version"
import os, subprocess, sys
whole = open('whole.dtp', 'rb').read()
for at in range(4, 24):
    data = bytearray(whole)
    data[at] = 200
    open('newer.dtp', 'wb').write(data)
    p = subprocess.run([os.environ['DTPROF'], 'script', 'newer.dtp'],
        capture_output=True, text=True)
    if 'newer' in p.stderr.replace('newer.dtp', ''):
        assert p.returncode == 1 and len(p.stderr.splitlines()) == 2
        sys.exit(0)
sys.exit(1)
END
ok "made by a newer dtprof"
size=$(wc -c <whole.dtp)
head -c $((size - 9)) whole.dtp >cut.dtp
expect 0 "$DTPROF" report --stats cut.dtp
head -n 1 out | grep -q 'CUT SHORT' || fail "not said first: $(head out)"
expect 0 "$DTPROF" script --show all cut.dtp
expect_err 'warning: the recording was cut short'
[ -s out ] || fail "nothing of it was read"
expect 0 "$DTPROF" report --json cut.dtp
[ "$(json out 'j["recording"]["cut"] is not None')" = True ] ||
    fail "JSON does not say it"
ok "cut near its end: read, and said"
