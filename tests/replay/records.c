/* SPDX-License-Identifier: ISC */
/*
 * Looks at what the programs of sys/ write, byte for byte: parts and their
 * order, arguments, stacks and what is said of them, lives and the map of
 * targets, late timers, wakeups.  Every record is also written a second
 * time onto other old bytes, to show that none of these remains.
 */
#include "programs.h"

/* Run it on a ring of ones, then on one of twos: the records are the same. */
static void
same_on_any_ring(const char *name, void (*prepare)(void), void (*fire)(void))
{
	static __u8 first[2 * DTP_MAX_RECORD];
	size_t bytes = 0;

	for (int old = 1; old <= 2; old++) {
		begin(name);
		prepare();
		memset(machine.ma_rings, old, RING + DTP_MAX_RECORD);
		fire();
		bytes = machine.ma_streams[0].ss_head;
		CHECK(bytes > 0 && bytes < sizeof(first));
		if (old == 1)
			memcpy(first, machine_ring(0), bytes);
	}
	CHECK(memcmp(first, machine_ring(0), bytes) == 0);
}

static void
counter_prepare(void)
{
	cfg.dc_parts = DTP_P_WEIGHT | DTP_P_IP | DTP_P_COMM;
}

static void
counter_fire(void)
{
	fire_counter(true);
	fire_counter(false);
}

static void
counter_parts(void)
{
	const struct dtp_rec *record;
	const __u64 *part;

	same_on_any_ring(__func__, counter_prepare, counter_fire);
	record = record_at(0, 0);
	CHECK_IS(record->dr_size, 64);
	CHECK_IS(record->dr_type, DTP_T_SAMPLE);
	CHECK_IS(record->dr_event, 1);
	CHECK_IS(record->dr_cpu, 0);
	CHECK_IS(record->dr_flags, DTP_R_KERNEL);
	CHECK_IS(record->dr_time_ns, 2);
	CHECK_IS(record->dr_pid, 100);
	CHECK_IS(record->dr_tid, 101);
	part = (const __u64 *)(record + 1);
	CHECK_IS(part[0], 1000);
	CHECK_IS(part[1], 0x401000);
	CHECK(strcmp((const char *)(part + 2), "worker") == 0);
	CHECK_IS(record_at(0, 1)->dr_flags, 0);
}

/* What a tracepoint points to. */
struct inner {
	__u32	in_skipped;
	__s16	in_number;
	__u16	in_bits;
	char	in_name[16];
	char	*in_text;
};

static struct outer {
	__u64		ou_skipped;
	struct inner	*ou_inner;
} outer;
static struct inner inner = { .in_number = -5, .in_bits = 0x1f40,
	.in_name = "an array" };
static char text[100];

static void
set_arg(int i, struct dtp_arg arg)
{
	memcpy((void *)&cfg.dc_arg[i], &arg, sizeof(arg));
	cfg.dc_nargs = i + 1;
	cfg.dc_parts = DTP_P_ARGS;
}

#define INNER		offsetof(struct outer, ou_inner)
#define IN(member)	offsetof(struct inner, member)

static void
arguments_prepare(void)
{
	outer.ou_inner = &inner;
	inner.in_text = text;
	memset(text, 'x', sizeof(text) - 1);
	set_arg(0, (struct dtp_arg){ .ar_index = 1, .ar_size = 4,
	    .ar_signed = 1 });
	set_arg(1, (struct dtp_arg){ .ar_nderef = 2, .ar_size = 2,
	    .ar_signed = 1, .ar_off = { INNER, IN(in_number) } });
	set_arg(2, (struct dtp_arg){ .ar_nderef = 2, .ar_size = 2,
	    .ar_bit_off = 6, .ar_bit_size = 6,
	    .ar_off = { INNER, IN(in_bits) } });
	set_arg(3, (struct dtp_arg){ .ar_nderef = 2, .ar_size = 2,
	    .ar_bit_off = 6, .ar_bit_size = 7, .ar_signed = 1,
	    .ar_off = { INNER, IN(in_bits) } });
	set_arg(4, (struct dtp_arg){ .ar_kind = DTP_A_CHARS, .ar_nderef = 2,
	    .ar_off = { INNER, IN(in_name) } });
	set_arg(5, (struct dtp_arg){ .ar_kind = DTP_A_STR, .ar_nderef = 2,
	    .ar_off = { INNER, IN(in_text) } });
	set_arg(6, (struct dtp_arg){ .ar_kind = DTP_A_USTR, .ar_index = 2 });
	set_arg(7, (struct dtp_arg){ .ar_index = 11, .ar_nderef = 1,
	    .ar_size = 8 });
}

static void
arguments_fire(void)
{
	union words words = { .word = { (unsigned long)&outer, 0xfffffffe,
	    (unsigned long)"user" } };

	on_tracepoint(&words);
}

static void
arguments_of_a_tracepoint(void)
{
	const struct dtp_rec *record;
	const __u64 *slot;

	same_on_any_ring(__func__, arguments_prepare, arguments_fire);
	record = record_at(0, 0);
	slot = (const __u64 *)(record + 1);
	CHECK_IS(record->dr_size, 32 + 5 * 8 + 3 * DTP_STR_LEN);
	CHECK_IS(slot[0], -2);
	CHECK_IS(slot[1], -5);
	CHECK_IS(slot[2], 0x3d);
	CHECK_IS(slot[3], -3);
	CHECK(strcmp((const char *)(slot + 4), "an array") == 0);
	CHECK(strspn((const char *)(slot + 12), "x") == DTP_STR_LEN - 1);
	CHECK(strcmp((const char *)(slot + 20), "user") == 0);
	CHECK_IS(slot[28], 0);
	CHECK_IS(machine_counts(0)->cn_arg_fault, 1);
	CHECK_IS(machine_identity(0), 0);
}

static void
text_that_cannot_be_read(void)
{
	union words words = { .word = { 0 } };
	const char *slot;

	begin(__func__);
	memset(machine.ma_rings, 0xff, RING);
	set_arg(0, (struct dtp_arg){ .ar_kind = DTP_A_STR });
	on_tracepoint(&words);
	slot = (const char *)(record_at(0, 0) + 1);
	for (int i = 0; i < DTP_STR_LEN; i++)
		CHECK_IS(slot[i], 0);
	CHECK_IS(machine_counts(0)->cn_arg_fault, 1);
	CHECK_IS(machine_counts(0)->cn_stored, 1);
}

#ifdef __x86_64__
static struct pt_regs___x86 call = { .di = 1, .si = 2, .dx = 3, .r10 = 4,
	.r8 = 5, .r9 = 6, .orig_ax = 39, .ip = 0x7000 };

static void
call_prepare(void)
{
	cfg.dc_parts = DTP_P_ARGS | DTP_P_IP;
	cfg.dc_nargs = 7;
	cfg.dc_sysmask[0] = 1ULL << 39;
}

static void
entry_fire(void)
{
	union words words = { .word = { (unsigned long)&call, 39 } };

	on_sys_enter(&words.ctx);
}

static void
arguments_of_a_call(void)
{
	const __u64 *part;

	same_on_any_ring(__func__, call_prepare, entry_fire);
	part = (const __u64 *)(record_at(0, 0) + 1);
	CHECK_IS(record_at(0, 0)->dr_flags, 0);
	CHECK_IS(part[0], 0x7000);
	CHECK_IS(part[1], 39);
	for (int i = 1; i <= 6; i++)
		CHECK_IS(part[i + 1], i);
}
#else
static void
arguments_of_a_call(void)
{
}
#endif

static void
stacks_prepare(void)
{
	cfg.dc_parts = DTP_P_KSTACK | DTP_P_USTACK;
	me.mt_stack[0] = 2;
	me.mt_stack[1] = DTP_MAX_UFRAMES;
	for (int i = 0; i < DTP_MAX_UFRAMES; i++) {
		me.mt_frames[0][i] = 0x1000 + i;
		me.mt_frames[1][i] = 0x2000 + i;
	}
}

static void
stacks_and_how_they_ended(void)
{
	const struct dtp_stack *stack;
	const __u64 *frame;

	same_on_any_ring(__func__, stacks_prepare, fire_tracepoint);
	stack = (const struct dtp_stack *)(record_at(0, 0) + 1);
	frame = (const __u64 *)(stack + 1);
	CHECK_IS(record_at(0, 0)->dr_size, 40 + 8 * (2 + DTP_MAX_UFRAMES));
	CHECK_IS(stack->ds_nkernel, 2);
	CHECK_IS(stack->ds_nuser, DTP_MAX_UFRAMES);
	CHECK_IS(stack->ds_kstatus, DTP_S_OK);
	CHECK_IS(stack->ds_ustatus, DTP_S_DEEP);
	CHECK_IS(frame[1], 0x1001);
	CHECK_IS(frame[2], 0x2000);
	CHECK_IS(frame[1 + DTP_MAX_UFRAMES], 0x2000 + DTP_MAX_UFRAMES - 1);
	CHECK_IS(machine.ma_streams[0].ss_scratch, 0);
	me.mt_stack[0] = 0;
	me.mt_stack[1] = -EFAULT;
	fire_tracepoint();
	stack = (const struct dtp_stack *)(record_at(0, 1) + 1);
	CHECK_IS(stack->ds_nkernel + stack->ds_nuser, 0);
	CHECK_IS(stack->ds_kstatus, DTP_S_NONE);
	CHECK_IS(stack->ds_ustatus, DTP_S_FAULT);
	cfg.dc_parts = DTP_P_USTACK;
	me.mt_stack[0] = me.mt_stack[1] = 1;
	fire_tracepoint();
	stack = (const struct dtp_stack *)(record_at(0, 2) + 1);
	CHECK_IS(stack->ds_nkernel, 0);
	CHECK_IS(stack->ds_nuser, 1);
	CHECK_IS(machine_counts(0)->cn_ustack[DTP_S_OK], 1);
	CHECK_IS(machine_counts(0)->cn_kstack[DTP_S_NONE], 1);
}

static struct signal_struct group = { .live = { 1 } };
static struct task_struct parent = { .tgid = 100, .pid = 101,
	.comm = "worker", .signal = &group };
static struct task_struct child = { .tgid = 200, .pid = 200,
	.comm = "child", .signal = &group, .exit_code = 0x100 };
static struct linux_binprm binary = { .filename = "/bin/child" };

static void
process_events_prepare(void)
{
	cfg.dc_event = 0;
	cfg.dc_target_mode = DTP_TARGET_PID;
	cfg.dc_inherit = 1;
	machine.ma_control.co_state = DTP_ARMED;
	group.live.counter = 1;
	set_target(100, DTP_TG_WAIT);
}

/* The current task is this one. */
static void
run(const struct task_struct *task)
{
	me.mt_task = *task;
}

static void
process_events_fire(void)
{
	union words fork = { .word = { (unsigned long)&parent,
	    (unsigned long)&child } };
	union words task = { .word = { (unsigned long)&child, 200,
	    (unsigned long)&binary } };
	union words name = { .word = { (unsigned long)&child,
	    (unsigned long)"renamed" } };
	struct task_struct other = { .tgid = 300, .pid = 300 };
	union words stranger = { .word = { (unsigned long)&other,
	    (unsigned long)&child } };

	run(&parent);
	on_fork(&fork.ctx);
	CHECK_IS(get_target(200), DTP_TG_WAIT);
	run(&child);
	on_exec(&task.ctx);
	CHECK_IS(get_target(200), DTP_TG_ACTIVE);
	CHECK_IS(get_target(100), DTP_TG_WAIT);
	on_rename(&name.ctx);
	on_task_exit(&task.ctx);
	CHECK_IS(get_target(200), DTP_TG_ACTIVE);
	group.live.counter = 0;
	on_task_exit(&task.ctx);
	/* What it does on its way out is still its own. */
	CHECK_IS(get_target(200), DTP_TG_ACTIVE | DTP_TG_ENDED);
	/* Its number is given away again, by one that is no target. */
	run(&other);
	on_fork(&stranger.ctx);
	CHECK_IS(get_target(200), 0);
	run(&child);
	on_task_exit(&task.ctx);
	on_rename(&name.ctx);
	on_exec(&task.ctx);
	CHECK_IS(machine_counts(0)->cn_filtered, 4);
	CHECK_IS(machine_counts(0)->cn_stored, 5);
	CHECK_IS(machine_identity(0), 0);
}

static void
events_of_targets(void)
{
	const struct dtp_fork *fork;
	const struct dtp_exec *exec;
	const struct dtp_exit *exit;

	same_on_any_ring(__func__, process_events_prepare, process_events_fire);
	CHECK_IS(record_at(0, 0)->dr_type, DTP_T_FORK);
	CHECK_IS(record_at(0, 0)->dr_pid, 200);
	fork = (struct dtp_fork *)(record_at(0, 0) + 1);
	CHECK_IS(fork->df_ppid, 100);
	CHECK_IS(fork->df_ptid, 101);
	CHECK(strcmp(fork->df_comm, "child") == 0);
	CHECK_IS(record_at(0, 1)->dr_type, DTP_T_EXEC);
	exec = (struct dtp_exec *)(record_at(0, 1) + 1);
	CHECK_IS(exec->de_old_tid, 200);
	CHECK_IS(exec->de_path_len, 10);
	CHECK(strcmp(exec->de_path, "/bin/child") == 0);
	CHECK_IS(record_at(0, 2)->dr_type, DTP_T_COMM);
	CHECK(strcmp((char *)(record_at(0, 2) + 1), "renamed") == 0);
	exit = (struct dtp_exit *)(record_at(0, 3) + 1);
	CHECK_IS(exit->dx_code, 0x100);
	CHECK_IS(exit->dx_group_dead, 0);
	exit = (struct dtp_exit *)(record_at(0, 4) + 1);
	CHECK_IS(exit->dx_group_dead, 1);
	CHECK(record_at(0, 5) == NULL);
}

static void
events_of_threads_and_of_nobody(void)
{
	struct task_struct thread = { .tgid = 100, .pid = 102 };
	union words fork = { .word = { (unsigned long)&parent,
	    (unsigned long)&thread } };
	union words exec = { .word = { (unsigned long)&thread, 101,
	    (unsigned long)&binary } };

	begin(__func__);
	process_events_prepare();
	run(&parent);
	cfg.dc_inherit = 0;
	on_fork(&fork.ctx);
	CHECK_IS(machine_counts(0)->cn_stored, 1);
	fork.word[1] = (unsigned long)&child;
	on_fork(&fork.ctx);
	CHECK_IS(get_target(200), 0);
	CHECK_IS(machine_counts(0)->cn_filtered, 1);
	/* A CPU without a ring stores nothing, but keeps the targets. */
	cfg.dc_inherit = 1;
	machine.ma_streams[0].ss_enabled = DTP_CPU_OFF;
	on_fork(&fork.ctx);
	CHECK_IS(get_target(200), DTP_TG_WAIT);
	CHECK_IS(machine_counts(0)->cn_filtered, 2);
	/* One that takes no samples does store lives. */
	machine.ma_streams[0].ss_enabled = DTP_CPU_PROCESSES;
	cfg.dc_target_mode = DTP_TARGET_TID;
	on_fork(&fork.ctx);
	CHECK_IS(machine_counts(0)->cn_filtered, 3);
	set_target(101, DTP_TG_WAIT);
	run(&thread);
	on_exec(&exec.ctx);
	CHECK_IS(get_target(101), 0);
	CHECK_IS(get_target(102), DTP_TG_ACTIVE);
	CHECK_IS(machine_counts(0)->cn_stored, 2);
	CHECK_IS(machine_identity(0), 0);
}

/* I-11: firings and what was late add up to the periods that went by. */
static void
late_timers(void)
{
	static const unsigned times[] = { 1000, 2000, 3900, 4010, 7100, 8005,
		9990, 10000, 15000 };
	struct bpf_perf_event_data data;

	begin(__func__);
	memset(&data, 0, sizeof(data));
	data.sample_period = cfg.dc_period_ns = 1000;
	cfg.dc_ticks = 1;
	for (unsigned i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		machine.ma_clock_ns = times[i] - 1;
		on_timer(&data);
	}
	CHECK_IS(machine_counts(0)->cn_fired, 9);
	CHECK_IS(machine_counts(0)->cn_fired +
	    machine_counts(0)->cn_overruns, 15);
	CHECK_IS(machine_identity(0), 0);
}

/* The same for a timer of which each firing stands for four periods. */
static void
late_timers_slowed(void)
{
	static const unsigned times[] = { 1000, 2000, 6000, 9990, 14010,
		18000, 27000, 31000 };
	struct bpf_perf_event_data data;

	begin(__func__);
	memset(&data, 0, sizeof(data));
	cfg.dc_period_ns = 1000;
	cfg.dc_ticks = 1;
	for (unsigned i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		data.sample_period = i < 2 ? 1000 : 4000;
		machine.ma_clock_ns = times[i] - 1;
		on_timer(&data);
	}
	CHECK_IS(machine_counts(0)->cn_fired, 8);
	/* Two of one period, six of four, and the one of four due at 22000. */
	CHECK_IS(machine_counts(0)->cn_overruns, 4);
	CHECK_IS(machine_counts(0)->cn_weight, 2 * 1000 + 6 * 4000);
	/* Once more: what the timer before had begun was nobody's delay. */
	data.sample_period = 16000;
	for (unsigned at = 34900 + 16000; at < 100000; at += 16000) {
		machine.ma_clock_ns = at - 1;
		on_timer(&data);
	}
	CHECK_IS(machine_counts(0)->cn_fired, 12);
	CHECK_IS(machine_counts(0)->cn_overruns, 4);
	/* It was due 16000 and 32000 later. */
	machine.ma_clock_ns = 98900 + 40000 - 1;
	on_timer(&data);
	CHECK_IS(machine_counts(0)->cn_overruns, 4 + 16);
	CHECK_IS(machine_identity(0), 0);
}

/* A firing while a pause came, which the clock of the timer has no time for. */
static void
late_timers_and_pauses(void)
{
	struct bpf_perf_event_data data;

	begin(__func__);
	memset(&data, 0, sizeof(data));
	data.sample_period = cfg.dc_period_ns = 1000;
	cfg.dc_ticks = 1;
	for (unsigned at = 1000; at <= 5000; at += 1000) {
		machine.ma_clock_ns = at - 1;
		on_timer(&data);
	}
	/* From 3500 to 9500, as the session says. */
	machine.ma_control.co_start_ns = 6000;
	machine.ma_clock_ns = 9999;
	on_timer(&data);
	machine.ma_clock_ns = 12999;
	on_timer(&data);
	CHECK_IS(machine_counts(0)->cn_fired, 7);
	CHECK_IS(machine_counts(0)->cn_overruns, 2);
}

/*
 * On tasks what lies between two turns is not late; on CPUs they begin when
 * they get there.
 */
static void
late_timers_of_tasks(void)
{
	struct bpf_perf_event_data data;

	begin(__func__);
	memset(&data, 0, sizeof(data));
	data.sample_period = cfg.dc_period_ns = 1000;
	machine.ma_control.co_begun_ns = 40000;
	machine.ma_clock_ns = 50000;
	on_timer(&data);
	machine.ma_clock_ns = 80000;
	on_timer(&data);
	CHECK_IS(machine_counts(0)->cn_overruns, 0);
	machine_me->mt_task.sched_info.pcount = 7;
	on_timer(&data);
	machine.ma_clock_ns = 83500;
	on_timer(&data);
	CHECK_IS(machine_counts(0)->cn_overruns, 2);
	machine.ma_control.co_begun_ns = 83500;
	machine.ma_clock_ns = 90000;
	on_timer(&data);
	machine_me->mt_task.sched_info.pcount = 8;
	machine.ma_clock_ns = 95000;
	on_timer(&data);
	CHECK_IS(machine_counts(0)->cn_overruns, 2);
	/* It came to the CPU, and was due within a period. */
	machine_me->mt_task.sched_info.pcount = 9;
	machine.ma_streams[0].ss_in_ns = 96000;
	machine.ma_clock_ns = 99500;
	on_timer(&data);
	CHECK_IS(machine_counts(0)->cn_overruns, 2);
	CHECK_IS(machine_counts(0)->cn_unsure, 3);
	machine.ma_control.co_clock_ns = 100000;
	machine.ma_clock_ns = 101500;
	on_timer(&data);
	CHECK_IS(machine_counts(0)->cn_overruns, 2);
	machine.ma_clock_ns = 105900;
	on_timer(&data);
	CHECK_IS(machine_counts(0)->cn_overruns, 5);
	CHECK_IS(machine_counts(0)->cn_fired, 9);
}

/* Of a stack as much as is asked for, wherever it begins in its page. */
static void
copies_of_stacks(void)
{
	static __u8 stack[5 * 4096] __attribute__((aligned(4096)));
	struct dtp_unwind *uw;
	const struct dtp_rec *record;
	__u32 copied, offset, n;

	for (offset = 0; offset < 4096; offset += 8) {
		begin(__func__);
		cfg.dc_parts = DTP_P_USTACK;
		cfg.dc_snap_mode = DTP_SNAP_ONLY;
		cfg.dc_snap_bytes = 6144;
		cfg.dc_snap_room = RING;
		cfg.dc_wakeup_bytes = 6144;	/* more than the sample */
		me.mt_stack[1] = 1;
		uw = &machine.ma_scratch[0].sc_unwind;
#ifdef __x86_64__
		uw->uw_user.rsp = (unsigned long)stack + offset;
#else
		uw->uw_user.sp = (unsigned long)stack + offset;
#endif
		fire_tracepoint();
		copied = 0;
		for (n = 2; (record = record_at(0, n)) != NULL; n++)
			copied += ((const struct dtp_piece *)(record +
			    1))->dp_bytes;
		CHECK_IS(copied, 6144);
		CHECK_IS(machine_counts(0)->cn_snap_cut, 0);
		CHECK_IS(machine.ma_wakeups, 1);
	}
}

static void
wakeup_at_the_mark(void)
{
	begin(__func__);
	cfg.dc_wakeup_bytes = 100;
	for (int i = 0; i < 3; i++)
		fire_tracepoint();
	CHECK_IS(machine.ma_wakeups, 0);
	fire_tracepoint();
	CHECK_IS(machine.ma_wakeups, 1);
	fire_tracepoint();
	CHECK_IS(machine.ma_wakeups, 1);
	machine.ma_streams[0].ss_tail = machine.ma_streams[0].ss_head;
	for (int i = 0; i < 4; i++)
		fire_counter(false);
	CHECK_IS(machine.ma_wakeups, 2);
}

int
main(void)
{
	counter_parts();
	arguments_of_a_tracepoint();
	text_that_cannot_be_read();
	arguments_of_a_call();
	stacks_and_how_they_ended();
	events_of_targets();
	events_of_threads_and_of_nobody();
	late_timers();
	late_timers_slowed();
	late_timers_and_pauses();
	late_timers_of_tasks();
	copies_of_stacks();
	wakeup_at_the_mark();
	return (end());
}
