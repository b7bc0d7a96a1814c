/* SPDX-License-Identifier: ISC */
/*
 * A perf.data file being read.  Its records come from two places: as they
 * stand in the file, and out of what is compressed in it.
 *
 * Included by import/ alone.
 */
#ifndef PROF_PERFDATA_H
#define PROF_PERFDATA_H

#include "base/record.h"
#include "base/cursor.h"
#include "base/intern.h"
#include "import.h"
#include "stacks/snapshot.h"

/* Records that perf itself writes into the stream. */
enum {
	PERF_HEADER_ATTR = 64, PERF_TRACING_DATA = 66, PERF_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68, PERF_AUXTRACE = 71, PERF_EVENT_UPDATE = 78,
	PERF_HEADER_FEATURE = 80, PERF_COMPRESSED = 81, PERF_COMPRESSED2 = 83
};

#define PERF_MAX_CHAIN	8192	/* frames; a record has 64 KiB */

/* An event of the file, and what became of it. */
struct perf_attr {
	struct perf_event_attr pa_attr;
	char		*pa_name;
	struct prof_accounting pa_sum;
	uint64_t	 pa_ring_lost;	/* records, where it owns the ring */
};

/* Which event an id in a record means. */
struct perf_id {
	uint64_t	 pi_id;
	uint32_t	 pi_attr;
};

/* What the event of an id is called. */
struct perf_name {
	uint64_t	 pn_id;
	const char	*pn_name;	/* borrowed */
};

/* The build-id of a file, by name. */
struct perf_build_id {
	const char	*pb_path;	/* borrowed */
	uint32_t	 pb_len;
	uint8_t		 pb_id[20];
};

/* A file that the recording has no build-id of, as it is here now. */
struct perf_file {
	uint32_t	 pf_len;	/* 0: it has none, or is another */
	uint8_t		 pf_id[20];
};

/* A record in the order of time; see perf_data_at. */
struct perf_place {
	uint64_t	 pl_time_ns;
	uint64_t	 pl_at;
};

/* The running kernel, of that of the file. */
enum perf_kernel {
	PERF_KERNEL_UNKNOWN,	/* no record of it came yet */
	PERF_KERNEL_OTHER,
	PERF_KERNEL_LIKELY,	/* as far as anybody can tell */
	PERF_KERNEL_VERIFIED	/* by its build-id */
};

struct perf_data {
	struct prof_import *pd_import;
	bool		 pd_is_pipe;
	size_t		 pd_begin;	/* of the stream of records */
	size_t		 pd_end;
	struct perf_attr *pd_attr;
	size_t		 pd_nattrs;
	size_t		 pd_cap_attrs;
	struct perf_id	*pd_id;		/* sorted once complete */
	size_t		 pd_nids;
	size_t		 pd_cap_ids;
	struct perf_name *pd_name;	/* in the order in which they came */
	size_t		 pd_nnames;
	size_t		 pd_cap_names;
	uint64_t	 pd_last_id;	/* and the attr that it means */
	uint32_t	 pd_last_attr;
	struct perf_build_id *pd_build_id;
	size_t		 pd_nbuild_ids;
	size_t		 pd_cap_build_ids;
	struct prof_buf	 pd_inflated;
	struct perf_place *pd_place;
	size_t		 pd_nplaces;
	size_t		 pd_cap_places;
	uint64_t	 pd_first_ns;
	uint64_t	 pd_last_ns;
	uint64_t	 pd_kernel;	/* where its text begins; 0: hidden */
	uint8_t		 pd_kernel_id[20]; /* 0: not known */
	enum perf_kernel pd_here;
	char		 pd_release[65]; /* of uname(2), or "" */
	char		 pd_host[65];
	bool		 pd_counts_lost; /* perf counted by event at its end */
	uint64_t	 pd_malformed;
	uint64_t	 pd_unknown;	/* samples of no event */
	uint64_t	 pd_unwound;
	bool		 pd_has_ids;	/* of mappings, in their records */
	bool		 pd_asked_ids;	/* perf record --buildid-mmap */
	struct prof_dict pd_paths;	/* of files without build-ids here */
	struct perf_file *pd_file;
	size_t		 pd_nfiles;
	size_t		 pd_cap_files;
	uint64_t	 pd_unchanged;	/* of these, how many lie unchanged */
	bool		 pd_foreign;	/* of another kind of machine */
	char		 pd_module[64];	/* "[ext4]" */
	struct prof_snapshots *pd_snapshots; /* NULL: no stack is walked */
	uint64_t	 pd_kframe[PERF_MAX_CHAIN];
	uint64_t	 pd_uframe[PERF_MAX_CHAIN];
};

/* A record; its size was checked against the bytes that are there. */
struct perf_record {
	uint32_t	 pc_type;
	uint16_t	 pc_misc;
	size_t		 pc_size;
	const uint8_t	*pc_bytes;	/* with the header */
};

/* Behind the header; up to "less" bytes before the end. */
static inline struct cursor
perf_cursor(const struct perf_record *record, size_t less)
{
	const size_t head = sizeof(struct perf_event_header);
	struct cursor cu = { record->pc_bytes + head,
	    record->pc_bytes + record->pc_size, false };

	if (record->pc_size - head < less)
		cu.cu_over = true;
	else
		cu.cu_end -= less;
	return (cu);
}

/* Text up to its NUL, which must be there; NULL: it is not. */
static inline const char *
perf_text(struct cursor *cu)
{
	const char *text = (const char *)cu->cu_at;
	const void *end = memchr(cu->cu_at, '\0',
	    (size_t)(cu->cu_end - cu->cu_at));

	if (end == NULL) {
		cu->cu_over = true;
		return (NULL);
	}
	cu->cu_at = (const uint8_t *)end + 1;
	return (text);
}

/* -------------------------------------------------------- perf_attr.c */

int	perf_attr_add(struct perf_data *data, struct cursor attr,
	    struct cursor ids);
void	perf_attr_call(struct perf_attr *attr, const char *name);
/* The event that has the id, if there is one, once they are sorted. */
int	perf_attr_name(struct perf_data *data, uint64_t id, const char *name);
/* Ids, when all are there; events then have their names. */
void	perf_attr_sort(struct perf_data *data);
/* NULL: it belongs to none. */
struct perf_attr *perf_attr_of(struct perf_data *data,
	    const struct perf_record *record);
/* Of a sample, or of what stands at the end of others; 0: it has none. */
uint64_t perf_attr_time(const struct perf_attr *attr,
	    const struct perf_record *record);
/* Of what stands at the end of records that are no samples; 0: none. */
uint32_t perf_attr_cpu(const struct perf_attr *attr,
	    const struct perf_record *record);
/* Bytes at the end of records that are no samples. */
size_t	perf_attr_trailer(const struct perf_attr *attr);
int	perf_attr_describe(struct perf_data *data);

/* ----------------------------------------------------- perf_feature.c */

int	perf_features(struct perf_data *data, uint64_t at,
	    const uint64_t bits[4]);
int	perf_feature(struct perf_data *data, uint64_t feature,
	    struct cursor body);
int	perf_build_id_add(struct perf_data *data,
	    const struct perf_record *record);
/* Before the first question. */
void	perf_build_id_sort(struct perf_data *data);
const struct perf_build_id *perf_build_id_find(
	    const struct perf_data *data, const char *path);

/* ------------------------------------------------------- perf_files.c */

/*
 * A mapping without a build-id gets that of its file, if this is the same
 * inode, unchanged since before the recording.  -1: no memory.
 */
int	perf_files_id(struct perf_data *data, struct prof_record *mapping);
/* Says so; and until when files without build-ids must be unchanged. */
int	perf_files_say(struct perf_data *data);
void	perf_files_fini(struct perf_data *data);
/* When the recording began, CLOCK_REALTIME; 0: not known. */
uint64_t perf_begin_ns(const struct perf_data *data);

/* ------------------------------------------------------ perf_kernel.c */

enum perf_kernel perf_kernel_here(struct perf_data *data);
/* A mapping of the vDSO gets the build-id of ours, if that is the same. */
void	perf_kernel_vdso(struct perf_data *data, struct prof_record *mapping);
/* Says what gives names to the kernel.  -1: failed. */
int	perf_kernel_say(struct perf_data *data);

/* ------------------------------------------------------ perf_record.c */

/* 1: a record, 0: nothing to keep, -1: malformed.  Borrowed until the next. */
int	perf_record_take(struct perf_data *data, struct perf_attr *attr,
	    const struct perf_record *from, struct prof_record *record);
/* Walk the stack that came with the sample, when there is one. */
void	perf_record_unwind(struct perf_data *data,
	    const struct perf_attr *attr, const struct perf_record *from,
	    struct prof_record *record);

#endif /* PROF_PERFDATA_H */
