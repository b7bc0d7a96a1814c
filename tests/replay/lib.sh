# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# What the scripts of tests/replay share: compile one of the programs here
# with the sources of sys/, and run it.

. "${SRC:=$PWD}/tests/lib.sh"
: "${CC:=cc}"

# build program flags...: $tmp/program
build()
{
	program=$1
	shift
	# The programs of the kernel side must compile without a warning, too.
	"$CC" -std=gnu11 -O1 -g -Wall -Wextra -Werror -Wno-unused-function \
	    -I"$SRC/sys" -I"$SRC/tests/replay" "$@" \
	    -o "$tmp/$program" "$SRC/tests/replay/$program.c" \
	    "$SRC/tests/replay/machine.c" -pthread >"$tmp/cc" 2>&1 && return 0
	cat "$tmp/cc"
	grep -q 'cannot find.*\(asan\|ubsan\|tsan\)' "$tmp/cc" &&
	    skip "the compiler has no sanitizers"
	fail "$program does not compile"
}

build_sanitized()
{
	build "$1" -DSANITIZED -fsanitize=address,undefined \
	    -fno-sanitize-recover=all
}

# holds arguments...: all invariants hold in every interleaving
holds()
{
	./interleavings "$@" >out 2>err && { ok "$(cat out)"; return 0; }
	tail -n 5 out err
	fail "interleavings $*"
}

# found what mutant configuration...: one of them finds the broken stream
found()
{
	what=$1 mutant=$2
	shift 2
	for configuration; do
		# shellcheck disable=SC2086 # four arguments
		./interleavings $configuration "$mutant" >out 2>err
		[ $? -eq 1 ] && { ok "$what: $(cat out)"; return 0; }
	done
	cat out err
	fail "not found out: $what"
}
