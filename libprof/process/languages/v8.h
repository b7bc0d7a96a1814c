/* SPDX-License-Identifier: ISC */
/*
 * V8's heap in the memory of a process: how objects lie (v8_layout.c), words,
 * types and strings (v8_heap.c), functions and their lines (v8_function.c),
 * and compiled code (v8_code.c).  Called by javascript.c.
 *
 * Everything read is the process's: a type is checked before an object's
 * words mean anything, and each length has a bound.
 *
 * A pointer to an object is its address + 1; a small integer has its value in
 * the upper half of its word.
 */
#ifndef PROF_V8_H
#define PROF_V8_H

#include "language.h"

#define V8_SIZES	208	/* bytecodes, at most */
#define V8_HEADER	16	/* of arrays: map, length */
#define V8_SCRIPT_ID	64	/* in a script */

/* One row a version; offsets are those of words in an object. */
struct v8_layout {
	uint32_t	 vl_major;
	uint32_t	 vl_minor;
	/* Types of objects */
	uint16_t	 vl_map;
	uint16_t	 vl_shared;
	uint16_t	 vl_script;
	uint16_t	 vl_scope;
	uint16_t	 vl_array;
	uint16_t	 vl_bytecode;
	uint16_t	 vl_stream;	/* what instructions lie in */
	uint16_t	 vl_code;	/* what describes them */
	uint16_t	 vl_deopt;	/* data of optimized code */
	uint8_t		 vl_shared_at;	/* in a function: this, */
	/* SharedFunctionInfo: data, name, ..., script, with its literal */
	uint8_t		 vl_name;
	uint8_t		 vl_script_at;
	/* ScopeInfo */
	uint8_t		 vl_scope_function;	/* this kind of scope */
	bool		 vl_scope_raw;	/* flags no small integer, and */
					/* positions first */
	/* BytecodeArray */
	uint8_t		 vl_bytes;
	uint8_t		 vl_byte_positions;
	/* Code */
	uint8_t		 vl_header;	/* of a stream, to instructions */
	uint8_t		 vl_data;
	uint8_t		 vl_positions;
	uint8_t		 vl_size;
	uint8_t		 vl_flags;
	uint8_t		 vl_maglev;	/* kind in the flags; 0: none is */
	uint8_t		 vl_jump_loop;	/* bytecode; 0: not known */
	/* Data of optimized code: places in it */
	uint8_t		 vl_literals;
	uint8_t		 vl_function;
	uint8_t		 vl_inlined;
	bool		 vl_wrapped;	/* the function, in one more object */
	/* Bytes of bytecodes: plain, wide, extra wide */
	const uint8_t	(*vl_sizes)[V8_SIZES];
};

/* Line ends of a script, and for what they were found. */
struct v8_lines {
	uint64_t	 li_script;
	uint64_t	 li_id;		/* the script's own number */
	uint64_t	 li_from;	/* the array, or the source */
	uint64_t	 li_length;
	uint32_t	*li_end;
	size_t		 li_n;
	size_t		 li_cap;
};

#define V8_SCRIPTS	8

/* Kept for a process between two calls. */
struct v8_kept {
	uint64_t	 ke_stream_map;	/* 0: not known */
	unsigned	 ke_next;
	struct v8_lines	 ke_lines[V8_SCRIPTS];
};

struct v8 {
	const struct prof_peek *v8_memory;
	const struct v8_layout *v8_layout;
	struct v8_kept	*v8_kept;
};

/* A SharedFunctionInfo, as it was when it was read. */
struct v8_function {
	uint64_t	 fn_data;
	uint64_t	 fn_name;
	uint64_t	 fn_script;
	uint32_t	 fn_identity;	/* as sys/kept.bpf.h has it */
};

/* The row of a version, and its number below 16; or NULL. */
const struct v8_layout *v8_layout_find(uint32_t major, uint32_t minor,
	    uint32_t *number);
const struct v8_layout *v8_layout_at(uint32_t number);

/* ------------------------------------------------------------ v8_heap.c */

#define V8_IS_OBJECT(word)	(((word) & 3) == 1)
#define V8_IS_SMI(word)		(((word) & 0xffffffff) == 0)
#define V8_SMI(word)		((int32_t)((word) >> 32))

bool	 v8_read(const struct v8 *v8, uint64_t object, uint64_t offset,
	    void *bytes, size_t size);
bool	 v8_word(const struct v8 *v8, uint64_t object, uint64_t offset,
	    uint64_t *word);
/* The type of an object; 0: it is none (or a string that is no name). */
uint16_t v8_type(const struct v8 *v8, uint64_t object);
/* The same, in memory whose version is not known yet. */
uint16_t v8_type_in(const struct prof_peek *memory, uint64_t object,
	    uint64_t *map);
/* As UTF-8, cut at size - 1 bytes; false: it is no string. */
bool	 v8_text(const struct v8 *v8, uint64_t string, char *text,
	    size_t size);
/* Where the characters of a string lie, one behind the other. */
bool	 v8_flat(const struct v8 *v8, uint64_t string, uint64_t *chars,
	    uint32_t *length, bool *is_wide);

/* -------------------------------------------------------- v8_function.c */

bool	 v8_function_read(const struct v8 *v8, uint64_t shared,
	    struct v8_function *function);
/* Its bytecode, 0: it has none. */
uint64_t v8_function_bytecode(const struct v8 *v8,
	    const struct v8_function *function);
/* Name, file, first line. */
bool	 v8_function_describe(struct v8 *v8,
	    const struct v8_function *function, char *name, char *file,
	    uint32_t *line);
/* The line of a place in the source; 0: not known. */
uint32_t v8_function_line(struct v8 *v8, const struct v8_function *function,
	    uint32_t position);
void	 v8_kept_free(struct v8_kept *kept);

/* ------------------------------------------------------------ v8_code.c */

/* A position of the tables of V8. */
struct v8_position {
	uint32_t	 po_code;	/* offset of code, from this on */
	uint32_t	 po_source;
	int32_t		 po_inlined;	/* -1: not in inlined code */
};

/* Calls fn for each, until it returns true. */
typedef bool	 v8_position_fn(void *arg, const struct v8_position *position);
bool	 v8_positions(const struct v8 *v8, uint64_t table,
	    v8_position_fn *fn, void *arg);

/* A function at a place of its source. */
struct v8_place {
	uint64_t	 pl_shared;
	uint32_t	 pl_position;
	bool		 pl_has_position;
};

#define V8_MAX_INLINED	PROF_TABLE_INLINED

/*
 * The functions at a pc, innermost first.  The last one is the compiled
 * function: the function of the frame (shared, bytecode), or a function that it
 * called and that has no frame yet or any more.  Returns 0 if not known.
 */
size_t	 v8_code_places(struct v8 *v8, uint64_t pc, bool is_return,
	    uint64_t shared, uint64_t bytecode, struct v8_place *places);

#endif /* PROF_V8_H */
