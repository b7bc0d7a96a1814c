#!/bin/sh
# ASSERTION: each phase of a program has its share of the samples, within 1 %.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# Two functions with the same loop, one turning three times as often, told
# apart by the interrupted pc alone.  Skid, lost samples or a pc that is the
# interrupt handler's would move the shares.

. "${SRC:=$PWD}/tests/guest/lib.sh"
need_cmd aarch64-linux-gnu-nm

guest_boot <<'END'
dtprof record -q --no-inherit --call-graph none -e cycles -c 50000 \
    -o phases.dtp -- guest_phases 10 2
END
accounting results/phases.dtp
# This CPU cannot be precise, and where lines are blamed that is said.
"$DTPROF" report --by line results/phases.dtp >lines 2>/dev/null
grep -q 'cycles: .*(skid)' lines || fail "no word of skid: $(head lines)"
"$DTPROF" script --json results/phases.dtp >samples || fail "no script"
aarch64-linux-gnu-nm -S "$GUEST_BUILD/tests/work/guest_phases" >symbols ||
    fail "no symbols"
awk '/ phase_/ { print $1, $2, $4 }' symbols >phases
verify samples phases <<'END'
where = {name: range(int(at, 16), int(at, 16) + int(size, 16))
    for at, size, name in map(str.split, open(argv[0]))}
pcs = [int(r["ip"], 16) for r in j
    if r["type"] == "sample" and r["event"] == "cycles"]
one = sum(pc in where["phase_one"] for pc in pcs)
three = sum(pc in where["phase_three"] for pc in pcs)
need(one + three > 9000, "%d samples of %d in the two phases" %
    (one + three, len(pcs)))
need(one + three > 0.9 * len(pcs), "few are elsewhere")
share = one / (one + three)
need(abs(share / 0.25 - 1) < 0.01, "phase_one has %d, %.3f %%" %
    (one, 100 * share))
need(abs((1 - share) / 0.75 - 1) < 0.01, "phase_three has %d, %.3f %%" %
    (three, 100 - 100 * share))
END
