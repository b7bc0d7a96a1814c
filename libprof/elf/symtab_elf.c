/* SPDX-License-Identifier: ISC */
/*
 * Functions or objects of an ELF file: of its symbol tables, of the compressed
 * one that some distributions leave in stripped files, and of a separate debug
 * file, for whoever asks for the names of a module.
 *
 * What counts as code is what lies in an executable section, or, where a file
 * has no sections, in an executable segment; no function reaches out of its
 * own.  Files are untrusted: all comes through view.c and is looked at
 * once, in a time that grows with the size of the file.
 */
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug_file.h"
#include "symtab_impl.h"

/* What .gnu_debugdata may become, and the memory that may take. */
#define MAX_MINI	(128u << 20)
#define MAX_LZMA	(256u << 20)
/* Memory that symbols may take, by the size of the file. */
#define MEMORY_FIRST	(96u << 20)
#define MEMORY_PER_BYTE	4
/* Nobody's program has more, and they are looked through for each symbol. */
#define MAX_SEGMENTS	64

/* A table of symbols and its names, both loaded. */
struct source {
	const struct prof_elf *so_elf;
	struct prof_elf_part so_symbols;
	struct prof_elf_part so_names;
	bool		 so_is_data;	/* objects count, not functions */
};

/* The file's own two, and that of a debug file or of .gnu_debugdata. */
#define MAX_SOURCES	3

struct sources {
	struct source	 ss_source[MAX_SOURCES];
	size_t		 ss_n;
	bool		 ss_is_data;
	struct prof_elf	 ss_stripped;
	uint8_t		*ss_unpacked;
};

/* Where the code ends that a symbol lies in; false: it lies in none. */
static bool
code_around(const struct prof_elf *elf, const Elf64_Sym *symbol,
    uint64_t *end)
{
	struct prof_elf_part part;
	Elf64_Phdr ph;
	size_t n;

	if (symbol->st_shndx < SHN_LORESERVE &&
	    prof_elf_section(elf, symbol->st_shndx, &part)) {
		*end = part.pp_address + part.pp_span;
		return ((part.pp_flags & SHF_EXECINSTR) &&
		    symbol->st_value >= part.pp_address &&
		    symbol->st_value < *end);
	}
	for (n = 0; n < MAX_SEGMENTS && prof_elf_segment(elf, n, &ph); n++) {
		*end = ph.p_vaddr + ph.p_memsz;
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) &&
		    symbol->st_value >= ph.p_vaddr && symbol->st_value < *end)
			return (symbol->st_shndx != SHN_ABS &&
			    symbol->st_shndx != SHN_COMMON);
	}
	return (false);
}

/* Where the data ends that an object lies in; false: it lies in none. */
static bool
data_around(const struct prof_elf *elf, const Elf64_Sym *symbol,
    uint64_t *end)
{
	const uint64_t wanted = SHF_ALLOC, all = SHF_ALLOC | SHF_EXECINSTR |
	    SHF_TLS;
	struct prof_elf_part part;

	if (symbol->st_size == 0 || symbol->st_shndx >= SHN_LORESERVE ||
	    !prof_elf_section(elf, symbol->st_shndx, &part))
		return (false);
	*end = part.pp_address + part.pp_span;
	return ((part.pp_flags & all) == wanted &&
	    symbol->st_value >= part.pp_address && symbol->st_value < *end);
}

/* The same of what is asked for. */
static bool
part_around(const struct source *source, const Elf64_Sym *symbol,
    uint64_t *end)
{
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (source->so_is_data)
		return (type == STT_OBJECT &&
		    data_around(source->so_elf, symbol, end));
	return ((type == STT_FUNC || type == STT_GNU_IFUNC ||
	    type == STT_NOTYPE) && code_around(source->so_elf, symbol, end));
}

/* Labels that the assembler leaves for itself: $x, $d.7, .L12 */
static bool
is_mark(const char *name, size_t length)
{
	if (name[0] == '$' && length >= 2)
		return (strchr("adtx", name[1]) != NULL &&
		    (length == 2 || name[2] == '.'));
	return (length >= 2 && name[0] == '.' && name[1] == 'L');
}

static enum symtab_binding
binding_of(const Elf64_Sym *symbol)
{
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return (SYMTAB_GLOBAL);
	case STB_WEAK:
		return (SYMTAB_WEAK);
	default:
		return (SYMTAB_LOCAL);
	}
}

/* Where the code or object is that it names; false: nowhere. */
static bool
place_of(const struct source *source, const Elf64_Sym *symbol,
    struct symtab_item *item)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	const struct prof_elf_part *names = &source->so_names;

	if (symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_name >= names->pp_size ||
	    !part_around(source, symbol, &item->it_end))
		return (false);
	item->it_name = (const char *)names->pp_bytes + symbol->st_name;
	item->it_address = symbol->st_value;
	item->it_kind = type == STT_NOTYPE ? SYMTAB_LABEL :
	    symbol->st_size == 0 ? SYMTAB_OPEN : SYMTAB_FUNCTION;
	if (symbol->st_size != 0 &&
	    symbol->st_size < item->it_end - item->it_address)
		item->it_end = item->it_address + symbol->st_size;
	item->it_binding = binding_of(symbol);
	item->it_is_chosen = type == STT_GNU_IFUNC;
	return (item->it_name[0] != '\0' && item->it_name[0] != '@');
}

/* How long its name is; false: it is one of the assembler's marks. */
static bool
name_of(struct prof_symtab *table, const struct source *source,
    struct symtab_item *item)
{
	const char *name = item->it_name, *version;

	item->it_length = prof_symtab_length(table, name,
	    source->so_names.pp_size - (size_t)(name -
	    (const char *)source->so_names.pp_bytes));
	/* memcpy@@GLIBC_2.14 */
	version = memchr(name, '@', item->it_length);
	if (version != NULL)
		item->it_length = (size_t)(version - name);
	return (item->it_kind != SYMTAB_LABEL ||
	    !is_mark(name, item->it_length));
}

/* Does something with a symbol; false: no memory. */
typedef bool	symbol_fn(struct prof_symtab *, const struct source *,
		    struct symtab_item *, void *);

static bool
see_symbol(struct prof_symtab *table, const struct source *source,
    struct symtab_item *item, void *arg)
{
	struct symtab_wanted *wanted = arg;

	return ((item->it_kind == SYMTAB_LABEL &&
	    !name_of(table, source, item)) ||
	    prof_symtab_wanted_see(wanted, item));
}

static bool
put_symbol(struct prof_symtab *table, const struct source *source,
    struct symtab_item *item, void *arg)
{
	const struct symtab_wanted *wanted = arg;

	return ((wanted != NULL &&
	    !prof_symtab_wanted_is(wanted, item->it_address)) ||
	    !name_of(table, source, item) || prof_symtab_put(table, item));
}

static bool
each_symbol(struct prof_symtab *table, const struct sources *sources,
    symbol_fn *fn, void *arg)
{
	const struct source *source;
	struct symtab_item item;
	Elf64_Sym symbol;
	size_t s, n;

	memset(&item, 0, sizeof(item));
	for (s = 0; s < sources->ss_n; s++) {
		source = &sources->ss_source[s];
		for (n = 0; n < source->so_symbols.pp_size / sizeof(symbol);
		    n++) {
			memcpy(&symbol, source->so_symbols.pp_bytes +
			    n * sizeof(symbol), sizeof(symbol));
			if (place_of(source, &symbol, &item) &&
			    !fn(table, source, &item, arg))
				return (false);
		}
	}
	return (true);
}

/* ------------------------------------------------------------ sources */

/*
 * There is one table of a type; should there be more, the first counts.
 * Without sections the loader's segments tell of the dynamic one.  A table
 * that cannot be read has no names.
 */
static void
add_source(struct sources *sources, struct prof_elf *elf, uint32_t type)
{
	struct source *source = &sources->ss_source[sources->ss_n];
	struct prof_elf_part *part = &source->so_symbols;
	struct prof_elf_part *names = &source->so_names;
	bool found;
	size_t n;

	source->so_elf = elf;
	source->so_is_data = sources->ss_is_data;
	for (n = 0; (found = prof_elf_section(elf, n, part)); n++)
		if (part->pp_type == type && part->pp_size > 0)
			break;
	if (!found)
		sources->ss_n += type == SHT_DYNSYM &&
		    prof_symtab_dynamic(elf, part, names);
	else
		sources->ss_n += part->pp_entsize == sizeof(Elf64_Sym) &&
		    prof_elf_section(elf, part->pp_link, names) &&
		    prof_elf_load(elf, part) && prof_elf_load(elf, names);
}

static bool
has_symbols(const struct prof_elf *elf)
{
	struct prof_elf_part part;
	size_t n;

	for (n = 0; prof_elf_section(elf, n, &part); n++)
		if (part.pp_type == SHT_SYMTAB && part.pp_size > 0)
			return (true);
	return (false);
}

/* ------------------------------------------------- what was stripped */

/* Unpack all; NULL: it is damaged, too large, or there is no memory. */
static uint8_t *
debugdata_unpack(const uint8_t *packed, size_t size, size_t *length)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t space = size * 4 + 4096;
	uint8_t *bytes = NULL, *grown;
	lzma_ret ret = LZMA_OK;

	if (lzma_stream_decoder(&stream, MAX_LZMA, 0) != LZMA_OK)
		return (NULL);
	stream.next_in = packed;
	stream.avail_in = size;
	while (ret == LZMA_OK && space <= MAX_MINI) {
		grown = realloc(bytes, space);
		if (grown == NULL)
			break;
		bytes = grown;
		stream.next_out = bytes + stream.total_out;
		stream.avail_out = space - stream.total_out;
		ret = lzma_code(&stream, LZMA_FINISH);
		space *= 2;
	}
	*length = stream.total_out;
	lzma_end(&stream);
	if (ret == LZMA_STREAM_END)
		return (bytes);
	free(bytes);
	return (NULL);
}

static void
add_mini(struct sources *sources, struct prof_elf *elf)
{
	struct prof_elf_part packed;
	size_t length;

	if (!prof_elf_section_named(elf, ".gnu_debugdata", &packed) ||
	    packed.pp_size > MAX_MINI || !prof_elf_load(elf, &packed))
		return;
	sources->ss_unpacked = debugdata_unpack(packed.pp_bytes, packed.pp_size,
	    &length);
	if (sources->ss_unpacked != NULL && prof_elf_memory(
	    &sources->ss_stripped, sources->ss_unpacked, length) == 0)
		add_source(sources, &sources->ss_stripped, SHT_SYMTAB);
}

static void
add_debug_file(struct sources *sources, struct prof_elf *elf, int fd,
    const char *debug_dirs)
{
	int debug_fd = prof_debug_file_open(elf, fd, debug_dirs);
	bool found = debug_fd != -1 &&
	    prof_elf_open(&sources->ss_stripped, debug_fd) == 0;

	if (debug_fd != -1)
		close(debug_fd);
	if (found && has_symbols(&sources->ss_stripped)) {
		add_source(sources, &sources->ss_stripped, SHT_SYMTAB);
		return;
	}
	prof_elf_close(&sources->ss_stripped);
	add_mini(sources, elf);
}

static void
sources_fini(struct sources *sources)
{
	prof_elf_close(&sources->ss_stripped);
	free(sources->ss_unpacked);
}

/* ------------------------------------------------------------- whole */

/* All that are wanted.  false: no memory. */
static bool
add_symbols(struct prof_symtab *table, const struct sources *sources,
    struct symtab_wanted *wanted)
{
	return ((wanted == NULL || (each_symbol(table, sources, see_symbol,
	    wanted) && prof_symtab_wanted_seen(wanted))) &&
	    each_symbol(table, sources, put_symbol, wanted));
}

static struct prof_symtab *
symtab_of(int fd, const char *debug_dirs, bool is_data,
    struct symtab_wanted *wanted)
{
	struct sources sources = { .ss_is_data = is_data,
	    .ss_stripped = { .el_fd = -1 } };
	struct prof_symtab *table;
	struct prof_elf elf;
	bool ok;

	if (prof_elf_open(&elf, fd) == -1) {
		errno = 0;
		return (NULL);
	}
	table = prof_symtab_new();
	if (table != NULL)
		prof_symtab_limit(table, MEMORY_FIRST + MEMORY_PER_BYTE *
		    (elf.el_size & (UINT64_MAX >> 8)));
	add_source(&sources, &elf, SHT_SYMTAB);
	add_source(&sources, &elf, SHT_DYNSYM);
	if (!has_symbols(&elf))
		add_debug_file(&sources, &elf, fd, debug_dirs);
	ok = table != NULL && add_symbols(table, &sources, wanted) &&
	    (is_data || prof_symtab_add_plt(table, &elf, wanted));
	sources_fini(&sources);
	prof_elf_close(&elf);
	return (prof_symtab_done(table, ok));
}

/* A caller's function, called for each symbol. */
struct telling {
	symtab_tell_fn	*tl_fn;
	void		*tl_arg;
};

static bool
tell_symbol(struct prof_symtab *table, const struct source *source,
    struct symtab_item *item, void *arg)
{
	const struct telling *telling = arg;

	return (!name_of(table, source, item) ||
	    telling->tl_fn(telling->tl_arg, item));
}

bool
prof_symtab_tell(struct prof_elf *elf, int fd, symtab_tell_fn *fn, void *arg)
{
	struct sources sources = { .ss_stripped = { .el_fd = -1 } };
	struct prof_symtab *table = prof_symtab_new();
	struct telling telling = { fn, arg };
	bool ok;

	if (table == NULL)
		return (false);
	add_source(&sources, elf, SHT_SYMTAB);
	add_source(&sources, elf, SHT_DYNSYM);
	if (!has_symbols(elf))
		add_debug_file(&sources, elf, fd, NULL);
	ok = each_symbol(table, &sources, tell_symbol, &telling);
	sources_fini(&sources);
	prof_symtab_free(table);
	return (ok);
}

struct prof_symtab *
prof_symtab_of_elf(int fd, const char *debug_dirs)
{
	return (symtab_of(fd, debug_dirs, false, NULL));
}

struct prof_symtab *
prof_symtab_of_objects(int fd, const char *debug_dirs)
{
	return (symtab_of(fd, debug_dirs, true, NULL));
}

struct prof_symtab *
prof_symtab_of_elf_at(int fd, const char *debug_dirs, const uint64_t *address,
    size_t n)
{
	struct symtab_wanted wanted;
	struct prof_symtab *table = NULL;

	errno = ENOMEM;
	if (prof_symtab_wanted_init(&wanted, address, n))
		table = symtab_of(fd, debug_dirs, false, &wanted);
	prof_symtab_wanted_fini(&wanted);
	return (table);
}

struct prof_symtab *
prof_symtab_of_memory(const void *bytes, size_t size)
{
	struct sources sources = { .ss_stripped = { .el_fd = -1 } };
	struct prof_symtab *table;
	struct prof_elf elf;
	bool ok;

	if (prof_elf_memory(&elf, bytes, size) == -1) {
		errno = 0;
		return (NULL);
	}
	table = prof_symtab_new();
	add_source(&sources, &elf, SHT_SYMTAB);
	add_source(&sources, &elf, SHT_DYNSYM);
	ok = table != NULL && add_symbols(table, &sources, NULL);
	prof_elf_close(&elf);
	return (prof_symtab_done(table, ok));
}

bool
prof_symtab_file_to_address(int fd, uint64_t offset, uint64_t *address)
{
	const uint64_t page = 4096;
	struct prof_elf elf;
	bool found = false;
	Elf64_Phdr ph;
	uint64_t low;
	size_t n;

	if (prof_elf_open(&elf, fd) == -1)
		return (false);
	for (n = 0; !found && prof_elf_segment(&elf, n, &ph); n++) {
		low = ph.p_offset & -page;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
		    ph.p_filesz == 0 || offset < low ||
		    offset - low >= ph.p_offset - low + ph.p_filesz)
			continue;
		*address = ph.p_vaddr + (offset - ph.p_offset);
		found = true;
	}
	prof_elf_close(&elf);
	return (found);
}
