#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: by line each frame has the function whose line it is: of several
# that a macro makes in one line, each its own; of assembler, of which only
# lines are known, the symbol table's.
# Easy to get wrong: functions in one line are told apart by name alone; what
# has a line may have no name.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 nm readelf
tmpdir
cat >work.c <<'END'
#define MAKE(name, op) static inline __attribute__((always_inline)) int \
	name(volatile int *a) { *a op 77; *a op 78; return (*a); }
#define BOTH MAKE(one, +=) MAKE(two, -=)
BOTH
int last(volatile int *a) { return (*a); }
__asm__(".text\n.globl bare\n.type bare, %function\nbare: nop\nnop\nnop\n"
    "nop\nret\n.size bare, .-bare");
int main(int argc, char **argv)
{
	volatile int a = argc;

	return (one(&a) + two(&a) + (argv == 0));
}
END
${CC:-cc} -g -O1 -fno-toplevel-reorder -Wl,--build-id -o work work.c ||
    fail cc
PYTHONPATH=$SRC/tests/report python3 - <<'END' || fail "cannot write"
from perfdata import Program
work = Program("work")
work.write("main.data", [[("main", n)] for n in range(64)])
work.write("bare.data", [[("bare", 2)]] * 10)
END
for name in main bare; do
	expect 0 "$DTPROF" import -q -o $name.dtp $name.data
	expect 0 "$DTPROF" export --format speedscope --lines \
	    -o $name.json $name.dtp
	json $name.json '"\n".join(sorted({f["name"] + " " +
	    str(f.get("line")) for f in j["shared"]["frames"]}))' >$name.names
done
for name in one two; do
	grep -q "^$name 4$" main.names || fail "$name: $(cat main.names)"
done
ok "functions of one line"
grep -q '^bare ' bare.names || fail "bare: $(cat bare.names)"
expect 0 "$DTPROF" compare --by line bare.dtp -- bare.dtp
grep -q 'bare work\.c' out || fail "not by line: $(cat out)"
ok "assembler has the name of its symbol"
