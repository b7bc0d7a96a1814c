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
 * Ask in SQL: a memory file with the rows, owned by caller; -1: error is set.
 * SQL is the caller's, of checked texts alone.
 */
int	prof_store_ask(struct prof_store *store, const char *sql,
	    uint64_t max_bytes, struct prof_err *error);

#endif /* PROF_CLIENT_H */
