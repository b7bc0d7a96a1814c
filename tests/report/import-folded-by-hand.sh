#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of folded stacks an import has each line with a count, whatever
# ends it, says how many it leaves out, and refuses counts whose sum no number
# holds.  What named threads is a frame, and the lanes of a timeline are these.
# Easy to get wrong: a sum that goes round past 2^64 makes two functions all
# of it each.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
printf '# made by hand\nmain;a b 3\r\nmain;;c 2\n\nmain;a b 1\n' >odd
printf 'main\nx -1\n' >>odd
expect 0 "$DTPROF" import -o odd.dtp odd
expect_err '2 lines are no stacks with a count'
expect 0 "$DTPROF" export odd.dtp
sort out >got
printf 'main;[no name];c 2\nmain;a b 4\n' | cmp - got || fail "odd: $(cat got)"
ok "lines with a count, and how many have none"

printf 'f 18446744073709551615\ng 2\n' >huge
expect 1 "$DTPROF" import -o huge.dtp huge
expect_err 'more than 64 bits'
[ ! -e huge.dtp ] || fail "a recording of too much"
printf 'f 18446744073709551613\ng 2\n' >large
expect 0 "$DTPROF" import -o large.dtp large
expect 0 "$DTPROF" export --weight weight large.dtp
sort out | cmp - large || fail "large: $(cat out)"
ok "counts up to what a number holds"

printf 'one;a;b 3\none;c 2\ntwo;b 4\n' >lanes
expect 0 "$DTPROF" import -o lanes.dtp lanes
expect 0 "$DTPROF" report --plot timeline -o lanes.tsv lanes.dtp
tail -n +2 lanes.tsv | cut -f 4,5 | sort >got
printf '4\ttwo\n5\tone\n' | cmp - got || fail "lanes: $(cat lanes.tsv)"
ok "lanes of a timeline are the outermost frames"
