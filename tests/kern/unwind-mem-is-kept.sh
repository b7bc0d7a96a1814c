#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: With little memory for tables, those of programs that ended make
# room for others: the stacks of a known program stay whole, frame by frame,
# before, during and after, and one that was stopped meanwhile has no wrong one;
# the limit is kept, and bpf(2) is called no more than slabs are made.
#
# Easy to get wrong: a walk that reads a table in the place of another one.

. "${SRC:=$PWD}/tests/kern/lib-stacks.sh"
need_recording
need_cmd clang gdb perl
tmpdir

# Two programs: of one build-id they would share a table.
build_stacks
"${CC:-cc}" -O1 -fomit-frame-pointer -pthread -D_GNU_SOURCE= -o stacks1 \
    "$from/stacks.c" || fail "the program does not compile"
# Nothing else is recorded: what others run wants tables, too.  Compilers'
# take nearly all; others follow, and the same once more.  A table that was
# needed within the last second stays, so what follows goes on for longer, by
# the clock: work of a known size is done too soon on a fast machine.  One that
# is stopped meanwhile finds its table's place taken, and waits for another one.
printf '#include <map>\nstd::map<int, int> a;\n' >a.cc
cat >work.sh <<'SH'
./stacks callback &
echo $! >known
./stacks1 alloca &
echo $! >stopped.pid
spin() {	# seconds
	perl -e '$end = time + shift;
	    while (time < $end) { $x++ for 1 .. 1e5 }' "$1"
}
spin 1
kill -STOP "$(cat stopped.pid)"
for _ in 1 2; do
	clang++ -O2 -c -o a.o a.cc || exit
	for file in /usr/bin/clang-tidy /usr/bin/clangd /usr/bin/gdb; do
		[ -x $file ] && $file --version >/dev/null
	done
	spin 4
done
kill -CONT "$(cat stopped.pid)"
spin 3
kill -9 "$(cat known)" "$(cat stopped.pid)"
SH
record 0 -o a.dtp --unwind-mem 8M -e cpu-clock -c 1000000 -- sh work.sh
# On a busy machine the known program may have no turn for a second, and its
# tables go as well: until they are there again its stacks may end early.
echo "$(cat known) callback" >titles
judge a.dtp 9500
# While it waits its stacks end early; what is whole is true.
echo "$(cat stopped.pid) alloca" >titles
(judge a.dtp 100) >stopped || fail "$(cat stopped)"
cat stopped
grep elsewhere stopped && fail "a table was read in another's place"
expect 0 "$DTPROF" report --stats a.dtp
expect_out 'unwind tables: files [0-9]+, tables [0-9]+, bytes [0-9]+,'
grep '^unwind tables' "$tmp/out"
py "$tmp/out" <<'PY'
import re
import sys
import recording as rec

line = re.search("unwind tables: .*", open(sys.argv[1]).read()).group(0)
n = [int(x) for x in re.findall(r" (\d+)", line.replace("bpf(2)", "bpf"))]
rec.check(n[2] <= 8 << 20, "more memory than allowed: " + line)
rec.check(n[3] > 0, "nothing had to go: " + line)
rec.check(n[4] <= 2, "more calls than for slabs: " + line)
PY
ok "tables made room for others"
