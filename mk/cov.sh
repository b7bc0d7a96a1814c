#!/bin/sh
# SPDX-License-Identifier: ISC
#
# cov.sh dir: build with counters below dir, run the tests, and say for each
# source of the library and the command how much of it was executed.  Called
# by make cov.

dir=$1
jobs=$(nproc)
make -j"$jobs" O="$dir" COV=1 tests-built || exit
find "$dir" -name '*.gcda' -exec rm -f {} +
# Tests that build things of their own say nothing about coverage.
make O="$dir" COV=1 check T="$(sh tests/run.sh -p |
    grep -v tests/build/ | paste -sd' ')"
find "$dir/obj" -name '*.gcda' ! -path '*/tests/*' | sort |
while read -r data; do
	gcov -n -o "$data" "$data" 2>/dev/null
done | awk '
/^File / { file = $2; gsub("\047", "", file) }
/^Lines executed/ && file ~ /^(libprof|cmd|sys)\// {
	split($0, part, "[:% ]+")
	printf "%7s%% of %5d  %s\n", part[3], part[5], file
	file = ""
}' | sort -u -k4
