/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * How the frames of an interpreter lie in its process: one description for
 * each process that runs one, written by the library, followed by the programs
 * (chain.bpf.h).  Nothing here knows a language.
 *
 *	root ---> group ---next--> group		interpreters
 *		    |
 *		  thread --next--> thread		found by its tid
 *		    |
 *		  [record] --outer--> [record]		one a run, if there are
 *		    |
 *		  frame --previous--> frame --> ...
 *		    |
 *		  code
 *
 * All offsets are in bytes, and all that is found is the process's word: a
 * walk reads, and believes nothing.
 */
#ifndef DTP_CHAIN_H
#define DTP_CHAIN_H

#include <linux/types.h>

#define DTP_CHAINS		1024	/* processes; number 0 is nobody's */
#define DTP_CHAIN_FRAMES	8192	/* looked at in a walk */
#define DTP_CHAIN_THREADS	4096
#define DTP_CHAIN_NATIVE	0x4000	/* no native frame is as large */
/* A record further below the top of a thread's stack is on another stack. */
#define DTP_CHAIN_STACK	((8UL << 20) - (64UL << 10))
#define DTP_CHAIN_TRIES		3	/* records that were being made */

/* What is read of a frame, of a code object, of what it points to; words. */
#define DTP_CHAIN_FRAME		10
#define DTP_CHAIN_WINDOW	128	/* copied at once, if close */
#define DTP_CHAIN_MET		8	/* remembered in a walk */
#define DTP_CHAIN_CODE		16
#define DTP_CHAIN_TEXT		12
#define DTP_CHAIN_TEXTS		2

struct dtp_chain {
	__u64	ch_root;	/* address of the word that leads to groups */
	__u64	ch_current;	/* ... to the thread that runs; 0: none */
	__u64	ch_head;	/* of a frame's first word in the stream */
	__u64	ch_code_mask;	/* of the word that leads to its code */
	__u16	ch_group_next;
	__u16	ch_thread;	/* in a group: its first one */
	__u16	ch_thread_next;
	__u16	ch_tid;		/* as its own namespace of pids has it */
	__u16	ch_frame;	/* in a thread: to its record or frame */
	__u16	ch_has_record;
	__u16	ch_record_frame;
	__u16	ch_record_outer;
	/* In a frame, below DTP_CHAIN_FRAME words */
	__u8	ch_code;
	__u8	ch_previous;
	__u8	ch_instruction;
	__u8	ch_mark;	/* a byte: from this value on ... */
	__u8	ch_mark_from;	/* ... it is the outermost one of a run, */
	__u8	ch_mark_is_code;	/* and executes code itself */
	__u8	ch_shift;	/* bytes of an instruction, as a power of 2 */
	__u8	ch_has_places;	/* what ends a run lies on the native stack */
	__u16	ch_first;	/* in a code object: its instructions */
	/*
	 * What tells a code object from another one that takes its place: a
	 * number of its own (ch_nwords 1, ch_skip 0), or all that is known of
	 * it, from ch_key on, but for words that change (bits of ch_skip), and
	 * of texts that it points to, by words of the key.  A text begins with
	 * the number of its bytes; what is behind them is not its own.
	 */
	__u16	ch_key;
	__u16	ch_skip;
	__u16	ch_nwords;
	__u64	ch_key_mask;	/* of the only word */
	__u16	ch_text_at;	/* in a text */
	__u8	ch_text[DTP_CHAIN_TEXTS];	/* words */
	__u8	ch_text_data[DTP_CHAIN_TEXTS]; /* from ch_text_at on */
	__u8	ch_pad2[2];
	__u16	ch_text_skip[DTP_CHAIN_TEXTS];
	/*
	 * Or there is no chain (ch_is_kept): each frame lies on the native
	 * stack (kept.bpf.h).  So many bytes below the frame pointer are the
	 * offset in the interpreter's code, that code, the object of a
	 * function, and a word that is tagged in such frames as objects are.
	 */
	__u8	ch_is_kept;
	__u8	ch_kept_at;
	__u8	ch_kept_code;
	__u8	ch_kept_object;
	__u8	ch_kept_tag;
	__u8	ch_kept_step;	/* in the object: to what all of them share */
	__u8	ch_kept_owner;	/* in that: word of what it is part of */
	__u8	ch_kept_inner;	/* in its compiled code: to its code */
	__u8	ch_kept_serial;	/* in what it is part of: its number */
	__u8	ch_kept_builtin; /* word that has a number if it is built in */
	__u8	ch_pad3[2];
};

/* These bits of such an identity say which texts are in it. */
#define DTP_CHAIN_READ	((1U << DTP_CHAIN_TEXTS) - 1)

/* Words that are read of what functions share, from its second on. */
#define DTP_KEPT_WORDS	8
/*
 * Of instructions around a pc, and bytes in front of it.  Few, as addresses
 * among them change when a collector of garbage moves objects.
 */
#define DTP_KEPT_CODE	2
#define DTP_KEPT_BEFORE	8

#define DTP_CHAIN_MIX	0x9e3779b97f4a7c15ULL

/*
 * What is added for the n-th word of what a code object is, unless a bit of
 * skip names it: the sum has no order, but each word its own odd factor.
 */
#define DTP_CHAIN_FACTORS {						\
	0x43b72a11d2087d69ULL, 0xb99d31ea41d68fa1ULL,		\
	0xf8a672e6122b7ec9ULL, 0x797881de6f95daf9ULL,		\
	0xe29328faf876bcbbULL, 0x47cf8f7d279116a9ULL,		\
	0x0b025cd28d64bad9ULL, 0x6d6bdfc98872b619ULL,		\
	0xb6c749af3a14e7f9ULL, 0xecd227f352559153ULL,		\
	0x183027904efa28cbULL, 0x273b39fcbe0df63fULL,		\
	0x421d9e719e254237ULL, 0xec08b472bb055f09ULL,		\
	0xd7ab4aa7b29bdc09ULL, 0xf76938ab49ff2d11ULL,		\
}

static inline __attribute__((always_inline)) __u64
dtp_chain_mix(__u64 word, __u32 skip, __u32 n)
{
	static const __u64 factor[DTP_CHAIN_CODE] = DTP_CHAIN_FACTORS;

	return ((word & ((__u64)(skip >> n & 1) - 1)) * factor[n]);
}

/* Words of a text that do not count, of which the first is given. */
static inline __attribute__((always_inline)) __u32
dtp_chain_text_skip(const struct dtp_chain *chain, __u32 text, __u64 bytes)
{
	__u64 words = (chain->ch_text_data[text] + bytes + 8) >> 3;

	if (bytes > 8 * DTP_CHAIN_TEXT || words > DTP_CHAIN_TEXT)
		words = DTP_CHAIN_TEXT;
	return (chain->ch_text_skip[text] | ~0U << words);
}

/*
 * Whose a frame is: of a function number in its owner, which has a serial
 * number, too, as others may come to its address; or one that is built in.
 * Numbers are upper halves of words, where the lower one is 0.
 */
static inline __attribute__((always_inline)) __u32
dtp_kept_identity(__u64 owner, __u32 serial, __u32 number, __u64 builtin)
{
	return ((__u32)owner + serial * 0x85ebca6bU + number * 0x9e3779b1U +
	    ((__u32)builtin == 0 ? (__u32)(builtin >> 32) * 0xc2b2ae35U : 0));
}

/* What is at a place of code, in 24 bits, as other code may come there. */
static inline __attribute__((always_inline)) __u32
dtp_kept_stamp(const __u64 *code)
{
	__u64 mixed = 0;

	for (__u32 n = 0; n < DTP_KEPT_CODE; n++)
		mixed += dtp_chain_mix(code[n], 0, n);
	return ((__u32)(mixed >> 40));
}

_Static_assert(sizeof(struct dtp_chain) == 96, "struct dtp_chain");

#endif /* DTP_CHAIN_H */
