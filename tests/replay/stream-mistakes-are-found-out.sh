#!/bin/sh
# ASSERTION: a stream with one of five mistakes put in does not pass the
# search: head stored plainly, position read after counting out, an update of
# the count lost, leaving early, a scratch slot handed out twice.
# Easy to get wrong: a search that prunes too much finds nothing and passes.
. "${SRC:=$PWD}/tests/replay/lib.sh"
tmpdir
build interleavings
found 'plain store of head, interrupts' 1 'lifo 3 0 0'
found 'plain store of head, preemption' 1 'preempt 2 0 0'
found 'position read late' 2 'preempt 2 0 0'
found 'lost update of writers' 3 'lifo 3 0 0'
found 'head raised too early' 4 'lifo 2 0 0'
found 'scratch slot shared' 5 'lifo 2 1 0'
holds lifo 2 1 0
