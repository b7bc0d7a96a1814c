# SPDX-License-Identifier: ISC
# shellcheck shell=sh disable=SC2034 # variables of the tests
#
# What the tests of symbols share: the tool that says what libprof knows of a
# module, compiled from symbols.c into $tool.  Enters a directory of its own.

. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
tool=$tmp/symbols
compile -I"$SRC/libprof" -o "$tool" \
    "$SRC/tests/interop/symbols.c" "$B/libprof.a" -ldw -lelf -lz -llzma \
    -liberty ${SAN:+-fsanitize=$SAN} ${COV:+--coverage} ||
    fail "the tool does not compile"
