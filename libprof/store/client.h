/* SPDX-License-Identifier: ISC */
/*
 * A store over HTTP: clickhouse+http://[USER@]HOST[:PORT][/DATABASE], or
 * clickhouse+https.  All of it goes through the network child.  See client.c.
 */
#ifndef PROF_CLIENT_H
#define PROF_CLIENT_H

#include "network/network.h"
#include "store.h"

struct prof_store;

/* Is it the URL of a store? */
bool	prof_store_is_url(const char *text);
/* Owned by caller; NULL: error says why. */
struct prof_store *prof_store_open(const char *url, const char *secret_file,
	    struct prof_err *error);
void	prof_store_close(struct prof_store *store);
/* Database and tables, where they are not there. */
int	prof_store_init(struct prof_store *store, struct prof_err *error);

/* What a table holds. */
struct prof_store_size {
	uint64_t	 st_rows;
	uint64_t	 st_bytes;
	char		 st_oldest[16];	/* "2026-11-26"; "": it is empty */
	bool		 st_is_there;
};

int	prof_store_status(struct prof_store *store,
	    struct prof_store_size sizes[PROF_STORE_TABLES],
	    struct prof_err *error);
/* Days before this one, "2026-11-26"; *dropped: partitions of tables. */
int	prof_store_drop(struct prof_store *store, const char *day,
	    unsigned *dropped, struct prof_err *error);

enum prof_store_sent {
	PROF_STORE_SENT,	/* it is committed */
	PROF_STORE_LATER,	/* the store is not there, or is busy */
	PROF_STORE_NEVER	/* refused: trying again does not help */
};

/* One attempt.  But for SENT error says why. */
enum prof_store_sent prof_store_send(struct prof_store *store,
	    struct prof_store_batch *batch, struct prof_answer *answer,
	    struct prof_err *error);
/*
 * Ask in SQL: a memory file with the rows, owned by caller; -1: error is set,
 * to PROF_E_BUSY if trying again may help.
 * SQL is the caller's, of checked texts alone.
 */
int	prof_store_ask(struct prof_store *store, const char *sql,
	    uint64_t max_bytes, struct prof_err *error);

/* ------------------------------------------------------------ select.c */

#define PROF_STORE_MOST		(8ULL << 30)	/* bytes of an answer */

/* What samples are told apart by, beside events, names, weights and stacks. */
#define PROF_STORE_TIMES	1u
#define PROF_STORE_THREADS	2u
#define PROF_STORE_CPUS		4u
#define PROF_STORE_ALL		7u

/* Which samples are asked for. */
struct prof_store_want {
	unsigned	 wt_by;		/* PROF_STORE_TIMES, ... */
	const char	*wt_filter;	/* as of --filter, or NULL */
	uint64_t	 wt_from_s;	/* ago; 0: all */
	uint64_t	 wt_to_s;	/* ago; 0: up to now */
	uint64_t	 wt_now_s;	/* UTC; 0: when it is asked */
	const char	*wt_host;	/* NULL: all */
	uint64_t	 wt_recording;	/* 0: all */
};

/*
 * A memory file that import makes a recording of, owned by caller; -1: error
 * is set.  rest: what is left of the filter, a text, "" or empty for nothing.
 */
int	prof_store_select(struct prof_store *store,
	    const struct prof_store_want *want, struct prof_buf *rest,
	    struct prof_err *error);
/* A recording of a store. */
struct prof_store_found {
	char		*sf_host;
	uint64_t	 sf_number;
	char		*sf_service;
	char		*sf_version;
};

/*
 * Those that have samples of what is wanted, by host and time; to be freed.
 * rest as of prof_store_select.
 */
int	prof_store_find(struct prof_store *store,
	    const struct prof_store_want *want, struct prof_buf *rest,
	    struct prof_store_found **found, size_t *n,
	    struct prof_err *error);
void	prof_store_found_free(struct prof_store_found *found, size_t n);
/* A recording made of it (import/import.c); the descriptor stays open. */
struct prof_reader *prof_reader_open_answers(int fd, const char *name,
	    struct prof_import **made, struct prof_err *error);
/* A filter taken apart: SQL on labels, each term behind " AND ", and rest. */
int	prof_store_filter(const char *filter, struct prof_buf *sql,
	    struct prof_buf *rest, struct prof_err *error);

#endif /* PROF_CLIENT_H */
