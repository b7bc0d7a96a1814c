#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: programs that clang 16 compiled load and walk as those of the
# usual compiler do, here and on the oldest kernel of both machines.
# TIMEOUT: 3600
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd clang-16
tmpdir
try()		# target [NAME=value ...]
{
	make -C "$SRC" O="$tmp/build" CLANG=clang-16 "$@" >out 2>&1 </dev/null
	status=$?
	grep -E '^(pass|fail|skip) |^	\||passed,' out
	[ "$status" -eq 0 ] || fail "$*: $(tail -n 3 out)"
	! grep -q '^skip' out || skip "$(grep '^skip' out | head -n 1)"
	grep -q '^pass' out || fail "$*: nothing ran"
}
here='kern/programs-are-short kern/stacks-are-complete kern/conserve-ordinary'
try all check T="$here kern/values-are"
for arch in amd64 arm64; do
	try check-guest GUEST_ARCH=$arch T="programs-load stacks-are-complete"
done
ok "here, and on Linux 6.1 of amd64 and arm64"
