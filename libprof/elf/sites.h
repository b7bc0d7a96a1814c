/* SPDX-License-Identifier: ISC */
/*
 * Where in a file probes can be: functions by name, and the static probes
 * (USDT) that its notes describe, with their arguments.
 *
 * A function's name is the linker's or the demangled one, that with its
 * parameters or without, or a glob; a static probe's is PROVIDER:NAME, or a
 * glob in either part.  Files are untrusted: called in a parser
 * (broker/parse_sites.c), and by tests.
 */
#ifndef SITES_H
#define SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/dtp_abi.h"

#define PROF_SITE_NAME	256	/* bytes, with its NUL */
#define PROF_SITES_MAX	32768	/* that one name may mean */

enum prof_site_kind {
	PROF_SITE_FUNCTION,
	PROF_SITE_STATIC,
	PROF_SITE_RETURN	/* each instruction that leaves a function */
};

/* Why it is not known where a function returns, or where a place in it is. */
enum prof_leave {
	PROF_LEAVE_KNOWN,
	PROF_LEAVE_SIZE,	/* its size is not known, or too large */
	PROF_LEAVE_CODE,	/* an instruction that is not known */
	PROF_LEAVE_INDIRECT,	/* an indirect jump */
	PROF_LEAVE_TAIL,	/* a jump to another function */
	PROF_LEAVE_NEVER,	/* no return in it */
	PROF_LEAVE_GO,		/* Go begins functions again */
	PROF_LEAVE_WITHIN,	/* a place within an instruction, or ... */
	PROF_LEAVE_BEHIND,	/* ... behind its end */
	PROF_LEAVE_LINES,	/* no source lines */
	PROF_LEAVE_LINE,	/* no code of that line */
	PROF_LEAVE_N
};

/* Why a note is no probe. */
enum prof_note {
	PROF_NOTE_GOOD,
	PROF_NOTE_CUT,		/* it is shorter than what it says */
	PROF_NOTE_PLACE,	/* its address is outside the code */
	PROF_NOTE_SEMAPHORE,	/* its semaphore is outside the data */
	PROF_NOTE_N
};

enum prof_site_flags {
	PROF_SITE_CHOSEN	= 1,	/* IFUNC: called once, to choose */
	PROF_SITE_CHEAP		= 2,	/* the kernel emulates what is there */
	PROF_SITE_EXACT		= 4,	/* of that name, not of a glob */
	PROF_SITE_HAS_RET	= 8,	/* its argument is what is returned */
	PROF_SITE_GO		= 16,	/* in a file of Go */
	PROF_SITE_ABI		= 32,	/* its arguments are registers */
	PROF_SITE_INSIDE	= 64,	/* not where the function begins */
	PROF_SITE_COPY		= 128,	/* the compiler's, for some callers */
};

#define PROF_SITE_PARAMETERS	DTP_MAX_ARGS

/* A parameter of a function, or its result, by debug information. */
struct prof_site_parameter {
	uint8_t		 sp_size;	/* bytes of it; 0: not known */
	uint8_t		 sp_is_signed;
	uint8_t		 sp_place;	/* which register of the ABI's */
	uint8_t		 sp_nloads;	/* of a member: as dtp_operand has it */
	uint32_t	 sp_off[DTP_MAX_DEREF];
	uint32_t	 sp_after;
	char		 sp_name[60];	/* of a member the path */
	char		 sp_type[32];	/* for people, cut */
};

/* A place that a probe can be put on. */
struct prof_site {
	uint64_t	 si_offset;	/* in the file */
	uint64_t	 si_size;	/* 0: not known */
	uint64_t	 si_semaphore;	/* of a static probe, in the file; 0 */
	uint32_t	 si_flags;	/* enum prof_site_flags */
	/*
	 * Arguments of a static probe, the first of them; one whose op_size is
	 * 0 is described in a way that is not known, or is no integer.
	 */
	uint32_t	 si_nargs;
	uint32_t	 si_leave;	/* enum prof_leave */
	uint32_t	 si_pad;
	uint64_t	 si_key;	/* of the linker's name */
	struct dtp_operand si_arg[DTP_MAX_ARGS];
	struct prof_site_parameter si_parameter[PROF_SITE_PARAMETERS];
	uint32_t	 si_nparameters;
	uint32_t	 si_pad2;
	struct prof_site_parameter si_result;
	/* For people, demangled; a longer one is cut. */
	char		 si_name[PROF_SITE_NAME];
};

struct prof_sites {
	struct prof_site *st_site;	/* by name */
	size_t		 st_n;
	size_t		 st_found;	/* with those there was no room for */
	size_t		 st_functions;	/* that the file names at all */
	size_t		 st_bad[PROF_NOTE_N]; /* notes, by what is wrong */
};

/* What is looked for. */
struct prof_sites_want {
	enum prof_site_kind sw_kind;
	const char	*sw_pattern;
	uint64_t	 sw_offset;	/* in the function */
	uint32_t	 sw_line;	/* of its source; 0: none */
	/* Parameters and members of them, "n,request.path"; NULL: all */
	const char	*sw_words;
};

/* 0, or -1 with errno: ENOEXEC: it is no ELF file. */
int	prof_sites_find(int fd, const struct prof_sites_want *want,
	    struct prof_sites *sites);
void	prof_sites_free(struct prof_sites *sites);
/* Does the kernel emulate the instruction that begins here? */
bool	prof_site_is_cheap(uint16_t machine, const uint8_t *code, size_t size);

/* ------------------------------------------------------------- operand.c */

/*
 * "-4@8(%rbx)", "8@$5", "8@[sp, 16]": an argument as a note of that machine
 * describes it.  false: in no way that is known.
 */
bool	prof_operand_parse(uint16_t machine, const char *text,
	    struct dtp_operand *operand);

#endif /* SITES_H */
