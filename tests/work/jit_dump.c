/* SPDX-License-Identifier: ISC */
/*
 * Makes code, tells of it in jit-PID.dump in its directory, and runs it: 70 %
 * of its time in "hot", 30 % in "cold"; then in "first", "second" and "first"
 * again, which lie at the same place, one after the other.  x86-64.
 *
 * usage: jit_dump [old]	old: no dump is mapped, so nobody hears of it
 */
#include <sys/mman.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	40

/* push rbp; mov rbp, rsp; mov ecx, n; dec ecx; jnz; pop rbp; ret */
static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0, 0, 0, 0,
    0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

struct header {
	uint32_t	magic, version, size, machine, pad, pid;
	uint64_t	time, flags;
};

struct load {
	uint32_t	kind, size;
	uint64_t	time;
	uint32_t	pid, tid;
	uint64_t	vma, address, bytes, number;
};

static int dump;

static uint64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

static void
make(uint8_t *at, uint32_t turns, const char *name, uint64_t number)
{
	const uint32_t n = (uint32_t)strlen(name) + 1;
	struct load load = { .kind = 0, .time = now(),
	    .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid(),
	    .vma = (uintptr_t)at, .address = (uintptr_t)at,
	    .bytes = sizeof(code), .number = number };

	load.size = (uint32_t)(sizeof(load) + n + sizeof(code));
	memcpy(at, code, sizeof(code));
	memcpy(at + 5, &turns, sizeof(turns));
	if (write(dump, &load, sizeof(load)) != sizeof(load) ||
	    write(dump, name, n) != (ssize_t)n ||
	    write(dump, code, sizeof(code)) != sizeof(code))
		_exit(1);
}

static void
run(uint8_t *at)
{
	void (*function)(void);

	memcpy(&function, &at, sizeof(function));
	function();
}

int
main(int argc, char **argv)
{
	const struct header header = { 0x4a695444, 1, sizeof(header), 62, 0,
	    (uint32_t)getpid(), now(), 0 };
	uint8_t *area = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];

	(void)argv;
	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	dump = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (area == MAP_FAILED || dump == -1 ||
	    write(dump, &header, sizeof(header)) != sizeof(header) ||
	    (argc == 1 && mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
	    dump, 0) == MAP_FAILED))
		return (1);
	make(area, 14000000, "hot", 1);
	make(area + 4096, 6000000, "cold", 2);
	for (int n = 0; n < ROUNDS; n++) {
		run(area);
		run(area + 4096);
	}
	make(area + 8192, 100000000, "first", 3);
	run(area + 8192);
	make(area + 8192, 100000000, "second", 4);
	run(area + 8192);
	make(area + 8192, 100000000, "first", 5);
	run(area + 8192);
	return (0);
}
