#!/bin/sh
# ASSERTION: on a real counter stat counts the instructions of a known loop,
# keeps a group together or refuses it with the number that fits, and says of
# events that take turns that they are estimates, which are right within 1 %.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# The guest's processor takes two cycles an instruction, exactly, has six
# counters and one for cycles, and does not count branches.  Easy to get
# wrong: to print what was counted for half of the time as if it were all.

. "${SRC:=$PWD}/tests/guest/lib.sh"

# Events in hardware: one goes to the counter of cycles, the others do not.
many=r11
for _ in 1 2 3 4 5 6 7 8 9 10 11; do
	many=$many,r8
done
guest_boot <<END
stat='dtprof stat --json'
for millions in 20 40; do
	\$stat -o \$millions.json -e '{cycles:u,instructions:u}' \\
	    -e '{cycles,instructions}' -- guest_burn -f \$millions || exit
done
\$stat -o fit.json -e '{r11,r8,r8,r8,r8,r8,r8}' -- guest_burn 5 || exit
\$stat -o refused.json -e '{r11,r8,r8,r8,r8,r8,r8,r8}' -- touch /ran \\
    2>refused.txt && exit 1
\$stat -o refused.json -e '{r8,r8,r8,r8,r8,r8,r8}' -- touch /ran \\
    2>refused6.txt && exit 1
[ ! -e /ran ] || exit 1
\$stat -o turns.json -e $many -I 50 -- guest_burn 100 || exit
dtprof stat -e $many -- guest_burn 100 2>turns.txt || exit
dtprof stat -- guest_burn 20 2>default.txt || exit
\$stat -o split.json -a --per-process -e cycles,instructions,task-clock -- \\
    sh -c 'guest_burn 20 & guest_burn 40 & wait' || exit
\$stat -o nosplit.json --per-process -e $many -- true 2>nosplit.txt && exit 1
dtprof list --json --counters cycles >counters.json || exit
# An ordinary user: as far as the knob allows, and it is named.
mkdir -p /etc
echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
chmod 777 .
echo 2 >/proc/sys/kernel/perf_event_paranoid
su nobody -c 'dtprof stat --json -o user.json -e cycles:u,instructions:u \\
    -- guest_burn 20' || exit
echo 3 >/proc/sys/kernel/perf_event_paranoid
su nobody -c 'dtprof stat -e cycles:u -- true' 2>paranoid.txt && exit 1
exit 0
END
cat >events.py <<'END'
of = lambda name: [e for e in j["events"] if e["name"] == name]
value = lambda name: of(name)[0]["values"][0]
END
for millions in 20 40; do
	verify results/$millions.json $millions <<-'END'
	exec(open("events.py").read())
	n = int(argv[0])
	need(all(e["running_pct"] == 100 and not e["estimated"] for e in
	    j["events"]), "two pairs always had their counters")
	need(value("cycles") == 2 * value("instructions") or
	    abs(value("cycles") / value("instructions") - 2) < 1e-5,
	    "%d cycles, %d instructions" % (value("cycles"),
	    value("instructions")))
	# Three a turn, and what begins and ends the program.
	beside = value("instructions:u") - 3000000 * n
	need(0 < beside < 200000, "%d instructions beside the loop" % beside)
	ipc = [m for m in j["metrics"] if m["name"] ==
	    "instructions_per_cycle"]
	need(len(ipc) == 2 and all(abs(m["mean"] - 0.5) < 0.001 for m in
	    ipc), "0.5 per cycle")
	END
done
python3 - results/20.json results/40.json <<'END' || fail "loop"
import json, sys
a, b = (json.load(open(p))["events"][1]["values"][0] for p in sys.argv[1:])
print("twice the loop: %d instructions more" % (b - a))
sys.exit(abs(b - a - 60000000) > 300)
END
ok "the loop's instructions are exactly those"

verify results/fit.json <<'END'
exec(open("events.py").read())
need(all(e["running_pct"] == 100 and e["group"] == 0 for e in j["events"]),
    "a group of 7 counts together")
same = {e["values"][0] for e in of("r8")}
need(len(same) == 1, "each counts the same instructions: %s" % same)
END
grep -q 'of 8 events on the PMU, only 7 can be counted' results/refused.txt ||
    fail "refusal: $(cat results/refused.txt)"
grep -q 'of 7 events on the PMU, only 6 can be counted' results/refused6.txt ||
    fail "refusal: $(cat results/refused6.txt)"
ok "$(head -n 1 results/refused.txt)"

verify results/turns.json <<'END'
exec(open("events.py").read())
need(all(e["estimated"] and 30 < e["running_pct"] < 99 for e in of("r8")),
    "took turns: %s %%" % [e["running_pct"] for e in of("r8")])
right = 300e6
need(all(abs(e["values"][0] / right - 1) < 0.01 for e in of("r8")),
    "estimates: %s" % [e["values"][0] for e in of("r8")])
spread = [e["values"][0] for e in of("r8")]
need(max(spread) / min(spread) - 1 < 0.01, "that agree within 1 %")
for n, e in enumerate(j["events"]):
    parts = [i["events"][n]["value"] for i in j["intervals"]]
    need(len(parts) > 5 and sum(p or 0 for p in parts) == e["values"][0],
        "%d intervals add up to the estimate" % len(parts))
    need(e["counts"][0] < 0.99 * e["values"][0] or not e["estimated"],
        "and what was counted is kept beside it")
END
grep -q '~.*  *[1-9][0-9]\.[0-9]%' results/turns.txt ||
    fail "not marked: $(cat results/turns.txt)"
grep -q 'Of the 12 events on the PMU, the first 7 fit' results/turns.txt ||
    fail "not said how many fit: $(cat results/turns.txt)"
ok "12 events: marked as estimates, and how many fit"

grep -Eq '^  instructions .*100%   0.50 per cycle' results/default.txt ||
    fail "default: $(cat results/default.txt)"
grep -q 'not counted on this machine: .*branches' results/default.txt ||
    fail "default: $(cat results/default.txt)"
ok "by default: cycles and instructions with their ratio, no branches"

verify results/split.json <<'END'
for n, e in enumerate(j["events"]):
    sum_ = sum(t["counts"][n] for t in j["tasks"])
    need(sum_ == e["counts"][0] > 0, "%s: %d by process, %d in all" %
        (e["name"], sum_, e["counts"][0]))
burn = sorted(t["counts"][1] for t in j["tasks"] if t["comm"] ==
    "guest_burn")
need(len(burn) == 2 and abs(burn[0] / 60e6 - 1) < 0.1 and
    abs(burn[1] / 120e6 - 1) < 0.1, "instructions: %s" % burn)
need(abs(burn[1] - burn[0] - 60e6) < 3e6, "apart by what they should be")
END
grep -q 'cannot be multiplexed' results/nosplit.txt ||
    fail "12 events by process: $(cat results/nosplit.txt)"
verify results/counters.json <<'END'
usable = {c["name"]: c for c in j["counters"] if c["why_not"] is None}
need("cycles" in usable and usable["cycles"]["can_sample"],
    "cycles sample here")
need("arm_ac53::CPU_CYCLES" in usable, "so do CPU_CYCLES")
END
verify results/user.json <<'END'
exec(open("events.py").read())
need(abs(value("instructions:u") / 60e6 - 1) < 0.01 and
    of("cycles:u")[0]["running_pct"] == 100, "an ordinary user counts")
END
grep -q 'perf_event_paranoid=3' results/paranoid.txt ||
    fail "paranoid: $(cat results/paranoid.txt)"
ok "$(head -n 1 results/paranoid.txt)"
