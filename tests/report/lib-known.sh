# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# What the tests with the program that knows its own shares have in common.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 "${CC:=gcc}"

# Record it in x.dtp; what it knows of itself is in truth.
record_known()	# rounds argument ...
{
	record_rounds=$1
	shift
	need_bpf
	$CC -std=gnu11 -D_GNU_SOURCE -O2 -g -pthread -Wno-unknown-attributes \
	    -o known "$SRC/tests/work/known.c" ||
	    fail "the workload does not compile"
	expect 0 "$DTPROF" record -q -e cpu-clock -c 250000 "$@" -o x.dtp -- \
	    ./known "$record_rounds"
	mv out truth
}
