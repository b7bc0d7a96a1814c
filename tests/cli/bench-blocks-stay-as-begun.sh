#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: up to five runs of each command are one block in an order drawn
# at random, more are blocks of two; a block that was begun keeps its size and
# its order, whether the bench is stopped within it or wants more runs later,
# so that all orders of a block stay as likely.
# Easy to get wrong: a last block of one run each that becomes one of two, of
# which the first run of each then always stands first.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
blocks()	# directory: sizes of blocks, in order
{
	json_lines "$1/runs.jsonl" '" ".join("%d:%d" % (r["block"], r["of"])
	    for r in j)' | tr ' ' '\n' | uniq -c | awk '{ print $1 "/" $2 }' |
	    tr '\n' ' '
}
bench()		# arguments
{
	expect 0 "$DTPROF" bench -w 0 "$@" true /bin/true
}
order()		# directory
{
	json_lines "$1/runs.jsonl" '"".join(str(r["command"]) for r in j)'
}
for seed in 1 2 3 4 5 6 7 8; do
	bench --seed $seed -r 5 -o s$seed
	order s$seed
done >orders
[ "$(blocks s1)" = '10/0:5 ' ] || fail "5 runs: $(blocks s1)"
[ "$(sort -u orders | wc -l)" -ge 7 ] || fail "orders: $(cat orders)"
# Of blocks of four none has three of a kind in a row at its beginning.
grep -Eq '^(000|111)' orders || fail "as in blocks of four: $(cat orders)"
ok "five runs are one block"

# Stopped in the middle, and then more are wanted.
cp -r s3 cut
head -n 4 s3/runs.jsonl >cut/runs.jsonl
expect 0 "$DTPROF" bench -r 8 -o cut
[ "$(blocks cut)" = '10/0:5 4/1:2 2/2:1 ' ] || fail "8 runs: $(blocks cut)"
[ "$(order cut | cut -c1-10)" = "$(order s3)" ] || fail "another order"
expect 0 "$DTPROF" bench -r 10 -o cut
[ "$(blocks cut)" = '10/0:5 4/1:2 2/2:1 4/3:2 ' ] ||
    fail "10 runs: $(blocks cut)"
# Fewer than the block has: it is made whole.
cp -r s3 less
head -n 4 s3/runs.jsonl >less/runs.jsonl
expect 0 "$DTPROF" bench -r 3 -o less
[ "$(order less)" = "$(order s3)" ] || fail "a block was cut short"
bench --seed 9 -r 7 -o seven
[ "$(blocks seven)" = '4/0:2 4/1:2 4/2:2 2/3:1 ' ] ||
    fail "7 runs: $(blocks seven)"
sed 's/"of":2/"of":9/' seven/runs.jsonl >seven/more
mv seven/more seven/runs.jsonl
expect 1 "$DTPROF" bench -r 8 -o seven
expect_err 'is not a valid result' 'a block of nine'
ok "a block stays what it was when it was begun"
