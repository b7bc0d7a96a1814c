#!/bin/sh
# ASSERTION: the cycle counter answers to perf's, libpfm4's and sysfs' names.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# The names go three ways to the same counter: a table of libpfm4 for this
# very processor, the kernel's own number, and the event files of the PMU.
# A wrong type or config opens just as well, and counts something else.

. "${SRC:=$PWD}/tests/guest/lib.sh"

names='cycles arm_ac53::CPU_CYCLES CPU_CYCLES armv8_pmuv3/cpu_cycles/ r11'
guest_boot <<END
n=0
for name in $names; do
	n=\$((n + 1))
	dtprof record -q --no-inherit --call-graph none -e \$name \\
	    -c 100000 -o \$n.dtp -- \\
	    guest_burn -f 20 || exit
done
dtprof list 'pmc:*' >list.txt
dtprof record -q -e arm_ac53::CPU_CYCLE -o no.dtp -- true 2>unknown.txt &&
    exit 1
exit 0
END
n=0
for name in $names; do
	n=$((n + 1))
	accounting results/$n.dtp
	verify stats "$name" <<-'END'
	a = j["accounting"][1]
	# Six cycles a turn, and what the kernel adds.
	need(a["event"] == argv[0] and 1 <= a["count"] / 120e6 < 1.1,
	    "%s counts %d cycles of 120000000" % (argv[0], a["count"]))
	# The kernel may drop one overflow, see cycles-floor-of-count.
	need(a["count"] // 100000 - a["stored"] in (0, 1),
	    "%s: stored %d" % (argv[0], a["stored"]))
	END
done
for name in arm_ac53::CPU_CYCLES cpu_cycles; do
	grep -qi -- "$name" results/list.txt || fail "list does not know $name"
	ok "list knows $name"
done
grep -q 'CPU_CYCLES' results/unknown.txt ||
    fail "no suggestion: $(cat results/unknown.txt)"
ok "$(head -n 1 results/unknown.txt)"
