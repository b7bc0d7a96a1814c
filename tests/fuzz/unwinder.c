/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: with a file of any call frame information, any registers and
 * any stack a walk in user space ends, soon, with frames that lie in the
 * mapping (but the last, which may be anywhere).
 *
 *	| pc, in the file (2 bytes) | stack (256 bytes) | ELF file |
 *
 * The stack's words are taken as offsets from the mapping or the stack, so
 * that they often lead somewhere.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/processes.h"
#include "stacks/snapshot.h"

#define STACK		0x7ffd00000000ULL
#define TEXT		0x555500000000ULL
#define STACK_BYTES	256
#define MAX_FILE	(1U << 20)
#define RUNS		2000	/* of one unwinder, which remembers files */

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct prof_objects *objects;
static struct prof_unwinder *unwinder;

/* Each run has a file of its own. */
static void
renew(void)
{
	static unsigned runs;

	if (runs++ % RUNS != 0)
		return;
	prof_unwinder_free(unwinder);
	prof_objects_free(objects);
	objects = prof_objects_new();
	unwinder = prof_unwinder_new(objects);
	if (unwinder == NULL)
		abort();
}

static struct prof_record
mapping_of(int fd, size_t length, char *path, size_t size)
{
	static uint64_t number;
	struct stat st;

	if (fstat(fd, &st) == -1)
		abort();
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return ((struct prof_record){ .pr_type = PROF_R_MMAP,
	    .pr_pid = (uint32_t)getpid(), .pr_addr = TEXT, .pr_len = length,
	    .pr_path = path, .pr_ino = st.st_ino,
	    .pr_dev = ++number });
}

static void
walk(const uint8_t *input, const struct prof_record *mapping,
    uint64_t version)
{
	struct prof_spaces *spaces = prof_spaces_new(objects,
	    PROF_PROCESSES_ALL);
	const uint64_t length = mapping->pr_len;
	struct prof_space space;
	struct prof_snapshot snapshot = { .sn_known = PROF_ALL_REGS,
	    .sn_base = STACK, .sn_bytes = STACK_BYTES };
	uint64_t stack[STACK_BYTES / 8];
	static struct prof_walk result;
	size_t n;

	if (spaces == NULL || prof_spaces_observe(spaces, mapping) == -1 ||
	    !prof_spaces_find(spaces, mapping->pr_pid, 0, &space))
		abort();
	space.ss_version = version;
	memcpy(stack, input + 2, sizeof(stack));
	for (n = 0; n < STACK_BYTES / 8; n++)
		stack[n] = (stack[n] & 1 ? TEXT : STACK) + (stack[n] & 0xffff);
	snapshot.sn_stack = (const uint8_t *)stack;
	for (n = 0; n < PROF_REGS; n++)
		snapshot.sn_reg[n] = stack[n % (STACK_BYTES / 8)];
	snapshot.sn_reg[PROF_REG_SP] = STACK;
	snapshot.sn_reg[PROF_REG_PC] = TEXT + (uint64_t)(input[0] |
	    input[1] << 8);
	prof_unwinder_walk(unwinder, mapping->pr_pid, &space, &snapshot,
	    &result);
	if (result.wk_n == 0 || result.wk_n > DTP_MAX_UFRAMES ||
	    result.wk_status >= PROF_STACK_NSTATUS)
		abort();
	for (n = 0; n + 1 < result.wk_n; n++)
		if (result.wk_frame[n] - 1 - TEXT >= length &&
		    result.wk_frame[n] - TEXT >= length)
			abort();
	prof_spaces_free(spaces);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static uint64_t version;
	struct prof_record mapping;
	char path[64];
	int fd;

	if (size < 2 + STACK_BYTES + 64 || size > MAX_FILE)
		return (0);
	renew();
	fd = memfd_create("unwinder", 0);
	if (fd == -1 || write(fd, input + 2 + STACK_BYTES, size - 2 -
	    STACK_BYTES) == -1)
		abort();
	mapping = mapping_of(fd, 0x10000, path, sizeof(path));
	walk(input, &mapping, ++version);
	close(fd);
	return (0);
}
