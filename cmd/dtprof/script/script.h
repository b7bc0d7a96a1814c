/* SPDX-License-Identifier: ISC */
/* What the files of dtprof script share: cmd_script.c, script_*.c. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "../cmd.h"
#include "../ui/emit.h"

/* ------------------------------------------------------ script_comm.c */

/*
 * What each thread is called, as the records tell in order of time.  A name
 * outlives its thread: the last sample of a thread comes after its exit.
 */
struct script_comms {
	struct script_comm *sc_slot;	/* 2^n, open addressing */
	size_t		 sc_size;
	size_t		 sc_used;
	const char	*sc_task_0;	/* of number 0; nobody forks it */
	uint64_t	 sc_until_ns;	/* from then on no names are known */
};

/* 0, or -1: no memory. */
int	script_comms_take(struct script_comms *comms,
	    const struct prof_record *record);
/* "" when the name is not known; borrowed until the next take. */
const char *script_comms_get(const struct script_comms *comms, uint32_t tid);
void	script_comms_free(struct script_comms *comms);

/* ----------------------------------------------------- script_frame.c */

/* A frame with its names. */
struct script_frame {
	struct prof_frame sf_frame;
	const struct prof_function *sf_function;
	uint64_t	 sf_offset;	/* of the pc; a script's instruction */
	struct prof_line sf_line;	/* ln_file NULL: not asked, not known */
};

/* Frames of a stack, grown as needed. */
struct script_stack {
	struct prof_frame *st_frame;	/* innermost first */
	size_t		 st_n;
	size_t		 st_cap;
};

/* Where names come from; sn_symbols NULL: frames get none. */
struct script_names {
	const struct prof_reader *sn_reader;	/* of counters */
	struct prof_symbols *sn_symbols;
	bool		 sn_lines;
	struct script_stack *sn_stack;
};

/*
 * The kernel or the user stack of a sample, script frames included; what there
 * is no memory for is missing.  Borrowed until the next call.
 */
const struct script_stack *script_stack(const struct script_names *names,
	    const struct prof_record *record, bool is_kernel);
/* A frame of it with its names. */
void	script_frame(const struct script_names *names,
	    const struct prof_record *record, const struct prof_frame *of,
	    struct script_frame *frame);

/* ------------------------------------------------------ script_call.c */

/* Of a sample that is a whole system call. */
void	script_call_text(struct out *out, const struct prof_record *record,
	    const struct prof_event_info *info);
void	script_call_json(struct emit *emit, const struct prof_record *record,
	    const struct prof_event_info *info);

/* ------------------------------------------- script_text.c, _json.c */

/* One argument as text; a number that looks like an address in hex. */
void	script_value(struct out *out, const struct prof_record *record,
	    uint32_t n, bool is_signed);
void	script_value_json(struct emit *emit, const char *name,
	    const struct prof_record *record, uint32_t n, bool is_signed);

/* The last part of a record's type name in both forms: "sample", "fork". */
const char *script_type_name(enum prof_record_type type);

/* info is the sample's event. */
void	script_text(struct out *out, const struct prof_record *record,
	    const struct prof_event_info *info, const char *comm,
	    const struct script_names *names);
void	script_json(struct out *out, const struct prof_record *record,
	    const struct prof_event_info *info, const char *comm,
	    const struct script_names *names);

#endif /* SCRIPT_H */
