/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Which firings are recorded.  In this order: is the session recording (if
 * not, the firing is nobody's), does this CPU take samples, is it the
 * recorder itself, is it a target, is it the kernel's where that is not
 * wanted; then the expression of --filter.
 *
 * Called by the providers: dtp_begin, dtp_wanted, then dtp_passes once the
 * arguments are known.  After the first nothing remains to be counted if it
 * returns 0; after the others likewise.
 */
#ifndef FILTER_BPF_H
#define FILTER_BPF_H

#include "abi/dtp_filter.h"
#include "count.bpf.h"

/* Arguments of a probe; only those asked for are set. */
struct dtp_args {
	__u64	 ag_value[DTP_MAX_ARGS];
	__u64	 ag_duration_ns; /* of a system call; 0: not known */
	__u64	 ag_texts;	/* as DTP_F_TEXTS */
#ifdef DTP_ABOUT_NEXT
	__u64	 ag_uid_gid;	/* of a thread that is not current */
	char	 ag_comm[DTP_COMM_LEN];
#endif
};

/* A call of the thread at hand, from its entry to its return. */
struct dtp_call {
	__u64	ca_begun_ns;	/* 0: it makes none that we know of */
	__u64	ca_number;
	__u64	ca_arg[DTP_CALL_ARGS];
	__u64	ca_faults;	/* bit n: text n could not be read */
	struct dtp_texts ca_texts;
	char	ca_text[DTP_CALL_TEXTS][DTP_STR_LEN];
};

/* What is known about one firing. */
struct dtp_firing {
	void	*fg_ctx;
	const struct task_struct *fg_task;	/* set by dtp_whose */
	struct dtp_stream *fg_stream;
	struct dtp_counts *fg_counts;
	__u64	 fg_weight;
	__u64	 fg_ip;
	__u64	 fg_start_ns;	/* of the recording, and pauses on */
	struct dtp_args *fg_args;	/* NULL: it has none */
	const struct dtp_call *fg_call;	/* for texts of a call alone */
	__u32	 fg_kernel;	/* it interrupted the kernel */
	__u32	 fg_skip;	/* innermost frames: our own */
	__u32	 fg_cpu;
	__u32	 fg_self;	/* the recorder's thread group */
	__u32	 fg_pid;
	__u32	 fg_tid;
#ifdef DTP_FLAGS
	__u32	 fg_flags;	/* more DTP_R_* */
#endif
};

/*
 * First thing in a program: count the firing.  Sessions that are not in one
 * of these states (a mask) do not see it.
 */
DTP_INLINE int
dtp_begin(struct dtp_firing *firing, __u32 states)
{
	struct dtp_control *session;
	__u32 zero = 0;

	firing->fg_cpu = bpf_get_smp_processor_id();
	firing->fg_counts = dtp_counts_of(firing->fg_cpu);
	session = bpf_map_lookup_elem(&control, &zero);
	if (firing->fg_counts == NULL || session == NULL)
		return (0);
	if ((states >> (DTP_LOAD(&session->co_state) & 31) & 1) == 0) {
		DTP_ADD(&firing->fg_counts->cn_outside_weight,
		    firing->fg_weight);
		return (dtp_count(&firing->fg_counts->cn_outside));
	}
	if (!DTP_FORGETS_fired)
		DTP_ADD(&firing->fg_counts->cn_fired, 1);
	DTP_ADD(&firing->fg_counts->cn_weight, firing->fg_weight);
	if (firing->fg_weight > DTP_LOAD(&firing->fg_counts->cn_weight_max))
		DTP_STORE(&firing->fg_counts->cn_weight_max,
		    firing->fg_weight);
	firing->fg_start_ns = cfg.dc_ticks ? session->co_start_ns :
	    session->co_clock_ns;
	firing->fg_self = session->co_self;
	firing->fg_stream = bpf_map_lookup_elem(&streams, &firing->fg_cpu);
	if (firing->fg_stream == NULL)
		return (dtp_count(&firing->fg_counts->cn_error));
	return (1);
}

/* Targets are recorded since the start, the last pause or the awaited exec. */
DTP_INLINE __u64
dtp_targets_begun(const struct dtp_control *session)
{
	__u64 begun_ns = DTP_LOAD(&session->co_begun_ns);
	__u64 awaited_ns = DTP_LOAD(&session->co_awaited_ns);

	return (awaited_ns > begun_ns ? awaited_ns : begun_ns);
}

/* Is the current task one of those to be recorded? */
DTP_INLINE int
dtp_is_target(struct dtp_firing *firing)
{
	switch (cfg.dc_target_mode) {
	case DTP_TARGET_PID:
		return (dtp_target_how(firing->fg_pid) & DTP_TG_ACTIVE);
	case DTP_TARGET_TID:
		return (dtp_target_how(firing->fg_tid) & DTP_TG_ACTIVE);
	case DTP_TARGET_CGROUP:
		return (bpf_get_current_ancestor_cgroup_id(
		    cfg.dc_cgroup_level) == cfg.dc_cgroup_id);
	}
	return (1);
}

/* Whose firing it is: the current task's, or of the one that it is about. */
DTP_INLINE void
dtp_whose(struct dtp_firing *firing)
{
	const struct task_struct *task = dtp_current();
	__u64 word;

	firing->fg_task = task;
	firing->fg_pid = task->tgid;
	firing->fg_tid = task->pid;
	if (!cfg.dc_is_about)
		return;
	DTP_CTX_WORD(word, firing->fg_ctx, 0);
	task = (void *)(unsigned long)word;
	DTP_READ(&firing->fg_pid, &task->tgid);
	DTP_READ(&firing->fg_tid, &task->pid);
}

/* Is it a CPU of those to be recorded? */
DTP_INLINE int
dtp_wanted_here(struct dtp_firing *firing)
{
	if (DTP_LOAD(&firing->fg_stream->ss_enabled) != DTP_CPU_SAMPLES)
		return (dtp_count(&firing->fg_counts->cn_filtered));
	return (1);
}

DTP_INLINE int
dtp_wanted_task(struct dtp_firing *firing)
{
	dtp_whose(firing);
	if (firing->fg_self != 0 && firing->fg_pid == firing->fg_self) {
		dtp_count(&firing->fg_counts->cn_self);
		return (dtp_count(&firing->fg_counts->cn_filtered));
	}
	if (!dtp_is_target(firing) || (cfg.dc_skip_kernel && firing->fg_kernel))
		return (dtp_count(&firing->fg_counts->cn_filtered));
	return (1);
}

DTP_INLINE int
dtp_wanted(struct dtp_firing *firing)
{
	return (dtp_wanted_here(firing) && dtp_wanted_task(firing));
}

/* Where a filter looks, all arguments have to be something. */
DTP_INLINE void
dtp_args_begin(struct dtp_args *args)
{
	if (cfg.dc_filter.fi_ntests != 0)
		*args = (struct dtp_args){ 0 };
}

/* Text at an address, into zeros.  Negative: it cannot be read. */
DTP_INLINE long
dtp_text_at(void *to, __u8 kind, __u64 address)
{
	const void *from = (const void *)(unsigned long)address;

	if (kind == DTP_A_USTR || !dtp_is_kernel(address))
		return (bpf_probe_read_user_str(to, DTP_STR_LEN, from));
	return (bpf_probe_read_kernel_str(to, DTP_STR_LEN, from));
}

/*
 * Text that a call has kept, or that an argument points to; to is zeros.
 * Negative: it cannot be read.
 */
DTP_INLINE long
dtp_text_read(const struct dtp_firing *firing, __u32 slot, __u32 how, void *to)
{
	if (how == DTP_KEY_CALL) {
		for (int i = 0; i < DTP_CALL_TEXTS; i++)
			if (firing->fg_call->ca_texts.tx_slot[i] == slot)
				bpf_probe_read_kernel_str(to, DTP_STR_LEN,
				    firing->fg_call->ca_text[i]);
		return (0);
	}
	slot &= DTP_MAX_ARGS - 1;
	return (dtp_text_at(to, cfg.dc_arg[slot].ar_kind,
	    firing->fg_args->ag_value[slot]));
}

/* Bit n: an argument equals the filter's text n; what cannot be read is "". */
static DTP_APART __u64
dtp_texts_equal(const struct dtp_firing *firing)
{
	__u64 equal = 0;

	for (__u32 i = 0; i < DTP_MAX_TEXTS; i++) {
		const volatile struct dtp_filter_text *text =
		    &cfg.dc_filter.fi_text[i];
		__u64 word[DTP_STR_LEN / 8] = { 0 }, differs = 0;

		if (i >= cfg.dc_filter.fi_ntexts)
			break;
		(void)dtp_text_read(firing, text->fx_slot, text->fx_how, word);
		for (int n = 0; n < DTP_STR_LEN / 8; n++)
			differs |= word[n] ^ text->fx_word[n];
		equal |= (differs == 0 ? 1ULL : 0) << i;
	}
	return (equal);
}

/* Owner and name of the thread that the event is about. */
DTP_INLINE __u64
dtp_uid_gid(const struct dtp_args *args)
{
#ifdef DTP_ABOUT_NEXT
	return (args == NULL ? 0 : args->ag_uid_gid);
#else
	(void)args;
	return (bpf_get_current_uid_gid());
#endif
}

DTP_INLINE void
dtp_comm_get(void *to, const struct dtp_args *args)
{
#ifdef DTP_ABOUT_NEXT
	if (args != NULL)
		__builtin_memcpy(to, args->ag_comm, DTP_COMM_LEN);
#else
	(void)args;
	bpf_get_current_comm(to, DTP_COMM_LEN);
#endif
}

/*
 * Does the expression hold?  Finds out no more than it asks for.  Apart also
 * because the stack is short, and facts are of no use behind it.
 */
DTP_APART int
dtp_expression_holds(__u32 pid, __u32 tid, __u32 cpu, __u32 kernel,
    const struct dtp_args *args)
{
	__u32 asked = cfg.dc_filter.fi_fields;
	struct dtp_facts facts = { 0 };
	__u64 id;

	facts.fa_field[DTP_F_PID] = pid;
	facts.fa_field[DTP_F_TID] = tid;
	facts.fa_field[DTP_F_CPU] = cpu;
	facts.fa_field[DTP_F_KERNEL] = kernel;
	if (asked & (1U << DTP_F_UID | 1U << DTP_F_GID)) {
		id = dtp_uid_gid(args);
		facts.fa_field[DTP_F_UID] = (__u32)id;
		facts.fa_field[DTP_F_GID] = id >> 32;
	}
	if (asked & 1U << DTP_F_COMM)
		dtp_comm_get(facts.fa_comm, args);
	for (int i = 0; args != NULL && i < DTP_MAX_ARGS; i++)
		if (asked >> (DTP_F_ARG0 + i) & 1)
			facts.fa_field[DTP_F_ARG0 + i] = args->ag_value[i];
	if (args != NULL && (asked & 1U << DTP_F_DURATION))
		facts.fa_field[DTP_F_DURATION] = args->ag_duration_ns;
	if (args != NULL && (asked & 1U << DTP_F_TEXTS))
		facts.fa_field[DTP_F_TEXTS] = args->ag_texts;
	return (dtp_filter_holds(&cfg.dc_filter, &facts));
}

DTP_INLINE int
dtp_passes(struct dtp_firing *firing)
{
	if (cfg.dc_filter.fi_ntexts != 0 && firing->fg_args != NULL)
		firing->fg_args->ag_texts = dtp_texts_equal(firing);
	if (cfg.dc_filter.fi_ntests != 0 && !dtp_expression_holds(
	    firing->fg_pid, firing->fg_tid, firing->fg_cpu,
	    firing->fg_kernel, firing->fg_args))
		return (dtp_count(&firing->fg_counts->cn_filtered));
	return (1);
}

#endif /* FILTER_BPF_H */
