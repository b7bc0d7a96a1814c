#!/bin/sh
# ASSERTION: list --counters finds what an engineer means, among the first
# three of hundreds of counters; says what each can do here, and of what it
# cannot have, why; and what it says can be counted, stat counts.
# SPDX-License-Identifier: ISC
#
# Easy to get wrong: words that a vendor abbreviates (br, misp, llc), and a
# TLB's L2 for the cache's.  Questions are asked of PMUs whose tables do not
# change; libpfm4 has those of the own architecture only.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
tmpdir

asked=0
question()	# pmu pattern word ...
{
	pmu=$1 pattern=$2
	shift 2
	# shellcheck disable=SC2046 # nothing, or two words
	expect 0 "$DTPROF" list --counters $(
	    [ "$pmu" = - ] || echo --pmu "$pmu") "$@"
	grep -v '^	' out | head -n 3 >first
	grep -Eq -e "$pattern" first ||
	    fail "$pmu: $*: $(cat first)"
	asked=$((asked + 1))
}
question - '^context-switches ' context switch
question - '^page-faults ' how many page faults
question - '^branch-misses ' mispredicted branches
question - '^task-clock ' cpu time of the task
question - '^dTLB-load-misses |DTLB' dtlb load miss
question - '^cpu-migrations ' moved to another cpu
if [ "$(uname -m)" = x86_64 ]; then
	question skx '::L2_RQSTS:MISS ' l2 miss
	question skx '::L2_RQSTS:MISS ' 'L2 cache misses'
	question skx 'MISPREDICTED_BRANCH|BR_MISP_RETIRED' branch mispredict
	question skx '::MEM_LOAD_RETIRED:L3_MISS ' l3 miss
	question skx 'WALK' tlb walk
	question skx 'ARITH:DIVIDER_ACTIVE' division
	question skx 'FP_ARITH_INST_RETIRED' floating point operations
	question skx 'INSTRUCTIONS?_RETIRED' instructions retired
	question skx 'LOCK' lock
	question skx 'LD_BLOCKS:STORE_FORWARD' store forward
	question amd64_fam19h_zen4 'CORE_TO_L2.*(LS_RD_BLK_C|IC_FILL_MISS)' \
	    l2 miss
	question amd64_fam19h_zen4 'ALLOC_MAB_COUNT' l1 data cache miss
	question amd64_fam19h_zen4 'ALLOC_MAB_COUNT' l1 miss
	question amd64_fam19h_zen4 'RETIRED_BRANCH.*MISPRED' branch misp
	expect 0 "$DTPROF" list --counters --pmu skx l3 miss
	expect_out '^skx::MEM_LOAD_RETIRED:L3_MISS .*precise' "a precise one"
	expect_out 'not a PMU of this machine' "another machine's"
	# Uncore PMUs count for everybody, and interrupt nobody.
	expect 0 "$DTPROF" list --pmu '*imc*' read
	expect_out 'counts only'
fi
ok "$asked questions"

expect 0 "$DTPROF" list --json --counters
python3 - <<'END' >usable || fail "the list"
import json
counters = json.load(open('out'))['counters']
for c in counters:
    assert set(c) == {'name', 'pmu', 'description', 'code', 'can_sample',
        'precise', 'why_not'}, c
    assert c['name'] and c['pmu'] and c['precise'] in (0, 1, 2, 3), c
    assert c['why_not'] is None or len(c['why_not']) > 5, c
    assert c['description'], c
    if c['why_not'] is None and c['name'] not in ('dummy', 'cgroup-switches'):
        print(c['pmu'], c['name'])
END
n=0
while read -r pmu name; do
	# A PMU that counts for the whole machine needs -a.
	all=
	[ ! -e "/sys/bus/event_source/devices/$pmu/cpumask" ] || all=-a
	expect 0 "$DTPROF" stat -q $all -e "$name" -- true
	n=$((n + 1))
done <usable
[ "$n" -ge 5 ] || fail "only $n counters can be had"
ok "$n counters are said to be there, and are"

expect 1 "$DTPROF" list --counters xyzzyplugh
expect_err "no counter has this name .*'xyzzyplugh'"
expect 0 "$DTPROF" list --counters contxt-switches
expect_err "did you mean 'context-switches'"
expect 1 "$DTPROF" list --counters cyclez
expect_err "did you mean 'cycles'"
expect 1 "$DTPROF" list --pmu no-such-pmu-at-all
expect_err "no such PMU in libpfm4: 'no-such-pmu-at-all'"
expect 2 "$DTPROF" list a b
ok "what is not there is said, with the nearest name"

# libpfm4 succeeds when a PMU is forced that does not exist, and has none.
expect 0 env LIBPFM_FORCE_PMU=nosuch "$DTPROF" list --counters page faults
expect_out '^page-faults '
expect_err "no such PMU in libpfm4: 'nosuch'"
ok "a forced PMU that does not exist is said"
