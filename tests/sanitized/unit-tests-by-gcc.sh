#!/bin/sh
# ASSERTION: everything compiles with gcc without a warning, and the programs
# of tests/unit pass under the address and undefined-behaviour sanitizers.
# Easy to get wrong where a test passes though memory was misused.
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd gcc
# Fewer turns of what is slow under them; all of them without.
LOOPS=6
# What was freed is kept for a while, but need not be 256 MB of it; what is
# too large is refused, as without them.
ASAN_OPTIONS=quarantine_size_mb=16:allocator_may_return_null=1
export LOOPS ASAN_OPTIONS
variant san CC=gcc DEBUG=1 CFLAGS="-O1 -g1" SAN=address,undefined \
    tests-built check-unit ||
    fail "gcc with sanitizers"
tail -n 1 "$variant_dir/make.log"
nm "$variant_dir/dtprof" | grep -q __asan_init ||
    fail "the sanitizer is not in it"
"$variant_dir/dtprof" --version >/dev/null || fail "dtprof does not run"
ok "gcc, -Werror, sanitizers"
