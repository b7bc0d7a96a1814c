#!/bin/sh
# SPDX-License-Identifier: ISC
#
# run.sh demo|check: from a bare machine, where not even make is installed,
# to a demonstration or to the tests.  Installs the packages (mk/deps.sh),
# then lets make do the rest.  Exit status: make's; 125 when packages are
# missing that cannot be installed from here, with the line to run.
#
# Also: check-guest, accept, bench - the targets of make of these names.

cd "$(dirname "$0")/.." || exit 1
target=$1
case $target in
demo)			sets=build ;;
check | bench)		sets='build check browser' ;;
check-guest)		sets='build guest' ;;
accept)			sets='build check browser guest accept' ;;
*)	echo "usage: sh mk/run.sh demo|check" >&2
	exit 2 ;;
esac
shift

# shellcheck disable=SC2086 # a list of words
sh mk/deps.sh $sets || exit
jobs=$(nproc 2>/dev/null || echo 1)
make -j"$jobs" all || exit
exec make "$target" "$@"
