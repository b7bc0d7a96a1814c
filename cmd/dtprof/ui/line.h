/* SPDX-License-Identifier: ISC */
/*
 * Records as lines of text or JSON, for the commands that show them one by
 * one: script those of a recording, trace those that happen.
 */
#ifndef LINE_H
#define LINE_H

#include "emit.h"

/* ------------------------------------------------------- line_frame.c */

/* A frame with its names. */
struct line_frame {
	struct prof_frame sf_frame;
	const struct prof_function *sf_function;
	uint64_t	 sf_offset;	/* of the pc; a script's instruction */
	struct prof_line sf_line;	/* ln_file NULL: not asked, not known */
};

/* Frames of a stack, grown as needed. */
struct line_stack {
	struct prof_frame *st_frame;	/* innermost first */
	size_t		 st_n;
	size_t		 st_cap;
};

/* Where names come from; sn_symbols NULL: frames get none. */
struct line_names {
	const struct prof_reader *sn_reader;	/* of counters */
	struct prof_symbols *sn_symbols;
	bool		 sn_lines;
	bool		 sn_script_lines;	/* of script frames alone */
	unsigned	 sn_frames;	/* PROF_FRAMES_*; 0: as reports do */
	struct line_stack *sn_stack;
};

/*
 * The kernel or the user stack of a sample, script frames included; what there
 * is no memory for is missing.  Borrowed until the next call.
 */
const struct line_stack *line_stack(const struct line_names *names,
	    const struct prof_record *record, bool is_kernel);
/* A frame of it with its names. */
void	line_frame(const struct line_names *names,
	    const struct prof_record *record, const struct prof_frame *of,
	    struct line_frame *frame);

/* -------------------------------------------------------- line_call.c */

/* Of a sample that is a whole system call. */
void	line_call_text(struct out *out, const struct prof_record *record,
	    const struct prof_event_info *info);
void	line_call_json(struct emit *emit, const struct prof_record *record,
	    const struct prof_event_info *info);

/* ------------------------------------------- line_text.c, line_json.c */

/* One argument as text; a number that looks like an address in hex. */
void	line_value(struct out *out, const struct prof_record *record,
	    uint32_t n, bool is_signed);
void	line_value_json(struct emit *emit, const char *name,
	    const struct prof_record *record, uint32_t n, bool is_signed);

/* Frames with names, as an array; unnamed ones say why. */
void	line_frames_json(struct emit *em, const char *name,
	    const struct prof_record *record, const struct line_names *names,
	    bool is_kernel);

/* The last part of a record's type name in both forms: "sample", "fork". */
const char *line_type_name(enum prof_record_type type);

/* info is the sample's event. */
void	line_text(struct out *out, const struct prof_record *record,
	    const struct prof_event_info *info, const char *comm,
	    const struct line_names *names);
void	line_json(struct out *out, const struct prof_record *record,
	    const struct prof_event_info *info, const char *comm,
	    const struct line_names *names);

#endif /* LINE_H */
