# SPDX-License-Identifier: ISC
# ASSERTION: Names of C++ are demangled as c++filt -i does, whatever a large
# library has, and folding leaves what stands outside of < > and ( ) in each,
# in its order.

. "${SRC:=$PWD}/tests/interop/lib-symbols.sh"
need_cmd c++filt
need_cmd nm
need_cmd clang

for library in $(ldd "$(command -v clang)" |
    awk '/LLVM|clang|stdc\+\+/ && $3 ~ /^\// { print $3 }'); do
	nm -D --defined-only "$library" | awk '$2 ~ /[TW]/ { print $3 }' |
	    sed 's/@.*//' | grep '^_Z'
done | sort -u >names
[ "$(wc -l <names)" -ge 5000 ] || fail "only $(wc -l <names) names"
c++filt -i <names >wanted
"$tool" demangle names <names >shown || fail demangle
cmp -s wanted shown || {
	diff wanted shown | head -n 20
	fail "other names"
}
ok "$(wc -l <names) names as c++filt has them"

"$tool" fold names <shown >folded || fail fold
# Operators apart, no bracket has anything in it.
grep -v operator folded | grep '(' >functions
sed 's/(anonymous namespace)//g; s/<>//g; s/<\.\.>//g; s/()//g' functions |
    grep '[<>() ]' >left
[ ! -s left ] || {
	head left
	fail "$(wc -l <left) are not folded"
}
# What is left of a name is in it, in its order.
paste -d '\n' shown folded | awk '
NR % 2 { whole = $0; next }
{
	n = split($0, part, /<\.\.>|\(\)|\(anonymous namespace\)/)
	at = 1
	for (i = 1; i <= n; i++) {
		found = index(substr(whole, at), part[i])
		if (found == 0) {
			print whole " -> " $0
			next
		}
		at += found + length(part[i]) - 1
	}
}' >wrong
[ ! -s wrong ] || {
	head wrong
	fail "folded names are not of their names"
}
ok "$(wc -l <functions) functions folded"
