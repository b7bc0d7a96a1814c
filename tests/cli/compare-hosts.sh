#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: recordings of hosts that changed their version one after the other
# are compared host by host: a function that grows by 5 % of the total is named,
# alone, and the total per request costs more; 5 % everywhere is a verdict per
# request and not visible by shares; equals are nothing.  Versions that ran on
# processors of different kinds, or never at the same time, are refused with
# the reason; so is a gate that could never fail.  A host whose work cost no
# sample is one; it does not decide by which event the others are
# compared, and those that lack it are counted.
# Easy to get wrong: a run for each recording; costs that rise while the new
# version comes (here by half) as if they were its own.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
per=uprobe:/srv/app:handle
make()		# directory seed grow all kind once
{
	mkdir "$1"
	"$B/tests/unit/deploys-are-told" write "$1" "$3" "$4" "$5" "$6" "$2" ||
	    fail "recordings"
}
compare()	# directory status option ...
{
	of=$1 status=$2
	shift 2
	expect "$status" "$DTPROF" compare "$@" "$of"/base*.dtp -- \
	    "$of"/new*.dtp
}
make grown 1 0.05 0 0 0
compare grown 0 --per "$per" --json
[ "$(json out 'j["comparisons"][0]["verdict"]')" = "costs more" ] ||
    fail "the total: $(json out 'j["comparisons"][0]["total"]')"
[ "$(json out '[f["name"] for f in j["comparisons"][0]["functions"] if
    f["verdict"] in ("costs more", "costs less")]')" = "['f12']" ] ||
    fail "the function"
cp out per.json
compare grown 0 --per "$per"
expect_out '^new costs more: CPU per handle \+[4-6]\.' headline
expect_out '^base  7 hosts, 5 windows of 10 min, [0-9]* handle' base
expect_out '^ *7 hosts ran both base and new, and each is compared with' pairs
expect_out '^ +CPU per handle .* costs more$' 'a metric'
expect_out 'of it f12 ' explanation
compare grown 0 --per span:request
expect_out '^new costs more: CPU per request \+[4-6]\.' spans
compare grown 3 --per "$per" --fail-on slower
ok "one function of 5 %"

make all 2 0 0.05 0 0
compare all 0 --per "$per"
expect_out '^new costs more: CPU per handle \+[4-6]\.' 'per request'
compare all 0
expect_out 'shares of functions do not show' shares
expect_out 'only shares are compared: a change that slows everything' note
expect_out 'no function changed significantly' functions
make none 3 0 0 0 0
compare none 0 --per "$per"
expect_out '^new: (inconclusive|no change)' equals
expect_out 'no function changed significantly' functions
ok "5 % everywhere, and nothing"

make kind 4 0.05 0 1 0
compare kind 1 --per "$per"
expect_err 'come from cpu_model, not from the version: hosts with "slow" ran'
compare kind 0 --per "$per" --anyway
make once 5 0.05 0 0 1
compare once 1 --per "$per"
expect_err 'come from the time, not from the version'
compare grown 1 --fail-on slower
expect_err 'only shares of functions are compared'
compare grown 1 --per uprobe:none
expect_err 'no such event'
compare grown 1 --per span:none
expect_err 'no such span'
ok "a change that may have another cause than the version is refused"

# Work in another window, for which no sample was taken.
work()
{
	compare grown 0 --per "$per" --json
	json out 'int(j["comparisons"][0]["hosts"]["units"][0])'
}
before=$(work)
"$B/tests/unit/deploys-are-told" one grown/base-zz.dtp 7 0 || fail "idle host"
after=$(work)
[ "$after" -eq $((before + 60)) ] || fail "no samples: $before, then $after"
ok "a host without samples counts"

# The first one that is read, of another event; and it is idle.
"$B/tests/unit/deploys-are-told" one grown/new-!.dtp 8 0 page-faults ||
    fail "another event"
[ "$(work)" = "$after" ] || fail "an idle host decides on the event"
expect_err 'recordings without event cpu-clock are left out: 1$'
ok "the event is one that has samples"
