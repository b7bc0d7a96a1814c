# SPDX-License-Identifier: ISC
# ASSERTION: Of 200 random JavaScript programs the share of each function, its
# own and with callees, is the one that the program itself measured by the
# kernel's clock of its thread; all shares of all programs together lie within
# 99.9 % intervals.  Functions call each other through builtins, generators and
# C++, and are interpreted, compiled, inlined as V8 likes.
#
# Easy to get wrong: a function that has just been called taken for its caller,
# code of one function inlined into another one.
# TIMEOUT: 3600
#
# SEEDS is how many programs, FIRST the seed of the first one (1).

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "frames of V8 are known on x86-64"
need_cmd node
tmpdir

: "${SEEDS:=200}" "${FIRST:=1}"
seed=$FIRST
while [ "$seed" -lt $((FIRST + SEEDS)) ]; do
	"$DTPROF" record -q -o x.dtp -F 997 -- \
	    node "$SRC/tests/work/known.js" "$seed" program.js >known \
	    2>record.err || fail "record: $(cat record.err)"
	"$DTPROF" script --json x.dtp >script.json 2>script.err ||
	    fail "script: $(cat script.err)"
	python3 "$SRC/tests/accept/javascript_known.py" known "$SEEDS" \
	    <script.json || fail "seed $seed: see above"
	seed=$((seed + 1))
done
ok "$SEEDS programs"
