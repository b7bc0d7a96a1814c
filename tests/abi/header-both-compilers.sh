#!/bin/sh
# ASSERTION: sys/dtp_*.h say the same to every compiler that reads them: the
# kernel's side (clang for BPF, either byte order) and the user's (gcc,
# clang).  Easy to get wrong with a member that is padded on one side only.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd gcc clang
tmpdir

cat >abi.c <<'END'
#include "dtp_abi.h"
#include "dtp_filter.h"
#include "dtp_split.h"
int abi_is_compiled = sizeof(struct dtp_config);
END
flags="-Wall -Wextra -Wno-unused-parameter -Werror -I$SRC/sys/abi -c abi.c"
multiarch=$(gcc -dumpmachine)
# shellcheck disable=SC2086 # flags are words
for compiler in gcc clang \
    "clang -target bpf -idirafter /usr/include/$multiarch" \
    "clang -target bpfeb -idirafter /usr/include/$multiarch"; do
	$compiler -std=gnu11 $flags -o abi.o || fail "$compiler"
	ok "$compiler"
done

# The asserts are alive: a wrong size does not compile.
sed 's/sizeof(struct dtp_rec) == 32/sizeof(struct dtp_rec) == 33/' \
    "$SRC/sys/abi/dtp_abi.h" >dtp_abi.h
cmp -s dtp_abi.h "$SRC/sys/abi/dtp_abi.h" && fail "nothing was changed"
cp -n "$SRC"/sys/abi/*.h .
gcc -std=gnu11 -I. -c abi.c -o abi.o 2>err && fail "a wrong size compiles"
grep -q 'struct dtp_rec' err || fail "the message does not name the struct"
ok "a wrong size is refused, by name"
