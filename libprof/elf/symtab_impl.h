/* SPDX-License-Identifier: ISC */
/*
 * How tables are filled: between symtab.c, which keeps them, and the files
 * that read symbols from somewhere.
 */
#ifndef SYMTAB_IMPL_H
#define SYMTAB_IMPL_H

#include "symtab.h"
#include "view.h"

/* What is said of a place counts more the higher its kind. */
enum symtab_kind {
	SYMTAB_LABEL,		/* a place in the code without a type */
	SYMTAB_STUB,		/* an entry of the PLT */
	SYMTAB_OPEN,		/* a function of unknown size */
	SYMTAB_FUNCTION
};

enum symtab_binding { SYMTAB_LOCAL, SYMTAB_WEAK, SYMTAB_GLOBAL };

struct symtab_item {
	uint64_t	 it_address;
	uint64_t	 it_end;	/* if open: not beyond this */
	const char	*it_name;	/* need not end with a 0 */
	size_t		 it_length;
	const char	*it_suffix;	/* after the name, or NULL */
	const char	*it_module;	/* or NULL */
	size_t		 it_module_length;
	enum symtab_kind it_kind;
	enum symtab_binding it_binding;
	bool		 it_is_chosen;	/* IFUNC: it returns the function */
};

/* How long a name is that a file gives; 0 when too much was looked at. */
size_t	prof_symtab_length(struct prof_symtab *table, const char *name,
	    size_t most);
/* How much memory a table may take; else it may take any. */
void	prof_symtab_limit(struct prof_symtab *table, uint64_t bytes);
uint64_t prof_symtab_left(const struct prof_symtab *table);
/* It would be more than it may take. */
bool	prof_symtab_full(struct prof_symtab *table);
/*
 * false: no memory, or more than the table may take.  What is senseless is
 * left out; that costs names, not an error.
 */
bool	prof_symtab_put(struct prof_symtab *table,
	    const struct symtab_item *item);
/* Of overlapping ones the one put later wins, not the inner one. */
void	prof_symtab_later_wins(struct prof_symtab *table);
/*
 * Sorts; no symbol at all is NULL with errno 0, and so on; frees then.  Half a
 * table could name another's code: one that was full is NULL with EFBIG.
 */
struct prof_symtab *prof_symtab_done(struct prof_symtab *table, bool ok);

/*
 * symtab_elf.c: each symbol of an open file, also those that others hide in a
 * table.  false: no memory, or fn said so.
 */
typedef bool	symtab_tell_fn(void *arg, const struct symtab_item *item);
bool	prof_symtab_tell(struct prof_elf *elf, int fd, symtab_tell_fn *fn,
	    void *arg);

/* ---------------------------------------------------- symtab_wanted.c */

/* Which symbols decide what lies at addresses that will be asked for. */
struct symtab_wanted {
	const uint64_t	*wa_address;	/* ascending */
	size_t		 wa_n;
	/* from behind the address before it up to the n-th, symbols begin */
	uint64_t	*wa_first;	/* there first ... */
	uint64_t	*wa_last;	/* ... and there last */
	uint64_t	*wa_start;	/* where those that decide begin */
	size_t		 wa_nstarts;
	size_t		 wa_space;
};

/* false: no memory; to be finished all the same. */
bool	prof_symtab_wanted_init(struct symtab_wanted *wanted,
	    const uint64_t *address, size_t n);
void	prof_symtab_wanted_fini(struct symtab_wanted *wanted);
/* All symbols, then that these were all.  false: no memory. */
bool	prof_symtab_wanted_see(struct symtab_wanted *wanted,
	    const struct symtab_item *item);
bool	prof_symtab_wanted_seen(struct symtab_wanted *wanted);
/* Does a symbol that begins there decide? */
bool	prof_symtab_wanted_is(const struct symtab_wanted *wanted,
	    uint64_t start);
/* Does an address lie there? */
bool	prof_symtab_wanted_within(const struct symtab_wanted *wanted,
	    uint64_t from, uint64_t size);

/* --------------------------------------------- others that read symbols */

/*
 * symtab_dynamic.c: symbols and names, loaded, by the dynamic segment; false:
 * there are none.
 */
bool	prof_symtab_dynamic(struct prof_elf *elf,
	    struct prof_elf_part *symbols, struct prof_elf_part *names);
/* symtab_plt.c: name@plt, if wanted, NULL: always; false: no memory. */
bool	prof_symtab_add_plt(struct prof_symtab *table, struct prof_elf *elf,
	    const struct symtab_wanted *wanted);

#endif /* SYMTAB_IMPL_H */
