/* SPDX-License-Identifier: ISC */
/* What the files of store/ share; see store.h.  Included by them alone. */
#ifndef PROF_STORE_IMPL_H
#define PROF_STORE_IMPL_H

#include "base/intern.h"
#include "base/record.h"
#include "profile/profile_impl.h"
#include "store.h"

/* ------------------------------------------------------------ schema.c */

/* Values as RowBinary has them. */
void	prof_row_uint(struct prof_buf *row, uint64_t value, unsigned bytes);
void	prof_row_text(struct prof_buf *row, const char *text);
void	prof_row_texts(struct prof_buf *row, const char *const *texts,
	    size_t n);

unsigned prof_store_ncolumns(enum prof_store_table table);
/* Of the columns without counters. */
void	prof_store_column(enum prof_store_table table, unsigned n,
	    const char **name, const char **type);

/* ------------------------------------------------------------ stacks.c */

struct prof_stacks;

/* Owned by caller; NULL: no memory. */
struct prof_stacks *prof_stacks_new(void);
void	prof_stacks_free(struct prof_stacks *stacks);
/* Each time that a reader begins, before its first record. */
void	prof_stacks_begin(struct prof_stacks *stacks,
	    struct prof_symbols *symbols);
/* A mapping, which says which build a path is. */
int	prof_stacks_map(struct prof_stacks *stacks,
	    const struct prof_record *record);
/* The number of a reader's sample's stack; its row is sent once a day. */
int	prof_stacks_number(struct prof_stacks *stacks,
	    const struct prof_record *record, uint32_t space,
	    uint64_t *number);
/* A batch was not sent: its stacks have no rows after all. */
void	prof_stacks_unsend(struct prof_stacks *stacks);
int	prof_stacks_rows(struct prof_stacks *stacks, uint32_t day,
	    struct prof_store_rows *rows);

/* ------------------------------------------- rows.c, batch.c, columns.c */

#define PROF_STORE_CACHE	256u

/* What tells rows apart.  No padding: it is a key. */
struct prof_row_key {
	uint64_t	 ke_stack;
	uint64_t	 ke_weight;
	uint32_t	 ke_time;	/* of its bucket, seconds */
	uint32_t	 ke_event;
	uint32_t	 ke_pid;
	uint32_t	 ke_tid;
	uint32_t	 ke_cpu;
	uint32_t	 ke_build;	/* a text */
	uint32_t	 ke_comm;	/* a text */
	uint32_t	 ke_renames;	/* of the thread, until then */
};

struct prof_row {
	struct prof_row_key	 ro_key;
	uint64_t	 ro_n;
};

/* Of an event in this part of a batch. */
struct prof_row_account {
	uint64_t	 ac_rows;
	uint64_t	 ac_samples;
	uint64_t	 ac_weight;
	uint64_t	 ac_lost;
};

/* The program that a process executes. */
struct prof_row_program {
	uint32_t	 pg_build;	/* a text */
	uint32_t	 pg_candidate;	/* of what may have been executed */
	bool		 pg_is_known;
};

/* What a thread was called last, and how often that has changed. */
struct prof_row_name {
	uint32_t	 nm_comm;	/* a text */
	uint32_t	 nm_renames;
};

struct prof_row_cached {
	struct prof_moment ca_moment;
	uint32_t	 ca_pid;
	uint32_t	 ca_tid;
	uint32_t	 ca_comm;
	uint32_t	 ca_build;
	uint32_t	 ca_renames;
	bool		 ca_valid;
};

struct prof_store_writer {
	struct prof_store_labels sw_labels;
	struct prof_stacks *sw_stacks;
	uint64_t	 sw_id;		/* of the recording */
	uint64_t	 sw_next;	/* minute to go on with; 0: the first */
	bool		 sw_is_done;
	/* texts by number */
	struct prof_dict sw_by_text;
	char		**sw_text;
	size_t		 sw_ntexts;
	size_t		 sw_cap_texts;
	/* rows of this part */
	struct prof_dict sw_by_key;
	struct prof_row	*sw_row;
	size_t		 sw_nrows;
	size_t		 sw_cap_rows;
	/* this call */
	struct prof_reader *sw_reader;
	struct prof_symbols *sw_symbols;
	struct prof_history *sw_history;
	prof_store_put_fn *sw_put;
	void		*sw_arg;
	struct prof_err	*sw_error;
	uint64_t	 sw_shift_ns;	/* from the recording's clock to UTC */
	uint64_t	 sw_minute;	/* that is being gathered */
	uint32_t	 sw_part;
	struct prof_store_batch	 sw_batch;	/* kept for its memory */
	struct prof_row_account	*sw_account;	/* by event */
	bool		 sw_is_running;	/* between START and STOP, no pause */
	uint64_t	 sw_from_ns;	/* UTC: since when it counts */
	uint64_t	 sw_elapsed_ns;
	uint64_t	 sw_first_ns;	/* UTC: of START */
	struct prof_map	 sw_by_pid;
	struct prof_row_program	*sw_program;
	size_t		 sw_nprograms;
	size_t		 sw_cap_programs;
	struct prof_map	 sw_by_tid;
	struct prof_row_name *sw_name;
	size_t		 sw_nnames;
	size_t		 sw_cap_names;
	struct prof_row_cached	 sw_cache[PROF_STORE_CACHE];
};

/* The rows at hand as columns; *attempt: where their attempts lie. */
void	prof_store_columns_put(struct prof_store_writer *writer,
	    struct prof_buf *to, uint32_t day, size_t *attempt);

/* Hand on what was gathered up to a time (UTC); then it begins anew. */
int	prof_store_part_end(struct prof_store_writer *writer, uint64_t to_ns,
	    bool is_last);

#endif /* PROF_STORE_IMPL_H */
