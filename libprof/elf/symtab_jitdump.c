/* SPDX-License-Identifier: ISC */
/*
 * Functions of a JIT dump: a header, then records, one after another, each
 * with its length; a JIT writes one when it makes code, and maps the file so
 * that profilers hear of it.
 *
 *	header	magic version length machine pad pid | time flags
 *	record	kind length time
 *	load	pid tid | vma address size number | name 0 code
 *	move	pid tid | vma from to size number
 *
 * A place may have had several functions one after another, and who asks says
 * no time: such a place has no name.  The code itself is not read.
 *
 * Called by parsers, for files that others wrote.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "symtab_impl.h"

#define MAGIC		0x4a695444u
#define VERSION		1
#define NAME_MOST	1024		/* what is longer is cut */
#define RECORDS_MOST	(4u << 20)
#define MOVES_MOST	65536u		/* functions back */

enum kind { LOAD = 0, MOVE = 1 };

struct header {
	uint32_t	he_magic;
	uint32_t	he_version;
	uint32_t	he_length;
	uint32_t	he_machine;
	uint32_t	he_pad;
	uint32_t	he_pid;
	uint64_t	he_time;
	uint64_t	he_flags;
};

struct record {
	uint32_t	re_kind;
	uint32_t	re_length;
	uint64_t	re_time;
	uint32_t	re_pid;
	uint32_t	re_tid;
	uint64_t	re_vma;
	uint64_t	re_address;
	uint64_t	re_size;	/* of a move: where to */
	uint64_t	re_number;	/* of a move: size */
	union {
		char		re_name[NAME_MOST];
		uint64_t	re_moved;	/* of a move: number */
	};
};
#define FIXED	offsetof(struct record, re_name)

/* Code that was at a place at some time. */
struct code {
	uint64_t	 co_address;
	uint64_t	 co_end;
	uint64_t	 co_number;
	size_t		 co_name;	/* in du_text */
	bool		 co_is_shared;	/* its place was another's, too */
};

struct dump {
	struct code	*du_code;
	size_t		 du_n;
	size_t		 du_cap;
	char		*du_text;
	size_t		 du_length;
	size_t		 du_room;
	uint64_t	 du_left;	/* of the memory it may take */
};

/* The number of a byte of the text; SIZE_MAX: no memory. */
static size_t
text_add(struct dump *dump, const char *name, size_t length)
{
	const size_t at = dump->du_length;

	if (dump->du_left < length + 1 || !prof_room(&dump->du_text,
	    &dump->du_room, at + length + 1, 1))
		return (SIZE_MAX);
	dump->du_left -= length + 1;
	memcpy(dump->du_text + at, name, length);
	dump->du_text[at + length] = '\0';
	dump->du_length = at + length + 1;
	return (at);
}

static bool
code_add(struct dump *dump, const struct code *code)
{
	struct code *to;

	if (code->co_name == SIZE_MAX || dump->du_left < sizeof(*to) ||
	    (to = prof_grow(&dump->du_code, &dump->du_n, &dump->du_cap,
	    sizeof(*to))) == NULL) {
		errno = EFBIG;
		return (false);
	}
	dump->du_left -= sizeof(*to);
	*to = *code;
	return (true);
}

/* Of the latest code with that number, at its new place. */
static bool
move_add(struct dump *dump, const struct record *record)
{
	const size_t end = dump->du_n < MOVES_MOST ? 0 :
	    dump->du_n - MOVES_MOST;

	for (size_t n = dump->du_n; n-- > end;)
		if (dump->du_code[n].co_number == record->re_moved)
			return (code_add(dump, &(struct code){
			    .co_address = record->re_size,
			    .co_end = record->re_size + record->re_number,
			    .co_number = record->re_moved,
			    .co_name = dump->du_code[n].co_name }));
	return (true);
}

/* One of which so much was read.  false: no memory. */
static bool
record_add(struct dump *dump, const struct record *record, size_t got)
{
	if (record->re_kind == LOAD && got > FIXED &&
	    record->re_size <= UINT64_MAX - record->re_address)
		return (code_add(dump, &(struct code){
		    .co_address = record->re_address,
		    .co_end = record->re_address + record->re_size,
		    .co_number = record->re_number,
		    .co_name = text_add(dump, record->re_name,
		    strnlen(record->re_name, got - FIXED)) }));
	if (record->re_kind == MOVE &&
	    got >= FIXED + sizeof(record->re_moved) &&
	    record->re_number <= UINT64_MAX - record->re_size)
		return (move_add(dump, record));
	return (true);
}

static bool
dump_read(struct dump *dump, int fd)
{
	struct record record;
	struct header header;
	uint64_t at;
	ssize_t got;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    header.he_magic != MAGIC || header.he_version != VERSION ||
	    header.he_length < sizeof(header))
		return (true);
	at = header.he_length;
	for (unsigned n = 0; n < RECORDS_MOST; n++) {
		got = pread(fd, &record, sizeof(record), (off_t)at);
		if (got < 16 || record.re_length < 16)
			break;
		if ((size_t)got > record.re_length)
			got = (ssize_t)record.re_length;
		if (!record_add(dump, &record, (size_t)got))
			return (false);
		at += record.re_length;
	}
	return (true);
}

static int
code_order(const void *a, const void *b)
{
	const struct code *x = a, *y = b;

	return ((x->co_address > y->co_address) -
	    (x->co_address < y->co_address));
}

/* Is it the same function at the same place, once more? */
static bool
is_again(const struct dump *dump, const struct code *code,
    const struct code *before)
{
	return (code->co_address == before->co_address &&
	    code->co_end == before->co_end &&
	    strcmp(dump->du_text + code->co_name,
	    dump->du_text + before->co_name) == 0);
}

/* Which places were those of several functions. */
static void
dump_compare(struct dump *dump)
{
	struct code *code = dump->du_code, *before = NULL;
	size_t n;

	if (dump->du_n == 0)
		return;
	qsort(code, dump->du_n, sizeof(*code), code_order);
	/* The one that reaches furthest so far. */
	for (n = 0; n < dump->du_n; n++, code++) {
		if (before != NULL && code->co_address < before->co_end) {
			code->co_is_shared = true;
			/* One of them stands for both. */
			if (!is_again(dump, code, before))
				before->co_is_shared = true;
		}
		if (before == NULL || code->co_end > before->co_end)
			before = code;
	}
}

static bool
dump_put(const struct dump *dump, struct prof_symtab *table)
{
	const struct code *code = dump->du_code;

	for (size_t n = 0; n < dump->du_n; n++, code++)
		if (!code->co_is_shared && !prof_symtab_put(table,
		    &(struct symtab_item){ .it_address = code->co_address,
		    .it_end = code->co_end,
		    .it_name = dump->du_text + code->co_name,
		    .it_length = strlen(dump->du_text + code->co_name),
		    .it_kind = SYMTAB_FUNCTION,
		    .it_binding = SYMTAB_GLOBAL }))
			return (false);
	return (true);
}

bool
prof_is_jit_dump(int fd)
{
	uint32_t magic;

	return (pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) &&
	    magic == MAGIC);
}

struct prof_symtab *
prof_symtab_of_jit_dump(int fd, uint64_t *left)
{
	const uint64_t half = *left / 2;
	struct dump dump = { .du_left = half };
	struct prof_symtab *table = prof_symtab_new();
	bool ok = table != NULL;

	if (ok) {
		prof_symtab_limit(table, half);
		ok = dump_read(&dump, fd);
		dump_compare(&dump);
		ok = ok && dump_put(&dump, table);
		*left -= half - prof_symtab_left(table);
	}
	free(dump.du_code);
	free(dump.du_text);
	return (prof_symtab_done(table, ok));
}
