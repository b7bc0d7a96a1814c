/* SPDX-License-Identifier: ISC */
/*
 * Reads the call frame information of a few functions of a file by the search
 * table of its header (.eh_frame_hdr), which loaders use, instead of all of a
 * section.  Called by stacks/objects.c, in a parser.
 *
 * The table is not trusted: an entry that it leads to must cover the place
 * that was asked for.  What it does not find is for the caller to look for in
 * the whole section.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"
#include "unwind_table.h"

#define MAX_ENTRY	65536u	/* bytes; of a larger one all is read */

#define FIRST_READ	128u	/* most are smaller */

/* Header: version, encodings of address, count and table; then these. */
#define HEADER_BYTES	12u
struct row {
	int32_t		 rw_start;	/* of a function */
	int32_t		 rw_entry;
};

struct table {
	struct prof_elf	*tb_elf;
	uint64_t	 tb_offset;	/* of the first row, in the file */
	uint64_t	 tb_address;	/* to which rows are relative */
	size_t		 tb_nrows;
	struct row	 tb_row[64];	/* some that were read: */
	size_t		 tb_first;
	size_t		 tb_n;
};

/* An entry with its CIE, laid out as a section of just these. */
struct section {
	uint8_t		*se_bytes;	/* 2 * MAX_ENTRY */
	uint64_t	 se_cie_at;	/* its address ... */
	size_t		 se_cie;	/* ... and bytes; 0: none yet */
	struct prof_cfi_input se_in;
};

/* What is gathered. */
struct gathered {
	struct prof_frames *ga_frames;
	uint8_t		*ga_bytes;
	size_t		 ga_cap_bytes;
	size_t		 ga_cap_entries;
	uint64_t	 ga_end;	/* of the last function */
};

static bool
table_open(struct table *table, struct prof_elf *elf)
{
	static const uint8_t known[] = { 1, 0x1b, 0x03, 0x3b };
	uint8_t header[HEADER_BYTES];
	struct prof_elf_part part;
	Elf64_Phdr ph = { 0 };
	uint32_t nrows;
	size_t n;

	for (n = 0; prof_elf_segment(elf, n, &ph); n++)
		if (ph.p_type == PT_GNU_EH_FRAME)
			break;
	if (ph.p_type != PT_GNU_EH_FRAME ||
	    !prof_elf_at(elf, ph.p_vaddr, &part) ||
	    part.pp_size < HEADER_BYTES ||
	    !prof_elf_read(elf, part.pp_offset, header, HEADER_BYTES) ||
	    memcmp(header, known, sizeof(known)) != 0)
		return (false);
	memcpy(&nrows, header + 8, sizeof(nrows));
	memset(table, 0, sizeof(*table));
	table->tb_elf = elf;
	table->tb_offset = part.pp_offset + HEADER_BYTES;
	table->tb_address = ph.p_vaddr;
	table->tb_nrows = nrows;
	return (nrows <= (part.pp_size - HEADER_BYTES) / sizeof(struct row));
}

/* The n-th row, read with those behind it; of a file that was cut, zeros. */
static struct row
row_at(struct table *table, size_t n)
{
	const size_t most = sizeof(table->tb_row) / sizeof(table->tb_row[0]);
	const size_t left = table->tb_nrows - n;

	if (n < table->tb_first || n >= table->tb_first + table->tb_n) {
		table->tb_first = n;
		table->tb_n = left < most ? left : most;
		if (!prof_elf_read(table->tb_elf, table->tb_offset + n *
		    sizeof(struct row), table->tb_row, table->tb_n *
		    sizeof(struct row)))
			memset(table->tb_row, 0, sizeof(table->tb_row));
	}
	return (table->tb_row[n - table->tb_first]);
}

/* How many functions begin up to an address: blocks first, then in one. */
static size_t
rows_before(struct table *table, uint64_t address)
{
	const size_t most = sizeof(table->tb_row) / sizeof(table->tb_row[0]);
	const int64_t off = (int64_t)(address - table->tb_address);
	const size_t block = PROF_BEFORE(i, (table->tb_nrows + most - 1) /
	    most, row_at(table, i * most).rw_start <= off);
	const size_t first = block == 0 ? 0 : (block - 1) * most;
	const size_t left = table->tb_nrows - first;

	return (block == 0 ? 0 : first + PROF_BEFORE(i, left < most ? left :
	    most, row_at(table, first + i).rw_start <= off));
}

/* One CIE or FDE as it stands; bytes of it, or 0. */
static size_t
entry_read(struct prof_elf *elf, uint64_t address, uint8_t *to)
{
	struct prof_elf_part part;
	uint32_t length;
	size_t size, first;

	if (!prof_elf_at(elf, address, &part) || part.pp_size < 4)
		return (0);
	first = part.pp_size < FIRST_READ ? part.pp_size : FIRST_READ;
	if (!prof_elf_read(elf, part.pp_offset, to, first))
		return (0);
	memcpy(&length, to, sizeof(length));
	size = length + sizeof(length);
	if (length < 8 || size > MAX_ENTRY || size > part.pp_size ||
	    (size > first && !prof_elf_read(elf, part.pp_offset, to, size)))
		return (0);
	return (size);
}

/* CIE, then FDE, which gets its place for what is relative to that. */
static bool
section_make(struct section *se, struct prof_elf *elf, uint64_t address)
{
	uint8_t *const fde = se->se_bytes + MAX_ENTRY;
	const size_t size = entry_read(elf, address, fde);
	uint32_t id;

	if (size == 0)
		return (false);
	memcpy(&id, fde + 4, sizeof(id));
	if (se->se_cie == 0 || se->se_cie_at != address + 4 - id) {
		se->se_cie_at = address + 4 - id;
		se->se_cie = entry_read(elf, se->se_cie_at, se->se_bytes);
	}
	if (se->se_cie == 0)
		return (false);
	id = (uint32_t)se->se_cie + 4;
	memcpy(fde + 4, &id, sizeof(id));
	memmove(se->se_bytes + se->se_cie, fde, size);
	se->se_in.ci_bytes = se->se_bytes;
	se->se_in.ci_size = se->se_in.ci_debug = se->se_cie + size;
	se->se_in.ci_address = address - se->se_cie;
	return (true);
}

/* Behind the others.  -1: no memory. */
static int
gathered_add(struct gathered *ga, const struct section *se,
    const struct prof_cfi_entry *entry)
{
	struct prof_frames *frames = ga->ga_frames;
	const uint32_t from = (uint32_t)frames->fm_size;
	struct prof_cfi_entry *to;

	if (!prof_room(&ga->ga_bytes, &ga->ga_cap_bytes,
	    frames->fm_size + se->se_in.ci_size, 1))
		return (-1);
	to = prof_grow(&frames->fm_entry, &frames->fm_nentries,
	    &ga->ga_cap_entries, sizeof(*to));
	if (to == NULL)
		return (-1);
	memcpy(ga->ga_bytes + from, se->se_in.ci_bytes, se->se_in.ci_size);
	frames->fm_size += se->se_in.ci_size;
	ga->ga_end = entry->en_end;
	*to = *entry;
	to->en_initial += from;
	to->en_initial_end += from;
	to->en_program += from;
	to->en_program_end += from;
	return (0);
}

/* The entry that covers an address, if it is there.  -1: no memory. */
static int
look_up(struct table *table, uint64_t address, struct section *se,
    struct gathered *ga)
{
	struct prof_cfi_entry *entry = NULL;
	size_t n, count;
	int rv = 0;

	/* Places come in order, and entries stay in it. */
	if (address < ga->ga_end)
		return (0);
	n = rows_before(table, address);
	if (n == 0 || !section_make(se, table->tb_elf, table->tb_address +
	    (uint64_t)(int64_t)row_at(table, n - 1).rw_entry))
		return (0);
	if (prof_cfi_entries(&se->se_in, &entry, &count) == -1)
		return (-1);
	if (count == 1 && entry->en_start >= ga->ga_end &&
	    entry->en_start <= address && address < entry->en_end)
		rv = gathered_add(ga, se, entry);
	free(entry);
	return (rv);
}

int
prof_unwind_frames_some(struct prof_elf *elf, const uint64_t *places,
    size_t nplaces, struct prof_frames *frames)
{
	struct gathered ga = { .ga_frames = frames };
	struct section se = { .se_in.ci_machine =
	    elf->el_machine == EM_X86_64 ? PROF_MACHINE_X86_64 :
	    PROF_MACHINE_AARCH64 };
	struct table table;
	uint64_t address;
	size_t n;
	int rv = 0;

	memset(frames, 0, sizeof(*frames));
	if (!table_open(&table, elf) ||
	    (se.se_bytes = malloc(2 * MAX_ENTRY)) == NULL)
		return (-1);
	for (n = 0; rv == 0 && n < nplaces; n++) {
		address = prof_elf_address(elf, places[n]);
		if (address != 0)
			rv = look_up(&table, address, &se, &ga);
	}
	free(se.se_bytes);
	frames->fm_bytes = ga.ga_bytes;
	if (rv == -1) {
		free(frames->fm_entry);
		free(ga.ga_bytes);
	}
	return (rv);
}
