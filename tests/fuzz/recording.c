/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: no bytes whatever make the reader of recordings read outside of
 * them, loop, or hand out a string, a frame or an event that is not there.
 *
 * A checksum stops random changes at the door.  So the mutator repairs what
 * it has changed: each chunk gets the length that reaches to the next one and
 * the checksum that is right for it, and what is fuzzed is what lies behind.
 * One input in eight is left broken, for the door itself.  Names come from the
 * recording alone.
 */
#include <stdlib.h>
#include <string.h>

#include "recording/query.h"
#include "recording/format.h"

#define MAX_RECORDS	200000
#define MAX_NAMED	2000

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);
size_t	LLVMFuzzerMutate(uint8_t *, size_t, size_t);
size_t	LLVMFuzzerCustomMutator(uint8_t *, size_t, size_t, unsigned);

static void	repair(uint8_t *, size_t);

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 8 != 0)
		repair(data, size);
	return (size);
}

static void
repair(uint8_t *data, size_t size)
{
	uint8_t *at, *next, *end = data + size;
	uint32_t head, stored, sequence = 0;
	struct prof_chunk chunk;

	if (size < PROF_FILE_HEADER)
		return;
	prof_file_header(data);
	at = memmem(data + PROF_FILE_HEADER, size - PROF_FILE_HEADER,
	    PROF_CHUNK_MAGIC, 4);
	for (; at != NULL && end - at >= PROF_CHUNK_HEADER; at = next) {
		next = memmem(at + PROF_CHUNK_HEADER,
		    (size_t)(end - at - PROF_CHUNK_HEADER),
		    PROF_CHUNK_MAGIC, 4);
		stored = (uint32_t)((next != NULL ? next : end) - at) -
		    PROF_CHUNK_HEADER;
		head = (uint32_t)prof_get_le(at + 12, 4);
		if (head > stored)
			head = stored;
		chunk.ck_type = (uint16_t)(prof_get_le(at + 4, 2) % 10);
		chunk.ck_codec = at[6] & 1;
		chunk.ck_stored = stored;
		chunk.ck_head = head;
		chunk.ck_raw = chunk.ck_codec == PROF_CODEC_NONE ?
		    stored - head : (uint32_t)prof_get_le(at + 16, 4);
		chunk.ck_sequence = sequence++;
		chunk.ck_payload = at + PROF_CHUNK_HEADER;
		prof_chunk_header(&chunk, at);
	}
}

/* Touch everything that a record points at. */
static uint64_t
touch(const struct prof_reader *reader, const struct prof_record *record)
{
	uint64_t sum = strlen(record->pr_comm) + strlen(record->pr_path);
	uint32_t i;

	if (prof_reader_event(reader, record->pr_event) == NULL ||
	    record->pr_nargs > PROF_MAX_ARGS || record->pr_build_id_len > 20 ||
	    record->pr_kstatus >= PROF_STACK_NSTATUS ||
	    record->pr_ustatus >= PROF_STACK_NSTATUS)
		abort();
	for (i = 0; i < PROF_MAX_ARGS; i++)
		if (record->pr_strs[i] != NULL)
			sum += strlen(record->pr_strs[i]);
	for (i = 0; i < record->pr_nkernel; i++)
		sum += record->pr_kernel[i];
	for (i = 0; i < record->pr_nuser; i++)
		sum += record->pr_user[i];
	for (i = 0; i < record->pr_nscript; i++)
		sum += record->pr_script[i];
	return (sum);
}

static uint64_t
touch_descriptions(const struct prof_reader *reader)
{
	const struct prof_event_info *info;
	struct prof_accounting row;
	const char *key, *value;
	uint64_t sum = 0;
	size_t i, c;
	int cpu = -1;

	for (i = 0; prof_reader_info_at(reader, i, &key, &value) == 1; i++)
		sum += strlen(key) + strlen(value) +
		    (prof_reader_info(reader, key) == NULL);
	for (i = 0; i < prof_reader_nevents(reader) && i < 100; i++) {
		info = prof_reader_event(reader, i);
		sum += strlen(info->pi_name) + strlen(info->pi_probe) +
		    strlen(info->pi_provider) + strlen(info->pi_unit);
		for (c = 0; c < info->pi_nargs; c++)
			sum += strlen(info->pi_arg_names[c]) +
			    strlen(info->pi_arg_types[c]);
		for (c = 0, cpu = -1; c < 10; c++) {
			if (prof_reader_accounting(reader, i, cpu, &row) == 0)
				sum += row.pa_fired + row.pa_written;
			cpu = prof_reader_cpu(reader, c);
		}
	}
	if (prof_reader_cut(reader) != NULL)
		sum += strlen(prof_reader_cut(reader));
	return (sum);
}

/* What the recording itself names, of its first samples. */
static uint64_t
touch_names(struct prof_reader *reader)
{
	const struct prof_symbols_options so = { .so_size = sizeof(so),
	    .so_only_recorded = 1 };
	const struct prof_function *fu;
	struct prof_symbols *symbols;
	struct prof_frame frame;
	struct prof_line line;
	struct prof_record record;
	struct prof_err error;
	uint64_t sum = 0;
	uint32_t space, i;
	unsigned n;

	symbols = prof_symbols_open(reader, &so, &error);
	if (symbols == NULL)
		return (0);
	(void)prof_reader_rewind(reader);
	for (n = 0; n < MAX_NAMED && prof_reader_record(reader, &record) == 1;
	    n++) {
		space = prof_symbols_space(symbols, record.pr_pid,
		    record.pr_time_ns);
		for (i = 0; i < record.pr_nuser && i < 64; i++)
			(void)prof_symbols_find(symbols, space,
			    &(struct prof_frame){ record.pr_user[i],
			    PROF_FRAME_NATIVE, i > 0 ? PROF_FRAME_RETURN :
			    0 });
		for (i = 0; i < record.pr_nscript && i < 64; i++) {
			prof_frame_unpack(record.pr_script[i], &frame);
			(void)prof_symbols_find(symbols, space, &frame);
			(void)prof_symbols_lines(symbols, space, &frame,
			    &line, 1);
		}
		for (i = 0; i < record.pr_nkernel && i < 64; i++)
			(void)prof_symbols_find(symbols, 0,
			    &(struct prof_frame){ record.pr_kernel[i],
			    PROF_FRAME_KERNEL, 0 });
	}
	for (i = 0; i < prof_symbols_nfunctions(symbols); i++) {
		fu = prof_symbols_function(symbols, i);
		sum += strlen(fu->fu_name) + strlen(fu->fu_raw) +
		    strlen(fu->fu_module);
	}
	prof_symbols_close(symbols);
	return (sum);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t sum;
	struct prof_reader *reader;
	struct prof_record record;
	struct prof_err error = { .pe_code = PROF_OK };
	uint64_t n = 0, last = 0, again = 0;

	reader = prof_reader_open_memory(data, size, &error);
	if (reader == NULL) {
		if (error.pe_code == PROF_OK || error.pe_text[0] == '\0')
			abort();
		return (0);
	}
	sum = touch_descriptions(reader);
	while (n < MAX_RECORDS && prof_reader_record(reader, &record) == 1) {
		sum += touch(reader, &record);
		n++;
		last = record.pr_time_ns;
	}
	(void)prof_reader_rewind(reader);
	while (again < MAX_RECORDS && prof_reader_record(reader, &record) == 1)
		again++;
	if (again != n || (n > 0 && record.pr_time_ns != last))
		abort();
	sum += touch_names(reader);
	/* Each byte was looked at; a sum of this value stands for none. */
	if (sum == 0x5eed5eed5eed5eed)
		abort();
	prof_reader_close(reader);
	return (0);
}
