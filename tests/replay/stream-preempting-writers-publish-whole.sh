#!/bin/sh
# ASSERTION: the same holds where writers preempt each other in any order,
# not just nested: programs in processes, which uprobes will be.
# Easy to get wrong because it cannot be seen with interrupts alone.
. "${SRC:=$PWD}/tests/replay/lib.sh"
tmpdir
build_sanitized interleavings
holds preempt 2 0 3
holds preempt 2 1 2
holds preempt 3 0 0
