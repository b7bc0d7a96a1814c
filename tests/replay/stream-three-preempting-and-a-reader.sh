#!/bin/sh
# ASSERTION: three writers that preempt each other and a reader that gives
# room back meanwhile: every order, no torn record, none lost uncounted.
# Easy to get wrong where the room given back is taken at once.
# TIMEOUT: 300
. "${SRC:=$PWD}/tests/replay/lib.sh"
tmpdir
# Half a million states: without sanitizers, which the smaller ones have.
build interleavings -O2
holds preempt 3 0 1
