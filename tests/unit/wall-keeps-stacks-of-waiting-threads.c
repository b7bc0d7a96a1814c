/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: A sample of a thread that still waits as before has the stacks of
 * the thread's last record, with its own time and weight, however long the
 * thread waits.  The records of threads that ended are freed, so that their
 * number does not take the memory from others.  A sample whose record is not
 * kept says so of each stack that should be there, and is counted.
 *
 * Easy to get wrong: a recorder that was held up is late with all records, and
 * the threads still wait; a thread of the kernel has no user stack to miss.
 */
#include <unistd.h>

#include "../../libprof/backend/bpf/drain.c"
#include "../../libprof/backend/bpf/wall.c"
#include "session.h"

#define TID		1000
#define CROWD		40000	/* records of 4 kB: twice of what is kept */

struct sample {
	struct dtp_rec	 sa_rec;
	uint64_t	 sa_weight;
	struct dtp_stack sa_stack;
	uint64_t	 sa_frame[504];
};

static struct prof_wall wall = { .wl_timer = -1 };

static const struct sample *
complete(uint32_t tid, uint64_t weight, uint32_t flags)
{
	static struct sample sample;
	const struct dtp_rec *rec;

	memset(&sample, 0, sizeof(sample));
	sample.sa_rec.dr_size = flags & DTP_R_AGAIN ?
	    offsetof(struct sample, sa_frame) : sizeof(sample);
	sample.sa_rec.dr_type = DTP_T_SAMPLE;
	sample.sa_rec.dr_flags = flags;
	sample.sa_rec.dr_time_ns = weight + 1;
	sample.sa_rec.dr_tid = tid;
	sample.sa_weight = weight;
	for (size_t n = 0; (flags & DTP_R_AGAIN) == 0 && n < 504; n++)
		sample.sa_frame[n] = tid + n;
	rec = prof_wall_complete(&wall, &sample.sa_rec);
	CHECK(rec != NULL);
	return ((const struct sample *)(const void *)rec);
}

static bool
has_stack(uint32_t tid, uint64_t weight)
{
	const struct sample *sample = complete(tid, weight, DTP_R_AGAIN);

	if (sample->sa_rec.dr_flags & DTP_R_AGAIN)
		return (false);
	CHECK(sample->sa_rec.dr_size == sizeof(*sample));
	CHECK(sample->sa_rec.dr_time_ns == weight + 1);
	CHECK(sample->sa_weight == weight);
	CHECK(sample->sa_frame[503] == tid + 503);
	return (true);
}

/* Of a sample that says how its stacks, which are missing, ended. */
static void
judge(unsigned kstatus, unsigned ustatus, unsigned kernel, unsigned user)
{
	static struct prof_drain drain;
	int64_t finished[DTP_S_NSTATUS] = { 0 };
	struct lane lane = { .la_finished = finished };
	const struct dtp_rec rec = { .dr_flags = DTP_R_AGAIN };
	struct prof_record *record = &drain.dn_stream.sm_record;

	record->pr_kstatus = kstatus;
	record->pr_ustatus = ustatus;
	judge_again(&drain, &lane, &rec);
	CHECK(record->pr_kstatus == kernel && record->pr_ustatus == user);
	for (unsigned n = 0; n < DTP_S_NSTATUS; n++)
		CHECK(finished[n] == (int)(n == user) - (int)(n == ustatus));
}

int
main(void)
{
	uint64_t now_ns = SECOND_NS;

	complete(TID, 1, 0);
	complete(TID + 1, 1, 0);
	/* The first goes on with a record each 11 s; the second ends. */
	for (uint64_t s = 1; s <= 110; s++) {
		for (int pass = 0; pass < 19; pass++)
			records_forget(&wall, now_ns + s * SECOND_NS + pass);
		if (s % 11 == 0)
			CHECK(has_stack(TID, s));
	}
	CHECK(wall.wl_bytes == sizeof(struct sample));
	CHECK(wall.wl_missing == 0);
	/* No pass for an hour. */
	records_forget(&wall, now_ns += 3600 * SECOND_NS);
	CHECK(has_stack(TID, 3600));
	printf("ok: a thread that waits has its stacks\n");
	CHECK(!has_stack(TID + 1, 1));
	CHECK(wall.wl_missing == 1);
	judge(PROF_STACK_OK, PROF_STACK_DEEP, PROF_STACK_BUSY,
	    PROF_STACK_BUSY);
	judge(PROF_STACK_OK, PROF_STACK_NONE, PROF_STACK_BUSY,
	    PROF_STACK_NONE);
	judge(PROF_STACK_NONE, PROF_STACK_OK, PROF_STACK_NONE,
	    PROF_STACK_BUSY);
	printf("ok: a record that is not kept is missing, and counted\n");
	/* Each second other threads, that end. */
	for (uint32_t n = 0; n < CROWD; n++) {
		complete(TID + 2 + n, 1, 0);
		if (n % 500 == 0)
			records_forget(&wall, now_ns += SECOND_NS);
		if (n % 5000 == 0)
			CHECK(has_stack(TID, n));
		CHECK(wall.wl_bytes <= KEPT_BYTES);
	}
	CHECK(has_stack(TID + 1 + CROWD, 7));
	CHECK(wall.wl_missing == 1);
	printf("ok: threads that ended have no memory\n");
	return (0);
}
