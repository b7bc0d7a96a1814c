/* SPDX-License-Identifier: ISC */
/*
 * Asks a parser which functions lie at places of a file, and writes into the
 * recording only those that do: in order, without overlap, each around a
 * place that was asked for.  That a name is a lie no check can tell.
 *
 * Called by the threads of process/symbolize_tables.c.
 */
#include <stdlib.h>
#include <string.h>

#include "elf/debug_file.h"
#include "names.h"

#define MAX_NAME	(1u << 20)
#define MAX_ADDRESS	(UINT64_MAX >> 1)

/* ---------------------------------------------------------- checks */

static bool
head_holds(const struct prof_named_head *head)
{
	unsigned n;

	if (head->nh_why >= PROF_UNNAMED_OVER ||
	    head->nh_nsegments > PROF_TABLE_SEGMENTS)
		return (false);
	for (n = 0; n < head->nh_nsegments; n++)
		if (head->nh_segment[n][0] > MAX_ADDRESS ||
		    head->nh_segment[n][1] > MAX_ADDRESS ||
		    head->nh_segment[n][2] > MAX_ADDRESS)
			return (false);
	return (true);
}

/* The address of the n-th place, as the answer's own segments have it. */
static bool
address_of(const struct prof_naming *naming,
    const struct prof_segment_of *segments, size_t n, uint64_t *address)
{
	if (naming->ng_table->tb_kind == PROF_TABLE_JIT) {
		*address = naming->ng_place[n];
		return (true);
	}
	return (prof_segments_address(segments,
	    naming->ng_table->tb_nsegments, naming->ng_place[n], address));
}

/* Does it begin behind the last, and does a place from *n on lie in it? */
static bool
function_holds(const struct prof_naming *naming,
    const struct prof_segment_of *segments,
    const struct prof_table_function *function, uint64_t last, size_t *n)
{
	const uint64_t from = function->tf_address;
	uint64_t address;

	if (from > MAX_ADDRESS || function->tf_size > MAX_ADDRESS ||
	    (naming->ng_functions > 0 && from == last) ||
	    strnlen(function->tf_name, MAX_NAME + 1) > MAX_NAME)
		return (false);
	for (; *n < naming->ng_n; (*n)++)
		if (address_of(naming, segments, *n, &address) &&
		    address >= from && address - from < function->tf_size)
			return (true);
	return (false);
}

/* --------------------------------------------------------- request */

static int
open_debug(const struct prof_call *call, void *want)
{
	return (prof_debug_candidate(want, call->ca_fd, call->ca_open_arg));
}

/* Into the body, as far as it makes sense.  false: it does not. */
static bool
take_functions(struct prof_naming *naming, struct prof_cur *cur)
{
	struct prof_table came = { .tb_kind = naming->ng_table->tb_kind };
	struct prof_segment_of segments[PROF_TABLE_SEGMENTS];
	struct prof_table_function function;
	size_t place = 0;
	uint64_t last = 0;
	unsigned n;
	int rv;

	for (n = 0; n < naming->ng_table->tb_nsegments; n++)
		segments[n] = (struct prof_segment_of){
			naming->ng_table->tb_segment[n][0],
			naming->ng_table->tb_segment[n][1],
			naming->ng_table->tb_segment[n][2] };
	while ((rv = prof_table_unpack_function(cur, &came, &function)) ==
	    1) {
		if (!function_holds(naming, segments, &function, last,
		    &place))
			return (false);
		prof_table_pack_function(&naming->ng_body, naming->ng_table,
		    &function);
		naming->ng_functions++;
		last = function.tf_address;
	}
	return (rv == 0);
}

/* Nothing of what came before is believed. */
static void
names_forget(struct prof_naming *naming, const struct prof_table *before)
{
	*naming->ng_table = *before;
	naming->ng_body.bf_len = 0;
	naming->ng_functions = 0;
	naming->ng_dropped = 0;
}

static bool
names_take(struct prof_call *call)
{
	struct prof_naming *naming = call->ca_take_arg;
	struct prof_table *table = naming->ng_table;
	struct prof_named_head head;
	struct prof_cur cur;

	if (call->ca_answered < sizeof(head))
		return (false);
	memcpy(&head, call->ca_answer, sizeof(head));
	if (!head_holds(&head))
		return (false);
	table->tb_why = head.nh_why;
	if (table->tb_kind == PROF_TABLE_FILE) {
		table->tb_nsegments = head.nh_nsegments;
		memcpy(table->tb_segment, head.nh_segment,
		    sizeof(table->tb_segment));
	}
	naming->ng_dropped = head.nh_dropped < naming->ng_n ?
	    head.nh_dropped : naming->ng_n;
	if (head.nh_left < naming->ng_left)
		naming->ng_left = head.nh_left;
	prof_table_pack(&naming->ng_body, table);
	cur = prof_cur_of((const char *)call->ca_answer + sizeof(head),
	    call->ca_answered - sizeof(head));
	return (take_functions(naming, &cur));
}

static void *
request_of(const struct prof_naming *naming, uint64_t written_ns,
    size_t *size)
{
	const struct prof_table *table = naming->ng_table;
	struct prof_named_ask *ask;

	*size = sizeof(*ask) + naming->ng_n * sizeof(*naming->ng_place);
	ask = calloc(1, *size);
	if (ask == NULL)
		return (NULL);
	ask->na_n = naming->ng_n;
	ask->na_most = naming->ng_left;
	ask->na_dev = table->tb_dev;
	ask->na_ino = table->tb_ino;
	ask->na_written_ns = written_ns;
	ask->na_is_vdso = table->tb_kind == PROF_TABLE_FILE &&
	    naming->ng_fd == -1;
	ask->na_id_len = table->tb_id_len;
	memcpy(ask->na_id, table->tb_id, sizeof(table->tb_id));
	memcpy(ask + 1, naming->ng_place, naming->ng_n *
	    sizeof(*naming->ng_place));
	return (ask);
}

bool
prof_names_ask(struct prof_naming *naming, uint64_t written_ns)
{
	struct prof_call call = {
		.ca_what = naming->ng_table->tb_kind == PROF_TABLE_JIT ?
		    PROF_PARSE_MAP : PROF_PARSE_NAMES,
		.ca_fd = naming->ng_fd,
		.ca_name = naming->ng_name,
		.ca_most = sizeof(struct prof_named_head) + PROF_NAMES_BYTES,
		.ca_open = open_debug,
		.ca_open_arg = naming->ng_debug_dirs,
		.ca_want = sizeof(struct prof_debug_want),
		.ca_take = names_take,
		.ca_take_arg = naming,
	};
	const struct prof_table before = *naming->ng_table;
	void *request = request_of(naming, written_ns, &call.ca_size);
	bool ok;

	_Static_assert(sizeof(struct prof_debug_want) <= PROF_MOST_WANT,
	    "what is wanted");
	call.ca_bytes = request;
	ok = request != NULL &&
	    prof_broker_call(naming->ng_broker, &call) == PROF_CALLED;
	naming->ng_cpu_ns = call.ca_cpu_ns;
	free(request);
	if (ok)
		return (true);
	names_forget(naming, &before);
	prof_table_pack(&naming->ng_body, naming->ng_table);
	return (false);
}
