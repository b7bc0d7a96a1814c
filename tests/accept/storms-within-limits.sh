#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Ten minutes beside storms that change every few seconds, in an
# order by SEED, a recorder of everything keeps its limits in each 10 s, by
# /proc and the kernel's clocks alone: the CPU time of the recorder, its
# children and its BPF programs is within --max-overhead, its memory within
# --max-memory.  Of its timer it has at least 0.9 of the samples that the rate
# promises, weights make up the time, programs that measure their own shares
# have them, also after the rate was lowered; at most a tenth of their samples
# has no function, because mappings were lost.  The accounting balances.
# Beside large programs, each of which it never saw, it keeps the limit, too.
# Without a limit more is used.
# TIMEOUT: 2400
#
# Easy to get wrong: what has no rate to be lowered, as mappings, threads and
# processes, is what costs most.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
SEED=${SEED:-$(date +%s)} DURATION=${DURATION:-600}
: "${LIMIT:=3}" "${MEMORY:=160}" "${HZ:=499}"
export SEED DURATION LIMIT MEMORY HZ
echo "seed $SEED"
mkdir names
for n in $(seq 0 99); do
	ln -s "$work/spawn" "names/p$n" || fail "ln"
done
python3 -c 'for n in range(400): print("int f%d(int n) { int s = 0; " \
    "while (n-- > 0) s += n * %d; return s; }" % (n, n))' >large.c
compile -pthread -o known "$SRC/tests/work/known.c" || fail "compile"
python3 "$SRC/tests/accept/storms_within_limits.py" || fail "see above"
