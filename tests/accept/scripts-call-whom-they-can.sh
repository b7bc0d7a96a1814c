# SPDX-License-Identifier: ISC
# ASSERTION: In a million timer samples of random Python and JavaScript programs
# no function is called by one that does not call it anywhere in the program.
# Functions call each other through builtins, generators and exceptions, in two
# threads, recursively, and V8 compiles and inlines them as it likes.
#
# Easy to get wrong: a function that has just been called, whose frame is not
# there yet; functions that are inlined into others; code that was thrown away
# before it was looked at.
# TIMEOUT: 3600
#
# SEEDS is how many programs of each language, SECONDS_EACH how long one runs,
# FIRST the seed of the first one (1), RATE how often they are sampled a second,
# LANGUAGES which they are.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_cmd python3 node
tmpdir

: "${SEEDS:=25}" "${SECONDS_EACH:=10}" "${FIRST:=1}" "${RATE:=4999}"
judge=$SRC/tests/accept/call_pairs.py
total=0
bad=
for language in ${LANGUAGES:-python javascript}; do
	runs=python3
	[ $language = python ] || runs=node
	if [ $language = javascript ] && [ "$(uname -m)" != x86_64 ]; then
		continue
	fi
	seed=$FIRST
	while [ "$seed" -lt $((FIRST + SEEDS)) ]; do
		python3 "$judge" make $language "$seed" program graph ||
		    fail make
		"$DTPROF" record -q -o x.dtp -e cpu-clock -F "$RATE" -- \
		    $runs program "$SECONDS_EACH" 2>record.err ||
		    fail "record: $(cat record.err)"
		"$DTPROF" export --format folded --frames script -o x.folded \
		    x.dtp 2>export.err || fail "export: $(cat export.err)"
		python3 "$judge" judge graph <x.folded >said ||
		    bad="$bad $language:$seed"
		head -n 5 said
		n=$(sed -n 's/.* \([0-9]*\) samples.*/\1/p' said | tail -n 1)
		total=$((total + n))
		seed=$((seed + 1))
	done
done
[ -z "$bad" ] || fail "impossible pairs:$bad"
ok "$total samples"
