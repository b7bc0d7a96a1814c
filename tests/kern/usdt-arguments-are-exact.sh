#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: A static probe fires at each of its places with the arguments that
# the program passed, whatever the form of the operand, also where a semaphore
# guards it, which is 0 again afterwards; a filter decides by them.  Registers
# of a function's arguments are those that gdb sees, in 1,000 calls of a second
# run, and the text that they point to is the program's, or is said not to have
# been read.
#
# Easy to get wrong: a half register is cut with its sign, a constant is no
# address, another place of the same probe has other operands, and the counter
# of a semaphore is in the file's data, not at its address.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gcc gdb
[ "$(uname -m)" = x86_64 ] || skip "operands of another machine"
tmpdir

gcc -O1 -o usdt "$SRC/tests/work/probed/usdt.c" || fail "gcc"
record 0 -o a.dtp -e usdt:./usdt:mine:registers \
    -e "usdt:./usdt:mine:memory/arg0,arg1,arg2,arg3,arg4,str(arg5),arg6/" \
    -e U:./usdt:guarded -- ./usdt 50
cp out said
./usdt 50 >without
record 0 -o f.dtp --filter 'arg0 > 0 && arg3 == 239' \
    -e usdt:./usdt:mine:registers -- ./usdt 50

# Functions: the first thousand calls of puts, write and the like.
record 0 -o g.dtp -e 'uprobe:libc:printf/str(arg0),arg1,arg2,arg3,arg4,arg5/' \
    -- ./usdt 500
cat >gdb.in <<'END'
set pagination off
set confirm off
set disable-randomization on
break printf
commands
silent
printf "AT %ld %ld %ld %ld %ld %s\n", $rsi, $rdx, $rcx, $r8, $r9, (char *)$rdi
continue
end
run 500 >/dev/null
quit
END
gdb -q -batch -x gdb.in ./usdt >gdb.out 2>gdb.err || fail "gdb"

py <<'END'
import re
import recording as rec

lines = open("said").read().splitlines()
said = []
for line in lines[:-1]:
    a, b, c, d, local, half, at, text, first = re.match(
        r'(\S+) (\S+) (\S+) (\S+) (\S+) (\S+) (\S+) "(.*)" (\S+)',
        line).groups()
    said.append([int(x) for x in (a, b, c, d, local, half, at)] +
                [text, int(first)])
n = len(said)
rows = rec.balance("a.dtp")
events = {}
for sample in rec.samples("a.dtp"):
    events.setdefault(sample["event"].split(":")[-1].split("/")[0],
                      []).append(list(sample["args"].values()))
rec.check(events["registers"] == [s[:4] for s in said],
          "registers: %r" % events["registers"][:3])
memory = []
for a, b, c, d, local, half, at, text, first in said:
    memory.append([local, half, 77, -7, at, text, first])
    memory.append([5, 6, 7, 8, None, text, first])
for got, wanted in zip(events["memory"], memory):
    wanted = [g if w is None else w for g, w in zip(got, wanted)]
    rec.check(got == wanted, "memory: %r, not %r" % (got, wanted))
rec.check(len(events["memory"]) == 2 * n, "as many as there are")
rec.check(events["guarded"] == [s[:1] for s in said] and
          lines[-1] == str(n), "guarded: %d of %s" %
          (len(events["guarded"]), lines[-1]))
rec.check(open("without").read().splitlines()[-1] == "0",
          "its semaphore is not 0 afterwards")
rec.check(all(row["arg_fault"] == 0 for row in rows.values()), "faults")
rec.ok("%d firings have the program's arguments" % (4 * n))

kept = [s for s in said if s[0] > 0 and s[3] == 239]
got = rec.samples("f.dtp")
rec.check(0 < len(kept) < n and [list(s["args"].values()) for s in got] ==
          [s[:4] for s in kept], "the filter kept %d" % len(got))
rec.ok("a filter kept the %d that it should" % len(kept))

seen = re.findall(r"^AT (\S+) (\S+) (\S+) (\S+) (\S+) (.*)",
                  open("gdb.out").read(), re.M)
got = [list(s["args"].values()) for s in rec.samples("g.dtp")]
rec.check(len(seen) == len(got) >= 500, "gdb saw %d, we %d" %
          (len(seen), len(got)))
for one, other in zip(seen, got):
    # Addresses differ from run to run: numbers that are none must not.
    numbers = [int(x) for x in one[:5]]
    for mine, theirs in zip(other[1:], numbers):
        rec.check(mine == theirs or min(abs(mine), abs(theirs)) > 1 << 40,
                  "%r, but gdb has %r" % (other, one))
    rec.check(other[0].rstrip("\n").startswith(one[5][:40]),
              "%r, but gdb has %r" % (other[0], one[5]))
rec.ok("arguments of %d calls are those that gdb sees" % len(got))
END

# Notes that are wrong are refused, and say why.
python3 - <<'END' || fail "no note"
import re
image = open("usdt", "rb").read()
at = image.find(b"stapsdt\0", image.find(b"stapsdt\0"))
# Those of 'registers' come first: its place, then its size.
note = image.index(b"mine\0registers\0")
def write(name, where, data):
    changed = bytearray(image)
    changed[where:where + len(data)] = data
    open(name, "wb").write(bytes(changed))
write("place", note - 24, b"\xff" * 8)
write("semaphore", note - 8, b"\xff" * 8)
write("cut", note - 24 - 16, b"\xff\xff\xff\x7f")
END
for what in place:code semaphore:data cut:shorter; do
	expect 125 "$DTPROF" record -o x.dtp \
	    -e "usdt:./${what%:*}:mine:registers" -- true
	expect_err "${what#*:}" "a note whose ${what%:*} is wrong"
done
ok "damaged notes are refused by what is wrong"

# Text in a page that nobody has touched is not there to be read.
printf '%4096sunseen' '' >text
cat >page.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

int
main(void)
{
	const char *text = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE,
	    open("text", O_RDONLY), 0);

	for (int i = 0; i < 2; i++)
		printf("%s\n", text + 4096);
	return (0);
}
END
gcc -O1 -fno-builtin -o page page.c || fail "gcc"
expect 0 "$DTPROF" trace --json -e 'uprobe:libc:printf/str(arg1)/' -o calls \
    -- ./page
expect_err 'note: .*: 1 argument could not be read and is 0 or empty'
grep -o '"str(arg1)":"[a-z]*"' calls >texts
printf '"str(arg1)":"%s"\n' '' unseen | cmp - texts || fail "$(cat texts)"
ok "an argument that could not be read is said to be"
