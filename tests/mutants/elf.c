/* SPDX-License-Identifier: ISC */
/*
 * Executables with DWARF: sections are changed inside, cut at their ends,
 * moved onto each other; tables of headers too.  One in a while has zeros that
 * pack to a thousandth in place of its strings.
 */
#include <elf.h>
#include <unistd.h>
#include <zlib.h>

#include "elf/lines.h"
#include "elf/sites.h"
#include "elf/symtab.h"
#include "elf/unwind_table.h"
#include "mutants.h"

#define PACKED_ONE_IN	2048
#define UNPACKED	(600u << 20)
#define MAX_ASKED	64

/* The header of section n; false: there is none. */
static bool
header_at(const struct prof_buf *buf, size_t n, Elf64_Shdr *header,
    size_t *at)
{
	Elf64_Ehdr elf;

	if (buf->bf_len < sizeof(elf))
		return (false);
	memcpy(&elf, buf->bf_data, sizeof(elf));
	*at = elf.e_shoff + n * sizeof(*header);
	if (n >= elf.e_shnum || elf.e_shoff > buf->bf_len ||
	    buf->bf_len - elf.e_shoff < (n + 1) * sizeof(*header))
		return (false);
	memcpy(header, buf->bf_data + *at, sizeof(*header));
	return (true);
}

static size_t
count_headers(const struct prof_buf *buf)
{
	Elf64_Shdr header;
	size_t n = 0, at;

	while (header_at(buf, n, &header, &at))
		n++;
	return (n);
}

/* In its bytes: values at once, or what text has. */
static void
change_inside(struct chance *chance, struct prof_buf *buf,
    const Elf64_Shdr *header)
{
	size_t n = 1 + chance_below(chance, 6), at;
	uint64_t value;

	if (header->sh_type == SHT_NOBITS || header->sh_size == 0 ||
	    header->sh_offset > buf->bf_len ||
	    header->sh_size > buf->bf_len - header->sh_offset)
		return;
	while (n-- > 0) {
		/* Much is decided at the beginning. */
		at = chance_below(chance, chance_is(chance, 2) &&
		    header->sh_size > 64 ? 64 : header->sh_size);
		value = chance_value(chance);
		memcpy(buf->bf_data + header->sh_offset + at, &value,
		    header->sh_size - at < 8 || chance_is(chance, 2) ? 1 :
		    (size_t)1 << chance_below(chance, 4));
	}
}

static void
change_header(struct chance *chance, struct prof_buf *buf,
    Elf64_Shdr *header, size_t at)
{
	Elf64_Shdr other;
	size_t unused;

	switch (chance_below(chance, 6)) {
	case 0:
	case 1:
		/* Cut: strings lose their end, tables their last entry. */
		header->sh_size -= chance_below(chance, 16);
		break;
	case 2:
		header->sh_size = chance_value(chance);
		break;
	case 3:
		if (header_at(buf, chance_below(chance, count_headers(buf)),
		    &other, &unused)) {
			header->sh_offset = other.sh_offset;
			header->sh_size = other.sh_size;
		}
		break;
	case 4:
		header->sh_flags ^= SHF_COMPRESSED;
		break;
	default:
		memcpy((uint8_t *)header + 4 * chance_below(chance,
		    sizeof(*header) / 4), &(uint32_t){ (uint32_t)
		    chance_value(chance) }, 4);
		break;
	}
	memcpy(buf->bf_data + at, header, sizeof(*header));
}

/* 600 MB of zeros, packed once. */
static const struct prof_buf *
packed_zeros(void)
{
	static uint8_t zeros[1 << 20];
	static struct prof_buf packed;
	const Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB,
	    .ch_size = UNPACKED, .ch_addralign = 1 };
	z_stream z = { 0 };
	unsigned n;

	if (packed.bf_len > 0 || deflateInit(&z, 1) != Z_OK)
		return (&packed);
	prof_buf_bytes(&packed, &head, sizeof(head));
	for (n = 0; n < UNPACKED / sizeof(zeros); n++) {
		z.next_in = zeros;
		z.avail_in = z.avail_out = sizeof(zeros);
		z.next_out = prof_buf_room(&packed, sizeof(zeros));
		if (z.next_out == NULL)
			break;
		(void)deflate(&z, n + 1 == UNPACKED / sizeof(zeros) ?
		    Z_FINISH : Z_NO_FLUSH);
		packed.bf_len += sizeof(zeros) - z.avail_out;
	}
	deflateEnd(&z);
	return (&packed);
}

/* Behind the file, where a section that has DWARF's strings points to. */
static void
pack_strings(struct prof_buf *buf)
{
	const struct prof_buf *packed = packed_zeros();
	Elf64_Shdr header;
	size_t n, at;

	for (n = 0; header_at(buf, n, &header, &at); n++) {
		if (header.sh_type != SHT_PROGBITS ||
		    (header.sh_flags & SHF_STRINGS) == 0 ||
		    (header.sh_flags & SHF_ALLOC) != 0)
			continue;
		header.sh_flags |= SHF_COMPRESSED;
		header.sh_offset = buf->bf_len;
		header.sh_size = packed->bf_len;
		memcpy(buf->bf_data + at, &header, sizeof(header));
	}
	prof_buf_bytes(buf, packed->bf_data, packed->bf_len);
}

static void
elf_mutate(struct chance *chance, const struct prof_buf *seed,
    struct prof_buf *out)
{
	Elf64_Shdr header;
	size_t n, at;

	prof_buf_bytes(out, seed->bf_data, seed->bf_len);
	for (n = 1 + chance_below(chance, 4); n > 0; n--) {
		if (!header_at(out, chance_below(chance, count_headers(out)),
		    &header, &at))
			break;
		if (chance_is(chance, 3))
			change_header(chance, out, &header, at);
		else
			change_inside(chance, out, &header);
	}
	if (chance_is(chance, PACKED_ONE_IN))
		pack_strings(out);
	if (chance_is(chance, 32))
		bytes_mutate(chance, out);
}

/* ------------------------------------------------------------------ read */

static void
ask(struct chance *chance, int fd, struct prof_elf *elf)
{
	struct prof_symtab *table = prof_symtab_of_elf(fd, "/nonexistent");
	struct prof_lines *lines = prof_lines_open(fd, "/nonexistent");
	struct prof_symbol symbol = { .sy_address = 0x1000 };
	struct prof_line line[16];
	size_t n, count = table == NULL ? 0 : prof_symtab_count(table);
	uint64_t address, low = 0, high = 0;

	(void)prof_elf_text(elf, &low, &high);
	for (n = 0; n < MAX_ASKED; n++) {
		address = low + chance_below(chance, high - low);
		if (count > 0 && chance_is(chance, 2)) {
			prof_symtab_at(table, chance_below(chance, count),
			    &symbol);
			address = symbol.sy_address + chance_below(chance,
			    64);
		}
		if (table != NULL)
			(void)prof_symtab_find(table, address, &symbol);
		if (lines != NULL)
			(void)prof_lines_find(lines, address, line, 16);
	}
	prof_lines_close(lines);
	prof_symtab_free(table);
}

/* Of functions and of notes. */
static void
find_sites(struct chance *chance, int fd)
{
	const struct prof_sites_want want = {
	    .sw_kind = (enum prof_site_kind)chance_below(chance, 3),
	    .sw_pattern = "*" };
	struct prof_sites sites;

	if (prof_sites_find(fd, &want, &sites) == 0)
		prof_sites_free(&sites);
}

static bool
elf_run(struct chance *chance, int fd, size_t length)
{
	struct prof_unwind_table *table;
	struct prof_elf elf;

	if (prof_elf_open(&elf, fd) == -1)
		return (false);
	if (chance_is(chance, 32))
		mutants_cut(fd, chance_below(chance, length + 1),
		    (unsigned)chance_below(chance, 2000));
	table = prof_unwind_table_new(&elf);
	for (size_t n = 0; table != NULL && n < MAX_ASKED; n++)
		(void)prof_unwind_table_find(table, table->ut_base +
		    chance_below(chance, table->ut_span));
	prof_unwind_table_free(table);
	ask(chance, fd, &elf);
	find_sites(chance, fd);
	prof_elf_close(&elf);
	return (true);
}

const struct format format_elf = { "elf", elf_mutate, elf_run };
