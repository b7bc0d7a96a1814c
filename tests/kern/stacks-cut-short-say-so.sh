#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Where frame information that does not hold leads to a return
# address of 0, at once or a frame later, the stack is said to be truncated,
# and never complete: walked in the kernel, by libunwind, both, and without
# BPF; with right frame information the same stack is complete.
#
# Easy to get wrong: 0 is what lies on stacks most, and it is also where the
# outermost frame returns to, if anybody looks.

. "${SRC:=$PWD}/tests/kern/lib-stacks.sh"
need_recording
need_cmd nm
tmpdir

for kind in right wrong later; do
	begin $kind "$work/last" $kind
done
while read -r pid kind; do
	await "$kind runs" [ "/proc/$pid/exe" -ef "$work/last" ]
done <titles

look()		# what argument ...
{
	what=$1
	shift
	"$DTPROF" record -e cpu-clock -c 500000 -o a.dtp "$@" \
	    -p "$(pids_begun)" 2>err 9>&- &
	recorder=$!
	kill_at_end "$recorder"
	await_recording "$recorder"
	compute 4
	record_end 0
	python3 "$SRC/tests/kern/cut.py" "$work/last" a.dtp <titles ||
	    fail "$what, see above"
	ok "$what: what is cut says so, what is whole as well"
}

look "walked in the kernel"
look "copied, walked by libunwind" --call-graph dwarf,4096
look "walked without BPF" --backend perf
look "walked both ways" --verify
cat err
py <<'END'
import recording as rec

info = rec.report("a.dtp")["recording"]["info"]
got = {k[7:]: int(v) for k, v in info.items()
       if k.startswith("verify.") and k.count(".") == 1}
rec.check(got["same"] >= 60 and not got["differ"] and not got["earlier"] and
          not got["further"], "%r" % got)
rec.ok("%d stacks end in both walks where they do in the other" %
       got["same"])
END
