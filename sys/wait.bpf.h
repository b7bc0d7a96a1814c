/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * What is kept of a thread while it waits: an entry in a table, and its stack
 * in a slot of a pool.
 *
 * Included by prov_wait.bpf.c.
 */
#ifndef WAIT_BPF_H
#define WAIT_BPF_H

#define WAIT_DEAD	0x80	/* TASK_DEAD: it never runs again */
#define WAIT_UNSEEN	(1ULL << 32)	/* blocked, in an unknown state */

/* Paced, a CPU walks the stacks of so many waits a second, or fewer. */
#define WALK_HZ		500
#define PACE_NS		100000000ULL	/* the step changes after so long ... */
#define PACE_WAITS	512		/* ... or so many waits */

struct wait {
	__u64	wt_begun_ns;	/* co_begun_ns when the entry was made */
	__u64	wt_from_ns;	/* elapsed time counts from here */
	__u64	wt_in_ns;	/* when it began to run; 0: not running */
	__u64	wt_out_ns;	/* when it began to wait; 0: not waiting */
	__u64	wt_woken_ns;	/* when it was woken; 0: not yet */
	__u64	wt_turn;	/* thread_turn() at the last switch */
	__u64	wt_state;	/* the kernel's task state; 0: runnable */
	__u64	wt_throttled;	/* throttle_begin(), where it is runnable */
	__u64	wt_holder;	/* object_holder() when it began to wait */
	__u32	wt_pid;
	__u32	wt_tid;
	__u32	wt_seen;	/* the switch from it was seen */
	__u32	wt_by;		/* enum waker: who woke it */
	__u32	wt_waker;	/* tid of a waker that is a thread */
	char	wt_waker_comm[DTP_COMM_LEN];
	__u64	wt_left_ns;	/* when it last left a CPU; 0: not yet */
	__u32	wt_step;	/* walked is one in 2^this; 0: all */
	__u32	wt_is_walked;
	__u32	wt_slot;	/* number of its stack slot plus 1; 0: none */
	__u32	wt_kernel;	/* as in struct dtp_walk */
	__u32	wt_user;
	__u32	wt_turned;
	__u32	wt_kstatus;
	__u32	wt_ustatus;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DTP_WAIT_THREADS);
	__type(key, __u64);
	__type(value, struct wait);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_WAIT_STACKS);
	__type(key, __u32);
	__type(value, struct dtp_scratch);
} wait_slots SEC(".maps");

/* Slots that were given back; slots from wait_fresh on were never in use. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, DTP_WAIT_STACKS);
	__uint(value_size, sizeof(__u32));
} wait_free SEC(".maps");

volatile __u64 wait_fresh;

/* How often this CPU had to decide whether to walk, since when. */
struct wait_pace {
	__u64	wp_from_ns;
	__u32	wp_waits;
	__u32	wp_step;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wait_pace);
} wait_paces SEC(".maps");

DTP_INLINE struct dtp_scratch *
slot_take(__u32 *slot)
{
	if (bpf_map_pop_elem(&wait_free, slot) != 0) {
		if (DTP_LOAD(&wait_fresh) >= DTP_WAIT_STACKS)
			return (NULL);
		*slot = DTP_FETCH_ADD(&wait_fresh, 1);
	}
	return (bpf_map_lookup_elem(&wait_slots, slot));
}

DTP_INLINE void
slot_give(struct wait *wait)
{
	__u32 slot = wait->wt_slot - 1;

	if (wait->wt_slot == 0)
		return;
	wait->wt_slot = 0;
	bpf_map_push_elem(&wait_free, &slot, 0);
}

/* The least step with which so many waits have no more walks than allowed. */
DTP_INLINE __u32
step_of(__u32 waits, __u64 allowed)
{
	__u32 step = 0;

	while (step < DTP_WALK_STEPS && waits >> step > allowed)
		step++;
	return (step);
}

/*
 * The step of a wait that begins.  It comes from the waits of this CPU before
 * this one, so it does not depend on how long this one will be.
 */
DTP_INLINE __u32
pace_step(__u64 now_ns)
{
	__u32 zero = 0;
	struct wait_pace *pace = bpf_map_lookup_elem(&wait_paces, &zero);
	__u64 ns;

	if (cfg.dc_interval != DTP_WALK_PACED || pace == NULL)
		return (cfg.dc_interval);
	ns = now_ns - pace->wp_from_ns;
	if (ns >= PACE_NS || pace->wp_waits >= PACE_WAITS) {
		pace->wp_step = step_of(pace->wp_waits,
		    ns / (1000000000 / WALK_HZ));
		pace->wp_from_ns = now_ns;
		pace->wp_waits = 0;
	}
	pace->wp_waits++;
	return (pace->wp_step);
}

/*
 * Decide whether to walk the thread that leaves.  A walk costs ten times as
 * much as the rest of a switch, so chance decides for a thread that left
 * its CPU before, less than dc_min_ns ago.  Nothing is known yet of the wait
 * that begins, so the probability does not depend on its length.
 */
DTP_INLINE void
wait_draw(struct wait *wait, __u64 now_ns, struct dtp_wait_counts *counted)
{
	__u64 left_ns = wait->wt_left_ns;
	__u32 step;

	wait->wt_left_ns = now_ns;
	wait->wt_step = 0;
	wait->wt_is_walked = (cfg.dc_parts & DTP_P_STACKS) != 0;
	if (!wait->wt_is_walked || cfg.dc_interval == 0 || left_ns == 0 ||
	    now_ns - left_ns >= cfg.dc_min_ns)
		return;
	step = pace_step(now_ns);
	wait->wt_step = step;
	if (step == 0)
		return;
	wait->wt_is_walked = bpf_get_prandom_u32() >> (32 - step) == 0;
	counted->wn_eligible++;
	counted->wn_drawn += wait->wt_is_walked;
	counted->wn_expected += 1ULL << 16 >> step;
	counted->wn_variance += (1ULL << 32 >> step) - (1ULL << 32 >> 2 * step);
}

/* The weight of a sample of a wait for which chance decided. */
DTP_INLINE void
wait_weigh(const struct wait *wait, __u64 ns, struct dtp_wait_counts *counted)
{
	if (wait->wt_step == 0)
		return;
	counted->wn_chance_ns += ns;
	if (wait->wt_is_walked)
		counted->wn_drawn_ns += ns;
}

/*
 * Walk the current thread.  Apart, so that it has a BPF stack of its own; the
 * walk of the kernel stack skips this additional frame.
 */
static DTP_APART int
wait_walk(struct wait *wait, void *ctx, struct dtp_wait_counts *counted)
{
	struct dtp_firing firing = { .fg_pid = wait->wt_pid };
	struct dtp_walk walk = { 0 };
	__u32 slot;

	wait->wt_kernel = wait->wt_user = wait->wt_turned = 0;
	wait->wt_kstatus = wait->wt_ustatus = DTP_S_NONE;
	if (!wait->wt_is_walked)
		return (0);
	walk.wk_scratch = slot_take(&slot);
	if (walk.wk_scratch == NULL) {
		if (cfg.dc_parts & DTP_P_KSTACK)
			wait->wt_kstatus = DTP_S_BUSY;
		if (cfg.dc_parts & DTP_P_USTACK)
			wait->wt_ustatus = DTP_S_BUSY;
		counted->wn_unwalked++;
		return (0);
	}
	wait->wt_slot = slot + 1;
	if (cfg.dc_parts & DTP_P_KSTACK)
		dtp_walk_kernel(&walk, ctx, DTP_RAW_TP_SKIP + 1);
	if (cfg.dc_parts & DTP_P_USTACK)
		dtp_walk_user(&walk, &firing);
	wait->wt_kernel = walk.wk_kernel;
	wait->wt_user = walk.wk_user;
	wait->wt_turned = walk.wk_turned;
	wait->wt_kstatus = walk.wk_kstatus;
	wait->wt_ustatus = walk.wk_ustatus;
	return (0);
}

#endif /* WAIT_BPF_H */
