/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * System calls as one event each: a call is kept with its thread at the entry
 * and becomes a record at the return, with what it took (the weight), what it
 * returned and with what it was entered.
 *
 *	entry    kept: number, arguments, texts, then the time
 *	return   fired: time first; the kept call and the stack to a record
 *	exit     a thread that ends in a call: counted, by call
 *	iter     once, at stop: calls that have not returned, likewise
 *
 * The stack is that of the return: a call that the filter refuses costs no
 * walk, and of one that lasts nothing has to be kept but this.  It is the
 * same as at the entry but where the call itself replaces it: an exec that
 * succeeds (that of the new program's beginning) and the return from a signal
 * handler (that of the interrupted code).
 *
 * What is kept is taken by exchange, so that of return, exit and stop only
 * one ever counts a call.  Calls of 32-bit tasks number otherwise: counted,
 * not recorded.
 */
#include "sample.bpf.h"
#include "turn.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct dtp_call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_MAX_SYSCALL);
	__type(key, __u32);
	__type(value, struct dtp_call_ends);
} call_ends SEC(".maps");

/* Of the kernel; a context's members are where they are everywhere. */
struct bpf_iter__task {
	void			*meta;
	struct task_struct	*task;
};

DTP_INLINE struct dtp_call *
call_of(const struct task_struct *task, __u64 flags)
{
	return (bpf_task_storage_get(&calls, (struct task_struct *)task, NULL,
	    flags));
}

/* When it began; it is nobody else's from here.  0: there is none. */
DTP_INLINE __u64
call_take(struct dtp_call *call)
{
	return (call == NULL ? 0 : DTP_XCHG(&call->ca_begun_ns, 0));
}

DTP_INLINE int
number_wanted(__u64 number)
{
	return (number < DTP_MAX_SYSCALL &&
	    (cfg.dc_sysmask[number / 64] >> (number & 63) & 1) != 0);
}

DTP_INLINE __u8
call_about(__u64 number)
{
	return (cfg.dc_call[number & (DTP_MAX_SYSCALL - 1)]);
}

/* ------------------------------------------------------------- texts */

DTP_INLINE void
text_read(struct dtp_call *call, int i)
{
	__u32 at = (call->ca_texts.tx_slot[i] - 2) & 7;
	__u64 from = at < DTP_CALL_ARGS ? call->ca_arg[at] : 0;

	if (bpf_probe_read_user_str(call->ca_text[i], DTP_STR_LEN,
	    (const void *)(unsigned long)from) >= 0)
		return;
	call->ca_text[i][0] = '\0';
	call->ca_faults |= 1U << i;
}

/* Which arguments are text, and the text. */
DTP_INLINE void
texts_read(struct dtp_call *call)
{
	__u32 about = call_about(call->ca_number);

	call->ca_faults = 0;
	for (int i = 0; i < DTP_CALL_TEXTS; i++) {
		__u32 place = about >> (i * DTP_CALL_TEXT_BITS) & DTP_CALL_TEXT;

		/* Slots 0 and 1 are the number and what was returned. */
		call->ca_texts.tx_slot[i] = place == 0 ? 0 : place + 1;
		if (place != 0)
			text_read(call, i);
	}
}

/*
 * What was not in memory at the entry the call itself has brought there: once
 * more.  Not of an exec that succeeded: that memory is gone.
 */
DTP_INLINE void
texts_again(struct dtp_call *call, struct dtp_firing *firing, __u64 result)
{
	__u64 faults = call->ca_faults;
	int is_gone = result == 0 &&
	    (call_about(call->ca_number) & DTP_CALL_EXECS) != 0;

	if (faults == 0)
		return;
	call->ca_faults = 0;
	for (int i = 0; i < DTP_CALL_TEXTS; i++) {
		if ((faults >> i & 1) == 0)
			continue;
		if (is_gone)
			call->ca_faults |= 1U << i;
		else
			text_read(call, i);
		if (call->ca_faults >> i & 1)
			DTP_ADD(&firing->fg_counts->cn_arg_fault, 1);
	}
}

/* ------------------------------------------------------------- entry */

/* As dtp_begin and dtp_wanted, but an entry is no firing. */
DTP_INLINE int
entry_wanted(struct dtp_firing *firing)
{
	struct dtp_control *session;
	__u32 zero = 0;

	firing->fg_cpu = bpf_get_smp_processor_id();
	firing->fg_counts = dtp_counts_of(firing->fg_cpu);
	session = bpf_map_lookup_elem(&control, &zero);
	if (firing->fg_counts == NULL || session == NULL ||
	    DTP_LOAD(&session->co_state) != DTP_RECORDING)
		return (0);
	dtp_whose(firing);
	if (session->co_self != 0 && firing->fg_pid == session->co_self)
		return (0);
	return (dtp_is_target(firing));
}

DTP_INLINE int
call_entry(struct bpf_raw_tracepoint_args *ctx)
{
	struct dtp_firing firing = { 0 };
	struct dtp_call *call;
	__u64 ip;

	if (!entry_wanted(&firing))
		return (0);
	if (dtp_call_is_compat(firing.fg_task))
		return (dtp_count(&firing.fg_counts->cn_call_compat));
	if (!number_wanted(ctx->args[1]))
		return (0);
	call = call_of(firing.fg_task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (call == NULL)
		return (dtp_count(&firing.fg_counts->cn_call_unkept));
	if (call_take(call) != 0)
		dtp_count(&firing.fg_counts->cn_call_unseen);
	dtp_count(&firing.fg_counts->cn_call_begun);
	call->ca_number = ctx->args[1];
	dtp_call_read(call->ca_arg, &ip, (void *)(long)ctx->args[0]);
	if (cfg.dc_parts & DTP_P_TEXTS)
		texts_read(call);
	DTP_STORE(&call->ca_begun_ns, bpf_ktime_get_ns());
	return (0);
}

/* ------------------------------------------------------------ return */

DTP_INLINE struct dtp_call_ends *
ends_of(const struct dtp_call *call)
{
	__u32 at = call->ca_number & (DTP_MAX_SYSCALL - 1);

	return (bpf_map_lookup_elem(&call_ends, &at));
}

/* Not while it records: in a pause, or at the end. */
DTP_INLINE int
return_outside(struct dtp_firing *firing)
{
	struct dtp_call *call = call_of(dtp_current(), 0);
	struct dtp_call_ends *ends;
	struct dtp_control *session;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	if (call_take(call) == 0 || session == NULL ||
	    firing->fg_counts == NULL)
		return (0);
	if (DTP_LOAD(&session->co_state) != DTP_STOPPED)
		return (dtp_count(&firing->fg_counts->cn_call_paused));
	if ((ends = ends_of(call)) != NULL)
		DTP_ADD(&ends->ce_running, 1);
	return (0);
}

/*
 * A return whose entry was not seen: begun before the start, or refused by a
 * filter of system calls, which comes before.  What is known of it stands in
 * the registers.  NULL: it is none of ours, and why was counted.
 */
DTP_INLINE struct dtp_call *
return_unbegun(struct dtp_firing *firing, struct bpf_raw_tracepoint_args *ctx)
{
	const void *regs = (void *)(long)ctx->args[0];
	__u64 number = dtp_call_number(regs), ip;
	struct dtp_counts *counted = firing->fg_counts;
	struct dtp_call *call;

	if (!number_wanted(number) || dtp_call_is_compat(firing->fg_task)) {
		dtp_count(&counted->cn_filtered);
		return (NULL);
	}
	/* A new thread returns from a call that its parent has made. */
	if (ctx->args[1] == 0 &&
	    (call_about(number) & DTP_CALL_FORKS) != 0) {
		dtp_count(&counted->cn_call_born);
		dtp_count(&counted->cn_filtered);
		return (NULL);
	}
	call = call_of(firing->fg_task, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (call == NULL) {
		dtp_count(&counted->cn_error);
		return (NULL);
	}
	dtp_count(&counted->cn_call_unbegun);
	call->ca_number = number;
	dtp_call_read(call->ca_arg, &ip, regs);
	if (cfg.dc_parts & DTP_P_TEXTS)
		texts_read(call);
	return (call);
}

/*
 * The call that returns here, and when it began (0: not known).  A number that
 * is another one's means that a return and an entry were missed.  -1 stands
 * there behind the return from a signal handler.
 */
DTP_INLINE struct dtp_call *
return_call(struct dtp_firing *firing, struct bpf_raw_tracepoint_args *ctx,
    __u64 *begun_ns)
{
	struct dtp_call *call = call_of(firing->fg_task, 0);
	__u64 begun = call_take(call);
	__u32 number = dtp_call_number((void *)(long)ctx->args[0]);

	*begun_ns = begun;
	if (call == NULL || begun == 0)
		return (return_unbegun(firing, ctx));
	if (number != (__u32)call->ca_number && number != (__u32)-1) {
		dtp_count(&firing->fg_counts->cn_call_unseen);
		*begun_ns = 0;
		return (return_unbegun(firing, ctx));
	}
	dtp_count(&firing->fg_counts->cn_call_returned);
	return (call);
}

DTP_INLINE void
return_args(struct dtp_args *args, const struct dtp_call *call, __u64 result)
{
	args->ag_value[0] = call->ca_number;
	args->ag_value[1] = result;
	for (__u32 i = 0; i < DTP_CALL_ARGS; i++) {
		args->ag_value[i + 2] = call->ca_arg[i];
		if (i + 2 < cfg.dc_nargs &&
		    cfg.dc_arg[i + 2].ar_kind == DTP_A_INT)
			args->ag_value[i + 2] = dtp_cut(&cfg.dc_arg[i + 2],
			    call->ca_arg[i]);
	}
}

DTP_INLINE int
call_return(struct bpf_raw_tracepoint_args *ctx)
{
	const __u64 now_ns = bpf_ktime_get_ns();
	struct dtp_args args;
	struct dtp_firing firing = {
		.fg_ctx = ctx,
		.fg_args = &args,
		.fg_weight = 1,
	};
	struct dtp_call *call;
	__u64 begun_ns;

	if (!dtp_begin(&firing, 1U << DTP_RECORDING))
		return (return_outside(&firing));
	if (!dtp_wanted_task(&firing))
		return (0);
	call = return_call(&firing, ctx, &begun_ns);
	if (call == NULL || !dtp_wanted_here(&firing))
		return (0);
	/* 0 means not known: less than the clock can tell is 1 ns. */
	firing.fg_weight = begun_ns == 0 ? 0 :
	    now_ns > begun_ns ? now_ns - begun_ns : 1;
	return_args(&args, call, ctx->args[1]);
	args.ag_duration_ns = firing.fg_weight;
	firing.fg_call = call;
	if (cfg.dc_parts & DTP_P_TEXTS)
		texts_again(call, &firing, ctx->args[1]);
	if (!dtp_passes(&firing))
		return (0);
	return (dtp_store(&firing));
}

/* ----------------------------------------------------- exit and stop */

DTP_INLINE int
call_end(const struct task_struct *task, int is_exit)
{
	struct dtp_call *call = call_of(task, 0);
	struct dtp_control *session;
	struct dtp_call_ends *ends;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	if (call_take(call) == 0 || session == NULL ||
	    (ends = ends_of(call)) == NULL)
		return (0);
	if (is_exit && DTP_LOAD(&session->co_state) != DTP_STOPPED)
		DTP_ADD(&ends->ce_ended, 1);
	else
		DTP_ADD(&ends->ce_running, 1);
	return (0);
}

SEC("tp_btf/sys_enter")
int
on_call_entry(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_turn(DTP_TURN_ENTRY) ? call_entry(ctx) : 0);
}

SEC("tp_btf/sys_exit")
int
on_call_return(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_turn(DTP_TURN_RETURN) ? call_return(ctx) : 0);
}

SEC("tp_btf/sched_process_exit")
int
on_call_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return (dtp_turn(DTP_TURN_EXIT) ? call_end(dtp_current(), 1) : 0);
}

SEC("iter/task")
int
each_call(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	return (task == NULL ? 0 : call_end(task, 0));
}
