/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Kernel structs, just the members that are read.  The loader puts in the
 * offsets of the running kernel, so order and gaps here mean nothing; a
 * name's part from ___ on is not looked at.
 *
 * Included by compat.bpf.h.  libprof/backend/bpf/btf_core.c names those that
 * lie in no other one.
 */
#ifndef CORE_TYPES_H
#define CORE_TYPES_H

#include "abi/dtp_abi.h"

struct thread_info {
	unsigned long	flags;		/* arm64: TIF_32BIT */
	__u32		status;		/* x86: TS_COMPAT */
	struct {
		__u32	count;
	} preempt;			/* arm64 */
} DTP_CORE;

struct signal_struct {
	struct {
		int	counter;
	} live;				/* threads that have not exited */
} DTP_CORE;

struct sched_info {
	unsigned long	pcount;		/* turns on CPUs */
	unsigned long long last_arrival; /* on a CPU */
	unsigned long long last_queued;
} DTP_CORE;

struct cred {
	struct {
		unsigned int	val;
	} uid, gid, euid, egid;
} DTP_CORE;

struct maple_tree {
	void	*ma_root;
} DTP_CORE;

struct maple_range_64 {
	unsigned long	pivot[15];
	void		*slot[16];
} DTP_CORE;

struct maple_arange_64 {
	unsigned long	pivot[9];
	void		*slot[10];
} DTP_CORE;

struct mm_struct {
	struct maple_tree mm_mt;	/* its mappings */
	unsigned long	end_code;	/* 0: no program has been loaded yet */
	unsigned long	start_stack;
} DTP_CORE;

struct thread_struct {
#if defined(__TARGET_ARCH_x86)
	unsigned long	fsbase;		/* thread-local storage */
#else
	struct {
		unsigned long	tp_value;
	} uw;
#endif
} DTP_CORE;

struct super_block {
	__u32	s_dev;
	unsigned long	s_magic;
} DTP_CORE;

struct timespec64 {			/* the same in all kernels */
	__s64	tv_sec;
	long	tv_nsec;
};

struct inode {
	struct super_block	*i_sb;
	unsigned long		i_ino;
	unsigned short		i_mode;
	__s64			i_size;
	__s64			i_ctime_sec;	/* from Linux 6.11 on */
	__u32			i_ctime_nsec;
} DTP_CORE;

struct inode___6_6 {
	struct timespec64	__i_ctime;
} DTP_CORE;

struct inode___6_1 {
	struct timespec64	i_ctime;
} DTP_CORE;

struct dentry {
	struct super_block	*d_sb;
} DTP_CORE;

struct path {
	struct dentry	*dentry;
} DTP_CORE;

struct file {
	struct inode	*f_inode;
	struct path	f_path;
	void		*private_data;
} DTP_CORE;

struct fdtable {
	unsigned int	max_fds;
	struct file	**fd;
} DTP_CORE;

struct files_struct {
	struct fdtable	*fdt;
} DTP_CORE;

struct sock_common {
	unsigned short	skc_family;
	__u16		skc_dport;	/* of the other end, big-endian */
	__u32		skc_daddr;
	struct {
		__u8	byte[16];
	} skc_v6_daddr;
} DTP_CORE;

struct sock {
	struct sock_common __sk_common;
} DTP_CORE;

struct socket {
	struct sock	*sk;
} DTP_CORE;

struct backing_file {			/* from Linux 6.8 on */
	struct path	user_path;
} DTP_CORE;

struct vm_area_struct {
	unsigned long	vm_start;
	unsigned long	vm_end;
	struct mm_struct *vm_mm;
	unsigned long	vm_flags;	/* VM_EXEC */
	unsigned long	vm_pgoff;
	struct file	*vm_file;
	void		*vm_private_data;
} DTP_CORE;

struct upid {				/* in one namespace */
	int	nr;
	void	*ns;
};

struct pid {
	unsigned int	level;
	struct upid	numbers[1];	/* by level */
} DTP_CORE;

struct kernfs_node {
	__u64	id;
} DTP_CORE;

struct cgroup {
	struct kernfs_node *kn;
	int		level;		/* below the root */
	struct cgroup	*ancestors[1];	/* by level, itself the last */
} DTP_CORE;

struct css_set {			/* the cgroups of a task */
	struct cgroup	*dfl_cgrp;	/* of version 2 */
} DTP_CORE;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
} DTP_CORE;

struct cfs_bandwidth {			/* cpu.max, cpu.stat */
	__s64	period;
	__u64	quota;
	int	nr_throttled;
	__u64	throttled_time;
} DTP_CORE;

struct task_group {			/* a cgroup, for the scheduler */
	struct cgroup_subsys_state css;
	struct task_group *parent;
	struct cfs_bandwidth cfs_bandwidth;
} DTP_CORE;

struct cfs_rq {				/* of a CPU and a task_group */
	void	*rq;			/* of the CPU, with all its classes */
	unsigned int	throttled:1;	/* a whole word until Linux 6.17 */
	int	throttle_count;		/* this one, and those above */
	struct task_group *tg;
} DTP_CORE;

struct sched_entity {
	struct cfs_rq	*cfs_rq;
	struct sched_entity *parent;	/* of the cgroup */
	unsigned char	sched_delayed;	/* from Linux 6.12 on */
	__u64		exec_start;	/* up to when it ran, as noted last */
} DTP_CORE;

struct uprobe_task {			/* state of a task in a probe */
	void		*active_uprobe;	/* whose instruction it executes */
	unsigned long	vaddr;		/* address of the instruction */
	unsigned long	xol_vaddr;	/* address of the executed copy */
	void		*auprobe;	/* running programs; Linux 6.12 on */
} DTP_CORE;

struct task_struct {
	struct thread_info	thread_info;
	unsigned int		__state;
	unsigned int		on_cpu;		/* one byte from Linux 7 on */
	unsigned int		on_rq;		/* one byte from Linux 7 on */
	struct sched_entity	se;
	struct task_group	*sched_task_group;
	struct css_set		*cgroups;
	int			prio;
	_Bool			throttled;	/* from Linux 6.18 on */
	int			exit_state;
	unsigned long		nvcsw;	/* switches, by its will or not */
	unsigned long		nivcsw;
	struct sched_info	sched_info;
	unsigned int		flags;	/* PF_KTHREAD */
	unsigned int		frozen:1; /* by its cgroup; also in vfork */
	int			pid;	/* what user space calls a tid */
	int			tgid;
	__u64			start_time;
	__u64			self_exec_id;
	int			exit_code;
	char			comm[DTP_COMM_LEN];
	struct signal_struct	*signal;
	struct pid		*thread_pid;
	struct task_struct	*group_leader;
	const struct cred	*cred;
	struct mm_struct	*mm;	/* NULL: none, or no more */
	struct files_struct	*files;	/* the same */
	struct uprobe_task	*utask;	/* NULL: no probe was hit yet */
	struct thread_struct	thread;
} DTP_CORE;

struct pcpu_hot {			/* x86, Linux 6.2 to 6.14 */
	int	preempt_count;
} DTP_CORE;

struct linux_binprm {
	const char	*filename;
	unsigned int	interp_flags;	/* BINPRM_FLAGS_ENFORCE_NONDUMP: 1 */
} DTP_CORE;

/* The interrupted registers; x86-64 as in ptrace(2). */
struct pt_regs___x86 {
	unsigned long	r10, r9, r8, dx, si, di, orig_ax, ip;
} DTP_CORE;

/* Not ___arm64: bpf_tracing.h has one of that name. */
struct pt_regs___aarch64 {
	__u64	regs[31];
	__u64	pc;
	__s32	syscallno;
} DTP_CORE;

#endif /* CORE_TYPES_H */
