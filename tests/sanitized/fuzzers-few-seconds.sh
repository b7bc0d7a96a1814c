#!/bin/sh
# ASSERTION: no parser of foreign bytes breaks within a few seconds of
# fuzzing, starting from the corpus.  (make accept: ten minutes each.)
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd clang
variant fuzz CC=clang DEBUG=1 fuzz FUZZ_SECONDS="${FUZZ_SECONDS:-2}" ||
    fail "a fuzzer"
grep '^fuzz: .* no finding' "$variant_dir/make.log" || fail "nothing was run"
