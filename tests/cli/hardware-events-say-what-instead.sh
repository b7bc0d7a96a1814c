#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: where no counter in hardware is, each event that needs one is
# refused in one line, with what to use instead in another, by stat and by
# record alike, and nothing is run or left behind.  Easy to get wrong: cache
# events, raw ones and groups take other ways through the code.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
"$B/tests/work/can" pmu >/dev/null 2>&1 && skip "this machine has counters"
tmpdir

# perf's names, and some of those that libpfm4 has for the PMU.
refused()	# perf or vendor, how many at most
{
	"$DTPROF" list --json 'pmc:::*' >list || fail "list"
	python3 - "$1" "$2" <<'END' >names || fail "names"
import json, sys
names = [p["alias"] for p in json.load(open("list"))["probes"]
         if p["why_not"] and "/" not in p["alias"] and
         ("::" in p["probe"][len("pmc:::"):]) == (sys.argv[1] == "vendor")]
print("\n".join("r1c0" if n == "rNNN" else n
                for n in names[::1 + len(names) // int(sys.argv[2])]))
END
	while read -r event; do
		for command in "stat -o left" "record -o left"; do
			refuse
		done
	done <names
}

refuse()
{
	# shellcheck disable=SC2086 # a command and its options
	"$DTPROF" $command -e "$event" -- touch ran </dev/null >out 2>&1 &&
	    fail "$command -e $event succeeded"
	[ ! -e ran ] && [ ! -e left ] || fail "$event: ran, or left"
	[ "$(wc -l <out)" -eq 2 ] || fail "$event: $(cat out)"
	# An ordinary user's events are those of user space, and say so.
	why="^dtprof: ${command%% *}: $event\\(:u\\)\\{0,1\\}:"
	why="$why .*no hardware counter"
	grep -q "$why" out && grep -q '^dtprof: hint: use -e cpu-clock' out ||
	    fail "$event: $(cat out)"
}

refused perf 100
[ "$(wc -l <names)" -ge 40 ] || fail "$(wc -l <names) events in hardware"
ok "$(wc -l <names) events, each with one line why and one what instead"
[ "$(uname -m)" = x86_64 ] || exit 0

# A vendor's events want unit masks, whatever machine this is.
export LIBPFM_FORCE_PMU=amd64_fam19h_zen4
refused vendor 20
[ "$(wc -l <names)" -ge 15 ] || fail "$(wc -l <names) of a vendor"
ok "$(wc -l <names) events of $LIBPFM_FORCE_PMU, the same"
expect 125 "$DTPROF" stat -e REQUESTS_TO_L2_GROUP true
expect_err "did you mean 'REQUESTS_TO_L2_GROUP1'" "a name that is too short"
expect 125 "$DTPROF" stat -e REQUESTS_TO_L2_GROUP1 true
sed -n "s/^dtprof: hint: .*dtprof \(list '.*'\)$/\1/p" err >advice
[ "$(wc -l <advice)" -eq 1 ] || fail "no unit mask: $(cat err)"
eval "expect 0 \"\$DTPROF\" $(cat advice)"
[ "$(grep -c 'REQUESTS_TO_L2_GROUP1:' out)" -gt 3 ] ||
    fail "$(cat advice): $(cat out)"
ok "where a unit mask is missing, the hint lists them"
