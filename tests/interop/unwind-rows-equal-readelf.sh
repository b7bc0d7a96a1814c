# SPDX-License-Identifier: ISC
# ASSERTION: The rule that the unwind table of a file has at an address is
# the one that readelf reads from the file's call frame information.
#
# Looked at are the first and last byte of each row of some large files, or
# with ACCEPT=1 of every program and library of the system.  Rules that the
# table leaves to others (USER) are counted, and are few.

. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
need_cmd readelf nm
tmpdir

[ "$(uname -m)" = x86_64 ] || skip "compares the rules of x86-64"
rules=$tmp/unwind_rules
# shellcheck disable=SC2086
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -I"$SRC/sys" -I"$SRC/libprof" \
    -o "$rules" "$SRC/tests/interop/unwind_rules.c" \
    "$SRC"/libprof/elf/cfi*.c "$SRC"/libprof/elf/view.c \
    "$SRC"/libprof/elf/outermost.c "$SRC"/libprof/elf/unwind_table.c \
    "$SRC"/libprof/base/grow.c "$SRC"/libprof/base/sort.c \
    ${SAN:+-fsanitize=$SAN} || fail "the tool does not compile"
if [ -n "${ACCEPT:-}" ]; then
	files=$(find /usr/bin /usr/lib -type f -size +2k)
else
	files=$(for name in bash perl git gdb; do
		command -v $name
	done; ldd /bin/sh | awk '$3 ~ /^\// { print $3 }';
	ldd "$DTPROF" | awk '$3 ~ /^\// { print $3 }')
fi
# With both sections, each of which knows one function.
cat >both.c <<'END'
int FN(int n);
int callee(int n);
int FN(int n) { volatile int a[9]; a[n] = callee(n); return a[n + 1]; }
END
for pair in one: two:-fno-asynchronous-unwind-tables; do
	# shellcheck disable=SC2086
	${CC:-cc} -O1 -g -c -DFN="${pair%:*}" ${pair#*:} -o "${pair%:*}.o" \
	    both.c || fail "cannot compile"
done
echo 'int callee(int n) { return (n); } int one(int), two(int);
    int main(void) { return (one(1) + two(2)); }' >main.c
# shellcheck disable=SC2086
${CC:-cc} -o both main.c one.o two.o || fail "cannot link"
two=$(nm both | sed -n 's/ T two$//p')
for section in eh debug; do
	readelf --debug-dump=frames both |
	    sed -n "/Contents of the .${section}_frame/,/Contents/p" |
	    grep -c "pc=$two" >"$section"
done
[ "$(cat eh debug | tr '\n' ' ')" = "0 1 " ] ||
    fail "not just .debug_frame knows two: $(cat eh debug)"
echo "$two" | "$rules" both >rule
case $(cat rule) in
"rsp+8 u c-8") ok "a function that just .debug_frame knows: $(cat rule)" ;;
*) fail "two, which just .debug_frame knows: $(cat rule)" ;;
esac
{ echo "$files"; echo "$tmp/both"; } | sort -u >files
python3 "$SRC/tests/interop/unwind_rows.py" "$rules" files ||
	fail "see above"
