#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a member behind a pointer of the kernel to memory of the process is
# what the program has written there, each time, also in a filter; where the
# pointer is to nothing the argument is 0, and counted as one that could not be
# read.
#
# Easy to get wrong: gcc's kernels do not say which pointers are the process's,
# and each kind of memory is read in its own way.  Text, and functions of the
# kernel: guest/probes-are-exact.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

cat >robust.c <<'END'
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
int
main(void)
{
	static struct robust_list_head list = { .list = { &list.list } };

	(void)syscall(SYS_set_robust_list, NULL, sizeof(list));
	usleep(1000);
	(void)syscall(SYS_set_robust_list, &list, sizeof(list));
	for (int i = 1; i <= 50; i++) {
		list.futex_offset = -100 - i;	/* libc's own: -32 */
		usleep(1000);
	}
	return (0);
}
END
compile -o robust robust.c || fail "no program"
member=prev.robust_list.futex_offset
record 0 -o a.dtp -e "sched:sched_switch/$member/" -- ./robust
record 0 -o b.dtp -e "sched:sched_switch/$member/{$member == -107}" -- ./robust
py $member <<'END'
import sys
import recording as rec

member, = sys.argv[1:]


def values(path):
    """Of the program, in order, with its accounting."""
    return ([s["args"][member] for s in rec.samples(path) if
             s["comm"] == "robust"],
            next(row for name, row in rec.balance(path).items() if
                 name.startswith("sched")))


got, row = values("a.dtp")
there = [value for value in got if value not in (0, -32)]
rec.check(set(there) == set(range(-150, -100)), "%r" % got)
rec.check(there == sorted(there, reverse=True), "not in order: %r" % got)
rec.check(0 < row["arg_fault"] <= sum(
    s["args"][member] == 0 for s in rec.samples("a.dtp")), "%r" % row)
rec.ok("%d switches with the program's own value, %d arguments unread" %
       (len(there), row["arg_fault"]))
got, _ = values("b.dtp")
rec.check(got and set(got) == {-107}, "%r" % got)
rec.ok("%d switches pass the filter" % len(got))
END
