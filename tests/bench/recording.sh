#!/bin/sh
# SPDX-License-Identifier: ISC
# How fast samples go into a recording and come back, and their size there.
. "${SRC:=$PWD}/tests/lib.sh"

: "${CC:=cc}"
tmp=$(mktemp -d) || exit 1
compile -I"$SRC/libprof" -I"$SRC/sys" \
    -o "$tmp/recording" "$SRC/tests/bench/recording.c" "$B/libprof.a" \
    -lzstd -lm -pthread || exit 1
uptime
"$tmp/recording" "${1:-1000000}" "$tmp/x.dtp"
