#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Writes the names of the target's syscalls, one PROF_SYSCALL(name) a line, by
# asking the target's compiler for the macros of asm/unistd.h.  Numbers are
# left to the compiler, since some headers compute them.
#
# usage: mk/syscalls.sh OUT CC [FLAG ...]
set -eu

out=$1
shift
echo '#include <asm/unistd.h>' | "$@" -dM -E -x c - |
    sed -n 's/^#define __NR_\([a-z][a-z0-9_]*\) .*/\1/p' |
    grep -v -x -e 'syscalls' -e 'arch_specific_syscall' |
    sort -u | sed 's/.*/PROF_SYSCALL(&)/' > "$out.tmp"
test -s "$out.tmp"
mv "$out.tmp" "$out"
