#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: annotate --base shows the same rows with the same instructions
# wherever either side had the program in memory, and whichever side has the
# first of the places.
# Easy to get wrong: a place of the base looked up in what the new side mapped;
# without address randomisation, both have all at the same address.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 objdump readelf "${CC:=gcc}"
tmpdir
"$CC" -w -O2 -g -no-pie -Wl,--build-id -o hot "$SRC/tests/work/hot.c" ||
    fail "compiling"
# perf.data with three samples at each instruction of work, but the first.
cat >write.py <<'END'
import os, re, sys
sys.path.append(os.environ["SRC"] + "/tests/report")
from perfdata import Program, said

name, base, skip = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3])
program = Program("hot", base)
code = [int(m, 16) - program.symbols["work"] for m in re.findall(
    r"(?m)^ +([0-9a-f]+):\t", "\n".join(said(
    "objdump", "-d", "--disassemble=work", program.path)))][skip:]
assert len(code) > 10, code
program.write(name + ".data", [[("work", at)] for at in 3 * code])
END
for side in 'new 400000 4' 'here 400000 0' \
    'elsewhere 500000 0'; do
	# shellcheck disable=SC2086 # a name and two numbers
	python3 write.py $side || fail "writing"
	expect 0 "$DTPROF" import -q -o "${side%% *}.dtp" "${side%% *}.data"
done
rows()		# base new
{
	expect 0 "$DTPROF" annotate --json --base "$1.dtp" work "$2.dtp"
	json out '"\n".join(map(str, j["rows"]))'
}
rows here new >wanted
rows elsewhere new >got
n=$(grep -c "'code'.*'text'" wanted)
[ "$n" -gt 10 ] || fail "instructions: $(cat wanted)"
cmp wanted got || fail "a base elsewhere: $(diff wanted got | head -n 4)"
rows new here >wanted
rows new elsewhere >got
cmp wanted got || fail "what is new elsewhere: $(diff wanted got | head -n 4)"
ok "$n instructions, wherever they lay"
