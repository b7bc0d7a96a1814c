/* SPDX-License-Identifier: ISC */
/*
 * From code objects in the memory of processes to numbers in a recording:
 *
 *	process, its execs, language, address, check, stamp  ->  number
 *
 * A code object is numbered when its first frame comes, and is to be named from
 * the end of that round on, while the process most likely lives; once, beside
 * the drain (namer.c), by a parser.  Its language describes it there, and says
 * no if check shows that the memory is another object's by now.
 *
 * Called by the session; languages/ has what depends on a language.
 */
#include <stdlib.h>

#include "abi/dtp_abi.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/intern.h"
#include "codes.h"
#include "namer.h"
#include "recording/frame.h"

#define MAX_CODES	(1u << 20)
#define MAX_BYTES	(256u << 20)	/* of all of them */
#define LAST_NS		500000000ULL	/* that the last round waits */

/* No padding: it is a key. */
struct key {
	uint64_t	ke_address;
	uint64_t	ke_check;
	uint32_t	ke_pid;
	uint32_t	ke_execs;	/* that the process was seen to make */
	uint32_t	ke_language;
	uint32_t	ke_stamp;
};

/* One that has no name yet. */
struct unnamed {
	struct key	un_key;
	uint32_t	un_number;
};

struct prof_codes {
	prof_language_fn *cd_language;
	struct prof_dict cd_by_key;
	struct prof_map	 cd_pids;	/* pid -> cd_execs */
	uint32_t	*cd_execs;
	size_t		 cd_cap_execs;
	struct unnamed	*cd_unnamed;	/* first to before n are waiting */
	size_t		 cd_first;
	size_t		 cd_n;
	size_t		 cd_cap;
	struct prof_namer *cd_namer;
	uint64_t	 cd_nasked;	/* that it is to name */
	uint64_t	 cd_bytes;	/* of all tables */
	struct prof_codes_stats cd_stats;
};

struct prof_codes *
prof_codes_new(prof_language_fn *language, struct prof_broker *broker)
{
	struct prof_codes *codes = calloc(1, sizeof(*codes));

	if (codes == NULL)
		return (NULL);
	codes->cd_language = language;
	codes->cd_namer = prof_namer_new(broker, language);
	if (codes->cd_namer == NULL) {
		free(codes);
		return (NULL);
	}
	return (codes);
}

void
prof_codes_free(struct prof_codes *codes)
{
	if (codes == NULL)
		return;
	prof_namer_free(codes->cd_namer);
	prof_dict_free(&codes->cd_by_key);
	prof_map_free(&codes->cd_pids);
	free(codes->cd_execs);
	free(codes->cd_unnamed);
	free(codes);
}

bool
prof_codes_is_busy(const struct prof_codes *codes)
{
	return (codes->cd_first < codes->cd_n || codes->cd_nasked > 0);
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
		language = codes->cd_language(
		    PROF_LANGUAGE_OF(frame.fr_flags));
		if (language == NULL || n - at < DTP_SCRIPT_WORDS)
			return (-1);
		number = number_of(codes, &(struct key){
		    .ke_address = from[at + 1], .ke_check = from[at + 2],
		    .ke_pid = pid, .ke_execs = *execs,
		    .ke_language = frame.fr_flags,
		    .ke_stamp = prof_frame_code(&frame) });
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

/* It has no name and gets none: its process has gone on, or it is too much. */
static bool
is_past(struct prof_codes *codes, const struct key *key)
{
	const uint32_t *execs = execs_of(codes, key->ke_pid);

	return (execs == NULL || *execs != key->ke_execs ||
	    codes->cd_bytes > MAX_BYTES);
}

/* The next ones of one process.  -1: no memory. */
static int
job_put(struct prof_codes *codes)
{
	struct prof_naming_job *job = calloc(1, sizeof(*job));
	const struct unnamed *unnamed;
	struct prof_scripts *scripts;
	const struct key *key;

	if (job == NULL)
		return (-1);
	scripts = &job->nj_scripts;
	for (; codes->cd_first < codes->cd_n &&
	    scripts->sc_n < PROF_SCRIPTS_MOST; codes->cd_first++) {
		unnamed = &codes->cd_unnamed[codes->cd_first];
		key = &unnamed->un_key;
		if (is_past(codes, key)) {
			codes->cd_stats.cs_unnamed++;
			continue;
		}
		if (scripts->sc_n > 0 && scripts->sc_pid != key->ke_pid)
			break;
		scripts->sc_pid = key->ke_pid;
		scripts->sc_key[scripts->sc_n++] = (struct prof_code_key){
		    .ck_address = key->ke_address, .ck_check = key->ke_check,
		    .ck_variant = PROF_VARIANT_OF(key->ke_language),
		    .ck_language = PROF_LANGUAGE_OF(key->ke_language),
		    .ck_number = unnamed->un_number,
		    .ck_stamp = key->ke_stamp };
	}
	if (scripts->sc_n > 0 && prof_namer_put(codes->cd_namer, job) == 0) {
		codes->cd_nasked += scripts->sc_n;
		return (0);
	}
	codes->cd_stats.cs_unnamed += scripts->sc_n;
	free(job);
	return (0);
}

/* Into a table, and forget it. */
static int
job_end(struct prof_codes *codes, struct prof_naming_job *job,
    prof_codes_put_fn *put, void *arg)
{
	const struct prof_table table = { .tb_kind = PROF_TABLE_SCRIPT };
	struct prof_scripts *scripts = &job->nj_scripts;
	struct prof_buf body = { 0 };
	int rv = 0;

	codes->cd_stats.cs_named += scripts->sc_named;
	codes->cd_stats.cs_unnamed += scripts->sc_n - scripts->sc_named;
	if (scripts->sc_named > 0) {
		prof_table_pack(&body, &table);
		prof_buf_bytes(&body, scripts->sc_body.bf_data,
		    scripts->sc_body.bf_len);
		codes->cd_bytes += body.bf_len;
		rv = body.bf_failed ? -1 : put(arg, body.bf_data, body.bf_len);
	}
	prof_buf_free(&body);
	prof_buf_free(&scripts->sc_body);
	free(job);
	return (rv);
}

int
prof_codes_round(struct prof_codes *codes, bool is_last,
    prof_codes_put_fn *put, void *arg)
{
	const uint64_t until_ns = is_last ? prof_now_ns() + LAST_NS : 0;
	struct prof_naming_job *job;

	do {
		while (codes->cd_first < codes->cd_n &&
		    prof_namer_has_room(codes->cd_namer))
			if (job_put(codes) == -1)
				return (-1);
		job = prof_namer_get(codes->cd_namer, until_ns);
		if (job == NULL)
			break;
		codes->cd_nasked -= job->nj_scripts.sc_n;
		if (job_end(codes, job, put, arg) == -1)
			return (-1);
	} while (until_ns == 0 || prof_now_ns() < until_ns);
	if (is_last)
		codes->cd_stats.cs_unnamed += codes->cd_n - codes->cd_first +
		    codes->cd_nasked;
	if (codes->cd_first == codes->cd_n)
		codes->cd_first = codes->cd_n = 0;
	return (0);
}
