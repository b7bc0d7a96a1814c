#!/bin/sh
# ASSERTION: everything compiles with clang without a warning.  Easy to get
# wrong while only gcc is used from day to day.
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd clang
# shellcheck disable=SC2086 # arguments
variant clang $CLANG_BUILD tests-built || fail "clang"
file=$variant_dir/dtprof
"$file" --version >/dev/null || fail "what clang built does not run"
ok "clang, -Werror"
