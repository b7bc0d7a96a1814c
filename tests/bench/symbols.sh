#!/bin/sh
# SPDX-License-Identifier: ISC
# What functions, lines and inlined functions cost: of the C library, the
# largest library here, and of dtprof itself, which has DWARF.
. "${SRC:=$PWD}/tests/lib.sh"

: "${CC:=cc}"
tmp=$(mktemp -d) || exit 1
compile -I"$SRC/libprof" -o "$tmp/symbols" \
    "$SRC/tests/bench/symbols.c" "$B/libprof.a" -ldw -lelf -lz -llzma \
    -liberty || exit 1
libc=$(ldd /bin/sh | awk '/libc\.so/ { print $3 }')
llvm=$(ldd "$(command -v clang)" 2>/dev/null | awk '/LLVM/ { print $3 }')
# shellcheck disable=SC2086 # one file or none
"$tmp/symbols" "$libc" $llvm "$DTPROF"
