# SPDX-License-Identifier: ISC
# ASSERTION: Of 200 random Python programs the share of each function, its own
# and with callees, is the one that the program itself measured by the kernel's
# clock of its threads, in report, page, pprof and folded alike; all shares of
# all programs together lie within 99.9 % intervals.  Functions are methods,
# closures, generators, coroutines and recursive ones, call each other directly
# and through C, and run in up to three threads.
#
# Easy to get wrong: a function that has just been called or returned from, a
# generator that waits, time in C code and in the interpreter itself.
# TIMEOUT: 3600
#
# SEEDS is how many programs, FIRST the seed of the first one (1); PYTHON is
# what runs them.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
: "${PYTHON:=/usr/bin/python3}" "${SEEDS:=200}" "${FIRST:=1}"
[ -x "$PYTHON" ] || skip "no $PYTHON"
tmpdir

bad=
seed=$FIRST
while [ "$seed" -lt $((FIRST + SEEDS)) ]; do
	"$DTPROF" record -q -o x.dtp -F 997 -- \
	    "$PYTHON" "$SRC/tests/work/known.py" "$seed" program.py >known \
	    2>record.err || fail "record: $(cat record.err)"
	{
		"$DTPROF" report --frames script --json x.dtp >report.json &&
		    "$DTPROF" export --frames script -o x.folded x.dtp &&
		    "$DTPROF" export --frames script --format pprof -o x.pb \
		    x.dtp &&
		    "$DTPROF" flamegraph --frames script -o x.html x.dtp
	} >out 2>&1 || fail "an output: $(cat out)"
	python3 "$SRC/tests/accept/known_shares.py" known "$SEEDS" ||
	    bad="$bad $seed"
	seed=$((seed + 1))
done
[ -z "$bad" ] || fail "seeds:$bad"
ok "$SEEDS programs"
