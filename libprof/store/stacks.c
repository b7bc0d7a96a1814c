/* SPDX-License-Identifier: ISC */
/*
 * Stacks by their names.  What a recording says in addresses is the same stack
 * on every host when functions, modules, kinds of frames and the ends of the
 * walks are: its number is a hash of these.  A sample's own frames are looked
 * up once; after that it costs a hash of the reader's numbers for them.  Called
 * by rows.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/grow.h"
#include "process/stack.h"
#include "process/symbols.h"
#include "recording/decode.h"
#include "recording/frame.h"
#include "store_impl.h"

#define MAX_FRAMES	4096
#define LARGEST		(256u << 20)	/* of rows that are kept */

struct known {
	uint64_t	 kn_number;
	uint32_t	 kn_day;	/* of its last row; 0: none yet */
	uint32_t	 kn_pad;
	size_t		 kn_at;		/* its row behind day and number */
	size_t		 kn_length;
};

/* A path and the build that is mapped from it, if it is but one. */
struct module {
	char		 mo_build[41];
	bool		 mo_is_mixed;
};

struct prof_stacks {
	struct prof_symbols *ss_symbols;
	struct prof_dict ss_raw;	/* frames in one space */
	uint32_t	*ss_known;	/* by number of those */
	size_t		 ss_nraw;
	size_t		 ss_cap_raw;
	struct prof_map	 ss_by_number;
	struct known	*ss_item;
	size_t		 ss_n;
	size_t		 ss_cap;
	struct prof_buf	 ss_rows;
	struct prof_map	 ss_wanted;	/* by known, of this part */
	uint32_t	*ss_list;
	size_t		 ss_nlist;
	size_t		 ss_cap_list;
	struct prof_dict ss_paths;
	struct module	*ss_module;
	size_t		 ss_nmodules;
	size_t		 ss_cap_modules;
	struct prof_frame ss_frame[MAX_FRAMES];
	uint32_t	 ss_function[MAX_FRAMES];	/* of each frame */
};

struct prof_stacks *
prof_stacks_new(void)
{
	return (calloc(1, sizeof(struct prof_stacks)));
}

/* Spaces and frames have the numbers of their reader. */
void
prof_stacks_begin(struct prof_stacks *stacks, struct prof_symbols *symbols)
{
	stacks->ss_symbols = symbols;
	prof_dict_clear(&stacks->ss_raw);
	stacks->ss_nraw = 0;
	if (stacks->ss_rows.bf_len < LARGEST)
		return;
	prof_map_clear(&stacks->ss_by_number);
	stacks->ss_n = 0;
	stacks->ss_rows.bf_len = 0;
}

void
prof_stacks_free(struct prof_stacks *stacks)
{
	if (stacks == NULL)
		return;
	prof_dict_free(&stacks->ss_raw);
	prof_dict_free(&stacks->ss_paths);
	prof_map_free(&stacks->ss_by_number);
	prof_map_free(&stacks->ss_wanted);
	prof_buf_free(&stacks->ss_rows);
	free(stacks->ss_known);
	free(stacks->ss_item);
	free(stacks->ss_list);
	free(stacks->ss_module);
	free(stacks);
}

/* ------------------------------------------------------------- builds */

int
prof_stacks_map(struct prof_stacks *stacks, const struct prof_record *record)
{
	struct module *module;
	char build[41] = "";
	bool is_new;
	uint32_t n;

	if (record->pr_path[0] == '\0')
		return (0);
	for (uint32_t i = 0; i < record->pr_build_id_len && i < 20; i++)
		snprintf(build + 2 * i, 3, "%02x", record->pr_build_id[i]);
	n = prof_dict_find(&stacks->ss_paths, record->pr_path,
	    strlen(record->pr_path), &is_new);
	if (n == PROF_INTERN_FAILED || !prof_room(&stacks->ss_module,
	    &stacks->ss_cap_modules, (size_t)n + 1, sizeof(*module)))
		return (-1);
	module = &stacks->ss_module[n];
	if (is_new)
		*module = (struct module){ .mo_is_mixed = false };
	if (is_new)
		strcpy(module->mo_build, build);
	else
		module->mo_is_mixed |= strcmp(module->mo_build, build) != 0;
	return (0);
}

static const char *
build_of(const struct prof_stacks *stacks, const char *path)
{
	const uint32_t n = prof_dict_peek(&stacks->ss_paths, path,
	    strlen(path));

	return (n == PROF_INTERN_FAILED || stacks->ss_module[n].mo_is_mixed ?
	    "" : stacks->ss_module[n].mo_build);
}

/* ------------------------------------------------------------- a stack */

/* Outermost first: a column of each frame. */
static void
column_put(struct prof_stacks *stacks, size_t n,
    const char *(*of)(const struct prof_stacks *,
    const struct prof_function *))
{
	prof_buf_varint(&stacks->ss_rows, n);
	while (n-- > 0)
		prof_row_text(&stacks->ss_rows, of(stacks,
		    prof_symbols_function(stacks->ss_symbols,
		    stacks->ss_function[n])));
}

static const char *
name_of(const struct prof_stacks *stacks,
    const struct prof_function *function)
{
	(void)stacks;
	return (function->fu_name);
}

static const char *
module_of(const struct prof_stacks *stacks,
    const struct prof_function *function)
{
	(void)stacks;
	return (function->fu_module);
}

static const char *
function_build(const struct prof_stacks *stacks,
    const struct prof_function *function)
{
	return (build_of(stacks, function->fu_module));
}

static const char *
kind_of(const struct prof_stacks *stacks,
    const struct prof_function *function)
{
	(void)stacks;
	return (prof_frame_kind_name(function->fu_kind));
}

static const char *
unresolved_of(const struct prof_stacks *stacks,
    const struct prof_function *function)
{
	(void)stacks;
	return (prof_unnamed_name(function->fu_unnamed));
}

/* Kernel frames, then those of user space, innermost first. */
static size_t
frames_take(struct prof_stacks *stacks, const struct prof_record *record)
{
	size_t n = 0, more;

	for (; n < record->pr_nkernel && n < MAX_FRAMES; n++)
		prof_frame_of_pc(record->pr_kernel[n], PROF_FRAME_KERNEL,
		    n > 0, &stacks->ss_frame[n]);
	more = prof_record_stack(stacks->ss_symbols, record,
	    PROF_FRAMES_ALL, stacks->ss_frame + n, MAX_FRAMES - n);
	if (more > MAX_FRAMES - n)
		more = MAX_FRAMES - n;
	if (n + more == 0 && record->pr_ip != 0) {
		prof_frame_of_pc(record->pr_ip, record->pr_in_kernel ?
		    PROF_FRAME_KERNEL : PROF_FRAME_NATIVE, false,
		    &stacks->ss_frame[0]);
		return (1);
	}
	return (n + more);
}

/* Write its row; the same one may be known from elsewhere. */
static int
stack_name(struct prof_stacks *stacks, const struct prof_record *record,
    uint32_t space, uint32_t *known)
{
	struct prof_buf *rows = &stacks->ss_rows;
	const size_t n = frames_take(stacks, record), at = rows->bf_len;
	struct known *item;
	uint64_t number;
	bool is_new;

	for (size_t i = 0; i < n; i++)
		stacks->ss_function[i] = prof_symbols_find(
		    stacks->ss_symbols, space, &stacks->ss_frame[i]);
	column_put(stacks, n, name_of);
	column_put(stacks, n, module_of);
	column_put(stacks, n, function_build);
	column_put(stacks, n, kind_of);
	column_put(stacks, n, unresolved_of);
	prof_row_text(rows, prof_stack_status_name(record->pr_kstatus));
	prof_row_text(rows, prof_stack_status_name(record->pr_ustatus));
	if (rows->bf_failed)
		return (-1);
	number = XXH3_64bits(rows->bf_data + at, rows->bf_len - at);
	*known = prof_map_find(&stacks->ss_by_number, number, &is_new);
	if (*known == PROF_INTERN_FAILED)
		return (-1);
	if (!is_new) {
		rows->bf_len = at;
		return (0);
	}
	item = prof_grow((void **)&stacks->ss_item, &stacks->ss_n,
	    &stacks->ss_cap, sizeof(*item));
	if (item == NULL)
		return (-1);
	*item = (struct known){ .kn_number = number, .kn_at = at,
	    .kn_length = rows->bf_len - at };
	return (0);
}

/* What tells one sample's frames from another's, before names.  No padding. */
struct raw {
	uint64_t	 ra_leaf[3];	/* of kernel, user, script */
	uint64_t	 ra_ip;
	uint32_t	 ra_callers[3];
	uint32_t	 ra_space;
	uint32_t	 ra_is_there;	/* a bit each */
	uint8_t		 ra_in_kernel;
	uint8_t		 ra_kstatus;
	uint8_t		 ra_ustatus;
	uint8_t		 ra_pad;
};

/* Of a reader the same callers are the same number: no frame is looked at. */
static void
raw_make(const struct prof_record *record, uint32_t space, struct raw *raw)
{
	const struct prof_sample *sample = prof_sample_of(record);
	const struct prof_stack *stacks[3] = { &sample->sm_kernel,
	    &sample->sm_user, &sample->sm_script };

	*raw = (struct raw){ .ra_ip = record->pr_ip, .ra_space = space,
	    .ra_in_kernel = record->pr_in_kernel != 0,
	    .ra_kstatus = record->pr_kstatus,
	    .ra_ustatus = record->pr_ustatus };
	for (unsigned n = 0; n < 3; n++) {
		if (!stacks[n]->sk_there)
			continue;
		raw->ra_leaf[n] = stacks[n]->sk_leaf;
		raw->ra_callers[n] = stacks[n]->sk_number;
		raw->ra_is_there |= 1U << n;
	}
}

static int
want_add(struct prof_stacks *stacks, uint32_t known)
{
	uint32_t *slot;
	bool is_new;

	if (prof_map_get(&stacks->ss_wanted, known, &is_new) ==
	    PROF_INTERN_FAILED)
		return (-1);
	if (!is_new)
		return (0);
	slot = prof_grow((void **)&stacks->ss_list, &stacks->ss_nlist,
	    &stacks->ss_cap_list, sizeof(*slot));
	if (slot == NULL)
		return (-1);
	*slot = known;
	return (0);
}

int
prof_stacks_number(struct prof_stacks *stacks,
    const struct prof_record *record, uint32_t space, uint64_t *number)
{
	uint32_t n, known;
	struct raw raw;
	bool is_new;

	raw_make(record, space, &raw);
	n = prof_dict_find(&stacks->ss_raw, &raw, sizeof(raw), &is_new);
	if (n == PROF_INTERN_FAILED || (is_new && !prof_room(
	    &stacks->ss_known, &stacks->ss_cap_raw, (size_t)n + 1,
	    sizeof(*stacks->ss_known))))
		return (-1);
	if (is_new && stack_name(stacks, record, space,
	    &stacks->ss_known[n]) == -1)
		return (-1);
	known = stacks->ss_known[n];
	*number = stacks->ss_item[known].kn_number;
	return (want_add(stacks, known));
}

void
prof_stacks_unsend(struct prof_stacks *stacks)
{
	for (size_t n = 0; n < stacks->ss_n; n++)
		stacks->ss_item[n].kn_day = 0;
}

/* Those of this part that have no row of this day yet. */
int
prof_stacks_rows(struct prof_stacks *stacks, uint32_t day,
    struct prof_store_rows *rows)
{
	for (size_t n = 0; n < stacks->ss_nlist; n++) {
		struct known *known = &stacks->ss_item[stacks->ss_list[n]];

		if (known->kn_day == day)
			continue;
		known->kn_day = day;
		prof_row_uint(&rows->sr_bytes, day, 2);
		prof_row_uint(&rows->sr_bytes, known->kn_number, 8);
		prof_buf_bytes(&rows->sr_bytes,
		    stacks->ss_rows.bf_data + known->kn_at,
		    known->kn_length);
		rows->sr_n++;
	}
	stacks->ss_nlist = 0;
	prof_map_clear(&stacks->ss_wanted);
	return (rows->sr_bytes.bf_failed ? -1 : 0);
}
