#!/bin/sh
# ASSERTION: ten runs of check in a row, two of them beside programs that
# use up most of the memory, end without a failure.  A test that fails one
# time in ten says nothing on the day that it fails.  The runs are those of
# make check: not at the full sizes.
# TIMEOUT: 14400
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd python3
tmpdir

hog()		# share of the memory that is free now
{
	python3 -c 'import sys
free = [int(l.split()[1]) for l in open("/proc/meminfo")
    if l.startswith("MemAvailable")][0] * 1024
block = bytearray(int(free * float(sys.argv[1])))
while True:
    for n in range(0, len(block), 4096):
        block[n] = (block[n] + 1) & 255' "$1" &
	kill_at_end $!
	hogs="$hogs $!"
}

hogs=
for run in 1 2 3 4 5 6 7 8 9 10; do
	[ "$run" -eq 9 ] && hog 0.35 && hog 0.35
	begun=$(date +%s)
	env -u ACCEPT sh "$SRC/tests/run.sh" >"out.$run" 2>&1 || {
		grep -E -A 40 '^fail' "out.$run"
		fail "run $run: $(tail -n 1 "out.$run")"
	}
	ok "run $run: $(tail -n 1 "out.$run")," \
	    "$(($(date +%s) - begun)) s${hogs:+, beside hogs}"
done
