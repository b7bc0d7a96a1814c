#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the perf maps of all JITs that a recording met share one budget of
# memory: of many that are floods some are left out, a note says how many, and
# one of an ordinary size has its names whatever the others are.
# Easy to get wrong: a limit for each map is none for a dozen of them.  A map in
# a mount namespace of its own is gone with the last process there, so all stay
# until the recording has ended.
. "${SRC:=$PWD}/tests/kern/lib-names.sh"
need_cmd cc unshare
[ "$(uname -m)" = x86_64 ] || skip "its code is for x86-64"
cat >jit.c <<'END2'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/*
 * mov %edi,%ecx; 16 times nop; dec %ecx; jnz -20; ret: so many addresses that
 * the order of maps by those that were sampled is not that by length.
 */
static const unsigned char code[] = { 0x89, 0xf9, 0x90, 0x90, 0x90, 0x90,
	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	0xff, 0xc9, 0x75, 0xec, 0xc3 };
/* jit NAME LINES DONE: a map of so many more functions. */
int main(int argc, char **argv)
{
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
	long n, lines = atol(argv[2]);
	clock_t until;
	FILE *map;

	memcpy(at, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx 1000 %s\n", (long)at, argv[1]);
	for (n = 0; n < lines; n++)
		fprintf(map, "%lx 1 a\n", 1 + n);
	fclose(map);
	/* What is written before may take as long. */
	until = clock() + 60000;
	do
		((void (*)(int))at)(20000);
	while (clock() < until);
	fclose(fopen(argv[3], "w"));
	/* Until nobody asks for the map any more. */
	return argc != 4 || read(0, path, 1) == -1;
}
END2
cc -O1 -o jit jit.c || fail "cc"
# 480,000 of these lines fit into 64 MB, and 1.9 million into 256 MB.
cat >work.sh <<'END2'
read -r go
for n in 1 2 3 4 5 6 7 8; do
	./jit flood 600000 done.$n <stay &
done
./jit ordinary 1000 done.9 <stay &
wait
END2
mkfifo go stay
exec 8<>go
done_all()
{
	[ "$(find . -name 'done.?' | wc -l)" -eq 9 ]
}

# How many maps were not read because of their size, and how many modules, maps
# among them, because the time was over.
measure()
{
	rm -f done.?
	exec 9<>stay
	unshare -m sh -c 'mount -t tmpfs none /tmp && exec sh work.sh' \
	    <go 8>&- 9>&- &
	shell=$!
	kill_at_end $shell
	# With its notes.
	"$DTPROF" record -o a.dtp -F 997 --call-graph fp -p $shell >out 2>err \
	    8>&- 9>&- &
	recorder=$!
	kill_at_end $recorder
	await_recording $recorder
	echo >&8
	await "all have run" done_all
	record_end 0
	exec 9>&-
	wait $shell
	large=$(sed -n \
	    's/.* \([0-9]*\) perf maps* of JITs exceeds* the memory.*/\1/p' err)
	late=$("$DTPROF" report --stats --json a.dtp | python3 -c \
	    'import json, sys
print(json.load(sys.stdin)["recording"]["info"]["names.late"])')
}

# On a busy machine the time may not be enough for all: measure again.
for try in 1 2 3 4 5; do
	measure
	[ "$late" -gt 0 ] || break
done
{ [ $((${large:-0} + late)) -ge 4 ] && [ "${large:-0}" -le 8 ]; } ||
    fail "of 8 floods ${large:-0} are too large, $late modules come too" \
	"late: $(cat err)"
"$names" a.dtp >names || fail "the tool"
grep -q '	ordinary$' names || fail "an ordinary map has no names"
ok "try $try: ${large:-0} of 8 floods are too large, $late modules come too" \
    "late; an ordinary one is read"
