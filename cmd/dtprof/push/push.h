/* SPDX-License-Identifier: ISC */
/*
 * What cmd_push.c and the kinds of servers share: a kind is a file with a
 * struct push_kind, and a row in cmd_push.c.
 */
#ifndef PUSH_H
#define PUSH_H

#include <time.h>

#include "../cmd.h"

#define PUSH_LABELS	32

struct push_labels {
	const char	*pl_key[PUSH_LABELS];
	const char	*pl_value[PUSH_LABELS];
	size_t		 pl_n;
	char		*pl_texts[PUSH_LABELS];	/* owned */
};

/* What was sent. */
struct push_counts {
	uint64_t	 pc_samples;	/* in the recordings */
	uint64_t	 pc_rows;	/* that the server has taken now */
	uint64_t	 pc_rows_spooled; /* not sent: push again sends them */
	uint64_t	 pc_rows_dropped; /* refused */
	uint64_t	 pc_batches;	/* sent now */
	uint64_t	 pc_duplicates;	/* batches that it had already */
	uint64_t	 pc_bytes;	/* of rows, before compression */
};

struct push {
	const char	*pu_url;
	const char	*pu_secret_file;
	uint64_t	 pu_try_ns;	/* how long to go on trying */
	bool		 pu_is_dry;	/* nothing is sent */
	bool		 pu_follows;	/* the recording is being written */
	time_t		 pu_opened;	/* before that file was */
	struct push_labels pu_labels;
	struct push_counts pu_counts;
	void		*pu_arg;	/* the kind's */
};

struct push_kind {
	const char	*pk_prefix;	/* of the URL */
	const char	*pk_rows;	/* what is counted: "rows" */
	/*
	 * With the privileges of the caller, before any file is opened: start
	 * the network process.  Each returns 0, or -1 with a message printed.
	 */
	int	(*pk_open)(struct push *push);
	int	(*pk_file)(struct push *push, struct prof_reader *reader,
		    const char *path);
	void	(*pk_close)(struct push *push);
};

extern const struct push_kind push_clickhouse;
extern const struct push_kind push_otlp;
extern const struct push_kind push_pyroscope;
extern const struct push_kind push_parca;

/* The value of a label, or NULL. */
const char *push_label(const struct push_labels *labels, const char *key);

#endif /* PUSH_H */
