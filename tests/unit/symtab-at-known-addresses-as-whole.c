/*
 * ASSERTION: At addresses that are known beforehand a table of symbols says
 * what the table of all symbols says: the same function, or none, from the
 * same begin to the same end; of files whose functions, open ones, labels,
 * aliases and marks lie over each other, and of real ones with their stubs.
 *
 * Easy to get wrong: an alias that does not reach the address gives the name;
 * what ends before the address, or begins behind it, ends an open function.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/mman.h>

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli-check.h"
#include "elf/symtab.h"

#define MANY	40
#define SPACE	300		/* bytes of each text */
#define TEXT	4096		/* where they lie, one behind the other */
#define ASKED	12
#define NAMES	4096

enum { NOTHING, FIRST, SECOND, SYMTAB, STRTAB, DYNSYM, SECTIONS };

struct file {
	Elf64_Ehdr	fi_elf;
	Elf64_Shdr	fi_section[SECTIONS];
	Elf64_Sym	fi_symbol[2][MANY];
	char		fi_names[NAMES];
	char		fi_text[2 * SPACE];
};

static uint64_t	random_state;

static unsigned
below(unsigned n)
{
	random_state = random_state * 6364136223846793005ULL + 1;
	return ((unsigned)(random_state >> 33) % n);
}

static Elf64_Shdr
section(uint32_t type, uint64_t address, size_t offset, size_t size)
{
	return ((Elf64_Shdr){ .sh_type = type, .sh_addr = address,
	    .sh_flags = type == SHT_PROGBITS ? SHF_ALLOC | SHF_EXECINSTR : 0,
	    .sh_offset = offset, .sh_size = size, .sh_link = STRTAB,
	    .sh_entsize = type == SHT_PROGBITS ? 0 : sizeof(Elf64_Sym) });
}

static void
forge_symbol(Elf64_Sym *symbol, char *names, size_t *at)
{
	static const char *const forms[] = { "f%u", "_i%u", "$x", ".L%u",
	    "v%u@@V1", "", "long_name_%u" };
	static const uint8_t types[] = { STT_FUNC, STT_FUNC, STT_FUNC,
	    STT_NOTYPE, STT_GNU_IFUNC, STT_OBJECT };
	unsigned in = below(2);

	symbol->st_name = (uint32_t)*at;
	*at += (size_t)snprintf(names + *at, NAMES - *at,
	    forms[below(7)], below(1000)) + 1;
	symbol->st_info = ELF64_ST_INFO(below(3), types[below(6)]);
	symbol->st_shndx = (uint16_t)(in == 0 ? FIRST : SECOND);
	symbol->st_value = TEXT + in * SPACE + below(SPACE);
	symbol->st_size = below(3) == 0 ? 0 : 1 + below(below(2) ? 20 : SPACE);
	if (below(20) == 0)
		symbol->st_shndx = SHN_ABS;
}

static void
forge_file(struct file *file)
{
	const size_t symbols = offsetof(struct file, fi_symbol);
	const size_t each = sizeof(file->fi_symbol[0]);
	size_t n, at = 1;

	memset(file, 0, sizeof(*file));
	memcpy(file->fi_elf.e_ident, ELFMAG, SELFMAG);
	file->fi_elf.e_ident[EI_CLASS] = ELFCLASS64;
	file->fi_elf.e_ident[EI_DATA] = ELFDATA2LSB;
	file->fi_elf.e_type = ET_DYN;
	file->fi_elf.e_machine = EM_X86_64;
	file->fi_elf.e_shoff = offsetof(struct file, fi_section);
	file->fi_elf.e_shentsize = sizeof(Elf64_Shdr);
	file->fi_elf.e_shnum = SECTIONS;
	for (n = 0; n < 2; n++)
		file->fi_section[FIRST + n] = section(SHT_PROGBITS,
		    TEXT + n * SPACE, offsetof(struct file, fi_text) +
		    n * SPACE, SPACE);
	file->fi_section[SYMTAB] = section(SHT_SYMTAB, 0, symbols, each);
	file->fi_section[DYNSYM] = section(SHT_DYNSYM, 0, symbols + each,
	    each);
	file->fi_section[STRTAB] = section(SHT_STRTAB, 0,
	    offsetof(struct file, fi_names), NAMES);
	for (n = below(MANY); n < MANY; n++) {
		forge_symbol(&file->fi_symbol[0][n], file->fi_names, &at);
		forge_symbol(&file->fi_symbol[1][n], file->fi_names, &at);
	}
}

static int
compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a < *b ? -1 : *a > *b);
}

/* Whoever both say is there. */
static unsigned
ask_both(const struct prof_symtab *whole, const struct prof_symtab *some,
    uint64_t address)
{
	struct prof_symbol a = { 0 }, b = { 0 };
	bool in_a, in_b;

	in_a = whole != NULL && prof_symtab_find(whole, address, &a);
	in_b = some != NULL && prof_symtab_find(some, address, &b);
	CHECK(in_a == in_b, "at %" PRIx64 " %s, not %s", address,
	    in_b ? b.sy_name : "none", in_a ? a.sy_name : "none");
	CHECK(!in_a || (a.sy_address == b.sy_address &&
	    a.sy_size == b.sy_size && strcmp(a.sy_name, b.sy_name) == 0),
	    "at %" PRIx64 " %s %" PRIx64 "+%" PRIx64 ", not %s %" PRIx64 "+%"
	    PRIx64, address, b.sy_name, b.sy_address, b.sy_size, a.sy_name,
	    a.sy_address, a.sy_size);
	return (in_a);
}

static unsigned
file_compare(int fd, uint64_t from, uint64_t size, size_t n)
{
	uint64_t *address = calloc(n + 1, sizeof(*address));
	struct prof_symtab *whole, *some;
	unsigned found = 0;
	size_t i;

	CHECK(address != NULL, "calloc");
	for (i = 0; i < n; i++)
		address[i] = from + (uint64_t)((double)below(1u << 30) /
		    (1u << 30) * (double)size);
	qsort(address, n, sizeof(*address), compare);
	whole = prof_symtab_of_elf(fd, "/nonexistent");
	some = prof_symtab_of_elf_at(fd, "/nonexistent", address, n);
	for (i = 0; i < n; i++)
		found += ask_both(whole, some, address[i]);
	/* Of few symbols each may be asked for. */
	CHECK(n < 1000 || prof_symtab_count(whole) <= n ||
	    prof_symtab_count(some) < prof_symtab_count(whole),
	    "all were kept");
	prof_symtab_free(whole);
	prof_symtab_free(some);
	free(address);
	return (found);
}

/* What runs, and whatever it needs: 0 where there is no such file. */
static unsigned
real_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct prof_symtab *whole;
	struct prof_symbol first, last;
	unsigned found;

	if (fd == -1)
		return (0);
	whole = prof_symtab_of_elf(fd, "/nonexistent");
	CHECK(whole != NULL, "no symbols in %s", path);
	prof_symtab_at(whole, 0, &first);
	prof_symtab_at(whole, prof_symtab_count(whole) - 1, &last);
	prof_symtab_free(whole);
	found = file_compare(fd, first.sy_address, last.sy_address +
	    last.sy_size - first.sy_address, 1000);
	/* Stubs come first. */
	found += file_compare(fd, first.sy_address, 1024, 40);
	close(fd);
	return (found);
}

int
main(void)
{
	unsigned n, found = 0, real;
	struct file file;
	int fd = memfd_create("forged", 0);

	random_state = (uint64_t)time(NULL);
	printf("seed %" PRIu64 "\n", random_state);
	for (n = 0; n < 3000; n++) {
		forge_file(&file);
		CHECK(pwrite(fd, &file, sizeof(file), 0) ==
		    (ssize_t)sizeof(file), "pwrite");
		found += file_compare(fd, TEXT - 10, 2 * SPACE + 20,
		    below(ASKED));
	}
	close(fd);
	CHECK(found > 3000, "only %u functions found", found);
	real = real_file("/proc/self/exe");
	CHECK(real > 300, "only %u functions of this program", real);
	real += real_file("/usr/bin/python3");
	real += real_file("/lib/x86_64-linux-gnu/libc.so.6");
	printf("ok: %u forged and %u real functions\n", found, real);
	return (0);
}
