/* SPDX-License-Identifier: ISC */
/*
 * A dump: what a ring keeps becomes a recording.
 *
 *	INFO	| INFO EVENT LIFE STACK ... SAMPLE ... | LIFE
 *	^ of it | ^ as they are kept		       | the accounting, ...
 *
 * Its own INFO is first: where the file is cut short, it says since when there
 * are samples.
 *
 * Called by write.c, in the writer's thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "batch.h"
#include "ring.h"
#include "tallied.h"

struct prof_dump *
prof_dump_new(const char *path, const char *reason)
{
	struct prof_dump *dump = calloc(1, sizeof(*dump));

	if (dump == NULL)
		return (NULL);
	dump->du_path = strdup(path);
	dump->du_reason = strdup(reason);
	if (dump->du_path != NULL && dump->du_reason != NULL)
		return (dump);
	prof_dump_free(dump);
	return (NULL);
}

void
prof_dump_free(struct prof_dump *dump)
{
	if (dump == NULL)
		return;
	free(dump->du_path);
	free(dump->du_reason);
	free(dump);
}

/* Samples that are too old, and those of them with values of counters. */
struct left_out {
	struct prof_tallied lo_samples;
	uint64_t	 lo_valued;
};

static bool
is_left_out(const struct prof_dump *dump, const struct prof_ring_chunk *chunk)
{
	return (chunk->rc_type == PROF_C_SAMPLE &&
	    chunk->rc_last_ns < dump->du_from_ns);
}

/* What is too old, and the time of the first sample that is not. */
static void
leave_out(const struct prof_ring *ring, struct prof_dump *dump,
    struct left_out *out)
{
	const struct prof_ring_chunk *chunk = NULL;

	while ((chunk = prof_ring_next(ring, chunk)) != NULL) {
		if (is_left_out(dump, chunk)) {
			prof_tallied_add(&out->lo_samples,
			    &chunk->rc_tallies);
			out->lo_valued += chunk->rc_nvalued;
		} else if (chunk->rc_type == PROF_C_SAMPLE &&
		    dump->du_first_ns == 0)
			dump->du_first_ns = chunk->rc_first_ns;
	}
	if (dump->du_first_ns == 0)
		dump->du_first_ns = dump->du_end_ns;
}

static bool
is_counter(const struct prof_dump *dump, uint32_t event)
{
	size_t n = 0;

	while (n < dump->du_ncounters && dump->du_counter[n] != event)
		n++;
	return (n < dump->du_ncounters);
}

/*
 * What was given up or is left out, in the rows of no CPU.  Values of counters
 * go with the samples that bring them.
 */
static void
rows_complete(struct prof_row *rows, size_t nrows,
    const struct prof_ring *ring, struct prof_dump *dump)
{
	struct left_out out = { 0 };

	prof_tallied_init(&out.lo_samples);
	leave_out(ring, dump, &out);
	for (size_t n = 0; n < nrows; n++) {
		struct prof_accounting *pa = &rows[n].rw_accounting;

		if (rows[n].rw_cpu != 0)
			continue;
		if (is_counter(dump, rows[n].rw_event)) {
			pa->pa_overwritten = out.lo_valued +
			    prof_ring_overwritten_valued(ring);
			continue;
		}
		pa->pa_overwritten = prof_ring_overwritten(ring,
		    rows[n].rw_event) + prof_tallied_event(&out.lo_samples,
		    rows[n].rw_event);
		dump->du_overwritten += pa->pa_overwritten;
	}
	prof_tallied_fini(&out.lo_samples);
}

static void
say_number(struct prof_batch *batch, const char *key, uint64_t number)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, number);
	prof_pack_info(batch, key, text);
}

static void
say_dump(struct prof_batch *batch, const struct prof_dump *dump)
{
	prof_pack_info(batch, "dump.reason", dump->du_reason);
	say_number(batch, "dump.requested_ns", dump->du_requested_ns);
	say_number(batch, "dump.written_ns", prof_now_ns());
	say_number(batch, "dump.from_ns", dump->du_first_ns);
	say_number(batch, "dump.history_ns", dump->du_end_ns -
	    dump->du_first_ns);
	say_number(batch, "dump.overwritten", dump->du_overwritten);
}

static int
copy_kept(struct prof_output *file, const struct prof_ring *ring,
    const struct prof_dump *dump, struct prof_err *error)
{
	const struct prof_ring_chunk *chunk = NULL;

	while ((chunk = prof_ring_next(ring, chunk)) != NULL)
		if (!is_left_out(dump, chunk) &&
		    prof_output_copy(file, chunk, error) == -1)
			return (-1);
	return (0);
}

void
prof_output_dump(struct prof_output *output, struct prof_batch *batch)
{
	const struct prof_ring *ring = prof_output_kept(output);
	struct prof_dump *dump = batch->ba_dump;
	struct prof_row *rows = (void *)batch->ba_rows.bf_data;
	const size_t nrows = batch->ba_rows.bf_len / sizeof(*rows);
	struct prof_err *error = &dump->du_error, later;
	struct prof_output *file;
	int rv;

	file = prof_output_open(dump->du_path, -1, error);
	if (file == NULL)
		return;
	rows_complete(rows, nrows, ring, dump);
	say_dump(batch, dump);
	rv = prof_output_info(file, &batch->ba_info, error);
	batch->ba_info.bf_len = 0;
	/* The rows come last. */
	batch->ba_rows.bf_len = 0;
	if (rv == 0)
		rv = copy_kept(file, ring, dump, error);
	if (rv == 0)
		rv = prof_output_batch(file, batch, error);
	if (prof_output_end(file, rows, nrows, rv == 0 ? error : &later) == -1)
		rv = -1;
	if (prof_output_finish(file, rv == 0 ? error : &later) == -1)
		rv = -1;
	dump->du_samples = prof_output_samples(file);
	dump->du_bytes = prof_output_bytes(file);
	prof_output_close(file);
}
