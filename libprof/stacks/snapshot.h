/* SPDX-License-Identifier: ISC */
/*
 * Stacks walked in user space, out of a snapshot: the registers of a thread
 * and a copy of the top of its stack.  libunwind does the steps; what it may
 * look at comes from here.
 *
 *	spaces.c     what a process has mapped at a time
 *	objects.c     the call frame information of what is mapped
 *	libunwind.c  from a snapshot to frames, and why they end
 *	collect.c    a snapshot out of the records of a stream
 *	snapshots.c  what the session calls: finishes samples
 *	verify.c     the kernel's walk and this one, compared
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "abi/dtp_abi.h"
#include "elf/cfi.h"
#include "elf/outermost.h"
#include "elf/view.h"
#include "base/record.h"
#include "verify.h"

/* By DWARF number; x86-64 has 16 and the pc, arm64 33 with the pc. */
#if defined(__x86_64__)
#define PROF_REGS	17
#define PROF_REG_FP	6
#define PROF_REG_SP	7
#define PROF_REG_PC	16
#define PROF_OUR_MACHINE PROF_MACHINE_X86_64
#elif defined(__aarch64__)
#define PROF_REGS	33
#define PROF_REG_FP	29
#define PROF_REG_SP	31
#define PROF_REG_PC	32
#define PROF_OUR_MACHINE PROF_MACHINE_AARCH64
#endif

/* What was taken of a thread.  The bytes are borrowed. */
struct prof_snapshot {
	uint64_t	 sn_reg[PROF_REGS];
	uint64_t	 sn_known;	/* bit n: sn_reg[n] counts */
	bool		 sn_is_return;	/* the call lies before the pc */
	uint64_t	 sn_base;	/* address of the first byte */
	const uint8_t	*sn_stack;
	size_t		 sn_bytes;
	bool		 sn_cut;	/* there was more than was wanted */
};

#define PROF_ALL_REGS	((1ULL << PROF_REGS) - 1)
#define PROF_STACK_MAX	65536	/* bytes of stack in a snapshot */

/* ---------------------------------------------------------- objects.c */

/*
 * A file that somebody maps, or the vDSO.  Looked into when a walk comes to
 * it, by way of the process at hand: for entries of the functions that the
 * stack may be in, a few times; then, or where that did not help, for all.
 * What was read stays, as much as memory allows.
 */
#define PROF_OBJECT_PLACES 512	/* functions, at most, at once */
#define PROF_OBJECT_ASKED 4096	/* bits */

struct prof_object {
	struct prof_object *ob_next;	/* in its bucket */
	uint32_t	 ob_number;
	bool		 ob_is_mapped;	/* while those go that nobody maps */
	uint64_t	 ob_dev;
	uint64_t	 ob_ino;
	uint32_t	 ob_id_len;
	uint8_t		 ob_id[20];
	enum { OBJECT_UNREAD, OBJECT_READY, OBJECT_BARE } ob_state;
	uint64_t	 ob_used;	/* when, for making room */
	uint64_t	 ob_tried_ns;	/* in vain */
	Elf64_Phdr	 ob_text[4];
	unsigned	 ob_ntext;
	struct prof_frames *ob_frames;	/* each time that it was read */
	size_t		 ob_nframes;
	bool		 ob_is_all;	/* the last of them has all entries */
	uint64_t	 ob_asked[PROF_OBJECT_ASKED / 64]; /* places, hashed */
	struct prof_outermost ob_outer[8]; /* where stacks begin */
	size_t		 ob_nouter;
	char		 ob_path[];
};

#define PROF_OBJECTS_MAX 16383	/* numbers have 14 bits, and one is taken */

/* Offsets in a file, in order. */
struct prof_places {
	size_t		 pl_n;		/* 0: all of it */
	uint64_t	 pl_offset[PROF_OBJECT_PLACES];
};

struct prof_objects;
struct prof_objects *prof_objects_new(void);	/* owned by caller */
void	prof_objects_free(struct prof_objects *objects);
/* From now on files are read by a parser (broker/frames.c). */
struct prof_broker;
void	prof_objects_read_by(struct prof_objects *objects,
	    struct prof_broker *broker);
/*
 * Of processes that are gone: their files count when they are the same build,
 * or unchanged since a time (CLOCK_REALTIME; 0: never).
 */
void	prof_objects_later(struct prof_objects *objects,
	    uint64_t unchanged_ns);
/* Where the code of a file lies, and where stacks begin in it. */
void	prof_object_look(struct prof_object *object, struct prof_elf *elf);
/* The object of a mapping; NULL: there is no file behind it. */
struct prof_object *prof_objects_get(struct prof_objects *objects,
	    const struct prof_record *mapping);
/* So many that those should go that nobody maps ... */
bool	prof_objects_are_many(const struct prof_objects *objects);
/* ... which are all whose ob_is_mapped is not set; it is cleared. */
void	prof_objects_sweep(struct prof_objects *objects);
struct prof_mapped;
/*
 * Read what says how to unwind a pc, where that was not done; of the stack at
 * hand more is read ahead.  false: it cannot be read now.
 */
bool	prof_object_ready(struct prof_objects *objects, uint32_t pid,
	    const struct prof_mapped *mapping,
	    const struct prof_snapshot *snapshot, uint64_t pc);
/* The object with a number; NULL: there is none. */
struct prof_object *prof_objects_numbered(const struct prof_objects *objects,
	    uint32_t number);
/* The same; NULL: none, or not read. */
const struct prof_object *prof_objects_at(const struct prof_objects *objects,
	    uint32_t number);
/*
 * How many objects were forgotten to make room: what is read again has other
 * numbers of entries.
 */
uint64_t prof_objects_forgotten(const struct prof_objects *objects);
/* What an address in memory is less than one in the file. */
uint64_t prof_object_bias(const struct prof_mapped *mapping);
/* The rule of outermost.h that holds there; DTP_UW_END: none. */
uint16_t prof_object_outer_rule(const struct prof_object *object,
	    uint64_t address, bool has_entry);
/* An entry of an object: its number, and what it is. */
struct prof_frame_entry {
	uint32_t	 fe_n;
	const struct prof_cfi_entry *fe_entry;
	const uint8_t	*fe_bytes;	/* of its programs */
};
/* The entry that covers an address of the file; false: none does. */
bool	prof_object_entry(const struct prof_object *object, uint64_t address,
	    struct prof_frame_entry *entry);
/* The entry with a number; false: there is none. */
bool	prof_object_numbered(const struct prof_object *object, uint32_t number,
	    struct prof_frame_entry *entry);

/* ---------------------------------------------------------- spaces.c */

/* An executable mapping. */
struct prof_mapped {
	uint64_t	 mp_start;
	uint64_t	 mp_end;
	uint64_t	 mp_offset;	/* in the file */
	struct prof_object *mp_object;	/* NULL: no file */
};

/* What a process has mapped at a time. */
struct prof_space {
	const struct prof_spaces *ss_spaces;
	uint32_t	 ss_pid;
	uint64_t	 ss_time_ns;
	uint64_t	 ss_version;	/* same version, same mappings */
};

struct prof_spaces;
/* mode: enum prof_processes_mode. */
struct prof_spaces *prof_spaces_new(struct prof_objects *objects,
	    unsigned mode);
void	prof_spaces_free(struct prof_spaces *spaces);
/* A process or mapping event; -1: no memory. */
int	prof_spaces_observe(struct prof_spaces *spaces,
	    const struct prof_record *record);
/* Its list of mappings was read, and follows.  -1: no memory. */
int	prof_spaces_renew(struct prof_spaces *spaces, uint32_t pid,
	    uint64_t time_ns);
/* Set ob_is_mapped of all objects that somebody maps.  -1: no memory. */
int	prof_spaces_mark(struct prof_spaces *spaces);
/* Holds until the next event; false: nothing is known of it. */
bool	prof_spaces_find(struct prof_spaces *spaces, uint32_t pid,
	    uint64_t time_ns, struct prof_space *space);
/* false: nothing is mapped there. */
bool	prof_space_at(const struct prof_space *space, uint64_t address,
	    struct prof_mapped *mapped);

/* ------------------------------------------------------- libunwind.c */

/* Where a walk came to. */
struct prof_walk {
	uint64_t	 wk_frame[DTP_MAX_UFRAMES];
	uint32_t	 wk_n;
	enum prof_stack_status wk_status;
};

struct prof_unwinder;
struct prof_unwinder *prof_unwinder_new(struct prof_objects *objects);
void	prof_unwinder_free(struct prof_unwinder *unwinder);
/* Objects have gone, and their numbers may be used again. */
void	prof_unwinder_forget(struct prof_unwinder *unwinder);
/* Bounded in time and memory, whatever the bytes say. */
void	prof_unwinder_walk(struct prof_unwinder *unwinder, uint32_t pid,
	    const struct prof_space *space,
	    const struct prof_snapshot *snapshot, struct prof_walk *walk);

/* --------------------------------------------------------- collect.c */

/* A snapshot as its records come. */
struct prof_collect {
	struct prof_snapshot co_snapshot;
	uint32_t	 co_kept;	/* frames that stay as they are */
	bool		 co_has_head;
	bool		 co_ended;
	uint8_t		 co_bytes[PROF_STACK_MAX];
};

void	prof_collect_begin(struct prof_collect *collect);
void	prof_collect_add(struct prof_collect *collect,
	    const struct dtp_rec *record);

/* ---------------------------------------------------------- verify.c */

struct prof_verify;
struct prof_verify *prof_verify_new(void);	/* owned by caller */
void	prof_verify_free(struct prof_verify *verify);
/* The kernel's frames are the sample's. */
void	prof_verify_compare(struct prof_verify *verify,
	    const struct prof_space *space, const struct prof_record *sample,
	    const struct prof_walk *walk);
/* The n-th row; false: no more. */
bool	prof_verify_row(struct prof_verify *verify, size_t n,
	    struct prof_verify_row *row);

/* ------------------------------------------------------- snapshots.c */

struct prof_snapshots;
/*
 * Owned by caller.  mode: enum prof_processes_mode; verify: compare, where the
 * kernel has walked as well.
 */
struct prof_snapshots *prof_snapshots_new(unsigned mode, bool verify);
/* Stacks are those of a file: prof_objects_later. */
void	prof_snapshots_later(struct prof_snapshots *st, uint64_t unchanged_ns);
void	prof_snapshots_free(struct prof_snapshots *snapshots);
/* From now on files are read by a parser. */
void	prof_snapshots_read_by(struct prof_snapshots *snapshots,
	    struct prof_broker *broker);
int	prof_snapshots_observe(struct prof_snapshots *snapshots,
	    const struct prof_record *record);
/* Its list of mappings was read, and follows.  -1: no memory. */
int	prof_snapshots_renew(struct prof_snapshots *snapshots, uint32_t pid,
	    uint64_t time_ns);
/*
 * Walk the stack of a sample in user space; its first "kept" frames, which
 * the snapshot's begin behind, stay.  The frames are borrowed until the next
 * call.
 */
void	prof_snapshots_finish(struct prof_snapshots *snapshots,
	    struct prof_record *sample, uint32_t kept,
	    const struct prof_snapshot *snapshot);

struct prof_verify *prof_snapshots_verify(struct prof_snapshots *snapshots);
/* How many were walked, and how many came to the end of their stacks. */
void	prof_snapshots_count(const struct prof_snapshots *snapshots,
	    uint64_t *walked, uint64_t *whole);

#endif /* SNAPSHOT_H */
