# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# What the tests of names share: the tool that prints frames by the names that
# a recording itself holds, no file looked at, compiled into $names.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd nm
tmpdir
names=$tmp/names_recorded
compile -I"$SRC/libprof" -o "$names" \
    "$SRC/tests/interop/names_recorded.c" "$B/libprof.so.0" \
    -Wl,-rpath,"$B" ${SAN:+-fsanitize=$SAN} ||
    fail "the tool does not compile"
