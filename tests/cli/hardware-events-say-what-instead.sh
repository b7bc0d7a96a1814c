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
"$DTPROF" list --json 'pmc:::*' >list || fail "list"
python3 - <<'END' >names || fail "names"
import json
names = [p["alias"] for p in json.load(open("list"))["probes"]
         if p["why_not"]]
print("\n".join("r1c0" if n == "rNNN" else n for n in names))
END
[ "$(wc -l <names)" -ge 40 ] || fail "$(wc -l <names) events in hardware"
while read -r event; do
	for command in "stat -o left" "record -o left"; do
		# shellcheck disable=SC2086 # a command and its options
		"$DTPROF" $command -e "$event" -- touch ran </dev/null \
		    >out 2>&1 && fail "$command -e $event succeeded"
		[ ! -e ran ] && [ ! -e left ] || fail "$event: ran, or left"
		[ "$(wc -l <out)" -eq 2 ] || fail "$event: $(cat out)"
		# An ordinary user's events are those of user space, and say so.
		why="^dtprof: ${command%% *}: $event\\(:u\\)\\{0,1\\}:"
		why="$why .*no hardware counter"
		grep -q "$why" out &&
		    grep -q '^dtprof: hint: use -e cpu-clock' out ||
		    fail "$event: $(cat out)"
	done
done <names
ok "$(wc -l <names) events, each with one line why and one what instead"
