#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: interval ticks on the first CPU of -C, by BPF and without, and on
# the first CPU of all where no -C is given.
#
# Easy to get wrong: the event is resolved before the CPUs are chosen, and
# without BPF an event of a CPU that has no ring is left out without a word.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

cpus=$(nproc)
[ "$cpus" -ge 2 ] || skip "one CPU only"
for cpu in 0 1; do
	"$work/spin" -c $cpu 0 >/dev/null 9>&- &
	kill_at_end $!
done
for path in bpf perf; do
	for cpu in 0 1; do
		record 0 --backend $path -a -C $cpu -e interval:::10ms \
		    --call-graph none -o a.dtp --duration 300ms
		py $path $cpu <<'END'
import sys
import recording as rec

path, cpu = sys.argv[1], int(sys.argv[2])
got = rec.samples("a.dtp")
rec.check(len(got) > 0, "%s, -C %d: no sample" % (path, cpu))
rec.check({s["cpu"] for s in got} == {cpu}, "%s, -C %d: %r" %
          (path, cpu, {s["cpu"] for s in got}))
rec.balance("a.dtp")
END
		ok "$path, -C $cpu: samples from CPU $cpu alone"
	done
done
