/*
 * ASSERTION: Whatever an ELF file says, the unwind table made of it is made
 * in bounded time and memory, and is one in which the kernel's search stays
 * inside: rows in order, the index too, rules that exist.
 *
 * Input: the file; or, when its first byte is 1, a section: four bytes that
 * choose (bit 0 .debug_frame from the start, else from 16 times the third byte
 * on; bit 1 up to the entry of length 0; bit 2 arm64), and the bytes.
 */
/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "elf/unwind_table.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* What sys/unwind.bpf.h relies on. */
static void
look_at(const struct prof_unwind_table *table)
{
	size_t n, row;

	if (table->ut_nindex != (table->ut_span >> DTP_UW_BUCKET_BITS) + 2 ||
	    table->ut_index[0] < 1 || (table->ut_base & 0xffff) != 0 ||
	    table->ut_rows[0] != (uint32_t)DTP_UW_END << 16)
		abort();
	for (n = 0; n + 1 < table->ut_nindex; n++) {
		if (table->ut_index[n] > table->ut_index[n + 1] ||
		    table->ut_index[n + 1] > table->ut_nrows)
			abort();
		for (row = table->ut_index[n]; row + 1 <
		    table->ut_index[n + 1]; row++)
			if ((table->ut_rows[row] & 0xffff) >=
			    (table->ut_rows[row + 1] & 0xffff))
				abort();
	}
	for (n = 0; n < table->ut_nrows; n++)
		if (table->ut_rows[n] >> 16 >= DTP_UW_RULES +
		    table->ut_nentries)
			abort();
}

/* At the edges of each KiB, and outside. */
static void
search(const struct prof_unwind_table *table)
{
	uint64_t off;

	for (off = 0; off <= table->ut_span && off < 1 << 20; off += 511)
		(void)prof_unwind_table_find(table, table->ut_base + off);
	if (prof_unwind_table_find(table, table->ut_base - 1) != DTP_UW_END ||
	    prof_unwind_table_find(table, table->ut_base + table->ut_span) !=
	    DTP_UW_END)
		abort();
}

/* Rows come in order of their address within a function, and are sane. */
static int
on_row(void *arg, uint64_t pc, const struct prof_cfi_rule *rule)
{
	(void)pc;
	++*(size_t *)arg;
	if (rule->cr_cfa > PROF_CFA_OTHER || rule->cr_fp > PROF_SAVED_LOST ||
	    rule->cr_ra > PROF_SAVED_LOST || rule->cr_bx > PROF_SAVED_LOST)
		abort();
	return (0);
}

static void
section(const uint8_t *bytes, size_t size)
{
	const size_t debug_from = bytes[1] & 1 ? 0 : bytes[2] == 0 ? SIZE_MAX :
	    bytes[2] * 16UL;
	struct prof_cfi_input input = {
	    .ci_debug = debug_from < size - 4 ? debug_from : size - 4,
	    .ci_to_zero = bytes[1] & 2, .ci_bytes = bytes + 4,
	    .ci_size = size - 4, .ci_address = 0x10000,
	    .ci_machine = bytes[1] & 4 ? PROF_MACHINE_AARCH64 :
	    PROF_MACHINE_X86_64 };
	struct prof_cfi_stats stats;
	size_t rows = 0;

	if (prof_cfi_compile(&input, on_row, &rows, &stats) == 0 &&
	    rows > 2 * size)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct prof_unwind_table *table;
	struct prof_elf elf;
	uint8_t *bytes;

	/* Behind the bytes is nothing. */
	if (size < 4 || (bytes = malloc(size)) == NULL)
		return (0);
	memcpy(bytes, input, size);
	if (bytes[0] == 1)
		section(bytes, size);
	else if (prof_elf_memory(&elf, bytes, size) == 0) {
		table = prof_unwind_table_new(&elf);
		if (table != NULL) {
			look_at(table);
			search(table);
		}
		prof_unwind_table_free(table);
		prof_elf_close(&elf);
	}
	free(bytes);
	return (0);
}
