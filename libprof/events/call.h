/* SPDX-License-Identifier: ISC */
/*
 * A system call as a recording describes it: one INFO entry each, of those
 * that were met,
 *
 *	syscall.257	openat(int dfd, const char * filename, int flags)
 *
 * Written by backend/bpf/calls.c, read by read.c; both sides ask here what a
 * type means for the register that holds it.
 */
#ifndef PROF_CALL_H
#define PROF_CALL_H

#include <stdbool.h>

#include "prof.h"

#define PROF_CALL_KEY	"syscall."

/* "syscall.257"; -1: it is another key. */
int	prof_syscall_of_key(const char *key);
/* How a register of this type and name is read: bytes, and their sign. */
void	prof_syscall_type(const char *type, const char *name, uint8_t *size,
	    bool *is_signed);
/* Owned by caller, in one piece (free); NULL: no memory, or no description. */
struct prof_syscall *prof_syscall_parse(const char *text);
/* As an argument of such a call, from the whole register. */
uint64_t prof_syscall_cut(const struct prof_syscall *call, uint32_t arg,
	    uint64_t value);

#endif /* PROF_CALL_H */
