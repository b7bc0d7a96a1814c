#!/bin/sh
# SPDX-License-Identifier: ISC
#
# cov.sh dir: build with counters below dir, run the tests, and say for each
# source of the library and the command, and for all, how much of it was
# executed.  What was not is listed in dir/untested.  Called by make cov.

dir=$1
jobs=$(nproc)
make -j"$jobs" O="$dir" COV=1 tests-built || exit
find "$dir" -name '*.gcda' -exec rm -f {} +
# Tests also run as other users, who must be able to write what root made.
chmod -R a+rwX "$dir/obj"
umask 0
# Tests that build things of their own say nothing about coverage.
make O="$dir" COV=1 check T="$(sh tests/run.sh -p |
    grep -v tests/build/ | paste -sd' ')"
# A header's line counts as executed where one of those that include it ran it.
find "$dir/obj" -name '*.gcda' ! -path '*/tests/*' | sort |
while read -r data; do
	gcov -t -o "$data" "$data" 2>/dev/null
done | awk -F: -v untested="$dir/untested" '
$3 == "Source" { file = $4; next }
file !~ /^(libprof|cmd|sys)\// || $2 + 0 == 0 || $1 ~ /- *$/ { next }
{
	key = file ":" ($2 + 0)
	if (!(key in ran)) {
		lines[file]++
		text[key] = substr($0, length($1 $2) + 3)
		ran[key] = 0
	}
	if ($1 !~ /[#=]/ && !ran[key]) {
		ran[key] = 1
		did[file]++
	}
}
END {
	for (file in lines) {
		printf "%7.2f%% of %5d  %s\n", 100 * did[file] / lines[file],
		    lines[file], file | "sort -k4"
		all += lines[file]
		done += did[file]
	}
	close("sort -k4")
	sort = "sort -t: -k1,1 -k2n >" untested
	for (key in ran)
		if (!ran[key])
			print key ":" text[key] | sort
	printf "%7.2f%% of %5d  in all\n", 100 * done / all, all
}'
