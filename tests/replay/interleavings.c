/* SPDX-License-Identifier: ISC */
/*
 * Runs the writers of sys/stream.bpf.h, as they are, through every order in
 * which they and a reader can reach shared memory, and looks at the stream
 * after each step.
 *
 *	interleavings lifo|preempt WRITERS STACKS POLLS [MUTANT]
 *
 * Each writer and the reader is a coroutine that gives way before each
 * access.  A schedule is run from the beginning each time, up to the last
 * choice that has an alternative left.  Where an execution comes to a state
 * that was seen before - shared memory, and all that each actor has read so
 * far, which decides what it does next - its future is known and not
 * explored again.
 *
 * lifo: a writer only goes on when all that came after it have left, as with
 * interrupts.  preempt: any may go on.
 */
#include <stdio.h>
#include <stdlib.h>

#include "coroutine.h"
#include "machine.h"
#include "sample.bpf.h"

/* Two records fit, the third must wait or is refused. */
#define RING_PLAIN	128
#define RING_STACKS	256
#define MAX_WRITERS	4
#define MAX_CHOICES	256
#define STACK_BYTES	65536
#define FRAMES		2

enum { READER = MAX_WRITERS, ACTORS };

struct actor {
	struct coroutine ac_coroutine;
	void		*ac_stack;
	bool		ac_started;
	bool		ac_done;
	__u64		ac_steps;
	struct machine_task ac_task;
};

struct choice {
	int	ch_option[ACTORS];
	int	ch_n;
	int	ch_at;
};

static struct actor actors[ACTORS];
static struct actor *running;
static int nwriters, npolls, parts;
static size_t ring;
static bool lifo;

static struct choice path[MAX_CHOICES];
static int path_n;

/* What the invariants need to know of the past. */
static __u64 last_head, newest_ns;
static unsigned records_read;
static const char *breach;

static __u64 *seen_set;
static size_t seen_n, seen_room;
static unsigned long executions, steps;

static void
broken(const char *what)
{
	if (breach == NULL)
		breach = what;
}

/* Give way before an access; the explorer decides who goes on. */
static void
give_way(void)
{
	running->ac_steps++;
	co_give_way(&running->ac_coroutine);
}

static __u32
record_bytes(void)
{
	__u32 size = sizeof(struct dtp_rec) + DTP_COMM_LEN;

	if (parts & DTP_P_KSTACK)
		size += sizeof(struct dtp_stack) + FRAMES * sizeof(__u64);
	return (size);
}

/* A record is whole when all of it is of one writer, to the last byte. */
static bool
is_whole(const __u8 *at)
{
	const struct dtp_rec *record = (const struct dtp_rec *)at;
	const struct machine_task *task;
	const struct dtp_stack *stack;

	if (record->dr_size != record_bytes() ||
	    record->dr_type != DTP_T_SAMPLE || record->dr_tid < 1 ||
	    record->dr_tid > (__u32)nwriters)
		return (false);
	task = &actors[record->dr_tid - 1].ac_task;
	at += sizeof(*record);
	if (memcmp(at, task->mt_task.comm, DTP_COMM_LEN) != 0)
		return (false);
	if ((parts & DTP_P_KSTACK) == 0)
		return (true);
	stack = (const struct dtp_stack *)(at + DTP_COMM_LEN);
	return (stack->ds_nkernel == FRAMES && memcmp(stack + 1,
	    task->mt_frames[0], FRAMES * sizeof(__u64)) == 0);
}

/* Walk whole records of a part of the stream; the time of the newest. */
static __u64
walk(__u64 from, __u64 to, const char *what, __u64 older_ns)
{
	const struct dtp_rec *record;
	__u64 newest = 0;

	while (from < to) {
		const __u8 *at = machine_ring(0) + (from & (ring - 1));

		record = (const struct dtp_rec *)at;
		if (!is_whole(at)) {
			broken(what);
			return (newest);
		}
		if (record->dr_time_ns < older_ns)
			broken("a region is older than the one before");
		if (record->dr_time_ns > newest)
			newest = record->dr_time_ns;
		from += record->dr_size;
	}
	if (from != to)
		broken(what);
	return (newest);
}

/* After each step, seen with all shared memory at once. */
static void
check_state(void)
{
	const struct dtp_stream *stream = machine.ma_streams;
	__u64 reserved = stream->ss_state >> DTP_WRITERS_BITS;
	__u64 newest;

	if (stream->ss_head < last_head)
		broken("head was lowered");
	if (stream->ss_tail > stream->ss_head || stream->ss_head > reserved)
		broken("not tail <= head <= reserved");
	if (breach != NULL)
		return;
	walk(stream->ss_tail, stream->ss_head, "not whole below head", 0);
	if ((stream->ss_state & DTP_WRITERS_MASK) == 0)
		walk(stream->ss_tail, reserved,
		    "not whole below reserved, with no writer", 0);
	if (stream->ss_head > last_head && breach == NULL) {
		newest = walk(last_head, stream->ss_head, "region not whole",
		    newest_ns);
		if (newest > newest_ns)
			newest_ns = newest;
		last_head = stream->ss_head;
	}
}

static void
check_end(void)
{
	const struct dtp_stream *stream = machine.ma_streams;
	const struct dtp_counts *count = machine_counts(0);

	if ((stream->ss_state & DTP_WRITERS_MASK) != 0)
		broken("all have left, but a writer is counted");
	if (stream->ss_head != stream->ss_state >> DTP_WRITERS_BITS)
		broken("at the end head is not reserved");
	if (count->cn_stored + count->cn_full + count->cn_nested +
	    count->cn_error != (__u64)nwriters)
		broken("a writer is not counted exactly once");
	if (stream->ss_scratch != 0)
		broken("a scratch slot is still in use");
	if (records_read + (stream->ss_head - stream->ss_tail) /
	    record_bytes() != count->cn_stored)
		broken("read and left over are not stored");
}

static void
write_one(int which)
{
	struct dtp_firing firing = {
		.fg_ctx = &firing,
		.fg_stream = machine.ma_streams,
		.fg_counts = machine_counts(0),
		.fg_tid = which + 1,
	};

	dtp_store(&firing);
}

/* As the drain does it: load head, read, give back. */
static void
read_some(void)
{
	struct dtp_stream *stream = machine.ma_streams;
	__u64 head, tail = 0;

	for (int i = 0; i < npolls; i++) {
		head = DTP_LOAD(&stream->ss_head);
		give_way();
		walk(tail, head, "not whole when it is given back", 0);
		records_read += (head - tail) / record_bytes();
		tail = head;
		__atomic_store_n(&stream->ss_tail, tail, __ATOMIC_RELEASE);
	}
}

static void
act(int which)
{
	if (which == READER)
		read_some();
	else
		write_one(which);
	actors[which].ac_done = true;
	co_give_way(&actors[which].ac_coroutine);
}

static void
resume(int which)
{
	running = &actors[which];
	machine_me = &running->ac_task;
	co_resume(&running->ac_coroutine);
}

/* One access by one actor; who has not begun first comes to its first. */
static void
step(int which)
{
	struct actor *actor = &actors[which];

	if (!actor->ac_started) {
		actor->ac_started = true;
		co_begin(&actor->ac_coroutine, actor->ac_stack, STACK_BYTES,
		    act, which);
		resume(which);
	}
	steps++;
	resume(which);
}

static void
reset(void)
{
	memset(machine.ma_streams, 0, sizeof(*machine.ma_streams));
	memset(machine.ma_counts, 0,
	    MACHINE_EVENTS * sizeof(*machine.ma_counts));
	memset(machine.ma_rings, 0, ring + DTP_MAX_RECORD);
	for (int i = 0; i < nwriters; i++)
		memset(&machine.ma_scratch[i], 0, FRAMES * sizeof(__u64));
	machine.ma_streams->ss_enabled = DTP_CPU_SAMPLES;
	machine.ma_clock_ns = 1;
	last_head = newest_ns = records_read = 0;
	for (int i = 0; i < ACTORS; i++) {
		struct machine_task *task = &actors[i].ac_task;

		actors[i].ac_started = false;
		actors[i].ac_done = i < READER ? i >= nwriters : npolls == 0;
		actors[i].ac_steps = task->mt_seen = 0;
		task->mt_stack[0] = FRAMES;
		task->mt_frames[0][0] = 0x1111 * (i + 1);
		task->mt_frames[0][1] = 0x2222 * (i + 1);
		memset(task->mt_task.comm, 'A' + i, DTP_COMM_LEN);
	}
}

/* Who may go on.  Writers are alike, so they begin in one order. */
static int
options(int *option)
{
	int n = 0, top = -1;

	for (int i = 0; i < nwriters; i++)
		if (actors[i].ac_started && !actors[i].ac_done)
			top = i;
	for (int i = 0; i < nwriters; i++) {
		if (actors[i].ac_done)
			continue;
		if (!actors[i].ac_started) {
			option[n++] = i;
			break;
		}
		if (!lifo || i == top)
			option[n++] = i;
	}
	if (!actors[READER].ac_done)
		option[n++] = READER;
	return (n);
}

static __u64
mix(__u64 hash, const void *data, size_t bytes)
{
	const __u8 *p = data;
	__u64 word;

	for (size_t i = 0; i < bytes; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
		hash ^= hash >> 32;
	}
	return (hash);
}

static __u64
state_key(void)
{
	__u64 hash = 1, past[4] = { newest_ns, last_head, records_read,
	    machine.ma_clock_ns };

	hash = mix(hash, machine.ma_streams, sizeof(*machine.ma_streams));
	hash = mix(hash, machine_counts(0), sizeof(*machine.ma_counts));
	hash = mix(hash, machine.ma_rings, ring + 2 * record_bytes());
	for (int i = 0; (parts & DTP_P_KSTACK) && i < nwriters; i++)
		hash = mix(hash, &machine.ma_scratch[i],
		    FRAMES * sizeof(__u64));
	hash = mix(hash, past, sizeof(past));
	for (int i = 0; i < ACTORS; i++) {
		past[0] = actors[i].ac_task.mt_seen;
		past[1] = actors[i].ac_steps << 1 | actors[i].ac_done;
		hash = mix(hash, past, 2 * sizeof(past[0]));
	}
	return (hash | 1);
}

static void
seen_grow(void)
{
	__u64 *old = seen_set;
	size_t old_room = seen_room;

	seen_room = old_room ? old_room * 2 : 1 << 16;
	seen_set = calloc(seen_room, sizeof(*seen_set));
	if (seen_set == NULL) {
		perror("calloc");
		exit(2);
	}
	for (size_t i = 0; i < old_room; i++) {
		size_t at = old[i] % seen_room;

		if (old[i] == 0)
			continue;
		while (seen_set[at] != 0)
			at = (at + 1) % seen_room;
		seen_set[at] = old[i];
	}
	free(old);
}

/* False when it was there before. */
static bool
seen_add(__u64 key)
{
	size_t at;

	if (seen_n * 2 >= seen_room)
		seen_grow();
	for (at = key % seen_room; seen_set[at] != 0;
	    at = (at + 1) % seen_room)
		if (seen_set[at] == key)
			return (false);
	seen_set[at] = key;
	seen_n++;
	return (true);
}

/*
 * One execution: the path as far as it goes, then what comes first, up to the
 * end or to where the future is known.
 */
static void
execute(void)
{
	int at = 0, option[ACTORS], n, pick;

	reset();
	executions++;
	while ((n = options(option)) > 0) {
		pick = 0;
		if (n > 1 && at < path_n) {
			pick = path[at].ch_at;
			at++;
		} else if (n > 1) {
			if (!seen_add(state_key()))
				return;
			memcpy(path[at].ch_option, option, sizeof(option));
			path[at].ch_n = n;
			path[at].ch_at = 0;
			path_n = ++at;
		}
		step(option[pick]);
		check_state();
	}
	check_end();
}

/* On to the next alternative; false when there is none left. */
static bool
backtrack(void)
{
	while (path_n > 0) {
		if (++path[path_n - 1].ch_at < path[path_n - 1].ch_n)
			return (true);
		path_n--;
	}
	return (false);
}

static void
setup(char *argv[])
{
	lifo = strcmp(argv[1], "lifo") == 0;
	nwriters = atoi(argv[2]);
	parts = DTP_P_COMM | (atoi(argv[3]) ? DTP_P_KSTACK : 0);
	npolls = atoi(argv[4]);
	ring = parts & DTP_P_KSTACK ? RING_STACKS : RING_PLAIN;
	machine_init(1, ring);
	machine.ma_mutant = argv[5] ? atoi(argv[5]) : MUTANT_NONE;
	machine.ma_yield = give_way;
	cfg.dc_parts = parts;
	for (int i = 0; i < ACTORS; i++)
		if ((actors[i].ac_stack = malloc(STACK_BYTES)) == NULL)
			exit(2);
}

int
main(int argc, char *argv[])
{
	if (argc < 5 || atoi(argv[2]) > MAX_WRITERS)
		return (2);
	setup(argv);
	do
		execute();
	while (breach == NULL && backtrack());
	printf("%s, %d writers%s, %d polls: %zu states, %lu executions, "
	    "%lu steps: %s\n", argv[1], nwriters,
	    (parts & DTP_P_KSTACK) ? " with stacks" : "", npolls, seen_n,
	    executions, steps, breach ? breach : "all hold");
	for (int i = 0; i < ACTORS; i++)
		free(actors[i].ac_stack);
	free(seen_set);
	machine_fini();
	return (breach != NULL);
}
