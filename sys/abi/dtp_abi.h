/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The only header that both sides read: what the BPF programs write and the
 * library reads, byte for byte.  Records of the stream, the control words of
 * a stream, the counters, and the read-only configuration that specialises
 * each program for its event.
 *
 * Called by nobody; included by the BPF sources, by the host build of the same
 * files (host_shim.h) and by libprof/backend.  Nothing of this reaches a file
 * as it is: the recording has its own format (doc/dtprof-format.5).
 *
 * Rules: fixed-width members, explicit padding, types appended and never
 * renumbered, size and offsets asserted below.
 */
#ifndef DTP_ABI_H
#define DTP_ABI_H

#include <linux/types.h>

#include "dtp_group.h"
#include "dtp_wait.h"

#define DTP_ABI_VERSION		1

/* Bounds that the verifier must know.  CPUs, events and targets are data. */
#define DTP_MAX_KFRAMES		127	/* kernel.perf_event_max_stack */
#define DTP_MAX_UFRAMES		1023	/* times 8 is a mask */
/*
 * Deeper stacks keep so many innermost frames, and as many outermost ones,
 * a power of two, as there is room for.
 */
#define DTP_INNER_UFRAMES	511
#define DTP_OUTER_UFRAMES	(DTP_MAX_UFRAMES - DTP_INNER_UFRAMES)
#define DTP_MAX_USTEPS		4095	/* of a walk */
/*
 * A script frame is three words; 1,365 of them beside 1,023 native frames are
 * 5,118 words.
 */
#define DTP_SCRIPT_WORDS	3
#define DTP_MAX_SCRIPT		4095	/* words; times 8 is a mask */
/*
 * The walk over an interpreter's frames keeps its innermost ones in so many
 * words, and behind them so many outermost ones, a power of two.
 */
#define DTP_INNER_SCRIPT	2556
#define DTP_OUTER_SCRIPT	512
#define DTP_MAX_ARGS		8
#define DTP_MAX_VALUES		8
#define DTP_MAX_DEREF		4
#define DTP_CALL_ARGS		6	/* of a system call */
#define DTP_CALL_TEXTS		2	/* of them that are recorded as text */
#define DTP_STR_LEN		64	/* slot of one string argument */
#define DTP_COMM_LEN		16
#define DTP_PATH_LEN		256
#define DTP_MAX_TESTS		16
#define DTP_MAX_TEXTS		4	/* that filters compare arguments to */
#define DTP_MAX_SYSCALL		1024
#define DTP_SCRATCH_SLOTS	4	/* stacks walked at once on a CPU ... */
#define DTP_SCRATCH_ALL		8	/* ... with those of dc_may_wait */
#define DTP_RESERVE_TRIES	8

/*
 * The largest record: header, weight, arguments (all strings), comm, values,
 * stack head, both stacks and script frames, rounded up.  The ring has this
 * much room behind its end, so that a record is always contiguous.
 */
#define DTP_MAX_RECORD		45056
#define DTP_MIN_RING		65536

/* Types of record.  Appended, never renumbered. */
enum dtp_type {
	DTP_T_NONE	= 0,
	DTP_T_SAMPLE	= 1,	/* one firing of an event */
	DTP_T_FORK	= 2,	/* struct dtp_fork; pid, tid: the new task */
	DTP_T_EXEC	= 3,	/* struct dtp_exec */
	DTP_T_EXIT	= 4,	/* struct dtp_exit */
	DTP_T_COMM	= 5,	/* struct dtp_comm */
	DTP_T_SNAPSHOT	= 6,	/* struct dtp_snapshot, behind its sample */
	DTP_T_PIECE	= 7,	/* struct dtp_piece, behind that */
};

/*
 * Every record begins like this.
 *
 *	+------+------+-------+-----+-------+---------+-----+-----+-------
 *	| size | type | event | cpu | flags | time_ns | pid | tid | parts
 *	+------+------+-------+-----+-------+---------+-----+-----+-------
 *
 * The parts of a sample follow in the order of DTP_P_*; which of them are
 * there depends on the event alone (dc_parts), but for script frames
 * (DTP_R_SCRIPT), which are last.
 */
struct dtp_rec {
	__u32	dr_size;	/* bytes, header included, multiple of 8 */
	__u16	dr_type;	/* enum dtp_type */
	__u16	dr_event;	/* index of the event; 0 is proc */
	__u32	dr_cpu;
	__u32	dr_flags;	/* DTP_R_* */
	__u64	dr_time_ns;	/* CLOCK_MONOTONIC, taken once per firing */
	__u32	dr_pid;		/* thread group */
	__u32	dr_tid;
};

#define DTP_R_KERNEL	0x1	/* the interrupted code ran in the kernel */
#define DTP_R_NESTED	0x2	/* entered while another writer was active */
#define DTP_R_SCRIPT	0x4	/* struct dtp_script is behind the stacks */
#define DTP_R_AGAIN	0x8	/* the stacks are the thread's last ones */
#define DTP_R_STEP	0x1f00	/* not 0: a wait; of so many like it, as 2 to */
#define DTP_R_STEP_SHIFT 8	/* this says, the stack of one was walked */
#define DTP_R_CHAIN_SHIFT 16	/* from here: number of its dtp_chain */

/* Parts of a sample, in this order. */
#define DTP_P_WEIGHT	0x01	/* u64: the period that overflowed */
#define DTP_P_IP	0x02	/* u64: interrupted pc; not beside a stack */
#define DTP_P_ARGS	0x04	/* nargs slots: u64, or DTP_STR_LEN bytes */
#define DTP_P_COMM	0x08	/* char[DTP_COMM_LEN] */
#define DTP_P_KSTACK	0x10	/* struct dtp_stack, then both lists of pc */
#define DTP_P_USTACK	0x20
#define DTP_P_VALUES	0x40	/* struct dtp_values; behind DTP_P_COMM */
#define DTP_P_COUNTER	0x80	/* no samples: its value is in others' */
#define DTP_P_TEXTS	0x100	/* struct dtp_texts; behind DTP_P_ARGS */
#define DTP_P_SPAN	0x400	/* no bytes: a span begins or ends here */
#define DTP_P_CLOCK	0x800	/* struct dtp_times; behind DTP_P_VALUES */

/* Arguments of a thread (prov_thread.bpf.c), and bits of DTP_TH_ABOUT. */
#define DTP_TH_STATE	0	/* the kernel's, while it is on no CPU */
#define DTP_TH_ABOUT	1
#define DTP_TH_CALL	2	/* number of the call that it is in, or -1 */
#define DTP_TH_ARG	3	/* of that, four */
#define DTP_TH_ARGS	7
#define DTP_TH_ON_CPU	0x1
#define DTP_TH_QUEUED	0x2	/* waits for a CPU */
#define DTP_TH_MOVED	0x4	/* while it was looked at: no stack is true */
#define DTP_TH_EXITED	0x8

/*
 * What counters have counted for a thread since its sample before: as many
 * values as there are events with DTP_P_COUNTER, in their order.  Both times
 * 0: not known, they will be in the next.
 */
struct dtp_values {
	__u64	vl_enabled_ns;	/* time in which they were to count */
	__u64	vl_running_ns;	/* and in which they did */
	__u64	vl_value[DTP_MAX_VALUES];	/* the first dc_nvalues */
};

/*
 * How long the thread has run, and how long it has not, since it first began a
 * span; both DTP_NO_TIME: not known.
 */
struct dtp_times {
	__u64	tm_running_ns;
	__u64	tm_off_ns;
};

#define DTP_NO_TIME	(~0ULL)

/*
 * Arguments of a system call that point to text: as many slots of
 * DTP_STR_LEN bytes follow as there are numbers here that are not 0.  A
 * number is the argument's place among the slots of DTP_P_ARGS.
 */
struct dtp_texts {
	__u32	tx_slot[DTP_CALL_TEXTS];
};

/* Before the frames: kernel frames first, innermost first, then user's. */
struct dtp_stack {
	__u16	ds_nkernel;
	__u16	ds_nuser;
	__u8	ds_kstatus;	/* enum dtp_stack_status */
	__u8	ds_ustatus;
	/*
	 * 0: all frames are there.  Else the walk met more, and this is the
	 * place of the first of the outer ones, which lie in a circle behind
	 * the inner ones.
	 */
	__u16	ds_turned;
};

/*
 * Script frames, innermost first, in so many words that follow:
 *
 *	| kind | language | stamp | instruction |  code  |  check  |	a frame
 *	| boundary | place |					a word
 *
 * The first word is one of recording/frame.h, with the number of the language
 * instead of flags; code is the address of the code object, check and stamp
 * tell whether that is still the same object when it is named.  A boundary ends
 * the frames that one run of an interpreter has; it says why, and which native
 * frame ran them (0: not known).  A run may have none: the interpreter had
 * just been called.
 *
 * The last frames and boundaries of a deep stack lie in a circle behind the
 * others, each in as many words as a frame has: so many were put there, of
 * which the last DTP_OUTER_SCRIPT are left.
 */
#define DTP_W_BOUNDARY(why, place)					\
	(6ULL << 56 | (__u64)(why) << 24 | (place))
#define DTP_W_STAMP_SHIFT 24	/* of a frame: 24 bits */
#define DTP_W_INTERPRETER	0ULL	/* why: enum prof_boundary */
#define DTP_W_TRUNCATED		1ULL

struct dtp_script {
	__u32	sp_words;
	__u32	sp_outer;
};

/* How far a stack can be believed.  Appended, never renumbered. */
enum dtp_stack_status {
	DTP_S_NONE	= 0,	/* not asked for, or there is none */
	DTP_S_OK	= 1,	/* the walk ended by itself */
	DTP_S_DEEP	= 2,	/* cut at the largest depth */
	DTP_S_FAULT	= 3,	/* memory that could not be read */
	DTP_S_BUSY	= 4,	/* no scratch free: the stack was not walked */
	DTP_S_NOPROC	= 5,	/* mappings not known yet: by frame pointers */
	DTP_S_NOMAP	= 6,	/* a pc outside of all mappings */
	DTP_S_NOMOD	= 7,	/* the table of a module is not ready */
	DTP_S_NOROW	= 8,	/* no usable rule at a pc */
	DTP_S_BADSP	= 9,	/* it would have gone backwards, or to 0 */
	DTP_S_SHORT	= 10,	/* the copy of the stack was too short */
	DTP_S_NOSCRIPT	= 11,	/* an interpreter's frames were not found */
	DTP_S_NSTATUS	= 12
};
#define DTP_S_SLOTS	16	/* power of two, for the verifier */

struct dtp_fork {
	__u32	df_ppid;
	__u32	df_ptid;
	__u64	df_exec_id;	/* which exec of its line it runs */
	char	df_comm[DTP_COMM_LEN];
};

struct dtp_exec {
	__u32	de_old_tid;
	__u32	de_path_len;	/* without the NUL; the path is cut at 255 */
	__u64	de_exec_id;	/* the kernel's count, this exec included */
	char	de_comm[DTP_COMM_LEN];
	char	de_path[DTP_PATH_LEN];
};

struct dtp_exit {
	__s32	dx_code;	/* as wait(2) would report it */
	__u32	dx_group_dead;	/* the last thread of the process */
	char	dx_comm[DTP_COMM_LEN];
};

struct dtp_comm {
	char	do_comm[DTP_COMM_LEN];
};

/*
 * A snapshot follows the sample that it belongs to, with the same CPU, event
 * and time: first what stood in the registers, then pieces of the stack, in
 * order, none across the end of a page.  Where the ring has no room for one,
 * the snapshot ends.  Each is a record of its own and none is a sample.
 */
struct dtp_snapshot {
	__u64	dn_reg[32];	/* by DWARF number; innermost frame */
	__u64	dn_pc;
	/* The frame at which the kernel's walk was at its end. */
	__u64	dn_at_pc;
	__u64	dn_at_sp;
	__u64	dn_at_fp;
	__u32	dn_sure;	/* frames before that one: they are right */
	__u32	dn_is_return;	/* pc of the first of the others is */
};

struct dtp_piece {
	__u64	dp_address;
	__u32	dp_bytes;	/* 0: it could not be read */
	__u32	dp_pad;
};

#define DTP_PIECE_BYTES	4096

/* When snapshots are taken. */
enum dtp_snap_mode {
	DTP_SNAP_DOUBT	= 0,	/* where the walk could not go on */
	DTP_SNAP_ALL	= 1,	/* with each sample */
	DTP_SNAP_ONLY	= 2,	/* with each sample, which is not walked */
};

/*
 * One stream per CPU.
 *
 *	   line 0 and 1, written by BPF          line 2 and 3, written by us
 *	+-------------------------------+     +-----------------------------+
 *	| state = reserved<<16 | writers|     | tail                        |
 *	| head                          |     | enabled                     |
 *	| scratch (bit per slot in use) |     | ring                        |
 *	+-------------------------------+     +-----------------------------+
 *	ring: 2^n bytes + DTP_MAX_RECORD behind them; only CPUs that are
 *	recorded have one, so rings are numbered apart from CPUs
 *
 * A writer enters (writers + 1), takes the time, walks its stack into a
 * scratch slot, reserves the exact size, copies, and leaves (writers - 1).  One
 * that may be preempted walks first, in a slot that no interrupt needs: while
 * it is in the stream, nothing behind it is complete.
 * Who brings writers to 0 raises head to that word's position.  Positions
 * only grow; a byte's place is position & (ring - 1).  So everything below
 * head is complete, and if writers is 0 everything below reserved is.
 *
 * [c] written by BPF programs on that CPU, atomically, read by the drain
 * [u] written by the drain thread, read by BPF
 */
struct dtp_stream {
	__u64	ss_state;	/* [c] reserved << 16 | writers */
	__u64	ss_head;	/* [c] everything below is complete */
	__u64	ss_scratch;	/* [c] bit n: scratch slot n is in use */
	__u64	ss_snap_ns;	/* [c] paid for with snapshots, up to here */
	__u64	ss_in_ns;	/* [c] since when the target that runs does */
	__u64	ss_turns;	/* [c] how often one came, so far */
	__u64	ss_probe_pc;	/* [c] where the last probe fired ... */
	__u64	ss_probe_sp;	/* [c] ... with this stack pointer */
	__u64	ss_pad0[8];
	__u64	ss_tail;	/* [u] everything below may be overwritten */
	__u64	ss_enabled;	/* [u] enum dtp_cpu */
	__u64	ss_ring;	/* [u] index of this CPU's ring */
	__u64	ss_pad1[13];
};

/* What a CPU takes; whatever is not OFF has a ring. */
enum dtp_cpu {
	DTP_CPU_OFF	= 0,
	DTP_CPU_SAMPLES	= 1,	/* samples and process events */
	DTP_CPU_PROCESSES = 2,	/* those alone: they move across CPUs */
};

#define DTP_WRITERS_BITS	16
#define DTP_WRITERS_MASK	0xffffULL

/* What the session does; only the user side writes it. */
enum dtp_state {
	DTP_OFF		= 0,	/* firings are nobody's */
	DTP_ARMED	= 1,	/* process events alone are recorded */
	DTP_RECORDING	= 2,
	DTP_STOPPED	= 3,
	DTP_PAUSED	= 4,	/* process events alone are recorded */
};

struct dtp_control {
	__u32	co_state;	/* [u] enum dtp_state */
	__u32	co_self;	/* [u] thread group left out, 0: none */
	__u64	co_start_ns;	/* [u] when RECORDING began, and pauses on */
	__u64	co_clock_ns;	/* [u] the same of timers on all CPUs; 0: on */
				/* tasks, and time goes on in pauses */
	__u64	co_begun_ns;	/* [u] when it began, or the last pause ended */
	__u64	co_stop_ns;	/* [u] when an event or the session ended, or */
				/* the last pause began */
	__u64	co_until_ns;	/* [u] samples are stored until then, unless */
				/* the reader looks at the rings before */
	__u64	co_lives_most;	/* [u] bytes of a ring for process events; 0: */
				/* none are stored */
	__u64	co_pad;		/* what follows changes often: a line apart */
	__u64	co_forks;	/* [c] tasks that targets have started */
	__u64	co_fork_wakeup;	/* [u] wake the reader for each of them */
	__u64	co_bared;	/* [c] execs that took a target's events away */
	__u64	co_trap;	/* [c] return address of the kernel's entry */
				/* for breakpoints; 0: not known yet */
	__u64	co_awaited;	/* [c] process that has executed dc_awaited, */
				/* the first one that did; 0: none yet */
	__u64	co_awaited_ns;	/* [c] when it did */
};

/*
 * Per CPU and event, [c] all of it, atomic adds only.  After stop, exactly:
 *
 *	fired = stored + full + nested + filtered + error
 *
 * Outside of the identity: firings before START and after STOP (outside),
 * how many of the stored entered while another writer was active, the
 * events that the firings stand for, periods a late timer skipped, firings
 * of the recorder itself (they are filtered too), and what became of stacks.
 */
struct dtp_counts {
	__u64	cn_fired;
	__u64	cn_stored;
	__u64	cn_full;	/* no room: the newest is refused */
	__u64	cn_nested;	/* reserve lost DTP_RESERVE_TRIES races */
	__u64	cn_filtered;	/* not a target, or the filter said no */
	__u64	cn_error;	/* could not be recorded for another reason */
	__u64	cn_nested_stored;
	__u64	cn_self;	/* of filtered: the recorder itself */
	__u64	cn_weight;	/* sum of the weights of fired */
	__u64	cn_outside;
	__u64	cn_outside_weight;
	__u64	cn_overruns;	/* whole periods that a late timer skipped */
	__u64	cn_last_ns;	/* since co_start_ns: last firing was due */
	__u64	cn_arg_fault;	/* an argument could not be read: it is 0 */
	__u64	cn_weight_max;	/* largest weight; a hint, not exact */
	__u64	cn_stands_for;	/* periods, in which the last one fired */
	__u64	cn_kstack[DTP_S_SLOTS];
	__u64	cn_ustack[DTP_S_SLOTS];
	__u64	cn_snapshots;	/* begun behind their samples */
	__u64	cn_snap_late;	/* not begun: there were too many of them */
	__u64	cn_snap_cut;	/* not whole: the ring was too full */
	/*
	 * System calls from entry to return.  After stop, exactly:
	 *
	 *	begun = returned + ended + running + paused + unseen
	 *
	 * ended and running stand in struct dtp_call_ends, by call.
	 */
	__u64	cn_call_begun;	/* entries, while recording */
	__u64	cn_call_returned; /* of these, while recording */
	__u64	cn_call_paused;	/* returned while it did not record */
	__u64	cn_call_unseen;	/* the thread's next entry came first */
	__u64	cn_call_unbegun; /* returns whose entry was not seen */
	__u64	cn_call_born;	/* a child's first return: no call of its own */
	__u64	cn_call_unkept;	/* entries for which there was no memory */
	__u64	cn_call_compat;	/* entries of 32-bit calls: not recorded */
	__u64	cn_turn_task;	/* whose timer fired last, where they are on */
	__u64	cn_turn;	/* tasks, and on which of its turns here */
	__u64	cn_begun_ns;	/* co_begun_ns then */
	__u64	cn_twice_kept;	/* the second of two programs was skipped, */
				/* but the first one was not */
	__u64	cn_unsure;	/* periods that may have been late, or not */
	__u64	cn_stalled;	/* of error: after co_until_ns */
	__u64	cn_spare[7];	/* CPUs do not share lines of the cache */
};

#define DTP_WALL_THREADS 65536	/* that passes know */
#define DTP_WALL_CHANGED 128	/* looked at one by one */

/*
 * Passes over all threads, of an event of wall-clock time.  A pass is at one
 * time, whenever it looks at a thread.
 */
struct dtp_wall {
	__u64	wl_from_ns;	/* [u] the pass before; 0: there was none */
	__u64	wl_now_ns;	/* [u] this pass */
	__u64	wl_passes;	/* [u] */
	__u64	wl_walks;	/* [c] in this pass */
	__u64	wl_left;	/* [c] the first thread that it left, or 0 */
	__u64	wl_first;	/* [u] where its walks begin */
	__u64	wl_same;	/* [c] threads with the same stack as before */
	__u64	wl_moved;	/* [c] threads that ran during the walk */
	__u64	wl_unkept;	/* [c] looks at threads without an entry */
	__u64	wl_nchanged;	/* [c] threads that are not as they were */
	__u32	wl_changed[DTP_WALL_CHANGED]; /* [c] the first of them */
};

/* Calls that did not return, by number; read after stop. */
struct dtp_call_ends {
	__u64	ce_running;	/* at stop */
	__u64	ce_ended;	/* the thread ended in it */
};

/*
 * One argument of a tracepoint: a word of the context, then dereferences.
 * Each ar_off is added and 8 bytes are loaded there, but for the last one:
 * an INT loads ar_size bytes, CHARS loads nothing, the text begins there.
 * An INT without dereferences is the low ar_size bytes of the word.  All are
 * extended to 64 bits as ar_signed says.  Words of a syscall: 0 its number,
 * 1 to 6 its arguments, or 1 what it returns.
 */
enum dtp_arg_kind {
	DTP_A_INT	= 0,	/* integer or pointer, as 64 bits */
	DTP_A_STR	= 1,	/* the path ends at a char pointer */
	DTP_A_CHARS	= 2,	/* the path ends at a char array */
	DTP_A_USTR	= 3,	/* as STR, and it points to user memory */
};

#define DTP_WORD_RET	0xff	/* the word that a function returns */

struct dtp_arg {
	__u8	ar_kind;	/* enum dtp_arg_kind */
	__u8	ar_index;	/* word of the context */
	__u8	ar_nderef;	/* how many of ar_off count */
	__u8	ar_size;	/* bytes of an integer at the end: 1 2 4 8 */
	__u8	ar_signed;
	__u8	ar_bit_off;	/* bit-field: shift, and ... */
	__u8	ar_bit_size;	/* ... width, 0: not a bit-field */
	__u8	ar_pad;
	__u32	ar_off[DTP_MAX_DEREF];	/* add, then load */
};

/*
 * Where an argument of a probe in a program is, at one place of its code: the
 * sum of a number and up to two registers, or what lies there in memory, or
 * behind pointers there.  Registers by their offset in the kernel's struct
 * pt_regs.
 */
struct dtp_operand {
	__u64	op_number;
	__u16	op_base;	/* DTP_NO_REGISTER: none */
	__u16	op_index;	/* the same, times op_scale */
	__u8	op_scale;
	__u8	op_nloads;	/* from memory, pointers but for the last */
	__u8	op_size;	/* bytes: 1 2 4 8 */
	__u8	op_signed;
	__u32	op_off[DTP_MAX_DEREF]; /* add, then load */
	__u32	op_after;	/* add to the last: an array's place */
	__u32	op_pad;
};

#define DTP_NO_REGISTER	0xffff
#define DTP_REGISTERS	0x1ff	/* a mask: pt_regs is smaller */

struct dtp_operands {
	struct dtp_operand os_arg[DTP_MAX_ARGS];
};

/*
 * A filter is a list of comparisons; each says where to go when it holds
 * and when it does not, always forward or to a verdict.  dtp_filter.h runs
 * it on both sides.
 */
enum dtp_field {
	DTP_F_PID	= 0,
	DTP_F_TID	= 1,
	DTP_F_CPU	= 2,
	DTP_F_UID	= 3,
	DTP_F_GID	= 4,
	DTP_F_COMM	= 5,	/* == and != only, against ft_value[0..1] */
	DTP_F_KERNEL	= 6,	/* 1: the interrupted code is the kernel's */
	DTP_F_ARG0	= 7,	/* to DTP_F_ARG0 + DTP_MAX_ARGS - 1; no gap: */
				/* one word of BPF stack each */
	DTP_F_DURATION	= 15,	/* of a system call, ns; 0: not known, and */
				/* then no test of it holds */
	DTP_F_TEXTS	= 16,	/* bit n: an argument equals fi_text[n] */
	DTP_F_ZERO	= 17,	/* always 0 */
	DTP_F_N		= 18
};

enum dtp_op {
	DTP_OP_EQ, DTP_OP_NE, DTP_OP_LT, DTP_OP_LE, DTP_OP_GT, DTP_OP_GE,
	DTP_OP_AND,		/* field & value != 0 */
};

#define DTP_ACCEPT	0xff
#define DTP_REJECT	0xfe

struct dtp_test {
	__u8	ft_field;	/* enum dtp_field */
	__u8	ft_op;		/* enum dtp_op */
	__u8	ft_yes;		/* next test, DTP_ACCEPT or DTP_REJECT */
	__u8	ft_no;
	__u8	ft_unsigned;	/* compare as unsigned */
	__u8	ft_other;	/* a field whose value is added to ft_value */
	__u8	ft_pad[2];
	__u64	ft_value[2];
};

/* Text that an argument is compared with, zeros behind it. */
struct dtp_filter_text {
	__u32	fx_slot;	/* of the argument */
	__u32	fx_how;		/* enum dtp_key_text */
	__u64	fx_word[DTP_STR_LEN / 8];
};

struct dtp_filter {
	__u32		fi_ntests;	/* 0: everything passes */
	__u32		fi_fields;	/* bit per enum dtp_field in use */
	__u32		fi_ntexts;
	__u32		fi_pad;
	struct dtp_test	fi_test[DTP_MAX_TESTS];
	struct dtp_filter_text fi_text[DTP_MAX_TEXTS];
};

/* Who is recorded: checked before the filter. */
enum dtp_target_mode {
	DTP_TARGET_ALL	= 0,
	DTP_TARGET_PID	= 1,	/* by struct dtp_targets: thread groups */
	DTP_TARGET_TID	= 2,	/* by struct dtp_targets: threads */
	DTP_TARGET_CGROUP = 3,	/* below this cgroup (version 2) */
};

/*
 * Who is a target, by number: a byte for each that the kernel can give away
 * (its PID_MAX_LIMIT), since a look-up in a hash table would be half of what
 * a record costs, and could be full.
 */
#define DTP_TASK_IDS	(1U << 22)
#define DTP_TG_ACTIVE	0x1
#define DTP_TG_WAIT	0x2	/* becomes active at exec */
#define DTP_TG_ENDED	0x4	/* has exited: until its number is reused */

struct dtp_targets {
	__u8	tg_how[DTP_TASK_IDS];	/* DTP_TG_*; 0: none */
};

/* A file's name, NAME_MAX and its end, in whole words. */
#define DTP_NAME_LEN	256

/*
 * What has to be known of a system call: which of its arguments are text
 * (place + 1, 0: none; a second one DTP_CALL_TEXT_BITS further up), and two
 * that are unlike all others.
 */
#define DTP_CALL_TEXT_BITS	3
#define DTP_CALL_TEXT		0x07
#define DTP_CALL_FORKS		0x40	/* 0 in the child, which made none */
#define DTP_CALL_EXECS		0x80	/* 0: registers, memory are another's */

/* Which of the programs on a tracepoint it is. */
enum dtp_turn_mode {
	DTP_TURN_ALONE	= 0,
	DTP_TURN_FIRST	= 1,	/* of two on the same tracepoint, */
	DTP_TURN_SECOND	= 2,	/* see turn.bpf.h */
};

/*
 * What specialises a program: one loaded instance per event, this struct in
 * its read-only data, so that the verifier removes what the event does not
 * need.
 */
struct dtp_config {
	__u16	dc_event;	/* counters: [cpu * nevents + event] */
	__u16	dc_nevents;
	__u32	dc_parts;	/* DTP_P_* */
	__u32	dc_ncpus;	/* size of the per-CPU maps: largest id + 1 */
	__u32	dc_ring_mask;	/* ring bytes - 1 */
	__u32	dc_wakeup_bytes;	/* fill that wakes a reader; or 0 */
	__u32	dc_target_mode;	/* enum dtp_target_mode */
	__u32	dc_cgroup_level;
	__u32	dc_inherit;	/* targets are followed through fork */
	__u64	dc_cgroup_id;
	__u64	dc_period_ns;	/* of a timer, for late; 0: not a timer */
	__u64	dc_ticks;	/* a timer that stays on its one CPU */
	__u32	dc_skip_kernel;	/* drop kernel-mode firings (exclude_kernel) */
	__u32	dc_is_return;	/* syscall: the return, not the entry */
	__u32	dc_by_fp;	/* user stacks by frame pointers alone */
	__u32	dc_nargs;
	__u32	dc_snap_mode;	/* enum dtp_snap_mode */
	__u32	dc_snap_bytes;	/* of stack; 0: no snapshots */
	__u64	dc_snap_room;	/* of the ring that they may fill */
	__u64	dc_snap_ns;	/* one in so much time, on average; 0: any */
	__u32	dc_nvalues;	/* counters whose values samples bring */
	__u32	dc_values;	/* the event that is the first of them */
	__u32	dc_values_ahead; /* bit n: counts a switch after it */
	__u32	dc_is_about;	/* its first argument is the task recorded */
	__u32	dc_turn;	/* enum dtp_turn_mode */
	__u32	dc_may_wait;	/* preempted: it walks before it enters */
	__u32	dc_page_shift;	/* of the machine's pages */
	__u32	dc_interval;	/* bytes for which an allocation stands; or */
				/* the step of waits, or DTP_WALK_PACED */
	__u64	dc_min_ns;	/* waits that are shorter are only summed */
	__s64	dc_preempt_at;	/* x86: from a run queue to the CPU's */
				/* preempt_count; 0: not known */
	__u64	dc_awaited_len;	/* 0: targets are known from the start */
	__u64	dc_awaited[DTP_NAME_LEN / 8]; /* the file that makes a */
				/* process the target when it executes it */
	struct dtp_arg	dc_arg[DTP_MAX_ARGS];
	__u64	dc_sysmask[DTP_MAX_SYSCALL / 64]; /* syscall: wanted numbers */
	__u8	dc_call[DTP_MAX_SYSCALL];	/* DTP_CALL_* or DTP_W_* */
	struct dtp_filter dc_filter;
	struct dtp_grouping dc_grouping;
};

#ifndef __cplusplus
#define DTP_AT(s, m, o) _Static_assert(__builtin_offsetof(struct s, m) == (o), \
	"struct " #s ", member " #m)
_Static_assert(sizeof(struct dtp_rec) == 32, "struct dtp_rec");
DTP_AT(dtp_rec, dr_type, 4);
DTP_AT(dtp_rec, dr_event, 6);
DTP_AT(dtp_rec, dr_cpu, 8);
DTP_AT(dtp_rec, dr_flags, 12);
DTP_AT(dtp_rec, dr_time_ns, 16);
DTP_AT(dtp_rec, dr_pid, 24);
DTP_AT(dtp_rec, dr_tid, 28);
_Static_assert(sizeof(struct dtp_stack) == 8, "struct dtp_stack");
_Static_assert(sizeof(struct dtp_script) == 8, "struct dtp_script");
_Static_assert((DTP_OUTER_UFRAMES & (DTP_OUTER_UFRAMES - 1)) == 0, "a mask");
_Static_assert(sizeof(struct dtp_values) == 80, "struct dtp_values");
_Static_assert(sizeof(struct dtp_times) == 16, "struct dtp_times");
_Static_assert(sizeof(struct dtp_texts) == 8, "struct dtp_texts");
_Static_assert(sizeof(struct dtp_fork) == 32, "struct dtp_fork");
_Static_assert(sizeof(struct dtp_exec) == 288, "struct dtp_exec");
_Static_assert(sizeof(struct dtp_exit) == 24, "struct dtp_exit");
_Static_assert(sizeof(struct dtp_comm) == 16, "struct dtp_comm");
_Static_assert(sizeof(struct dtp_snapshot) == 296, "struct dtp_snapshot");
_Static_assert(sizeof(struct dtp_piece) == 16, "struct dtp_piece");
_Static_assert(sizeof(struct dtp_stream) == 256, "struct dtp_stream");
DTP_AT(dtp_stream, ss_tail, 128);
_Static_assert(sizeof(struct dtp_control) == 112, "struct dtp_control");
DTP_AT(dtp_control, co_forks, 64);
_Static_assert(sizeof(struct dtp_counts) == 576, "struct dtp_counts");
_Static_assert(sizeof(struct dtp_call_ends) == 16, "struct dtp_call_ends");
_Static_assert(DTP_F_DURATION == DTP_F_ARG0 + DTP_MAX_ARGS, "DTP_F_DURATION");
_Static_assert(sizeof(struct dtp_arg) == 24, "struct dtp_arg");
_Static_assert(sizeof(struct dtp_operand) == 40, "struct dtp_operand");
_Static_assert(sizeof(struct dtp_test) == 24, "struct dtp_test");
_Static_assert(sizeof(struct dtp_filter) == 688, "struct dtp_filter");
_Static_assert(sizeof(struct dtp_config) == 2616, "struct dtp_config");
_Static_assert(DTP_INNER_SCRIPT + 2 + DTP_OUTER_SCRIPT * DTP_SCRIPT_WORDS <=
	DTP_MAX_SCRIPT, "DTP_OUTER_SCRIPT");
_Static_assert(DTP_MAX_RECORD >= sizeof(struct dtp_rec) + 16 +
	DTP_MAX_ARGS * DTP_STR_LEN + DTP_COMM_LEN + sizeof(struct dtp_values) +
	sizeof(struct dtp_times) + sizeof(struct dtp_stack) +
	sizeof(struct dtp_script) +
	8 * (DTP_MAX_KFRAMES + DTP_MAX_UFRAMES + DTP_MAX_SCRIPT),
	"DTP_MAX_RECORD");
#endif

#endif /* DTP_ABI_H */
