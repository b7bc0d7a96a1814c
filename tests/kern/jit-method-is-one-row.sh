#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a method that a JIT compiled again, elsewhere, is one row in report
# and one frame in exports, with the sum of its copies, as compare has it;
# report --by address tells the copies apart, and they add up to the same.
# Easy to get wrong: functions of equal names in one file are not one.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3
[ "$(uname -m)" = x86_64 ] || skip "its code is for x86-64"
tmpdir
cat >jit.c <<'END2'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* mov %edi,%ecx; dec %ecx; jnz -4; ret */
static const unsigned char code[] =
	{ 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
int main(void)
{
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	for (int i = 0; i < 3; i++) {
		memcpy(at + 256 * i, code, sizeof(code));
		fprintf(map, "%lx %zx method\n", (long)(at + 256 * i),
		    sizeof(code));
	}
	fclose(map);
	while (clock() < CLOCKS_PER_SEC / 4)
		for (int i = 0; i < 3; i++)
			((void (*)(int))(void *)(at + 256 * i))(20000);
	return (0);
}
END2
${CC:-cc} -O1 -o jit jit.c || fail cc
expect 0 "$DTPROF" record -q -e cpu-clock -F 997 -o x.dtp -- ./jit
expect 0 "$DTPROF" report --json x.dtp
json out '[(f["self"], f["samples"]) for f in j["functions"]
    if f["name"] == "method"]' >whole
[ "$(json out 'len([f for f in j["functions"]
    if f["name"] == "method"])')" = 1 ] || fail "rows: $(cat whole)"
expect 0 "$DTPROF" compare --json x.dtp -- x.dtp
json out '[(int(f["mean"][0]), 0) for f in j["comparisons"][0]["functions"]
    if f["name"] == "method"]' >compared
[ "$(cut -d , -f 1 whole)" = "$(cut -d , -f 1 compared)" ] ||
    fail "report $(cat whole), compare $(cat compared)"
ok "one row: $(cat whole)"
expect 0 "$DTPROF" report --by address --json x.dtp
json out '[r["self"] for r in j["rows"]
    if r["name"].startswith("method 0x")]' >copies
[ "$(json copies 'len(j)')" = 3 ] || fail "copies: $(cat copies)"
[ "[($(json copies 'sum(j)')" = "$(cut -d , -f 1 whole)" ] ||
    fail "copies $(cat copies), whole $(cat whole)"
ok "three copies: $(cat copies)"
