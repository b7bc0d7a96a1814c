/* SPDX-License-Identifier: ISC */
/*
 * Provokes every way in which a program stores nothing, or less than was
 * asked for, and looks at the counters: exactly one reason each, and the
 * identity to the unit.
 */
#include "programs.h"

static void
outside_before_start_and_after_stop(void)
{
	static const __u32 states[] = { DTP_OFF, DTP_ARMED, DTP_STOPPED };

	begin(__func__);
	for (int i = 0; i < 3; i++) {
		machine.ma_control.co_state = states[i];
		fire_counter(false);
		CHECK_IS(machine_counts(0)->cn_outside, i + 1);
		CHECK_IS(machine_counts(0)->cn_outside_weight, (i + 1) * 1000);
	}
	CHECK_IS(machine_counts(0)->cn_fired, 0);
	CHECK_IS(machine_counts(0)->cn_weight, 0);
	CHECK_IS(machine.ma_streams[0].ss_state, 0);
	machine.ma_control.co_state = DTP_RECORDING;
	fire_counter(false);
	CHECK_IS(machine_counts(0)->cn_fired, 1);
	CHECK_IS(machine_counts(0)->cn_stored, 1);
	CHECK_IS(machine_counts(0)->cn_weight, 1000);
}

static void
full_refuses_the_newest(void)
{
	struct dtp_stream *stream;
	unsigned fits = RING / sizeof(struct dtp_rec);

	begin(__func__);
	stream = &machine.ma_streams[0];
	for (unsigned i = 0; i < fits + 3; i++)
		fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, fits);
	CHECK_IS(machine_counts(0)->cn_full, 3);
	CHECK_IS(machine_identity(0), 0);
	for (unsigned i = 0; i < fits; i++)
		CHECK_IS(record_at(0, i)->dr_time_ns, i + 2);
	CHECK_IS(stream->ss_head, RING);
	CHECK_IS(stream->ss_state, (__u64)RING << DTP_WRITERS_BITS);
	/* Room for one again, and for one only. */
	stream->ss_tail += sizeof(struct dtp_rec);
	fire_tracepoint();
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, fits + 1);
	CHECK_IS(machine_counts(0)->cn_full, 4);
	CHECK_IS(machine_identity(0), 0);
	/* The other CPU has a ring of its own. */
	me.mt_cpu = 1;
	fire_tracepoint();
	CHECK_IS(machine_counts(1)->cn_stored, 1);
}

static void
record_crosses_the_end_of_the_ring(void)
{
	struct dtp_stream *stream;

	begin(__func__);
	stream = &machine.ma_streams[0];
	stream->ss_state = (__u64)(RING - 8) << DTP_WRITERS_BITS;
	stream->ss_head = stream->ss_tail = RING - 8;
	cfg.dc_parts = DTP_P_COMM;
	fire_tracepoint();
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, 2);
	CHECK_IS(stream->ss_head, RING - 8 + 96);
	CHECK(strcmp((char *)(record_at(0, 0) + 1), "worker") == 0);
	CHECK(strcmp((char *)(record_at(0, 1) + 1), "worker") == 0);
}

static void
nested_after_so_many_races(void)
{
	begin(__func__);
	machine.ma_cas_to_lose = DTP_RESERVE_TRIES - 1;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, 1);
	machine.ma_streams[0].ss_state &= ~DTP_WRITERS_MASK;
	machine.ma_cas_to_lose = DTP_RESERVE_TRIES;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_nested, 1);
	CHECK_IS(machine_counts(0)->cn_stored, 1);
	CHECK_IS(machine.ma_streams[0].ss_state & DTP_WRITERS_MASK, 0);
	CHECK_IS(machine_identity(0), 0);
}

static void
nest_once(void)
{
	machine.ma_yield = NULL;
	fire_tracepoint();
}

/* I-10: the inner one is stored or counted, the outer one is unharmed. */
static void
nested_inside_of_another(void)
{
	begin(__func__);
	cfg.dc_parts = DTP_P_COMM;
	fire_tracepoint();
	machine.ma_streams[0].ss_state++;
	machine.ma_yield = nest_once;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, 3);
	CHECK_IS(machine_counts(0)->cn_nested_stored, 2);
	/* Somebody is still inside: nothing more is visible. */
	CHECK_IS(machine.ma_streams[0].ss_head, 48);
	machine.ma_streams[0].ss_state--;
	fire_tracepoint();
	CHECK_IS(machine.ma_streams[0].ss_head, 4 * 48);
	CHECK_IS(record_at(0, 0)->dr_flags & DTP_R_NESTED, 0);
	CHECK_IS(record_at(0, 1)->dr_flags & DTP_R_NESTED, DTP_R_NESTED);
	CHECK_IS(record_at(0, 3)->dr_flags & DTP_R_NESTED, 0);
	CHECK_IS(machine_identity(0), 0);
}

static void
filtered_by_cpu_and_self(void)
{
	begin(__func__);
	machine.ma_streams[0].ss_enabled = DTP_CPU_PROCESSES;
	fire_tracepoint();
	machine.ma_streams[0].ss_enabled = DTP_CPU_OFF;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_filtered, 2);
	CHECK_IS(machine_counts(0)->cn_self, 0);
	machine.ma_streams[0].ss_enabled = DTP_CPU_SAMPLES;
	machine.ma_control.co_self = 100;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_filtered, 3);
	CHECK_IS(machine_counts(0)->cn_self, 1);
	machine.ma_control.co_self = 99;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, 1);
	CHECK_IS(machine_identity(0), 0);
}

static void
filtered_by_target(void)
{
	begin(__func__);
	cfg.dc_target_mode = DTP_TARGET_PID;
	fire_tracepoint();
	set_target(100, DTP_TG_WAIT);
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_filtered, 2);
	set_target(100, DTP_TG_ACTIVE);
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, 1);
	cfg.dc_target_mode = DTP_TARGET_TID;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_filtered, 3);
	set_target(101, DTP_TG_ACTIVE);
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, 2);
	cfg.dc_target_mode = DTP_TARGET_CGROUP;
	cfg.dc_cgroup_level = 1;
	cfg.dc_cgroup_id = 7;
	me.mt_cgroup = 8;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_filtered, 4);
	me.mt_cgroup = 7;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, 3);
	CHECK_IS(machine_identity(0), 0);
}

static void
filtered_by_mode_and_expression(void)
{
	struct dtp_test test = { .ft_field = DTP_F_CPU, .ft_op = DTP_OP_EQ,
		.ft_other = DTP_F_ZERO, .ft_yes = DTP_ACCEPT,
		.ft_no = DTP_REJECT };

	begin(__func__);
	cfg.dc_skip_kernel = 1;
	fire_counter(true);
	CHECK_IS(machine_counts(0)->cn_filtered, 1);
	fire_counter(false);
	CHECK_IS(machine_counts(0)->cn_stored, 1);
	test.ft_value[0] = 1;
	memcpy((void *)&cfg.dc_filter.fi_test[0], &test, sizeof(test));
	cfg.dc_filter.fi_ntests = 1;
	cfg.dc_filter.fi_fields = 1U << DTP_F_CPU;
	fire_counter(false);
	CHECK_IS(machine_counts(0)->cn_filtered, 2);
	CHECK_IS(machine_identity(0), 0);
	me.mt_cpu = 1;
	fire_counter(false);
	CHECK_IS(machine_counts(1)->cn_stored, 1);
	CHECK_IS(machine_identity(1), 0);
}

static void
filtered_by_number_and_32_bit(void)
{
	union words words = { .word = { 0, 3 } };

	begin(__func__);
	on_sys_enter(&words.ctx);
	CHECK_IS(machine_counts(0)->cn_filtered, 1);
	cfg.dc_sysmask[0] = 1U << 3;
	on_sys_enter(&words.ctx);
	CHECK_IS(machine_counts(0)->cn_stored, 1);
	words.word[1] = DTP_MAX_SYSCALL + 3;
	on_sys_enter(&words.ctx);
	CHECK_IS(machine_counts(0)->cn_filtered, 2);
	words.word[1] = 3;
#ifdef __x86_64__
	me.mt_task.thread_info.status = 0x2;
#else
	me.mt_task.thread_info.flags = 1UL << 22;
#endif
	on_sys_enter(&words.ctx);
	CHECK_IS(machine_counts(0)->cn_filtered, 3);
	memset(&me.mt_task.thread_info, 0, sizeof(me.mt_task.thread_info));
	CHECK_IS(machine_identity(0), 0);
}

static void
errors(void)
{
	/* Not NULL, but nobody's either. */
	union words words = { .word = { 8, 8, 8 } };

	begin(__func__);
	machine.ma_streams[0].ss_ring = 17;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_error, 1);
	CHECK_IS(machine.ma_streams[0].ss_state, 0);
	machine.ma_streams[0].ss_ring = 0;
	on_fork(&words.ctx);
	on_rename(&words.ctx);
	CHECK_IS(machine_counts(0)->cn_error, 3);
	CHECK_IS(machine_counts(0)->cn_stored, 0);
	CHECK_IS(machine_identity(0), 0);
}

static void
busy_keeps_the_record(void)
{
	const struct dtp_stack *stack;
	const __u64 taken = (1U << DTP_SCRATCH_SLOTS) - 1;

	begin(__func__);
	cfg.dc_parts = DTP_P_KSTACK | DTP_P_USTACK;
	me.mt_stack[0] = me.mt_stack[1] = 3;
	machine.ma_streams[0].ss_scratch = taken;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_stored, 1);
	CHECK_IS(machine_counts(0)->cn_kstack[DTP_S_BUSY], 1);
	CHECK_IS(machine_counts(0)->cn_ustack[DTP_S_BUSY], 1);
	CHECK_IS(machine.ma_streams[0].ss_scratch, taken);
	stack = (struct dtp_stack *)(record_at(0, 0) + 1);
	CHECK_IS(record_at(0, 0)->dr_size, 40);
	CHECK_IS(stack->ds_nkernel + stack->ds_nuser, 0);
	CHECK_IS(stack->ds_kstatus, DTP_S_BUSY);
	/* The last slot is as good as any. */
	machine.ma_streams[0].ss_scratch = taken >> 1;
	fire_tracepoint();
	CHECK_IS(machine_counts(0)->cn_kstack[DTP_S_OK], 1);
	CHECK_IS(machine.ma_streams[0].ss_scratch, taken >> 1);
	CHECK_IS(machine_identity(0), 0);
}

static bool walked_outside;

/* A stack is being walked, and its writer is not in the stream. */
static void
look(void)
{
	const struct dtp_stream *stream = &machine.ma_streams[0];

	if (stream->ss_scratch != 0 && (stream->ss_state &
	    DTP_WRITERS_MASK) == 0)
		walked_outside = true;
}

/* Who may be preempted is in the stream for no longer than it takes to copy. */
static void
preempted_walks_before(void)
{
	const __u64 taken = (1U << DTP_SCRATCH_SLOTS) - 1;

	for (int may_wait = 0; may_wait < 2; may_wait++) {
		begin(__func__);
		cfg.dc_may_wait = may_wait;
		cfg.dc_parts = DTP_P_KSTACK | DTP_P_USTACK;
		me.mt_stack[0] = me.mt_stack[1] = 3;
		walked_outside = false;
		machine.ma_yield = look;
		fire_tracepoint();
		CHECK_IS(machine_counts(0)->cn_kstack[DTP_S_OK], 1);
		CHECK_IS(walked_outside, may_wait);
		CHECK_IS(machine.ma_streams[0].ss_scratch, 0);
		/* Slots of the others are none of its own. */
		machine.ma_streams[0].ss_scratch = taken;
		fire_tracepoint();
		CHECK_IS(machine_counts(0)->cn_kstack[DTP_S_OK], 1 + may_wait);
		machine.ma_streams[0].ss_scratch = taken << DTP_SCRATCH_SLOTS;
		fire_tracepoint();
		CHECK_IS(machine_counts(0)->cn_kstack[DTP_S_BUSY], 1);
		CHECK_IS(machine_counts(0)->cn_kstack[DTP_S_OK], 2);
		CHECK_IS(machine_counts(0)->cn_stored, 3);
		CHECK_IS(machine_identity(0), 0);
		machine.ma_yield = NULL;
	}
}

int
main(void)
{
	outside_before_start_and_after_stop();
	full_refuses_the_newest();
	record_crosses_the_end_of_the_ring();
	nested_after_so_many_races();
	nested_inside_of_another();
	filtered_by_cpu_and_self();
	filtered_by_target();
	filtered_by_mode_and_expression();
	filtered_by_number_and_32_bit();
	errors();
	busy_keeps_the_record();
	preempted_walks_before();
	return (end());
}
