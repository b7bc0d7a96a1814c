#!/bin/sh
# SPDX-License-Identifier: ISC
#
# run.sh demo|check: from a bare machine, where not even make is installed,
# to a demonstration or to the tests.  Installs the packages (mk/deps.sh),
# then lets make do the rest.  Exit status: make's; 125 when packages are
# missing that cannot be installed from here, with the line to run.
#
# Also: check-sanitized, check-guest, accept, bench - make's targets.

cd "$(dirname "$0")/.." || exit 1
target=$1
built=all
case $target in
demo)			sets=build ;;
check-sanitized)	sets='build check' ;;
check | bench)		sets='build check browser' built=tests-built ;;
check-guest)		sets='build guest' ;;
accept)			sets='build check browser guest accept'
			built=tests-built ;;
*)	echo "usage: sh mk/run.sh demo|check" >&2
	exit 2 ;;
esac
shift

# shellcheck disable=SC2086 # a list of words
sh mk/deps.sh $sets || exit
# make runs tests and benches with one job: what they need is built before.
jobs=$(nproc 2>/dev/null || echo 1)
make -j"$jobs" "$built" || exit
exec make "$target" "$@"
