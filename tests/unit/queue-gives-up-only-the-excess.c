/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of records that wait, those are due that have waited long enough,
 * and as many of the first as bring the rest below the limit of bytes: not one
 * more, and none if neither holds.  Copies keep what records point to.
 *
 * Easy to get wrong: the bytes of the queue change only when records are
 * dropped, so a look at them does not say how many are due.
 */
#include <string.h>

#include "check.h"
#include "recording/queue.h"

#define N	100
#define FOREVER	UINT64_MAX

int
main(void)
{
	struct prof_queue queue = { 0 };
	char path[] = "/bin/0";
	size_t bytes;

	for (unsigned n = 0; n < N; n++) {
		const struct prof_record record = { .pr_type = PROF_R_MMAP,
		    .pr_pid = n, .pr_comm = "", .pr_path = path };

		path[5] = (char)('0' + n % 10);
		CHECK(prof_queue_put(&queue, &record) == 0);
	}
	bytes = queue.qu_bytes / N;
	CHECK(bytes * N == queue.qu_bytes);
	CHECK(prof_queue_due(&queue, FOREVER, queue.qu_bytes + 1) == 0);
	CHECK(prof_queue_due(&queue, FOREVER, queue.qu_bytes) == 1);
	CHECK(prof_queue_due(&queue, FOREVER, queue.qu_bytes - bytes) == 2);
	CHECK(prof_queue_due(&queue, FOREVER, bytes) == N);
	CHECK(prof_queue_due(&queue, 0, SIZE_MAX) == N);
	prof_queue_drop(&queue, prof_queue_due(&queue, FOREVER, 10 * bytes));
	printf("%zu records of %zu bytes are left\n", queue.qu_n, bytes);
	CHECK(queue.qu_n == 9 && queue.qu_bytes == 9 * bytes);
	CHECK(queue.qu_waiting[0].wt_record.pr_pid == N - 9);
	CHECK(strcmp(queue.qu_waiting[0].wt_record.pr_path, "/bin/1") == 0);
	CHECK(prof_queue_due(&queue, FOREVER, 10 * bytes) == 0);
	prof_queue_fini(&queue);
	CHECK(prof_queue_due(&queue, 0, 1) == 0);
	return (0);
}
