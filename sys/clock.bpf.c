/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * At each switch of a CPU: who leaves has run up to now, who comes has not.
 * Loaded where spans are recorded, see clock.bpf.h; attached before the first
 * of them can begin.
 */
#include "clock.bpf.h"

#ifndef DTP_FORGETS_switch
#define DTP_FORGETS_switch	0
#endif

char dtp_license[] SEC("license") = "Dual BSD/GPL";

DTP_INLINE void
clock_leave(__u64 task, __u64 now_ns)
{
	struct dtp_clock *clock = bpf_map_lookup_elem(&clocks, &task);
	__u64 turn;

	if (clock == NULL)
		return;
	turn = dtp_task_turn(task);
	if (clock->ck_in_ns != 0 && clock->ck_turn == turn)
		clock->ck_running_ns += now_ns - clock->ck_in_ns;
	clock->ck_in_ns = 0;
	clock->ck_turn = turn;
	clock->ck_out_ns = now_ns;
}

DTP_INLINE void
clock_come(__u64 task, __u64 now_ns)
{
	struct dtp_clock *clock = bpf_map_lookup_elem(&clocks, &task);
	__u64 turn;

	if (clock == NULL)
		return;
	turn = dtp_task_turn(task);
	if (clock->ck_out_ns != 0 && clock->ck_turn == turn)
		clock->ck_off_ns += now_ns - clock->ck_out_ns;
	clock->ck_out_ns = 0;
	clock->ck_turn = dtp_task_next_turn(task);
	clock->ck_in_ns = now_ns;
}

SEC("raw_tp/sched_switch")
int
on_clock_switch(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now_ns = bpf_ktime_get_ns();

	if (DTP_FORGETS_switch)
		return (0);
	clock_leave(ctx->args[1], now_ns);
	clock_come(ctx->args[2], now_ns);
	return (0);
}
