# SPDX-License-Identifier: ISC
# ASSERTION: The rule that the unwind table of a file has at an address is
# the one that readelf reads from the file's call frame information.
#
# Looked at are the first and last byte of each row of some large files, or
# with ACCEPT=1 of every program and library of the system.  Rules that the
# table leaves to others (USER) are counted, and are few.

. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
need_cmd readelf
tmpdir

[ "$(uname -m)" = x86_64 ] || skip "compares the rules of x86-64"
rules=$tmp/unwind_rules
# shellcheck disable=SC2086
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -I"$SRC/sys" -I"$SRC/libprof/model" \
    -o "$rules" "$SRC/tests/interop/unwind_rules.c" "$SRC"/libprof/model/*.c \
    ${SAN:+-fsanitize=$SAN} || fail "the tool does not compile"
if [ -n "${ACCEPT:-}" ]; then
	files=$(find /usr/bin /usr/lib -type f -size +2k)
else
	files=$(for name in bash perl git gdb; do
		command -v $name
	done; ldd /bin/sh | awk '$3 ~ /^\// { print $3 }';
	ldd "$DTPROF" | awk '$3 ~ /^\// { print $3 }')
fi
echo "$files" | sort -u >files
python3 "$SRC/tests/interop/unwind_rows.py" "$rules" files ||
	fail "see above"
