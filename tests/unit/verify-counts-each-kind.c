/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: of stacks that were walked both ways each counts as what it is,
 * also when they part at more places than there are rows.
 *
 * Easy to get wrong: what has no row of its own must not go to one of another
 * kind; the share of stacks that differ is what one asks for.
 */
#include "cli-check.h"
#include "prof.h"
#include "process/processes.h"
#include "stacks/snapshot.h"

#define PLACES	1000
#define START	0x10000u

int
main(void)
{
	static struct prof_walk walk;
	const struct prof_record mapping = { .pr_type = PROF_R_MMAP,
	    .pr_path = "/nonexistent/program", .pr_ino = 1, .pr_addr = START,
	    .pr_len = 16 * PLACES };
	struct prof_objects *objects = prof_objects_new();
	struct prof_verify *verify = prof_verify_new();
	struct prof_spaces *spaces = prof_spaces_new(objects,
	    PROF_PROCESSES_ALL);
	struct prof_space space;
	uint64_t frames[3], sum[PROF_VERIFY_DIFFER + 1] = { 0 };
	struct prof_record sample = { .pr_user = frames };
	struct prof_verify_row row;

	CHECK(objects != NULL && verify != NULL && spaces != NULL,
	    "no memory");
	CHECK(prof_spaces_observe(spaces, &mapping) == 0 &&
	    prof_spaces_find(spaces, 0, 0, &space), "nothing is mapped");
	walk.wk_status = sample.pr_ustatus = PROF_STACK_OK;
	/* First it ends earlier everywhere, then it differs, then not. */
	for (int kind = 0; kind < 3; kind++)
		for (unsigned n = 0; n < PLACES; n++) {
			frames[0] = walk.wk_frame[0] = START + 16 * n;
			frames[1] = walk.wk_frame[1] = 1;
			walk.wk_frame[1] += kind == 1;
			sample.pr_nuser = 2;
			walk.wk_n = kind == 0 ? 1 : 2;
			prof_verify_compare(verify, &space, &sample, &walk);
		}
	for (size_t n = 0; prof_verify_row(verify, n, &row); n++)
		sum[row.vr_kind] += row.vr_samples;
	CHECK(sum[PROF_VERIFY_EARLIER] == PLACES &&
	    sum[PROF_VERIFY_DIFFER] == PLACES &&
	    sum[PROF_VERIFY_SAME] == PLACES, "%llu earlier, %llu differ, "
	    "%llu alike", (unsigned long long)sum[PROF_VERIFY_EARLIER],
	    (unsigned long long)sum[PROF_VERIFY_DIFFER],
	    (unsigned long long)sum[PROF_VERIFY_SAME]);
	OK("%d of each kind", PLACES);
	prof_verify_free(verify);
	prof_objects_free(objects);
	prof_spaces_free(spaces);
	return (0);
}
