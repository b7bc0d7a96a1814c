#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a counter that is read by an instruction lies between two reads by
# the kernel around it, while it overflows, while its thread moves to another
# CPU, and while events share counters; a shared one is never read so.  Where
# user space may not read counters the library makes a system call.
# TIMEOUT: 400
#
# Easy to get wrong: after a move or an overflow it is another counter, or
# another beginning, between two loads of the page.

. "${SRC:=$PWD}/tests/guest/lib.sh"
[ "$GUEST_ARCH" = arm64 ] || skip "needs a counter in hardware"
export GUEST_CPUS=2
guest_boot <<'END'
echo 1 >/proc/sys/kernel/perf_user_access || exit
guest_counters 0 0 1 20000 >alone.json || { cat alone.json; exit 1; }
guest_counters 100000 0 1 20000 >overflow.json ||
    { cat overflow.json; exit 1; }
guest_counters 0 2000 1 40000 >moved.json || { cat moved.json; exit 1; }
guest_counters 100000 2000 1 40000 >both.json || { cat both.json; exit 1; }
guest_counters 0 200 12 20000 >shared.json || { cat shared.json; exit 1; }
echo 0 >/proc/sys/kernel/perf_user_access
guest_counters 0 0 1 1000 >denied.json || { cat denied.json; exit 1; }
END
for name in alone overflow moved both; do
	verify results/$name.json $name <<-'END'
	need(j["direct"] >= 0.9 * j["rounds"], "%s: %d of %d reads were "
	    "direct, each between two of the kernel" % (argv[0],
	    j["direct"], j["rounds"]))
	need(j["overflows"] > 100 or argv[0] in ("alone", "moved"),
	    "%d changes of the offset" % j["overflows"])
	need(j["moved"] > 100 or argv[0] in ("alone", "overflow"),
	    "%d moves to another CPU" % j["moved"])
	need(j["exact"] and j["by_library"] and 0 < j["between"] < 1000,
	    "%d instructions between two reads by the library" % j["between"])
	END
done
verify results/shared.json <<'END'
need(j["direct"] < j["rounds"] and not j["exact"] and
    not j["by_library"] and j["running"] < 1,
    "shared: %d of %d reads were direct, before the counter was shared; the "
    "library said %.0f%% running" % (j["direct"], j["rounds"],
    100 * j["running"]))
END
verify results/denied.json <<'END'
need(j["direct"] == 0 and not j["by_library"] and j["exact"] and
    j["between"] > 0,
    "denied: each read was a system call")
END
