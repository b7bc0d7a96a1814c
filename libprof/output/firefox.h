/* SPDX-License-Identifier: ISC */
/* A file of the Firefox Profiler being written; see firefox.c. */
#ifndef PROF_FIREFOX_H
#define PROF_FIREFOX_H

#include "base/grow.h"
#include "base/intern.h"
#include "export.h"
#include "lanes.h"

/* In the order of the file's list. */
enum fox_category {
	FOX_OTHER, FOX_USER, FOX_KERNEL, FOX_SCRIPT, FOX_WAITING
};

/* Without padding: a key. */
struct fox_func {
	uint32_t	ff_name;	/* string */
	int		ff_resource;	/* -1: none */
	int		ff_source;	/* -1: not known */
	unsigned	ff_line;	/* its first; 0: not known */
};

struct fox_frame {
	int		fr_func;
	unsigned	fr_line;	/* 0: not known */
	enum fox_category fr_category;
};

/* A table whose rows are strings. */
struct fox_places {
	struct prof_map	fp_by_string;
	uint32_t	*fp_string;
	size_t		fp_n;
	size_t		fp_cap;
};

struct prof_fox {
	const struct prof_flame *fx_flame;
	const struct prof_event_info *fx_info;	/* of samples */
	const struct prof_bucket *fx_bucket;
	struct prof_buf	*fx_out;
	struct prof_lanes fx_lanes;
	uint64_t	 fx_start_ns;
	bool		 fx_failed;	/* no memory for a string */
	struct prof_buf	 fx_pauses;	/* a member of each thread */
	struct prof_buf	 fx_strings;
	struct prof_dict fx_by_text;
	struct prof_dict fx_by_func;
	struct fox_func	*fx_func;
	size_t		 fx_nfuncs;
	size_t		 fx_cap_funcs;
	struct fox_places fx_resources;
	struct fox_places fx_sources;
	struct fox_frame *fx_frame;
	size_t		 fx_nframes;
	size_t		 fx_cap_frames;
	uint32_t	*fx_frame_of;	/* by label: frame + 1 */
	uint32_t	*fx_stack_of;	/* by node: stack + 1; 0: a root */
	uint32_t	*fx_node;	/* of a stack */
	uint32_t	 fx_nstacks;
	uint32_t	*fx_list;	/* of lanes: the thread in work */
};

/* ---------------------------------------------------------- firefox.c */

typedef void prof_fox_cell(struct prof_fox *fox, size_t n);

/* The last of a list has no name. */
struct fox_column {
	const char	*fc_name;
	prof_fox_cell	*fc_put;	/* NULL: each is fc_text */
	const char	*fc_text;
};

/* "name":{"column":[cell, ...], ..., "length":n} */
void	prof_fox_table(struct prof_fox *fox, const char *name,
	    const struct fox_column *column, size_t n);
void	prof_fox_ms(struct prof_fox *fox, uint64_t ns);
/* Since the recording began. */
uint64_t prof_fox_since(const struct prof_fox *fox, uint64_t time_ns);
uint32_t prof_fox_string(struct prof_fox *fox, const char *text);
/* The stack of a node, or null. */
void	prof_fox_stack(struct prof_fox *fox, uint32_t node);
/* The n-th of fx_list, and when it was. */
const struct prof_bucket *prof_fox_sample(const struct prof_fox *fox,
	    size_t n);
uint64_t prof_fox_time(const struct prof_fox *fox, size_t n);

/* -------------------------------------------------- firefox_markers.c */

/* What kinds of markers there are. */
void	prof_fox_schemas(struct prof_fox *fox);
/* When nothing was recorded, into fx_pauses. */
void	prof_fox_pauses(struct prof_fox *fox);
/* Of the n samples in fx_list. */
void	prof_fox_markers(struct prof_fox *fox, size_t n);
/* Marks and losses of the recording: a thread of their own, if any. */
void	prof_fox_marks(struct prof_fox *fox, const char *separator);

#endif /* PROF_FIREFOX_H */
