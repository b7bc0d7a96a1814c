/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Timers: cpu-clock events, on all CPUs (profile) or one (interval).  As
 * counter overflow, and besides counts the periods that a late timer left
 * out: the clock fires once for all of them.
 */
#include "sample.bpf.h"

/* When it began to record, or went on after the last pause. */
DTP_INLINE __u64
dtp_begun_ns(void)
{
	struct dtp_control *session;
	__u32 zero = 0;

	session = bpf_map_lookup_elem(&control, &zero);
	return (session == NULL ? 0 : DTP_LOAD(&session->co_begun_ns));
}

/*
 * A timer on a task stands still while others run.  Is it the same turn of the
 * same task as last time?  Then it has run on since.  If not, it was due
 * within a period: what is more may be late, which the bound takes in.
 */
DTP_INLINE int
dtp_ran_on(struct dtp_firing *firing, __u64 stands_for)
{
	struct dtp_counts *counted = firing->fg_counts;
	__u64 task = bpf_get_current_task(), turn = dtp_task_turn(task);
	__u64 in_ns = DTP_LOAD(&firing->fg_stream->ss_in_ns);
	__u64 begun_ns = dtp_begun_ns(), now_ns = bpf_ktime_get_ns(), times;
	int ran_on;

	ran_on = turn != 0 && counted->cn_turn == turn &&
	    counted->cn_turn_task == task && counted->cn_begun_ns == begun_ns;
	if (ran_on)
		return (1);
	counted->cn_turn = turn;
	counted->cn_turn_task = task;
	counted->cn_begun_ns = begun_ns;
	counted->cn_stands_for = stands_for;
	counted->cn_last_ns = now_ns;
	if (in_ns < begun_ns || now_ns - in_ns < firing->fg_weight)
		return (0);
	times = (now_ns - in_ns) / firing->fg_weight;
	DTP_ADD(&counted->cn_unsure, times * stands_for);
	return (0);
}

/*
 * cn_last_ns is when the last firing was due, as far as can be told, by a
 * clock that stands still in pauses, as the timer does.  Whole periods are
 * added to it, so that a firing's own delay does not build up, and one that
 * comes early shows that the estimate was late.  Only this program writes it,
 * and it does not nest with itself on a CPU; that of a timer that joins later
 * begins with when it did (backend/bpf/sampling.c).  Where the rate was lowered
 * a sample's weight is several periods (session/rates.c).  A timer that fires
 * late is next due at a multiple of its own period, so overruns are whole
 * multiples of that.  At the first firing after a change of the rate, overruns
 * leave out the period that the timer before had begun.
 */
DTP_INLINE void
dtp_count_late(struct dtp_firing *firing)
{
	__u64 now_ns = bpf_ktime_get_ns() - firing->fg_start_ns;
	struct dtp_counts *counted = firing->fg_counts;
	__u64 periods, stands_for = 1, due_ns = counted->cn_last_ns;
	__u64 was = counted->cn_stands_for, in_time, elapsed_ns;

	if (cfg.dc_period_ns == 0)
		return;
	if (firing->fg_weight != cfg.dc_period_ns)
		stands_for = firing->fg_weight / cfg.dc_period_ns;
	if (!cfg.dc_ticks && firing->fg_start_ns == 0 &&
	    !dtp_ran_on(firing, stands_for))
		return;
	/* It may have fired on while a pause, which had begun, came to it. */
	elapsed_ns = now_ns < due_ns ? 0 : now_ns - due_ns;
	counted->cn_stands_for = stands_for;
	counted->cn_last_ns = now_ns;
	if (was != 0 && was != stands_for) {
		in_time = stands_for + was;
		periods = elapsed_ns / cfg.dc_period_ns;
	} else {
		in_time = stands_for;
		periods = elapsed_ns / firing->fg_weight * stands_for;
		if (periods != 0)
			counted->cn_last_ns = due_ns + periods *
			    cfg.dc_period_ns;
	}
	if (periods > in_time)
		DTP_ADD(&counted->cn_overruns, periods - in_time);
}

DTP_INLINE int
dtp_timer(struct bpf_perf_event_data *ctx)
{
	struct dtp_firing firing = {
		.fg_ctx = ctx,
		.fg_weight = ctx->sample_period,
		.fg_ip = DTP_REGS_IP(ctx),
		.fg_kernel = DTP_REGS_KERNEL(ctx),
	};

	if (!dtp_begin(&firing, 1U << DTP_RECORDING))
		return (0);
	dtp_count_late(&firing);
	if (!dtp_wanted(&firing) || !dtp_passes(&firing))
		return (0);
	return (dtp_store(&firing));
}

SEC("perf_event")
int
on_timer(struct bpf_perf_event_data *ctx)
{
	return (dtp_timer(ctx));
}
