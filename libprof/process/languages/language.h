/* SPDX-License-Identifier: ISC */
/*
 * What a language contributes: which native functions execute its code, how a
 * JIT's perf map names its functions, and names and lines of its code objects.
 * One file a language, and a row in languages.def.
 *
 * Called while recording by process/codes.c, and when names are asked for by
 * process/stack.c and symbols.c.
 */
#ifndef PROF_LANGUAGE_H
#define PROF_LANGUAGE_H

#include <stdbool.h>

#include "prof.h"
#include "recording/table.h"

#define PROF_CODE_TEXT	512	/* bytes of a name or a file */
#define PROF_CODE_STEPS	2048	/* of lines */

/* Memory of a process that may be gone, or change meanwhile. */
struct prof_peek {
	uint32_t	 pk_pid;
	int		 pk_fd;		/* of its mem; -1: none */
};

/*
 * All of it or nothing.  Addresses and what lies there are the process's:
 * check each length and pointer before it is used.
 */
bool	prof_peek_read(const struct prof_peek *memory, uint64_t address,
	    void *bytes, size_t size);
/* Text up to a NUL, cut at size - 1 bytes; false: it cannot be read. */
bool	prof_peek_text(const struct prof_peek *memory, uint64_t address,
	    char *text, size_t size);

/* What is known of a code object. */
struct prof_code_object {
	char		 co_name[PROF_CODE_TEXT];
	char		 co_file[PROF_CODE_TEXT];	/* "": not known */
	uint32_t	 co_line;	/* the first; 0: not known */
	uint32_t	 co_nsteps;
	struct prof_table_step co_step[PROF_CODE_STEPS];
};

struct prof_language {
	const char	*la_name;
	enum prof_frame_kind la_kind;
	/* Names of native functions, NULL behind the last; NULL: none */
	const char *const *la_runs;	/* that execute script frames */
	const char *const *la_jit;	/* how those of a perf map begin */
	/*
	 * Describe the code object at an address.  False: it cannot be read,
	 * or check, the stream's identity word, is not its own any more.
	 * NULL: the language has no script frames in the stream.
	 */
	bool		 (*la_describe)(const struct prof_peek *memory,
			    uint64_t address, uint64_t check,
			    struct prof_code_object *code);
};

/* By the number that a stream has for it, from 1; NULL: no more. */
const struct prof_language *prof_language_at(unsigned number);
/* Does a native function execute script frames of this kind? */
bool	prof_language_runs(unsigned kind, const char *function);
/* The kind of a function that a perf map names. */
enum prof_frame_kind prof_language_of_jit(const char *function);

/* ------------------------------------------------- one a language */

#define PROF_LANGUAGE(name) extern const struct prof_language		\
	prof_language_##name;
#include "languages.def"
#undef PROF_LANGUAGE

#endif /* PROF_LANGUAGE_H */
