/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The maps of the user stack walk, and where a walk is.  The tables are
 * written by the library, through mmap; dtp_unwind.h says what is in them.
 *
 * Included by maps.bpf.h; the code is in unwind.bpf.h and
 * unwind_step.bpf.h.
 */
#ifndef UNWIND_MAPS_BPF_H
#define UNWIND_MAPS_BPF_H

#include "abi/dtp_abi.h"
#include "abi/dtp_chain.h"
#include "abi/dtp_unwind.h"
#include "compat.bpf.h"

#define DTP_MT_PIVOTS	15		/* of a struct maple_range_64 */
#define DTP_UW_WINDOW	256		/* words of stack copied at once */
#define DTP_UW_PAGE	4096UL
#define DTP_UW_FP_REACH	(1UL << 20)	/* a frame is not larger */

#if defined(__TARGET_ARCH_x86)
#define DTP_UW_NREGS	16
#define DTP_UW_CFA_UNIT	8
#define DTP_UW_REGS	struct pt_regs
#else
#define DTP_UW_NREGS	31
#define DTP_UW_CFA_UNIT	16
#define DTP_UW_REGS	struct user_pt_regs	/* how pt_regs begins */
#endif

/*
 * Searches without branches: which half goes on is a mask, so to the
 * verifier every step looks the same.
 */
#define DTP_UW_STEP(pos, n, key, value) do {				\
	__u64 half_ = (n) >> 1;						\
	__s64 gt_ = ((__s64)(key) - (__s64)(value)) >> 63;		\
	(pos) += (half_ + 1) & ~gt_;					\
	(n) = (half_ & gt_) | (((n) - half_ - 1) & ~gt_);		\
	barrier_var(pos);						\
	barrier_var(n);							\
} while (0)

/* What is read of a mapping in the kernel; the BPF stack is too short. */
struct dtp_vma {
	__u64	vr_flags;
	__u64	vr_page;
	__u64	vr_start;
	const struct mm_struct *vr_mm;
	const struct file *vr_file;
	const struct file *vr_still;	/* the same, later */
	struct inode *vr_inode;
	struct dentry *vr_dentry;	/* by which user space knows it */
	struct super_block *vr_super;
	struct timespec64 vr_time;
	__u32	vr_ns;
	__u32	vr_above;	/* the device of an overlay */
	const char *const *vr_special;
	const char *vr_name;
	__u64	vr_text;		/* of which the name is */
	struct dtp_uw_file vr_wanted;
};

/* Where a walk is; in scratch, because it is larger than a BPF stack. */
struct dtp_unwind {
	__u64	uw_pc;
	__u64	uw_sp;
	__u64	uw_fp;
	__u64	uw_ra;		/* arm64: link register, innermost only */
	__u32	uw_n;		/* frames so far */
	__u32	uw_status;	/* enum dtp_stack_status; NONE: walking */
	__u32	uw_is_return;	/* pc is a return address */
	__u32	uw_by_fp;	/* pc was found by frame pointer */
	__u32	uw_first;	/* innermost, or just behind a signal */
	__u32	uw_nmaps;
	__u32	uw_slab;
	__u32	uw_at;
	__u32	uw_has_bx;	/* uw_bx is what it was in this frame */
	__u64	uw_bx;
	__u64	uw_generation;
	__u64	uw_exec_id;	/* of the task */
	struct dtp_uw_map uw_map; /* the mapping last found */
	__u32	uw_doubt;	/* enum dtp_stack_status: from here on ... */
	__u32	uw_sure;	/* ... it is guessed; frames before */
	__u32	uw_at_return;	/* the frame there: uw_is_return ... */
	__u32	uw_pad2;
	__u64	uw_at_pc;
	__u64	uw_at_sp;
	__u64	uw_at_fp;
	__u64	uw_window;	/* address of uw_stack[0] */
	__u64	uw_window_bytes;
	__u64	uw_word;	/* the word that made it be copied */
	DTP_UW_REGS uw_user;	/* as the task left user space */
	__u64	uw_reg[32];		/* by DWARF number */
	__u64	uw_node[DTP_MT_PIVOTS];	/* of the kernel's tree of mappings */
	struct dtp_vma uw_vma;
	__u64	uw_frame[DTP_MAX_UFRAMES];
	__u64	uw_frame_sp[DTP_MAX_UFRAMES + 1];
	__u64	uw_stack[DTP_UW_WINDOW];
	/* Of script frames, see chain.bpf.h */
	__u32	uw_chain;	/* number of the process's; 0: none */
	__u32	uw_nscript;	/* words so far */
	__u32	uw_keeps;	/* frames lie on the stack: kept.bpf.h */
	__u32	uw_kept_inner;	/* words of the innermost frames */
	__u32	uw_kept_by_fp;	/* uw_by_fp, of the frame it is at */
	__u32	uw_outer;	/* put behind the first words, in a circle */
	__u64	uw_script_runs;
	__u64	uw_script_tid;
	__u64	uw_script_group;	/* where the search for a thread is */
	__u64	uw_script_thread;
	__u64	uw_script_record;
	__u64	uw_script_below; /* of records on the stack; 0: by number */
	__u64	uw_script_top;	/* of the thread's own stack; 0: not asked */
	__u64	uw_script_frame;
	__u64	uw_script_at;	/* word of uw_frames where that is */
	__u64	uw_script_tries;	/* records that were being made */
	__u64	uw_script_inner;	/* words before the circle */
	__u64	uw_seek_address;	/* among native frames */
	__u64	uw_seek_pos;
	__u64	uw_seek_n;
	__u64	uw_frames[DTP_CHAIN_WINDOW + DTP_CHAIN_FRAME];
	__u64	uw_frames_at;	/* address of uw_frames[0] */
	__u64	uw_frames_last;	/* offset of the last one there */
	__u64	uw_code[DTP_CHAIN_CODE];
	__u64	uw_text[DTP_CHAIN_WINDOW];
	__u64	uw_text_at;	/* address of uw_text[0] */
	__u64	uw_text_last;	/* offset of the last one there */
	__u64	uw_code_of;	/* whose identity is known: the last one's */
	__u64	uw_code_check;
	/* What was met in this walk, by address */
	__u64	uw_met_of[DTP_CHAIN_MET];	/* code objects */
	__u64	uw_met_check[DTP_CHAIN_MET];
	__u64	uw_text_of[DTP_CHAIN_TEXTS * DTP_CHAIN_MET];
	__u64	uw_text_mixed[DTP_CHAIN_TEXTS * DTP_CHAIN_MET];
	__u64	uw_script[DTP_MAX_SCRIPT + 1];
};

#if defined(__TARGET_ARCH_x86)
/*
 * Behind the instruction of a system call, as behind a call?  That puts the pc
 * into rcx, too.  The number alone does not tell: it is still there when the
 * task goes on elsewhere, in a signal's handler or another program.
 */
DTP_INLINE __u32
dtp_uw_in_syscall(const DTP_UW_REGS *regs)
{
	return ((__s64)regs->orig_rax >= 0 && regs->rcx == regs->rip);
}
#endif

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_UW_PROCS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_uw_proc);
} uw_procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_UW_MODULES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_uw_module);
} uw_modules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_UW_ENTRIES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_uw_entry);
} uw_entries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_UW_FILES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_uw_file);
} uw_files SEC(".maps");

/* What processes run, by numbers that uw_procs has; dtp_chain.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_CHAINS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_chain);
} uw_chains SEC(".maps");

/* A slab is one element, with room for the largest unit behind its end. */
struct dtp_uw_slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, DTP_UW_SLAB_WORDS * 4 + 64);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, DTP_UW_SLABS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__array(values, struct dtp_uw_slab);
} uw_slabs SEC(".maps");

/* pc -> rule, remembered per CPU: [cpu * DTP_UW_CACHE + place]. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_UW_CACHE);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
} uw_cache SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_UW_NUMBERS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct dtp_uw_number);
} uw_numbers SEC(".maps");

#endif /* UNWIND_MAPS_BPF_H */
