/* SPDX-License-Identifier: ISC */
/*
 * Names for addresses of the kernel: what the recording holds, then the
 * running kernel's own list, if it is the same boot; code that was loaded
 * while recording (BPF programs) as it was announced.
 */
#ifndef KERNEL_MAP_H
#define KERNEL_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/symtab.h"

struct prof_record;
struct prof_kernel_map;

/* The list of the running kernel; all zero: nobody has asked. */
struct prof_kernel_list {
	struct prof_symtab *kl_symtab;	/* NULL: none */
	bool		 kl_asked;
	bool		 kl_hidden;
};

void	prof_kernel_list_fini(struct prof_kernel_list *list);

struct prof_kernel_map *prof_kernel_map_new(void);	/* owned by caller */
void	prof_kernel_map_free(struct prof_kernel_map *map);
/* An MMAP of the kernel, or a KSYMBOL, in order of time.  -1: no memory. */
int	prof_kernel_map_take(struct prof_kernel_map *map,
	    const struct prof_record *record);
/* Read that of others, which must outlive the map. */
void	prof_kernel_map_share(struct prof_kernel_map *map,
	    struct prof_kernel_list *list);
/* After the last record.  live: the running kernel is the recorded one. */
int	prof_kernel_map_done(struct prof_kernel_map *map, bool live);
/* From the recording; hidden: the recorder was not shown addresses. */
int	prof_kernel_map_add(struct prof_kernel_map *map, uint64_t address,
	    uint64_t size, const char *name, const char *module);
void	prof_kernel_map_hidden(struct prof_kernel_map *map);
/* false: no name; hidden says whether that can be cured. */
bool	prof_kernel_map_find(struct prof_kernel_map *map, uint64_t pc,
	    struct prof_symbol *symbol, bool *hidden);
/* The module whose text it is: "[kernel]", "[ext4]", "[bpf]"; or NULL. */
const char *prof_kernel_map_module(const struct prof_kernel_map *map,
	    uint64_t pc);

#endif /* KERNEL_MAP_H */
