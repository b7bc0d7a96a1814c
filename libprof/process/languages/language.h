/* SPDX-License-Identifier: ISC */
/*
 * What a language contributes: which native functions execute its code, how a
 * JIT's perf map names its functions, and names and lines of its code objects.
 * One file a language, and a row in languages.def.
 *
 * Called by parsers, which have no privileges (broker/), to look for
 * interpreters in files and to name code; by process/codes.c while recording;
 * and when names are asked for by process/stack.c and symbols.c.
 */
#ifndef PROF_LANGUAGE_H
#define PROF_LANGUAGE_H

#include <stdbool.h>

#include "abi/dtp_chain.h"
#include "prof.h"
#include "recording/table.h"

struct prof_elf;

#define PROF_CODE_TEXT	512	/* bytes of a name or a file */
#define PROF_CODE_STEPS	2048	/* of lines */

/* Memory of a process that may be gone, or change meanwhile. */
struct prof_peek {
	uint32_t	 pk_pid;
	int		 pk_fd;		/* of its mem; -1: none */
	void		**pk_kept;	/* a language's own; NULL at first */
};

/*
 * All of it or nothing.  Addresses and what lies there are the process's:
 * check each length and pointer before it is used.
 */
bool	prof_peek_read(const struct prof_peek *memory, uint64_t address,
	    void *bytes, size_t size);
/* Read as many bytes as possible.  Returns their number. */
size_t	prof_peek_some(const struct prof_peek *memory, uint64_t address,
	    void *bytes, size_t size);
/* Text up to a NUL, cut at size - 1 bytes; false: it cannot be read. */
bool	prof_peek_text(const struct prof_peek *memory, uint64_t address,
	    char *text, size_t size);

/* A function that was inlined, and its line there; 0: not known. */
struct prof_code_inlined {
	char		 in_name[PROF_CODE_TEXT];	/* "": not known */
	char		 in_file[PROF_CODE_TEXT];
	uint32_t	 in_line;	/* the first */
	uint32_t	 in_at;
};

/*
 * What is known of a code object, or of a place in one: then its only
 * instruction is 0, and the functions inlined there have a description each,
 * innermost first.
 */
struct prof_code_object {
	char		 co_name[PROF_CODE_TEXT];
	char		 co_file[PROF_CODE_TEXT];	/* "": not known */
	uint32_t	 co_line;	/* the first; 0: not known */
	uint32_t	 co_nsteps;
	uint32_t	 co_ninlined;
	struct prof_table_step co_step[PROF_CODE_STEPS];
	struct prof_code_inlined co_inlined[PROF_TABLE_INLINED];
};

/* A code object as the stream has it. */
struct prof_code_key {
	uint64_t	 ck_address;
	uint64_t	 ck_check;	/* the stream's identity word, */
	uint32_t	 ck_variant;	/* of its language */
	uint32_t	 ck_language;	/* its place, from 1 */
	uint32_t	 ck_number;	/* that a recording has for it */
	uint32_t	 ck_stamp;	/* and its stamp; 0: none */
};

/* An interpreter that a file contains. */
struct prof_runtime {
	uint32_t	 rt_language;	/* its place, from 1; 0: none */
	uint32_t	 rt_version;	/* its language's own number */
	uint32_t	 rt_variant;	/* of the language, below 16 */
	uint32_t	 rt_is_known;	/* its frames can be found: */
	struct dtp_chain rt_chain;	/* addresses are the file's */
	uint64_t	 rt_runs;	/* address of its interpreter loop */
	uint64_t	 rt_runs_bytes;	/* its size; 0: not known */
	char		 rt_name[48];	/* for people: "Python 3.11.2" */
};

/*
 * How a stream has language and variant in a frame's word, where a recording
 * has flags.
 */
#define PROF_LANGUAGE_BITS	4
#define PROF_LANGUAGE_OF(flags)	((flags) & 15)
#define PROF_VARIANT_OF(flags)	((flags) >> PROF_LANGUAGE_BITS)

struct prof_language {
	const char	*la_name;
	enum prof_frame_kind la_kind;
	/* What follows "functions of NAME are not shown"; or who tells it */
	const char	*la_missing;
	const char	*(*la_advice)(const struct prof_runtime *runtime);
	const char	*la_instead;	/* the hint if frames are not found */
	/* Names of native functions, NULL behind the last; NULL: none */
	const char *const *la_runs;	/* that execute script frames */
	const char *const *la_jit;	/* how those of a perf map begin */
	bool		 la_has_chain;	/* script frames are no native ones, */
					/* whose functions are the */
					/* interpreter's, those of a JIT, too */
	/* Does this file contain the interpreter?  NULL: nobody knows. */
	bool		 (*la_find)(struct prof_elf *elf,
			    struct prof_runtime *runtime);
	/*
	 * Describe a code object.  False: it cannot be read, or the identity
	 * word is not its own any more.  NULL: the language has no script
	 * frames in the stream.
	 */
	bool		 (*la_describe)(const struct prof_peek *memory,
			    const struct prof_code_key *key,
			    struct prof_code_object *code);
	/* Free what it keeps of a process; NULL: nothing. */
	void		 (*la_forget)(void *kept);
};

/* As prof_language_at. */
typedef const struct prof_language *prof_language_fn(unsigned number);

/* By the number that a stream has for it, from 1; NULL: no more. */
const struct prof_language *prof_language_at(unsigned number);
/* The interpreter in a file; its place is 0 where there is none. */
void	prof_runtime_find(struct prof_elf *elf, struct prof_runtime *runtime);
/* For people, behind "functions of NAME are not shown"; "": nothing helps. */
const char *prof_runtime_advice(const struct prof_runtime *runtime);
/* How its frames begin in the stream. */
uint64_t prof_runtime_head(const struct prof_runtime *runtime);
/*
 * Name code objects, as the functions of a table; nameless ones are left out.
 */
void	prof_language_name_all(prof_language_fn *language,
	    const struct prof_peek *memory, const struct prof_code_key *keys,
	    size_t n, struct prof_buf *body);
/* Does a native function execute script frames of this kind? */
bool	prof_language_runs(unsigned kind, const char *function);
/* Are script frames of this kind no native ones?  See la_has_chain. */
bool	prof_language_has_chain(unsigned kind);
/* The kind of a function that a perf map names. */
enum prof_frame_kind prof_language_of_jit(const char *function);

/* ------------------------------------------------- one a language */

#define PROF_LANGUAGE(name) extern const struct prof_language		\
	prof_language_##name;
#include "languages.def"
#undef PROF_LANGUAGE

#endif /* PROF_LANGUAGE_H */
