/* SPDX-License-Identifier: ISC */
/*
 * Compares, sample by sample, the walk in the kernel with libunwind's over a
 * snapshot that was taken in the same moment: frame by frame, up to where one
 * of them ends.
 *
 * Called by snapshots.c.  What is alike is counted; what is not has a row for
 * each place in the code from which the two went different ways.  Decides
 * nothing about which of them is right.
 */
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"

#define MAX_ROWS	256	/* what comes later goes with its kind */
#define KINDS		(PROF_VERIFY_DIFFER + 1)

/* A row, and its place while the object may still go. */
struct row {
	struct prof_verify_row ro_row;
	const struct prof_object *ro_object;	/* NULL: no file */
};

struct prof_verify {
	struct row	 ve_row[MAX_ROWS + KINDS];
	size_t		 ve_n;
};

struct prof_verify *
prof_verify_new(void)
{
	return (calloc(1, sizeof(struct prof_verify)));
}

void
prof_verify_free(struct prof_verify *verify)
{
	free(verify);
}

static int
compare_rows(const void *left, const void *right)
{
	const struct prof_verify_row *a = &((const struct row *)left)->ro_row;
	const struct prof_verify_row *b =
	    &((const struct row *)right)->ro_row;

	if (a->vr_kind != b->vr_kind)
		return (a->vr_kind < b->vr_kind ? -1 : 1);
	if (a->vr_samples != b->vr_samples)
		return (a->vr_samples > b->vr_samples ? -1 : 1);
	return (a->vr_address < b->vr_address ? -1 :
	    a->vr_address > b->vr_address);
}

bool
prof_verify_row(struct prof_verify *verify, size_t n,
    struct prof_verify_row *row)
{
	if (n == 0)
		qsort(verify->ve_row, verify->ve_n,
		    sizeof(*verify->ve_row), compare_rows);
	if (n >= verify->ve_n)
		return (false);
	*row = verify->ve_row[n].ro_row;
	row->vr_module = verify->ve_row[n].ro_object == NULL ? "" :
	    verify->ve_row[n].ro_object->ob_path;
	return (true);
}

static void
row_count(struct prof_verify *verify, const struct row *found)
{
	const struct prof_verify_row *row = &found->ro_row;
	struct row *at;
	size_t n;

	for (n = 0; n < verify->ve_n; n++) {
		at = &verify->ve_row[n];
		if (at->ro_row.vr_kind == row->vr_kind &&
		    at->ro_row.vr_status == row->vr_status &&
		    at->ro_row.vr_address == row->vr_address &&
		    at->ro_object == found->ro_object)
			break;
	}
	/* A kind that has no row yet gets one also then. */
	if (n >= MAX_ROWS && n == verify->ve_n)
		for (n = 0; n < verify->ve_n; n++)
			if (verify->ve_row[n].ro_row.vr_kind == row->vr_kind)
				break;
	if (n == verify->ve_n) {
		verify->ve_row[n] = *found;
		verify->ve_n++;
	}
	verify->ve_row[n].ro_row.vr_samples++;
}

/* The place of a pc, as its file counts. */
static void
set_place(struct row *row, const struct prof_space *space, uint64_t pc)
{
	struct prof_mapped mapping;

	row->ro_row.vr_address = 0;
	if (!prof_space_at(space, pc, &mapping) || mapping.mp_object == NULL)
		return;
	row->ro_object = mapping.mp_object;
	row->ro_row.vr_address = pc - prof_object_bias(&mapping);
}

/* The kernel's walk says itself that it did not know the way. */
static bool
is_in_doubt(unsigned status)
{
	return (status == PROF_STACK_NOPROC || status == PROF_STACK_NOMOD ||
	    status == PROF_STACK_NOMAP || status == PROF_STACK_NOROW);
}

void
prof_verify_compare(struct prof_verify *verify,
    const struct prof_space *space, const struct prof_record *sample,
    const struct prof_walk *walk)
{
	uint32_t ours = sample->pr_nuser, theirs = walk->wk_n, n = 0;
	struct row row = { 0 };

	while (n < ours && n < theirs &&
	    sample->pr_user[n] == walk->wk_frame[n])
		n++;
	row.ro_row.vr_status = sample->pr_ustatus;
	if (is_in_doubt(sample->pr_ustatus))
		row.ro_row.vr_kind = PROF_VERIFY_DOUBT;
	else if (n < ours && n < theirs)
		row.ro_row.vr_kind = PROF_VERIFY_DIFFER;
	else if (ours == theirs)
		row.ro_row.vr_kind = PROF_VERIFY_SAME;
	else if (ours < theirs)
		row.ro_row.vr_kind = PROF_VERIFY_FURTHER;
	else {
		row.ro_row.vr_kind = walk->wk_status == PROF_STACK_SHORT ?
		    PROF_VERIFY_SHORT : PROF_VERIFY_EARLIER;
		row.ro_row.vr_status = (uint8_t)walk->wk_status;
	}
	if (row.ro_row.vr_kind >= PROF_VERIFY_EARLIER && n > 0)
		set_place(&row, space, sample->pr_user[n - 1]);
	row_count(verify, &row);
}
