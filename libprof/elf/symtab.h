/* SPDX-License-Identifier: ISC */
/*
 * Names for addresses: the functions of one module in sorted arrays.
 *
 * A table is filled once, from a file, from text or by hand, sorted once, and
 * then only asked; asking allocates nothing and may be done by many threads.
 * Addresses are as the module's file counts them (kallsyms and perf maps: as
 * the process does).  Names are raw: see demangle.h for people's.
 *
 * Called by whoever turns recordings into names, and at the end of a
 * recording.  Which file belongs to a process is not decided here.
 */
#ifndef SYMTAB_H
#define SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_symtab;

/* Borrowed from the table. */
struct prof_symbol {
	uint64_t	 sy_address;
	uint64_t	 sy_size;	/* where it ends is known, always */
	const char	*sy_name;	/* never NULL */
	const char	*sy_module;	/* kallsyms: "ext4", "bpf"; else NULL */
};

/*
 * All of these: owned by caller; NULL with errno, 0 when there is no symbol,
 * EFBIG when they take more than the memory budget of such a file.
 *
 * Of an ELF file: .symtab, .dynsym, .gnu_debugdata, a separate debug file (see
 * debug_file.h) and the PLT.  The file may change meanwhile; that costs names.
 */
struct prof_symtab *prof_symtab_of_elf(int fd, const char *debug_dirs);
/*
 * The same for whoever knows where it will look, in ascending order: anywhere
 * else there may be nothing, or something false.
 */
struct prof_symtab *prof_symtab_of_elf_at(int fd, const char *debug_dirs,
	    const uint64_t *address, size_t n);
/* Its objects in memory, such as global variables, not its functions. */
struct prof_symtab *prof_symtab_of_objects(int fd, const char *debug_dirs);
/* Of an ELF image in memory, such as the vDSO; read only during the call. */
struct prof_symtab *prof_symtab_of_memory(const void *elf, size_t size);
/* hidden: there are symbols, but kptr_restrict hides where. */
struct prof_symtab *prof_symtab_of_kallsyms(int fd, bool *hidden);
/*
 * perf-PID.map: of two functions at one place the later line wins.  left: how
 * many bytes of memory it may take, and what it left of them.
 */
#define PROF_MAP_MEMORY	(64u << 20)	/* some 300,000 functions */
struct prof_symtab *prof_symtab_of_perf_map(int fd, uint64_t *left);
/* jit-PID.dump: places that had more than one function have none. */
bool	prof_is_jit_dump(int fd);
struct prof_symtab *prof_symtab_of_jit_dump(int fd, uint64_t *left);

/* By hand, from a recording.  false: no memory, or too much for a table. */
struct prof_symtab *prof_symtab_new(void);
bool	prof_symtab_add(struct prof_symtab *table, uint64_t address,
	    uint64_t size, const char *name);
/* After the last one, before the first question. */
bool	prof_symtab_sort(struct prof_symtab *table);

bool	prof_symtab_find(const struct prof_symtab *table, uint64_t address,
	    struct prof_symbol *symbol);
/* The same, but where it begins and ends is where others leave it alone. */
bool	prof_symtab_find_piece(const struct prof_symtab *table,
	    uint64_t address, struct prof_symbol *symbol);
size_t	prof_symtab_count(const struct prof_symtab *table);
/* The n-th by address; n < count. */
void	prof_symtab_at(const struct prof_symtab *table, size_t n,
	    struct prof_symbol *symbol);
void	prof_symtab_free(struct prof_symtab *table);

/*
 * Where the file means that what lies at an offset of it shall be: the address
 * by the program headers.  An offset of the page in which an executable
 * segment begins counts as part of it, since pages are what is mapped; so the
 * offset of a mapping gives the address of its start.
 */
bool	prof_symtab_file_to_address(int fd, uint64_t offset,
	    uint64_t *address);

#endif /* SYMTAB_H */
