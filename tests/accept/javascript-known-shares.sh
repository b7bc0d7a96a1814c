# SPDX-License-Identifier: ISC
# ASSERTION: Of 200 random JavaScript programs the share of each function, its
# own and with callees, is the one that the program itself measured by the
# kernel's clock of its thread, in report, page, pprof and folded alike; all
# shares of all programs together lie within 99.9 % intervals.  Functions call
# each other through builtins, generators and C++, and are interpreted,
# compiled, inlined as V8 likes.
#
# Easy to get wrong: a function that has just been called taken for its caller,
# code of one function inlined into another one, and what of that lies out of
# line.
# TIMEOUT: 3600
#
# SEEDS is how many programs, FIRST the seed of the first one (1); NODE is what
# runs them.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "frames of V8 are known on x86-64"
: "${NODE:=node}" "${SEEDS:=200}" "${FIRST:=1}"
command -v "$NODE" >/dev/null || skip "no $NODE"
tmpdir

bad=
seed=$FIRST
while [ "$seed" -lt $((FIRST + SEEDS)) ]; do
	"$DTPROF" record -q -o x.dtp -F 997 -- \
	    "$NODE" "$SRC/tests/work/known.js" "$seed" program.js >known \
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
