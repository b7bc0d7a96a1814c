#!/bin/sh
# ASSERTION: where a recording has more events than the PMU has counters, each
# of its seconds says for how long an event had none, and these add up to what
# the accounting says, to the nanosecond; the report says the share.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# Easy to get wrong: the last interval, which ends with the recording.

. "${SRC:=$PWD}/tests/guest/lib.sh"

guest_boot <<'END'
dtprof record -q --call-graph none -c 5000000 -e cycles -e r8 -e r8:u \
    -e r8:k -e r11 -e r11:u -e r11:k -e instructions -e instructions:u \
    -o turns.dtp -- guest_burn 700
END
accounting results/turns.dtp >/dev/null
"$DTPROF" script --json --show all results/turns.dtp >records ||
    fail "no script"
cp stats stats.json
verify records <<'END'
import json
turns = [r for r in j if r["type"] == "multiplexed"]
start = [r["time_ns"] for r in j if r["type"] == "start"][0]
stop = [r["time_ns"] for r in j if r["type"] == "stop"][0]
need(len({r["time_ns"] for r in turns}) >= 3, "looked at %d times" %
    len({r["time_ns"] for r in turns}))
need(all(start - 10**9 < r["since_ns"] < r["time_ns"] <= stop and
    0 < r["missing_ns"] <= r["time_ns"] - r["since_ns"] + 10**7
    for r in turns), "each lies in the recording, and fits its interval")
told = {}
for r in turns:
    told[r["event"]] = told.get(r["event"], 0) + r["missing_ns"]
rows = {a["event"]: a["enabled_ns"] - a["running_ns"]
    for a in json.load(open("stats.json"))["accounting"] if a["enabled_ns"]}
rows = {name: ns for name, ns in rows.items() if ns > 0}
need(len(rows) >= 3 and told == rows, "%s in the accounting, %s in turns" %
    (rows, told))
END
"$DTPROF" report results/turns.dtp 2>/dev/null |
    grep -q 'warning: .*the event was counted in .*% of the time, because' ||
    fail "the report does not say so"
ok "the report says the share"
