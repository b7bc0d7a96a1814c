#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What the model of processes says of a time is what /proc/self/maps
# said then, to a process that mapped, unmapped, forked, vforked and executed
# at random.
#
# Easy to get wrong: mappings of an exec come before the exec, what a parent
# maps after a fork is not its child's, and a vfork's child shares all until it
# executes.
#
# usage: mapped-as-processes-saw-it.sh [--seed N]

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd "${CC:=cc}"
tmpdir
seed=${2:-$(date +%N | sed 's/^0*//')}
echo "--seed $seed"
libs=$(sed -n '/^OUR_LIBS :=/,/[^\\]$/p' "$SRC/mk/config.mk" |
    grep -o -- '-l[^ ]*' | sed "s/\$(ARCH)/$(uname -m)/")
# shellcheck disable=SC2086 # a list of libraries
$CC -std=gnu11 -D_GNU_SOURCE= -O1 -I"$SRC/libprof" -I"$SRC/sys" \
    -o compare "$SRC/tests/interop/mapped_then.c" "$B/libprof.a" $libs \
    -pthread ${SAN:+-fsanitize=$SAN} ${COV:+--coverage} ||
    fail "the tool does not compile"
mkdir seen
for n in 0 1 2 3; do
	head -c 300000 /dev/zero >seen/f$n
done
record 0 -o a.dtp -e cpu-clock -c 1000000 -- \
    "$work/histories" "$PWD/seen" "$seed" 120
n=$(find seen -name 'maps.*' | wc -l)
[ "$n" -ge 20 ] || fail "only $n lists"
./compare a.dtp seen/maps.* >out || fail "$(tail -n 20 out)"
ok "$n lists as the model has them: $(tail -n 1 out)"
