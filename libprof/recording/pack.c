/* SPDX-License-Identifier: ISC */
/*
 * Everything of a batch but samples: process events, descriptions,
 * accounting, and the beginning of a batch.  Called by write.c; the rows of
 * the accounting go both ways, for read.c.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "batch.h"

/* A dictionary of stacks this large begins anew; the numbers go on. */
#define MAX_STACKS	(4u << 20)

void
prof_packer_begin(struct prof_packer *packer, struct prof_batch *batch)
{
	if (packer->pk_stacks.dt_count >= MAX_STACKS)
		prof_packer_renew(packer);
	prof_dict_clear(&packer->pk_strings);
	prof_dict_clear(&packer->pk_life_strings);
	prof_map_clear(&packer->pk_shapes);
	prof_map_clear(&packer->pk_tasks);
	prof_map_clear(&packer->pk_addrs);
	prof_map_clear(&packer->pk_pairs);
	packer->pk_last_addr = 0;
	if (packer->pk_nevents > 0)
		memset(packer->pk_previous, 0, packer->pk_nevents *
		    sizeof(*packer->pk_previous));
	batch->ba_stack_base = packer->pk_stack_base +
	    packer->pk_stacks.dt_count + 1;
	batch->ba_generation = packer->pk_generation;
}

void
prof_packer_renew(struct prof_packer *packer)
{
	packer->pk_stack_base += packer->pk_stacks.dt_count;
	prof_dict_clear(&packer->pk_stacks);
	packer->pk_generation++;
}

void
prof_packer_fini(struct prof_packer *packer)
{
	prof_dict_free(&packer->pk_stacks);
	prof_dict_free(&packer->pk_strings);
	prof_dict_free(&packer->pk_life_strings);
	prof_map_free(&packer->pk_shapes);
	prof_map_free(&packer->pk_tasks);
	prof_map_free(&packer->pk_addrs);
	prof_map_free(&packer->pk_pairs);
	prof_buf_free(&packer->pk_script);
	free(packer->pk_previous);
}

/* Number of a string + 1, so that 0 is "none". */
static uint32_t
pack_life_string(struct prof_packer *packer, struct prof_batch *batch,
    const char *text)
{
	uint32_t number;
	bool is_new;

	if (text == NULL || text[0] == '\0')
		return (0);
	number = prof_dict_find(&packer->pk_life_strings, text,
	    strnlen(text, PROF_MAX_STRING), &is_new);
	if (number == PROF_INTERN_FAILED)
		return (number);
	if (is_new)
		prof_buf_string(&batch->ba_life_strings, text);
	return (number + 1);
}

static void
pack_fields(struct prof_buf *body, const struct prof_record *record,
    const uint64_t fields[PROF_LF_NFIELDS])
{
	uint64_t mask = 0;
	unsigned i;

	for (i = 0; i < PROF_LF_NFIELDS; i++)
		if (fields[i] != 0)
			mask |= (uint64_t)1 << i;
	prof_buf_varint(body, mask);
	for (i = 0; i < PROF_LF_NFIELDS; i++)
		if (fields[i] != 0)
			prof_buf_varint(body, fields[i]);
	if (fields[PROF_LF_BUILD_ID] != 0)
		prof_buf_bytes(body, record->pr_build_id,
		    (size_t)fields[PROF_LF_BUILD_ID]);
}

int
prof_pack_life(struct prof_packer *packer, struct prof_batch *batch,
    const struct prof_record *record)
{
	uint64_t fields[PROF_LF_NFIELDS] = {
		[PROF_LF_EVENT] = record->pr_event,
		[PROF_LF_CPU] = record->pr_cpu,
		[PROF_LF_PID] = record->pr_pid,
		[PROF_LF_TID] = record->pr_tid,
		[PROF_LF_WEIGHT] = record->pr_weight,
		[PROF_LF_PPID] = record->pr_ppid,
		[PROF_LF_PTID] = record->pr_ptid,
		[PROF_LF_CODE] = prof_zigzag((uint64_t)record->pr_code),
		[PROF_LF_GROUP_DEAD] = record->pr_group_dead != 0,
		[PROF_LF_ADDR] = record->pr_addr,
		[PROF_LF_LEN] = record->pr_len,
		[PROF_LF_OFFSET] = record->pr_offset,
		[PROF_LF_PROT] = record->pr_prot,
		[PROF_LF_DEV] = record->pr_dev,
		[PROF_LF_INO] = record->pr_ino,
	};
	uint32_t comm, path;
	uint8_t bytes[PROF_LF_NFIELDS * 10 + 64];
	struct prof_buf body = { bytes, 0, sizeof(bytes), false };

	comm = pack_life_string(packer, batch, record->pr_comm);
	path = pack_life_string(packer, batch, record->pr_path);
	if (comm == PROF_INTERN_FAILED || path == PROF_INTERN_FAILED)
		return (-1);
	fields[PROF_LF_COMM] = comm;
	fields[PROF_LF_PATH] = path;
	fields[PROF_LF_BUILD_ID] =
	    record->pr_build_id_len < sizeof(record->pr_build_id) ?
	    record->pr_build_id_len : sizeof(record->pr_build_id);
	if (batch->ba_nlife++ == 0)
		batch->ba_life_time = 0;
	prof_buf_varint(&body, (uint64_t)record->pr_type);
	prof_buf_varint(&body,
	    prof_zigzag(record->pr_time_ns - batch->ba_life_time));
	batch->ba_life_time = record->pr_time_ns;
	pack_fields(&body, record, fields);
	prof_buf_varint(&batch->ba_life, body.bf_len);
	prof_buf_bytes(&batch->ba_life, body.bf_data, body.bf_len);
	return (0);
}

void
prof_pack_info(struct prof_batch *batch, const char *key, const char *value)
{
	prof_buf_string(&batch->ba_info, key);
	prof_buf_string(&batch->ba_info, value);
}

void
prof_pack_symbols(struct prof_batch *batch, const void *body, size_t len)
{
	uint8_t length[4];

	prof_put_le(length, len, sizeof(length));
	prof_buf_bytes(&batch->ba_symbols, length, sizeof(length));
	prof_buf_bytes(&batch->ba_symbols, body, len);
}

static int
packer_add_event(struct prof_packer *packer)
{
	return (prof_append(&packer->pk_previous, &packer->pk_nevents,
	    sizeof(*packer->pk_previous)) == NULL ? -1 : 0);
}

int
prof_pack_event(struct prof_packer *packer, struct prof_batch *batch,
    const struct prof_event_info *info)
{
	struct prof_buf body = { 0 };
	uint8_t length[4];
	uint32_t i, nargs, ncounters;
	int rv;

	nargs = info->pi_nargs < PROF_MAX_ARGS ? info->pi_nargs :
	    PROF_MAX_ARGS;
	prof_buf_varint(&body, packer->pk_nevents);
	prof_buf_string(&body, info->pi_name);
	prof_buf_string(&body, info->pi_probe);
	prof_buf_string(&body, info->pi_provider);
	prof_buf_string(&body, info->pi_unit);
	prof_buf_varint(&body, info->pi_period);
	prof_buf_varint(&body, info->pi_frequency_hz);
	prof_buf_varint(&body, info->pi_parts);
	prof_buf_varint(&body, info->pi_is_call ? 2 :
	    info->pi_is_syscall != 0);
	prof_buf_varint(&body, nargs);
	for (i = 0; i < nargs; i++) {
		prof_buf_string(&body, info->pi_arg_names[i]);
		prof_buf_string(&body, info->pi_arg_types[i]);
		prof_buf_varint(&body, (info->pi_arg_is_str[i] != 0) |
		    (info->pi_arg_is_signed[i] != 0) << 1);
	}
	ncounters = info->pi_ncounters < PROF_MAX_VALUES ?
	    info->pi_ncounters : PROF_MAX_VALUES;
	prof_buf_varint(&body, ncounters);
	for (i = 0; i < ncounters; i++)
		prof_buf_varint(&body, info->pi_counter[i]);
	prof_put_le(length, body.bf_len, sizeof(length));
	prof_buf_bytes(&batch->ba_event, length, sizeof(length));
	prof_buf_bytes(&batch->ba_event, body.bf_data, body.bf_len);
	rv = body.bf_failed || batch->ba_event.bf_failed ? -1 :
	    packer_add_event(packer);
	prof_buf_free(&body);
	return (rv);
}
