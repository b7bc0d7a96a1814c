/* SPDX-License-Identifier: ISC */
/* Functions of the kernel, asked of the kernel by a BPF program. */
#ifndef PROF_KERNEL_NAMES_H
#define PROF_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "elf/symtab.h"
#include "os/procfs.h"

/* The kernel's own answers; NULL: it gives none, or hides addresses. */
struct prof_kernel_names;
struct prof_kernel_names *prof_kernel_names_open(void);
void	prof_kernel_names_close(struct prof_kernel_names *names);
/* From _stext to _etext. */
void	prof_kernel_names_text(const struct prof_kernel_names *names,
	    struct prof_text *text);
/* A prof_noted_ask_fn; one thread at a time. */
size_t	prof_kernel_names_ask(void *names, const uint64_t *place, size_t n,
	    struct prof_symbol *symbol);

#endif /* PROF_KERNEL_NAMES_H */
