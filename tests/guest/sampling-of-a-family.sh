#!/bin/sh
# ASSERTION: on a real counter, samples of a command and what it starts stand
# for what the counter counted, but for a period an instance; of instructions
# as well as of cycles; an ordinary user gets those of his own user space at
# paranoid 2, and at 3 is told of the knob.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# Easy to get wrong: a child that is counted and not sampled, or twice.

. "${SRC:=$PWD}/tests/guest/lib.sh"

guest_boot <<'END'
mkdir -p /etc
echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd
chmod 777 .
family='guest_burn 60 & (guest_burn 40 & guest_burn 20; wait); wait'
dtprof record -q -e cycles:u -c 1000000 -o cycles.dtp -- \
    sh -c "$family" || exit
dtprof record -q -e instructions:u -c 10000000 -o instructions.dtp -- \
    sh -c "$family" || exit
echo 2 >/proc/sys/kernel/perf_event_paranoid
su nobody -c "dtprof record -q -e cycles:u -c 1000000 -o user.dtp -- \
    sh -c '$family'" || exit
echo 3 >/proc/sys/kernel/perf_event_paranoid
su nobody -c 'dtprof record -q -e cycles:u -o not.dtp -- true' \
    2>paranoid.txt && exit 1
[ ! -e not.dtp ]
END
# 120 million turns of three instructions, each two cycles.
for name in cycles instructions user; do
	accounting results/$name.dtp >/dev/null
	per=$([ $name = instructions ] && echo 1 || echo 2)
	verify stats $name $per <<-'END'
	a = j["accounting"][-1]
	need(a["full"] + a["nested"] + a["error"] == 0 and
	    -a["unaccounted_bound"] <= a["unaccounted"] <=
	    a["unaccounted_bound"] > 0, "%s: count %d, in firings %d, apart "
	    "%d of at most %d" % (argv[0], a["count"], a["weight"],
	    a["unaccounted"], a["unaccounted_bound"]))
	END
	"$DTPROF" script --json --show samples results/$name.dtp >samples ||
	    fail "no script"
	verify samples $name $per <<-'END'
	own = [r for r in j if r["comm"] == "guest_burn"]
	weight = sum(r["weight"] for r in own)
	right = 360e6 * int(argv[1])
	need(len({r["pid"] for r in own}) == 3, "all three were sampled")
	# Each task keeps what it had counted since its last sample.
	period = 10**7 if argv[0] == "instructions" else 10**6
	need(0.95 * right - 3 * period < weight < 1.05 * right,
	    "%s: %d samples stand for %d of %d" %
	    (argv[0], len(own), weight, right))
	END
done
grep -q 'perf_event_paranoid=3' results/paranoid.txt ||
    fail "paranoid: $(cat results/paranoid.txt)"
ok "$(head -n 1 results/paranoid.txt)"
