#!/bin/sh
# ASSERTION: whenever interrupts come, the reader sees whole records only,
# head is never lowered, regions are ordered in time, each is counted once.
# Easy to get wrong between counting out and publishing: an interrupt there
# publishes more, and is then taken back.  All orders of 3 and 4 nested
# writers and a reader, with a ring that is full after two records.
. "${SRC:=$PWD}/tests/replay/lib.sh"
tmpdir
build_sanitized interleavings
holds lifo 3 0 2
holds lifo 4 0 1
holds lifo 3 1 1
