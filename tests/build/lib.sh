# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# For tests that run make themselves: not as a child of the make that runs
# the tests, and with switches of their own.

. "${SRC:=$PWD}/tests/lib.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
# What was said to the make above is in the environment too.
unset O V T DEBUG CC SAN COV CFLAGS CPPFLAGS LDFLAGS CROSS SYSROOT STATIC

# The same by every test, so that one build does for all.
CLANG_BUILD='CC=clang DEBUG=1 CFLAGS=-O0'
export CLANG_BUILD

# A build directory that stays between runs, below the one being tested.
variant()	# name argument ...
{
	variant_dir=$B/variant/$1
	mkdir -p "$variant_dir"
	shift
	make -C "$SRC" -j"$(nproc)" O="$variant_dir" "$@" \
	    >"$variant_dir/make.log" 2>&1 </dev/null && return 0
	grep -E 'error|warning|undefined|\*\*\*|^fail|^	\|' \
	    "$variant_dir/make.log" | head -n 30
	tail -n 5 "$variant_dir/make.log"
	return 1
}
