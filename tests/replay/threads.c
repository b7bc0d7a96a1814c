/* SPDX-License-Identifier: ISC */
/*
 * Threads that write to one stream at once, as tasks that preempt each other
 * would, and one that reads it, for the thread sanitizer to look at.
 * Everything read must be whole, in regions ordered in time, and after stop
 * what was stored was read.
 *
 *	threads WRITERS FIRINGS [MUTANT]
 */
#include <pthread.h>
#include <sched.h>

#include "programs.h"

#define FRAMES		5
#define MAX_THREADS	16

struct worker {
	pthread_t	wo_thread;
	unsigned	wo_id;
	unsigned	wo_firings;
	unsigned	wo_read;	/* of its records, by the reader */
};

static struct worker workers[MAX_THREADS];
static unsigned nworkers;
static bool writers_done;
static __u64 newest_ns;
static unsigned long regions, busy;
static _Thread_local unsigned dice = 1;

/* Now and then somebody else goes on, in the middle of things. */
static void
sometimes_give_way(void)
{
	dice = dice * 1103515245 + 12345;
	if ((dice >> 16) % 61 == 0)
		sched_yield();
}

static void *
write_many(void *arg)
{
	struct worker *worker = arg;
	struct machine_task task = {
		.mt_task = { .tgid = 100, .pid = worker->wo_id },
		.mt_stack = { FRAMES, 0 },
	};

	machine_me = &task;
	dice = worker->wo_id;
	memset(task.mt_task.comm, 'a' + worker->wo_id, DTP_COMM_LEN);
	for (int i = 0; i < FRAMES; i++)
		task.mt_frames[0][i] = worker->wo_id * 1000 + i;
	for (unsigned i = 0; i < worker->wo_firings; i++)
		fire_tracepoint();
	return (NULL);
}

static void
look_at(const struct dtp_rec *record)
{
	const char *comm = (const char *)(record + 1);
	const struct dtp_stack *stack =
	    (const struct dtp_stack *)(comm + DTP_COMM_LEN);
	const __u64 *frame = (const __u64 *)(stack + 1);

	CHECK(record->dr_tid < nworkers && record->dr_type == DTP_T_SAMPLE);
	CHECK_IS(record->dr_size, 56 + 8 * stack->ds_nkernel);
	for (int i = 0; i < DTP_COMM_LEN; i++)
		if (comm[i] != (char)('a' + record->dr_tid))
			CHECK(!"a name of two writers");
	for (int i = 0; i < stack->ds_nkernel; i++)
		CHECK_IS(frame[i], record->dr_tid * 1000 + i);
	busy += stack->ds_kstatus == DTP_S_BUSY;
	CHECK(stack->ds_nkernel ==
	    (stack->ds_kstatus == DTP_S_BUSY ? 0 : FRAMES));
	if (record->dr_tid < nworkers)
		workers[record->dr_tid].wo_read++;
}

/* One region; false when there was none. */
static bool
read_region(void)
{
	struct dtp_stream *stream = &machine.ma_streams[0];
	__u64 head = __atomic_load_n(&stream->ss_head, __ATOMIC_ACQUIRE);
	__u64 tail = stream->ss_tail, newest = newest_ns;

	if (head == tail)
		return (false);
	while (tail < head && failures == 0) {
		const struct dtp_rec *record = (const struct dtp_rec *)
		    (machine_ring(0) + (tail & (RING - 1)));

		look_at(record);
		CHECK(record->dr_time_ns >= newest_ns);
		if (record->dr_time_ns > newest)
			newest = record->dr_time_ns;
		tail += record->dr_size;
	}
	CHECK_IS(tail, head);
	newest_ns = newest;
	regions++;
	__atomic_store_n(&stream->ss_tail, tail, __ATOMIC_RELEASE);
	return (failures == 0);
}

static void *
read_all(void *arg)
{
	bool last;

	do {
		last = __atomic_load_n(&writers_done, __ATOMIC_ACQUIRE);
		while (read_region())
			;
		sched_yield();
	} while (!last);
	return (arg);
}

static void
run(unsigned firings)
{
	pthread_t reader;

	for (unsigned i = 0; i < nworkers; i++) {
		workers[i].wo_id = i;
		workers[i].wo_firings = firings;
		if (pthread_create(&workers[i].wo_thread, NULL, write_many,
		    &workers[i]) != 0)
			exit(2);
	}
	if (pthread_create(&reader, NULL, read_all, NULL) != 0)
		exit(2);
	for (unsigned i = 0; i < nworkers; i++)
		pthread_join(workers[i].wo_thread, NULL);
	__atomic_store_n(&writers_done, true, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
}

int
main(int argc, char *argv[])
{
	const struct dtp_stream *stream;
	const struct dtp_counts *count;
	unsigned long read = 0;

	if (argc < 3 || (nworkers = atoi(argv[1])) > MAX_THREADS)
		return (2);
	begin("threads");
	machine.ma_clock_ns = 0;
	machine.ma_mutant = argc > 3 ? atoi(argv[3]) : MUTANT_NONE;
	machine.ma_yield = sometimes_give_way;
	cfg.dc_parts = DTP_P_COMM | DTP_P_KSTACK;
	run(atoi(argv[2]));
	stream = &machine.ma_streams[0];
	count = machine_counts(0);
	for (unsigned i = 0; i < nworkers; i++)
		read += workers[i].wo_read;
	CHECK_IS(count->cn_fired, nworkers * atoi(argv[2]));
	CHECK_IS(machine_identity(0), 0);
	CHECK_IS(count->cn_stored, read);
	CHECK_IS(stream->ss_state >> DTP_WRITERS_BITS, stream->ss_head);
	CHECK_IS(stream->ss_state & DTP_WRITERS_MASK, 0);
	CHECK_IS(stream->ss_tail, stream->ss_head);
	CHECK_IS(stream->ss_scratch, 0);
	CHECK_IS(count->cn_kstack[DTP_S_BUSY], busy);
	CHECK(count->cn_nested_stored > 0);
	printf("fired %llu stored %llu full %llu nested %llu, of these nested "
	    "and stored %llu, busy %lu, regions %lu\n", count->cn_fired,
	    count->cn_stored, count->cn_full, count->cn_nested,
	    count->cn_nested_stored, busy, regions);
	return (end());
}
