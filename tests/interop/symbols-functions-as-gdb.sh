# SPDX-License-Identifier: ISC
# ASSERTION: At addresses all over the code of the system's programs and
# libraries, PLT included, libprof names the function that gdb names, or none
# where gdb has none.
#
# Easy to get wrong: aliases, labels inside of functions, functions without a
# size, the end of a function before the next one begins, stubs of the PLT
# that linkers lay out in different ways.

. "${SRC:=$PWD}/tests/interop/lib-symbols.sh"
need_cmd python3
need_cmd gdb
need_cmd readelf

seed=${SEED:-$(date +%s)}
echo "seed $seed"
for name in python3 perl git sqlite3 clang; do
	[ -x "/usr/bin/$name" ] || continue
	readlink -f "/usr/bin/$name"
	ldd "/usr/bin/$name" |
	    awk '/LLVM|sqlite|libc\.so|libm\.so/ && $3 ~ /^\// { print $3 }'
done >files
readlink -f "$DTPROF" >>files
[ "$(sort -u files | wc -l)" -ge 4 ] || fail "hardly a file to look at"
for file in $(sort -u files); do
	python3 "$SRC/tests/interop/symbols_gdb.py" "$tool" "$file" \
	    "${ADDRESSES:-400}" "$seed" >out 2>&1 || {
		cat out
		fail "$file could not be compared"
	}
	if grep -Ev '^/.*: [1-9][0-9]* the same' out; then
		fail "$file: see above"
	fi
	ok "$(cat out)"
done

# Stubs for arm64 have another form; objdump knows it.
objdump=aarch64-linux-gnu-objdump
file=/usr/aarch64-linux-gnu/lib/libc.so.6
if command -v $objdump >/dev/null && [ -e $file ]; then
	$objdump -d -j .plt $file |
	    sed -n 's/^0*\([0-9a-f]*\) <\(.*@plt\)>:$/\1 \2/p' | sort >wanted
	"$tool" list $file | awk '$3 ~ /@plt$/ { print $1, $3 }' | sort >found
	[ -s wanted ] || fail "no stub in $file"
	cmp -s wanted found || {
		diff wanted found | head
		fail "$file: other stubs"
	}
	ok "$file: $(wc -l <found) stubs as objdump has them"
fi
