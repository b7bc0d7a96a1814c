/* SPDX-License-Identifier: ISC */
/*
 * From code objects in the memory of processes to numbers in a recording:
 *
 *	process, its execs, language, address, check  ->  number
 *
 * A code object is numbered when its first frame comes, and named at the end
 * of that round, while the process most likely lives; once, and for a bounded
 * time a round.  Its language describes it, and says no if check shows that
 * the memory is another object's by now.
 *
 * Called by the session; languages/ has what depends on a language.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "abi/dtp_abi.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/intern.h"
#include "codes.h"
#include "recording/frame.h"

#define MAX_CODES	(1u << 20)
#define MAX_BODY	(1u << 20)	/* of a table; one more code fits */
#define MAX_BYTES	(256u << 20)	/* of all of them */
#define ROUND_NS	20000000ULL
#define LAST_NS		500000000ULL	/* the last round */

/* No padding: it is a key. */
struct key {
	uint64_t	ke_address;
	uint64_t	ke_check;
	uint32_t	ke_pid;
	uint32_t	ke_execs;	/* that the process was seen to make */
	uint32_t	ke_language;
	uint32_t	ke_zero;
};

/* One that has no name yet. */
struct unnamed {
	struct key	un_key;
	uint32_t	un_number;
};

struct prof_codes {
	prof_codes_language_fn *cd_language;
	struct prof_dict cd_by_key;
	struct prof_map	 cd_pids;	/* pid -> cd_execs */
	uint32_t	*cd_execs;
	size_t		 cd_cap_execs;
	struct unnamed	*cd_unnamed;	/* first to before n are waiting */
	size_t		 cd_first;
	size_t		 cd_n;
	size_t		 cd_cap;
	struct prof_peek cd_memory;	/* of the last one that was read */
	uint32_t	 cd_execs_read;
	uint64_t	 cd_bytes;	/* of all tables */
	struct prof_code_object cd_code;
	struct prof_codes_stats cd_stats;
};

struct prof_codes *
prof_codes_new(prof_codes_language_fn *language)
{
	struct prof_codes *codes = calloc(1, sizeof(*codes));

	if (codes == NULL)
		return (NULL);
	codes->cd_language = language;
	codes->cd_memory.pk_fd = -1;
	return (codes);
}

void
prof_codes_free(struct prof_codes *codes)
{
	if (codes == NULL)
		return;
	if (codes->cd_memory.pk_fd != -1)
		(void)close(codes->cd_memory.pk_fd);
	prof_dict_free(&codes->cd_by_key);
	prof_map_free(&codes->cd_pids);
	free(codes->cd_execs);
	free(codes->cd_unnamed);
	free(codes);
}

void
prof_codes_stats(const struct prof_codes *codes,
    struct prof_codes_stats *stats)
{
	*stats = codes->cd_stats;
}

/* Where the execs of a process are counted; NULL: no memory. */
static uint32_t *
execs_of(struct prof_codes *codes, uint32_t pid)
{
	bool is_new;
	uint32_t n = prof_map_get(&codes->cd_pids, pid, &is_new);

	if (n == PROF_INTERN_FAILED || !prof_room(&codes->cd_execs,
	    &codes->cd_cap_execs, (size_t)n + 1, sizeof(*codes->cd_execs)))
		return (NULL);
	if (is_new)
		codes->cd_execs[n] = 0;
	return (&codes->cd_execs[n]);
}

/* Processes that never had script frames are not kept. */
int
prof_codes_life(struct prof_codes *codes, const struct prof_record *record)
{
	uint32_t *execs;

	if ((record->pr_type != PROF_R_EXEC && (record->pr_type !=
	    PROF_R_EXIT || !record->pr_group_dead)) || prof_map_peek(
	    &codes->cd_pids, record->pr_pid) == PROF_INTERN_FAILED)
		return (0);
	execs = execs_of(codes, record->pr_pid);
	if (execs == NULL)
		return (-1);
	(*execs)++;
	return (0);
}

/* ------------------------------------------------------------ numbers */

static int
unnamed_add(struct prof_codes *codes, const struct key *key, uint32_t number)
{
	struct unnamed *new = prof_grow(&codes->cd_unnamed, &codes->cd_n,
	    &codes->cd_cap, sizeof(*new));

	if (new == NULL)
		return (-1);
	*new = (struct unnamed){ *key, number };
	return (0);
}

/* Its number, from 1; 0: there are too many; -1: no memory. */
static int
number_of(struct prof_codes *codes, const struct key *key)
{
	uint32_t n = prof_dict_peek(&codes->cd_by_key, key, sizeof(*key));
	bool is_new;

	if (n != PROF_INTERN_FAILED)
		return ((int)n + 1);
	if (codes->cd_by_key.dt_count >= MAX_CODES) {
		codes->cd_stats.cs_over++;
		return (0);
	}
	n = prof_dict_find(&codes->cd_by_key, key, sizeof(*key), &is_new);
	if (n == PROF_INTERN_FAILED || unnamed_add(codes, key, n + 1) == -1)
		return (-1);
	return ((int)n + 1);
}

long
prof_codes_words(struct prof_codes *codes, uint32_t pid, const uint64_t *from,
    size_t n, uint64_t *to)
{
	const uint32_t *execs = n == 0 ? NULL : execs_of(codes, pid);
	const struct prof_language *language;
	struct prof_frame frame;
	size_t at = 0;
	long count = 0;
	int number;

	while (execs != NULL && at < n) {
		prof_frame_unpack(from[at], &frame);
		if (frame.fr_kind == PROF_FRAME_BOUNDARY) {
			to[count++] = from[at++];
			continue;
		}
		language = codes->cd_language(frame.fr_flags);
		if (language == NULL || n - at < DTP_SCRIPT_WORDS)
			return (-1);
		number = number_of(codes, &(struct key){
		    .ke_address = from[at + 1], .ke_check = from[at + 2],
		    .ke_pid = pid, .ke_execs = *execs,
		    .ke_language = frame.fr_flags });
		if (number == -1)
			return (-1);
		frame.fr_id = (uint64_t)number <<
		    PROF_FRAME_INSTRUCTION_BITS |
		    prof_frame_instruction(&frame);
		frame.fr_kind = (uint8_t)language->la_kind;
		frame.fr_flags = 0;
		to[count++] = prof_frame_pack(&frame);
		at += DTP_SCRIPT_WORDS;
	}
	return (execs == NULL && n > 0 ? -1 : count);
}

/* -------------------------------------------------------------- names */

static const struct prof_peek *
memory_of(struct prof_codes *codes, const struct key *key)
{
	struct prof_peek *memory = &codes->cd_memory;
	char path[64];

	if (memory->pk_fd != -1 && memory->pk_pid == key->ke_pid &&
	    codes->cd_execs_read == key->ke_execs)
		return (memory);
	if (memory->pk_fd != -1)
		(void)close(memory->pk_fd);
	(void)snprintf(path, sizeof(path), "/proc/%u/mem", key->ke_pid);
	memory->pk_pid = key->ke_pid;
	memory->pk_fd = open(path, O_RDONLY | O_CLOEXEC);
	codes->cd_execs_read = key->ke_execs;
	return (memory);
}

/* Into the body of a table of scripts. */
static void
name_one(struct prof_codes *codes, const struct unnamed *unnamed,
    struct prof_buf *body)
{
	const struct key *key = &unnamed->un_key;
	const struct prof_language *language =
	    codes->cd_language(key->ke_language);
	const uint32_t *execs = execs_of(codes, key->ke_pid);
	struct prof_code_object *code = &codes->cd_code;

	memset(code, 0, offsetof(struct prof_code_object, co_step));
	if (execs == NULL || *execs != key->ke_execs ||
	    language->la_describe == NULL || codes->cd_bytes > MAX_BYTES ||
	    !language->la_describe(memory_of(codes, key), key->ke_address,
	    key->ke_check, code) || code->co_name[0] == '\0') {
		codes->cd_stats.cs_unnamed++;
		return;
	}
	prof_table_pack_code(body, &(struct prof_table_code){
	    .tc_number = unnamed->un_number, .tc_name = code->co_name,
	    .tc_file = code->co_file, .tc_line = code->co_line,
	    .tc_step = code->co_step, .tc_nsteps = code->co_nsteps });
	codes->cd_stats.cs_named++;
}

/* One table of names, which a chunk can hold, until a time. */
static int
table_put(struct prof_codes *codes, uint64_t until_ns,
    prof_codes_put_fn *put, void *arg)
{
	const struct prof_table table = { .tb_kind = PROF_TABLE_SCRIPT };
	const uint64_t before = codes->cd_stats.cs_named;
	struct prof_buf body = { 0 };
	int rv = 0;

	prof_table_pack(&body, &table);
	while (codes->cd_first < codes->cd_n && body.bf_len < MAX_BODY &&
	    prof_now_ns() < until_ns)
		name_one(codes, &codes->cd_unnamed[codes->cd_first++], &body);
	codes->cd_bytes += body.bf_len;
	if (body.bf_failed)
		rv = -1;
	else if (codes->cd_stats.cs_named != before)
		rv = put(arg, body.bf_data, body.bf_len);
	prof_buf_free(&body);
	return (rv);
}

int
prof_codes_round(struct prof_codes *codes, bool is_last,
    prof_codes_put_fn *put, void *arg)
{
	uint64_t until_ns;
	int rv = 0;

	if (codes->cd_first == codes->cd_n)
		return (0);
	until_ns = prof_now_ns() + (is_last ? LAST_NS : ROUND_NS);
	while (rv == 0 && codes->cd_first < codes->cd_n &&
	    prof_now_ns() < until_ns)
		rv = table_put(codes, until_ns, put, arg);
	if (is_last)
		codes->cd_stats.cs_unnamed += codes->cd_n - codes->cd_first;
	if (codes->cd_first == codes->cd_n)
		codes->cd_first = codes->cd_n = 0;
	return (rv);
}
