/*
 * ASSERTION: Of /proc/kallsyms functions and their modules are kept, and it
 * is told when the kernel hides where they are; of the map of a JIT every line
 * that is whole, and no other.
 *
 * Easy to get wrong: all symbols at 0 are no symbols; the last line may be
 * half written; a line may be longer than any buffer.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "elf/symtab.h"

static int
file_of(const char *text)
{
	int fd = memfd_create("text", 0);
	size_t length = strlen(text);

	CHECK(fd != -1 && write(fd, text, length) == (ssize_t)length &&
	    lseek(fd, 0, SEEK_SET) == 0, "memfd");
	return (fd);
}

static void
is_at(const struct prof_symtab *table, uint64_t address, const char *name,
    const char *module)
{
	struct prof_symbol symbol;

	if (!prof_symtab_find(table, address, &symbol))
		symbol.sy_name = NULL;
	if (name == NULL) {
		CHECK(symbol.sy_name == NULL, "%s, not nothing",
		    symbol.sy_name);
		return;
	}
	CHECK(symbol.sy_name != NULL && strcmp(symbol.sy_name, name) == 0,
	    "%s, not %s", symbol.sy_name, name);
	CHECK((symbol.sy_module == NULL) == (module == NULL) &&
	    (module == NULL || strcmp(symbol.sy_module, module) == 0),
	    "the module of %s", name);
}

static void
kernel(void)
{
	int fd = file_of("0000000000000000 A cpu_area\n"
	    "ffffffff81000000 T _text\n"
	    "ffffffff81000000 T startup_64\n"
	    "ffffffff81000140 t local\n"
	    "ffffffff81000200 D data\n"
	    "ffffffff81000300 W weak\n"
	    "nonsense\n"
	    "ffffffffc0a10000 t ext4_a\t[ext4]\n"
	    "ffffffffc0a10100 t ext4_b\t[ext4]\n"
	    "ffffffffc0a20000 t zfs_a\t[zfs]\n"
	    "ffffffffc0b00000 t bpf_prog_1_x\t[bpf]\n");
	struct prof_symtab *table;
	bool hidden = true;

	table = prof_symtab_of_kallsyms(fd, &hidden);
	CHECK(table != NULL && !hidden, "kallsyms");
	is_at(table, 0xffffffff81000000, "startup_64", NULL);
	is_at(table, 0xffffffff8100013f, "startup_64", NULL);
	is_at(table, 0xffffffff810002ff, "local", NULL);
	is_at(table, 0xffffffff81000300, "weak", NULL);
	is_at(table, 0xffffffffc0a100ff, "ext4_a", "ext4");
	is_at(table, 0xffffffffc0a10200, "ext4_b", "ext4");
	/* Far behind the last function of a module is no function. */
	is_at(table, 0xffffffffc0a1ffff, NULL, NULL);
	is_at(table, 0xffffffffc0a20001, "zfs_a", "zfs");
	is_at(table, 0xffffffffc0b00010, "bpf_prog_1_x", "bpf");
	is_at(table, 0x1000, NULL, NULL);
	prof_symtab_free(table);
	close(fd);
	fd = file_of("0000000000000000 T _text\n"
	    "0000000000000000 t x\t[ext4]\n");
	errno = EIO;
	CHECK(prof_symtab_of_kallsyms(fd, &hidden) == NULL && errno == 0 &&
	    hidden, "hidden addresses");
	close(fd);
	fd = file_of("");
	CHECK(prof_symtab_of_kallsyms(fd, &hidden) == NULL && !hidden,
	    "nothing at all");
	close(fd);
}

/* This kernel's own list, as far as it shows it. */
static void
this_kernel(void)
{
	FILE *file = popen("grep -c ' [tTwW] ' /proc/kallsyms", "r");
	struct prof_symtab *table;
	unsigned long lines = 0;
	bool hidden;
	int fd = open("/proc/kallsyms", O_RDONLY);

	CHECK(file != NULL && fscanf(file, "%lu", &lines) == 1, "grep");
	pclose(file);
	table = prof_symtab_of_kallsyms(fd, &hidden);
	close(fd);
	if (table == NULL) {
		CHECK(hidden || lines == 0, "no functions of %lu", lines);
		return;
	}
	/* Aliases are one. */
	CHECK(prof_symtab_count(table) <= lines &&
	    prof_symtab_count(table) > lines / 2, "%zu functions of %lu",
	    prof_symtab_count(table), lines);
	prof_symtab_free(table);
}

static void
map(void)
{
	static const char whole[] = "7f00 100 one\n"
	    "0x8000 0x10 two words and more\n"
	    "9000 10 \n"
	    "9100 zz bad size\n"
	    "ffffffffffffff00 1000 beyond the end\n"
	    "10000000000000000 10 too many digits\n"
	    "9200 10 tab\tand \x1b[31m control\n"
	    " 9300 10 begins with a space\n"
	    "9400 0 of no size\n"
	    "-9500 10 negative\n"
	    "9600 10 ";
	size_t length = 600000;
	char *text = malloc(sizeof(whole) + length + 64);
	struct prof_symtab *table;
	int fd;

	CHECK(text != NULL, "malloc");
	strcpy(text, whole);
	memset(text + strlen(text), 'x', length);
	/* Where what is left of the line begins, after two buffers of it. */
	memcpy(text + strlen(whole) - strlen("9600 10 ") + (512 << 10),
	    "c000 10 ", 8);
	strcpy(text + sizeof(whole) - 1 + length,
	    "\na000 10 after it\nb000 10 half");
	fd = file_of(text);
	table = prof_symtab_of_perf_map(fd,
	    &(uint64_t){ PROF_MAP_MEMORY });
	CHECK(table != NULL, "map");
	is_at(table, 0x7f00, "one", NULL);
	is_at(table, 0x7fff, "one", NULL);
	is_at(table, 0x800f, "two words and more", NULL);
	is_at(table, 0x8010, NULL, NULL);
	is_at(table, 0x9200, "tab\tand \x1b[31m control", NULL);
	is_at(table, 0x9300, NULL, NULL);
	is_at(table, 0x9600, NULL, NULL);
	is_at(table, 0xa000, "after it", NULL);
	is_at(table, 0xb000, NULL, NULL);
	is_at(table, 0xc000, NULL, NULL);
	CHECK(prof_symtab_count(table) == 4, "%zu lines",
	    prof_symtab_count(table));
	prof_symtab_free(table);
	free(text);
	close(fd);
}

int
main(void)
{
	kernel();
	this_kernel();
	map();
	printf("ok: the kernel's functions, and those of JITs\n");
	return (0);
}
