#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: The decoder that looks for returns has the length of each
# instruction that objdump has, and knows which of them return, jump, branch
# and trap: all instructions of large libraries, vectors among them.
#
# Easy to get wrong: prefixes that are part of an opcode, immediates that a
# prefix makes shorter, and displacements that depend on two bytes.

. "${SRC:=$PWD}/tests/lib.sh"
need_cmd objdump awk
[ "$(uname -m)" = x86_64 ] || skip "instructions of another machine"
tmpdir
compile -I"$SRC/libprof" -o insns \
    "$SRC/tests/interop/insns.c" "$SRC/libprof/elf/decode.c" ||
    fail "the tool does not compile"

# Libraries without data among their code, by the names that ldd has.
ldd "$(command -v gdb || command -v python3)" "$DTPROF" |
    awk '/lib(c|m|stdc\+\+|z|zstd|python3[.0-9]*)\.so/ { print $3 }' |
    sort -u >libraries
grep -q libc.so libraries || fail "no library of C"
while read -r library; do
	# Names may contain anything, padding is no instruction, fwait is one.
	objdump -d --insn-width=16 -j .text "$library" |
	    awk -F'\t' 'NF >= 3 && $2 !~ /^9b / &&
	    $3 !~ /\(bad\)|data16|^\.byte/ {
		sub(/ *[#<].*/, "", $3)
		print $2 " " $3
	}'
done <libraries | sort -u >instructions
./insns <instructions >said || fail "insns"
asked=$(sed -n 's/^asked //p' said)
[ "$asked" -gt 100000 ] || fail "only $asked instructions"
if [ "$(wc -l <said)" -ne 1 ]; then
	head -n 20 said
	fail "$(($(wc -l <said) - 1)) of $asked are others"
fi
ok "$asked different instructions of $(wc -l <libraries) libraries"
