#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: record --verify walks the stack of each sample in the kernel and
# by libunwind, and finds the same frames in 99.9 of 100, none of them
# different; the table that it prints stands in the recording, and adds up.
#
# Easy to get wrong: comparing what one walk found with itself; leaving out
# what differs.

. "${SRC:=$PWD}/tests/kern/lib-stacks.sh"
need_recording
tmpdir
build_stacks

# Record what was begun until each has computed so much; the table is kept.
verify()	# hundredths argument ...
{
	hundredths=$1
	shift
	compute 5		# they have begun
	"$DTPROF" record --verify -e cpu-clock -p "$(pids_begun)" "$@" \
	    2>err 9>&- &
	recorder=$!
	kill_at_end "$recorder"
	await_recording "$recorder"
	compute "$hundredths"
	record_end 0
	cp err table
}

for what in alloca realign callback longjmp signal threads vdso; do
	begin $what ./stacks $what
done
begin throws ./throws
begin python3 /usr/bin/python3 -c '
def fall(n):
    return sum(range(9)) + (fall(n - 1) if n else 0)
while True:
    fall(9)'
verify 30 -o a.dtp -c 500000
end_all
cat table
grep -q 'stacks were unwound by BPF and' table || fail "there is no table"
py <<'END'
import re
import recording as rec

info = rec.report("a.dtp")["recording"]["info"]
got = {k[7:]: int(v) for k, v in info.items()
       if re.fullmatch("verify[.][a-z]+", k)}
text = open("table").read()
whole = int(re.search(r"(\d+) stacks were unwound by", text).group(1))
rec.check(sum(got.values()) == whole, "the table does not add up")
rec.check(whole >= 200, "only %d stacks" % whole)
decided = got["same"] + got["earlier"] + got["further"] + got["differ"]
rec.check(got["differ"] == 0, "different: %r" % info)
rec.check(got["same"] >= 0.999 * decided, "only %r" % got)
rec.ok("%d of %d stacks are identical, none differs" %
       (got["same"], decided))
END

# A handler begins where the task leaves the kernel while the number of the
# system call that sent the signal is still there: no call lies before it.
# A sample there is seldom, so it is looked for up to five times.
: >titles
# shellcheck disable=SC2034 # of begin
NICE=10
begin signal ./stacks signal
begin signal ./stacks signal
for try in 1 2 3 4 5; do
	verify 150 -o b.dtp -c 50000
	py "$try" <<'END'
import sys
import subprocess
import recording as rec

starts = [int(line.split()[0], 16) for line in subprocess.check_output(
    ["nm", "stacks"], text=True).splitlines()
    if line.split()[-1] in ("on_second", "on_alarm")]
table = open("table").read()
rec.check("  identical" in table, table)
for at in starts:
    rec.check("stacks+0x%x," % at not in table, table)
# The programs are loaded where a page begins.
begun = sum(int(sample["user"][0], 16) & 0xfff in
            [at & 0xfff for at in starts]
            for sample in rec.samples("b.dtp") if sample["user"])
rec.check(begun > 0 or int(sys.argv[1]) < 5,
          "no sample at the beginning of a handler")
rec.ok("%d stacks begin where a handler does, none of them in two ways"
       % begun)
if begun > 0:
    open("begun", "w").close()
END
	[ -e begun ] && break
done
end_all
[ -e begun ] || fail "no sample at the beginning of a handler"

# Waits have no copy of the stack: nothing is said of a share of none.
"$DTPROF" record --verify -e off-cpu -o c.dtp -- sleep .01 2>err ||
    fail "$(cat err)"
grep -q '0 stacks were unwound by BPF and by libunwind$' err ||
    fail "$(cat err)"
