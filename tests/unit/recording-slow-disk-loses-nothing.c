/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: while the disk stands still samples are taken on, at least
 * 48 MiB of them; then adding waits instead of taking more and more memory,
 * and not one sample is lost.
 *
 * Easy to get wrong: the bound counts what is queued and forgets what is
 * being written, or a batch that was waited for is never signalled.
 *
 * The disk is this program's own pwrite(2): it stands still until it is told
 * to go on, and then is slow.  An alarm ends what waits for ever.
 */
#include <sys/resource.h>

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "recording-lib.h"
#include "recording/format.h"

#define ARGS		8
#define SAMPLE_BYTES	70		/* at least, before compression */
#define HELD		((48u << 20) / SAMPLE_BYTES)
#define TOTAL		((400u << 20) / SAMPLE_BYTES)
#define MEMORY		(320u << 20)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool standing;
static uint64_t arrived;

/* In the place of libc's; nothing is stored. */
ssize_t
pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	struct timespec pause = { 0, 200000 };
	struct prof_chunk chunk;
	struct prof_cur head;

	(void)fd;
	(void)at;
	pthread_mutex_lock(&mutex);
	while (standing)
		pthread_cond_wait(&changed, &mutex);
	if (prof_chunk_parse(bytes, len, &chunk) &&
	    chunk.ck_type == PROF_C_SAMPLE) {
		CHECK(prof_chunk_whole(bytes, &chunk));
		head = prof_cur_of(chunk.ck_payload, chunk.ck_head);
		arrived += prof_cur_varint(&head);
		(void)nanosleep(&pause, NULL);	/* a slow disk */
	}
	pthread_mutex_unlock(&mutex);
	return ((ssize_t)len);
}

static void
stand(bool still)
{
	pthread_mutex_lock(&mutex);
	standing = still;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

int
main(void)
{
	struct prof_record sample = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = 1, .pr_nargs = ARGS };
	struct rlimit limit = { MEMORY, MEMORY };
	struct prof_writer *writer;
	struct prof_err error;
	uint32_t i, k;

	/* Before the runner loses its patience, which is after 300 s. */
	(void)alarm(280);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
#else
	(void)limit;
#endif
	writer = prof_writer_open(work_path("x.dtp"), &error);
	if (writer == NULL)
		CHECK_OK(-1, &error);
	made_events(writer);
	stand(true);
	for (i = 0; i < TOTAL; i++) {
		sample.pr_time_ns = i;
		for (k = 0; k < ARGS; k++)
			sample.pr_args[k] = rnd();
		CHECK_OK(prof_writer_add(writer, &sample),
		    prof_writer_error(writer));
		if (i == HELD) {
			CHECK(prof_writer_written(writer, 1) == 0);
			stand(false);
		}
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
	CHECK(arrived == TOTAL);
	printf("%u samples while it stood, %u in all\n", HELD, TOTAL);
	return (0);
}
