#!/bin/sh
# ASSERTION: While probes of the same functions of the kernel (kprobe,
# kretprobe, fentry, fexit) are attached and detached all the time, a program
# that enters them counts what it has always counted, a recorder of the program
# misses none of its calls, and no probe is left.  A probe that costs more than
# --max-overhead allows is detached, which is said, no sample is younger than
# that, and what there is balances; one that costs less stays.
# SPDX-License-Identifier: ISC
# TIMEOUT: 1200
#
# Easy to get wrong: several recorders share the kernel's breakpoint of a
# function, and the first one that ends takes it away; a thread is at the
# breakpoint, or in the function, while it goes.  ATTACHES (40) makes it longer.

. "${SRC:=$PWD}/tests/guest/lib.sh"

case $GUEST_ARCH in
arm64)	getppid=__arm64_sys_getppid ;;
*)	getppid=__do_sys_getppid ;;
esac
echo "getppid=$getppid attaches=${ATTACHES:-40}" >script
cat >>script <<'END'
. /lib.sh
uname -r >release
kinds='kprobe kretprobe'
! dtprof stat -q -o x -e fentry:$getppid -- true 2>/dev/null ||
    kinds="$kinds fentry fexit"
set --
for kind in $kinds; do
	set -- "$@" -e $kind:$getppid
done
echo $kinds >kinds

# What the program does, and one that has to see all of it.
until [ -e done ]; do
	dtprof stat -q --csv -o row "$@" -- guest_probed 40 storm >own ||
	    exit 1
	echo "$(cut -d ' ' -f 1 own) $(sed 1d row | sed 's/.*,//' |
	    tr '\n' ' ')" >>counted
done &
counter=$!
n=0
while [ $n -lt $attaches ]; do
	dtprof stat -q --csv -o ends "$@" -a --duration 1ms || exit 1
	n=$((n + $# / 2))
done
echo $n >attached
: >done
wait $counter || exit 1
unprobed()
{
	! grep -q . /sys/kernel/debug/kprobes/list
}
await "no probe is left" unprobed

for kind in kprobe ${kinds##*kretprobe}; do
	[ $kind != fexit ] || continue
	dtprof record -o $kind.dtp --call-graph none -e cpu-clock \
	    -e $kind:$getppid --max-overhead 0.5 --duration 1s \
	    -- guest_probed 1000000000 >said 2>$kind.err </dev/null
done
dtprof record -o stays.out --call-graph none -e kprobe:$getppid \
    --max-overhead 100 -- guest_probed 40 storm >stays.calls 2>stays.err
END
GUEST_LIMIT=${GUEST_LIMIT:-1180} guest_boot <script
echo "kernel $(cat results/release), $(cat results/kinds)"
python3 - "$(cat results/attached)" <<'END' || fail "see above"
import sys

counted = [[int(n) for n in line.split()] for line in open("results/counted")]
kinds = open("results/kinds").read().split()
print("ok: %s attached and detached, %d runs of the program: %r" % (
    sys.argv[1], len(counted), counted[0]))
sys.exit(not counted or any(row != [264] * (len(kinds) + 1)
                            for row in counted))
END
PYTHONPATH=$SRC/tests/kern
export PYTHONPATH
python3 - <<'END' || fail "see above"
import glob
import recording as rec

kinds = open("results/kinds").read()
files = sorted(glob.glob("results/*.dtp"))
for file in files:
    said = open(file.replace(".dtp", ".err")).read()
    event, = set(rec.accounting(file)) - {"proc", "cpu-clock"}
    rec.check("note: %s was detached" % event in said, said)
    rec.check("rate lowered" not in said, "the timer was slowed: " + said)
    rec.balance(file, [event, "cpu-clock"])
    records = rec.records(file, "all", "--no-symbols")
    at, = (r["time_ns"] for r in records if r["type"] == "marker" and
           r["text"].startswith(event + " was detached"))
    times = {name: [r["time_ns"] for r in records if r["type"] == "sample" and
                    r["event"] == name] for name in (event, "cpu-clock")}
    rec.check(0 < len(times[event]) and max(times[event]) <= at,
              "%s: %d samples behind the marker" % (
                  event, sum(t > at for t in times[event])))
    rec.check(max(times["cpu-clock"]) > at, "no sample of the clock behind it")
    rec.ok("%s: %d samples, detached, none behind it" % (
        event, len(times[event])))
rec.check(len(files) == (2 if "fentry" in kinds else 1), "%r" % files)
stays = next(row for name, row in rec.balance("results/stays.out").items() if
             name.startswith("kprobe"))
rec.check(stays["stored"] == 264 == int(open("results/stays.calls").read()
                                        .split()[0]), "%r" % stays)
rec.ok("one that costs less stays")
END
