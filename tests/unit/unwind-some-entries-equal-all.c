/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: What is read of a file for some places by the loader's search
 * table is what reading all of its call frame information finds there: the
 * same functions with the same programs.  A table that lies leads to nothing
 * that does not cover its place.
 *
 * Easy to get wrong: addresses in an entry are relative to where it lay, and
 * its CIE is found by a distance.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "elf/unwind_table.h"

#define PLACES	500

/* A file, and all that it says. */
static struct prof_elf elf;
static struct prof_cfi_input input;
static struct prof_cfi_entry *all;
static size_t nall;
static uint8_t *bytes;
static size_t size;

static uint64_t place[PLACES];
static struct prof_frames some;

static void
file_open(const char *path)
{
	const int fd = open(path, O_RDONLY);
	struct stat st;

	CHECK(fd != -1 && fstat(fd, &st) == 0, "%s cannot be opened", path);
	size = (size_t)st.st_size;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(bytes != MAP_FAILED, "%s cannot be mapped", path);
	close(fd);
	CHECK(prof_elf_memory(&elf, bytes, size) == 0 &&
	    prof_unwind_frames(&elf, &input) &&
	    prof_cfi_entries(&input, &all, &nall) == 0 && nall > 0,
	    "%s: nothing is read", path);
}

static void
file_close(void)
{
	free(all);
	prof_elf_close(&elf);
	munmap(bytes, size);
}

/* The offset in the file of an address of its code; 0: it is none. */
static uint64_t
offset_of(uint64_t address)
{
	Elf64_Phdr ph;
	size_t n;

	for (n = 0; prof_elf_segment(&elf, n, &ph); n++)
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) &&
		    address - ph.p_vaddr < ph.p_filesz)
			return (address - ph.p_vaddr + ph.p_offset);
	return (0);
}

/* Places in functions, evenly drawn: first byte, last one, or between. */
static size_t
places_choose(void)
{
	const size_t step = (nall / PLACES + 1) | 1;	/* in all residues */
	size_t n, count = 0;

	for (n = 0; n < nall; n += step) {
		const struct prof_cfi_entry *en = &all[n];
		const uint64_t length = en->en_end - en->en_start;
		const uint64_t offset = offset_of(en->en_start +
		    (n % 3 == 0 ? 0 : n % 3 == 1 ? length - 1 : length / 2));

		/* Another one may begin before this one ends. */
		if (offset != 0 && (n + 1 == nall ||
		    en->en_end <= en[1].en_start))
			place[count++] = offset;
	}
	CHECK(count > 10, "%zu places of %zu entries", count, nall);
	return (count);
}

static bool
is_same(const struct prof_cfi_entry *a, const struct prof_cfi_entry *b)
{
	const size_t initial = a->en_initial_end - a->en_initial;
	const size_t program = a->en_program_end - a->en_program;

	return (a->en_start == b->en_start && a->en_end == b->en_end &&
	    a->en_code_align == b->en_code_align &&
	    a->en_data_align == b->en_data_align &&
	    a->en_signal == b->en_signal &&
	    initial == b->en_initial_end - b->en_initial &&
	    program == b->en_program_end - b->en_program &&
	    memcmp(some.fm_bytes + a->en_initial,
	    input.ci_bytes + b->en_initial, initial) == 0 &&
	    memcmp(some.fm_bytes + a->en_program,
	    input.ci_bytes + b->en_program, program) == 0);
}

/* Each that was read is one of all, in order, and covers the next place. */
static void
some_compare(size_t nplaces)
{
	size_t n, m = 0, p = 0;
	uint64_t from, to;

	for (n = 0; n < some.fm_nentries; n++) {
		while (m < nall && !is_same(&some.fm_entry[n], &all[m]))
			m++;
		CHECK(m < nall, "entry %zu is in no place of the file", n);
		from = offset_of(some.fm_entry[n].en_start);
		to = from + some.fm_entry[n].en_end -
		    some.fm_entry[n].en_start;
		while (p < nplaces && place[p] < from)
			p++;
		CHECK(p < nplaces && place[p] < to, "entry %zu covers none", n);
	}
	free(some.fm_entry);
	free((void *)(uintptr_t)some.fm_bytes);
}

static void
test_file(const char *path)
{
	size_t nplaces;

	file_open(path);
	nplaces = places_choose();
	CHECK(prof_unwind_frames_some(&elf, place, nplaces, &some) == 0,
	    "%s: there is no table", path);
	CHECK(some.fm_nentries == nplaces, "%s: %zu entries of %zu places",
	    path, some.fm_nentries, nplaces);
	some_compare(nplaces);
	OK("%s: %zu of %zu entries, as all that is read says", path, nplaces,
	    nall);
	file_close();
}

/* Where the search table lies in the bytes. */
static uint8_t *
header_find(void)
{
	struct prof_elf_part part;
	Elf64_Phdr ph;
	size_t n;

	for (n = 0; prof_elf_segment(&elf, n, &ph); n++)
		if (ph.p_type == PT_GNU_EH_FRAME &&
		    prof_elf_at(&elf, ph.p_vaddr, &part))
			return (bytes + part.pp_offset);
	CHECK(false, "no header");
	return (NULL);
}

/* Each row leads to a wrong entry, the first to none at all. */
static void
rows_forge(uint8_t *header)
{
	int32_t row[2];
	uint32_t count;

	memcpy(&count, header + 8, sizeof(count));
	for (uint32_t n = 0; n < count; n++) {
		memcpy(row, header + 12 + 8 * n, sizeof(row));
		if (n % 4 == 0)
			row[1] = INT32_MAX;	/* not in the file */
		else if (n % 4 == 1)
			row[1] += 4;		/* not where one begins */
		else
			row[0] -= 64;		/* another's, mostly */
		memcpy(header + 12 + 8 * n, row, sizeof(row));
	}
}

static void
test_lies(const char *path)
{
	const uint32_t many = UINT32_MAX;
	size_t nplaces, found;
	uint8_t *header, kept;
	uint32_t count;

	file_open(path);
	nplaces = places_choose();
	header = header_find();
	kept = header[3];
	header[3] = 0x1b;
	CHECK(prof_unwind_frames_some(&elf, place, nplaces, &some) == -1,
	    "a table of another kind is read");
	header[3] = kept;
	memcpy(&count, header + 8, sizeof(count));
	memcpy(header + 8, &many, sizeof(many));
	CHECK(prof_unwind_frames_some(&elf, place, nplaces, &some) == -1,
	    "a table larger than the file is read");
	memcpy(header + 8, &count, sizeof(count));
	OK("tables that are not understood are left alone");
	rows_forge(header);
	CHECK(prof_unwind_frames_some(&elf, place, nplaces, &some) == 0,
	    "the forged table is not read");
	found = some.fm_nentries;
	CHECK(found < nplaces, "all rows lead to what they should");
	some_compare(nplaces);
	OK("of a table that lies %zu of %zu are taken, which cover their place",
	    found, nplaces);
	file_close();
}

int
main(void)
{
	Dl_info info;

	CHECK(dladdr((void *)(uintptr_t)printf, &info) != 0,
	    "there is no C library");
	test_file("/proc/self/exe");
	test_file(info.dli_fname);
	test_lies(info.dli_fname);
	return (0);
}
