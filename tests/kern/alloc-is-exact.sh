#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: with an interval of 1 the allocations of a program are recorded to
# the byte, of a command, of a process by its own probes, and of one by probes
# on the C library, glibc or musl; what is held is what it says that it holds,
# its leak stands below the function that leaks, and what is freed by realloc,
# by other threads, or out of a cache is not held.  With a longer interval both
# are right within what sampling allows.
#
# Easy to get wrong: functions of the C library that go on with malloc, which
# then counts twice; an address that is used again before its free is heard of.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
rounds=1500

# Sums of all below give_*, of what is held there, and of the leak.
sums()	# recording [held]
{
	"$DTPROF" export --format folded --weight weight ${2:+--held} "$1" \
	    >folded 2>err || fail "export $1: $(cat err)"
	awk '/;give_/ { all += $NF } /;give_leak;/ { leak += $NF }
	    END { printf "%d %d\n", all, leak }' folded
}

record 0 -e alloc/interval=1/ -o command.dtp -- \
    "$work/allocs" $rounds 300
cp out said

# One that runs, and waits until it is recorded.
running()	# program recording output argument ...
{
	program=$1 file=$2 told=$3
	shift 3
	LD_PRELOAD=$preload DTPROF_ALLOC_INTERVAL=1 \
	    "$program" $rounds - <go >"$told" &
	allocs=$!
	kill_at_end $allocs
	exec 9>go
	# It is executed, and linked, after it was opened.
	loaded=${preload:-$program}
	until grep -q "/${loaded##*/}\$" "/proc/$allocs/maps"; do
		nap
	done
	record_begin -o "$file" -p $allocs "$@"
	echo >&9
	exec 9>&-
	wait $allocs "$recorder"
}
mkfifo go
preload=$B/dtprof-alloc.so
running "$work/allocs" process.dtp told --alloc
preload=
running "$work/allocs" library.dtp told2 -e alloc/interval=1/
record 0 -e alloc/interval=4K/ -o sampled.dtp -- \
    "$work/allocs" $rounds 300
cmp -s said told && cmp -s said told2 && cmp -s said out ||
    fail "the program did not say the same each time"
# Those of musl call each other by their names, and have no call frames.
for kind in shared static; do
	command -v musl-gcc >/dev/null || break
	set --
	[ $kind = shared ] || set -- -static
	musl-gcc -O0 -pthread -fno-builtin "$@" -o ./$kind \
	    "$SRC/tests/work/allocs.c" || fail "musl-gcc"
	running ./$kind $kind.dtp told3 -e alloc/interval=1/
	"$DTPROF" export --format folded --weight weight $kind.dtp 2>err |
	    awk '{ sum += $NF } END { print sum }' >$kind.sum
	cmp -s said told3 || fail "$kind: the program said something else"
done
if [ -e shared.sum ]; then
	record 0 -e alloc/interval=1/ -o musl.dtp -- ./shared $rounds 300
	cmp -s said out || fail "musl: the program said something else"
	echo "musl $(sums musl.dtp)" >>sums
	echo "musl-held $(sums musl.dtp held)" >>sums
fi
for name in command process library sampled; do
	echo "$name $(sums $name.dtp)"
	[ $name = library ] || echo "$name-held $(sums $name.dtp held)"
done >>sums
! grep FAIL sums || fail "see above"
"$DTPROF" report --held library.dtp >out 2>err &&
    fail "held without frees"
grep -q 'has no events of freed memory' err || fail "$(cat err)"
py <<'END'
import json
import os
import recording as rec

said = json.load(open("said"))
sums = {}
for line in open("sums"):
    name, total, leak = line.split()
    sums[name] = (int(total), int(leak))
leaked = said["leaked"]
for name in {"command", "process", "library", "musl"} & set(sums):
    rec.check(sums[name] == (said["total"], leaked), "%s: %r, not %r" %
              (name, sums[name], said))
for name in {"command-held", "process-held", "musl-held"} & set(sums):
    rec.check(sums[name] == (said["held"], leaked), "%s: %r, not %r" %
              (name, sums[name], said))
for name, bytes, leak in (("sampled", said["total"], leaked),
                          ("sampled-held", said["held"], leaked)):
    for got, true in zip(sums[name], (bytes, leak)):
        # Blocks below the interval: the variance is at most size * interval.
        rec.check(abs(got - true) < 5 * (true * 4096) ** 0.5,
                  "%s: %d, not %d" % (name, got, true))
for name in "command", "process", "library", "sampled":
    rec.balance(name + ".dtp", ["alloc"])
rec.ok("%(total)d bytes allocated, %(held)d held, %(leaked)d leaked, each to "
       "the byte" % said)
for kind in "shared", "static":
    if os.path.exists(kind + ".sum"):
        # And what the library allocates itself, for a thread.
        more = int(open(kind + ".sum").read()) - said["total"]
        rec.check(0 <= more < 5000, "musl, %s: %d more" % (kind, more))
        rec.ok("by probes on musl, %s: %d bytes more, its own" % (kind, more))
rec.ok("with an interval of 4K: %r, held %r" %
       (sums["sampled"], sums["sampled-held"]))
END
