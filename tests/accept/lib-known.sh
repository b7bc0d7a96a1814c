# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# known_shares INTERPRETER GENERATOR: random programs that measure their own
# shares are recorded, SEEDS of them (200) from the seed FIRST (1) on, and each
# output has these shares.  Include it after tests/lib.sh and tmpdir.
: "${SEEDS:=200}" "${FIRST:=1}"

known_record()	# interpreter generator seed
{
	"$DTPROF" record -q -o x.dtp -F 997 -- "$1" "$2" "$3" \
	    "program.${2##*.}" >known 2>record.err ||
	    fail "record: $(cat record.err)"
	{
		"$DTPROF" report --frames script --json x.dtp >report.json &&
		    "$DTPROF" export --frames script -o x.folded x.dtp &&
		    "$DTPROF" export --frames script --format pprof -o x.pb \
		    x.dtp &&
		    "$DTPROF" flamegraph --frames script -o x.html x.dtp
	} >out 2>&1 || fail "an output: $(cat out)"
}

known_shares()	# interpreter generator
{
	bad=
	for seed in $(seq "$FIRST" $((FIRST + SEEDS - 1))); do
		known_record "$1" "$2" "$seed"
		python3 "$SRC/tests/accept/known_shares.py" known "$SEEDS" ||
		    bad="$bad $seed"
	done
	[ -z "$bad" ] || fail "seeds:$bad"
	ok "$SEEDS programs"
}
