#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: uprobe:FILE:FUNCTION@LINE fires as often as the program executes
# the line, optimized or not, where gdb would put a breakpoint; +OFFSET is
# refused for exactly those offsets at which objdump has no instruction.
#
# Easy to get wrong: a breakpoint within an instruction makes another one of it
# and kills the program; a line has several pieces of code, and the code of a
# line may belong to a function that is inlined there.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gcc gdb objdump
tmpdir

cat >lines.c <<'END'
#include <stdlib.h>
volatile long sink;
static inline __attribute__((always_inline)) void
half(long n)
{
	sink -= n / 2;
}
__attribute__((noinline)) void
work(long n)
{
	for (long i = 0; i < n; i++) {
		if (i % 3 == 0)
			sink += i;
		else
			half(i);
	}
	sink *= 2;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		work(i);
	return (0);
}
END
for level in -O0 -O2; do
	gcc $level -g -o lines lines.c || fail "gcc"
	"$DTPROF" stat --csv -o counts -e uprobe:./lines:work@13 \
	    -e uprobe:./lines:work@15,uprobe:./lines:work@17 \
	    -e uprobe:./lines:work+0 -- ./lines 50 2>err ||
	    fail "stat: $(cat err)"
	py $level <<'END'
import csv
import sys
import recording as rec
wanted = {"work@13": sum((i + 2) // 3 for i in range(50)),
          "work@15": sum(i - (i + 2) // 3 for i in range(50)),
          "work@17": 50, "work+0": 50}
got = {row["event"].split(":")[-1]: int(row["count"])
       for row in csv.DictReader(open("counts"))}
rec.check(got == wanted, "%s: %r, not %r" % (sys.argv[1], got, wanted))
rec.ok("gcc %s: %r" % (sys.argv[1], got))
END
done

# The kernel executes an endbr64 in another place: the probe is behind it.
if gcc -O0 -fcf-protection -o lines lines.c 2>/dev/null &&
    objdump -d --disassemble=work lines | grep -q endbr64; then
	"$DTPROF" list 'uprobe:./lines:work' | grep -q cheap ||
	    fail "$("$DTPROF" list 'uprobe:./lines:work')"
	record 0 -o e.dtp -e uprobe:./lines:work -- ./lines 50
	py <<'END'
import recording as rec
first = [sample["user_frames"][:2] for sample in rec.samples("e.dtp")]
rec.check(len(first) == 50 and all(
    at[0]["function"] == "work" and at[0]["offset"] == 4 and
    at[1]["function"] == "main" for at in first), "%r" % first[:2])
rec.ok("behind an endbr64 each call of main is counted")
END
fi
gcc -O2 -g -o lines lines.c || fail "gcc"
"$DTPROF" record -q -o a.dtp -e uprobe:./lines:work@17 -- ./lines 3 2>err ||
    fail "$(cat err)"
at=$("$DTPROF" script --json a.dtp | grep -o '"offset":[0-9]*' | head -n 1)
gdb -batch -ex 'info line 17' ./lines 2>/dev/null |
    grep -q "<work+${at#*:}>" || fail "gdb: line 17 is not at $at"
ok "line 17 is at $at, as gdb has it"

objdump -d --no-show-raw-insn --disassemble=work lines |
    sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' >addresses
offset=0
first=$((0x$(head -n 1 addresses)))
while [ $offset -lt 12 ]; do
	"$DTPROF" list "uprobe:./lines:work+$offset" >out 2>err
	has=0 says=0
	grep -q "^$(printf %x $((first + offset)))\$" addresses && has=1
	grep -q unavailable out || says=1
	[ $has -eq $says ] || fail "+$offset: objdump $has, list: $(cat out)"
	offset=$((offset + 1))
done
ok "an offset is a place where objdump has an instruction"

for bad in work@14 work@999 work+0x1000 'wor*@13' work@13/arg0/ \
    'work@13{arg0 == 1}' work@0; do
	expect 125 "$DTPROF" record -o n.dtp -e "uprobe:./lines:$bad" -- true
	grep -q hint err || fail "$bad: $(cat err)"
done
expect 125 "$DTPROF" record -o n.dtp -e uretprobe:./lines:work@13 -- true
ok "what is no place is refused"
