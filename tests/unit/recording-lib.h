/* SPDX-License-Identifier: ISC */
/*
 * What the tests of recordings share: seeded random records that own what
 * they point at, comparing two records, and a directory of their own.
 */
#ifndef RECORDING_LIB_H
#define RECORDING_LIB_H

#include <sys/stat.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/query.h"
#include "recording/write.h"

#define CHECK(condition) do {						\
	if (!(condition)) {						\
		printf("%s:%d: not so: %s\n", __FILE__, __LINE__,	\
		    #condition);					\
		exit(1);						\
	}								\
} while (0)

#define CHECK_OK(rv, error) do {					\
	if ((rv) == -1) {						\
		printf("%s:%d: %s\n", __FILE__, __LINE__,		\
		    (error)->pe_text);					\
		exit(1);						\
	}								\
} while (0)

/* -------------------------------------------------------- randomness */

static uint64_t random_state = 1;

static inline uint64_t
rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state * 0x2545f4914f6cdd1dULL);
}

static inline uint32_t
below(uint32_t n)
{
	return ((uint32_t)((rnd() >> 32) % n));
}

/* Of all sizes, and the borders of varints with them. */
static inline uint64_t
any_number(void)
{
	switch (below(4)) {
	case 0:
		return (below(3));
	case 1:
		return (((uint64_t)1 << below(64)) - below(2));
	case 2:
		return (0 - (uint64_t)below(300));
	default:
		return (rnd() >> below(64));
	}
}

/* ------------------------------------------------------- made records */

#define MADE_FRAMES	600
#define MADE_TEXT	300
#define MADE_EVENTS	5

/* A record with everything that it points at. */
struct made {
	struct prof_record md_record;
	uint64_t	md_kernel[MADE_FRAMES];
	uint64_t	md_user[MADE_FRAMES];
	uint64_t	md_script[MADE_FRAMES];
	char		md_strs[PROF_MAX_ARGS][MADE_TEXT];
	char		md_comm[16];
	char		md_path[MADE_TEXT];
};

static inline void
made_text(char *text, uint32_t size)
{
	uint32_t len = below(4) == 0 ? below(size) : below(12), i;

	for (i = 0; i < len && i < size - 1; i++)
		text[i] = below(3) == 0 ? (char)(1 + below(255)) :
		    (char)('a' + below(3));
	text[i] = '\0';
}

/* Few callers and many paths; now and then very deep, or none. */
static inline uint32_t
made_frames(uint64_t *frames, uint64_t base)
{
	uint32_t count, i;

	switch (below(20)) {
	case 0:
		return (0);
	case 1:
		count = 1;
		break;
	case 2:
		count = 1 + below(MADE_FRAMES);
		break;
	default:
		count = 2 + below(30);
	}
	for (i = 0; i < count; i++)
		frames[i] = base + 64 * (count - i) + below(2);
	if (below(16) == 0)
		frames[below(count)] = any_number();
	return (count);
}

/* Of a few functions each; runs of frames end at boundaries. */
static inline uint32_t
made_script(uint64_t *frames)
{
	const uint32_t count = below(3) > 0 ? 0 : 1 +
	    below(below(20) == 0 ? MADE_FRAMES : 20);

	for (uint32_t i = 0; i < count; i++)
		frames[i] = i > 0 && below(6) == 0 ?
		    (uint64_t)PROF_FRAME_BOUNDARY << 56 | below(40) :
		    (uint64_t)(PROF_FRAME_PYTHON + below(4)) << 56 |
		    (uint64_t)below(3) << 48 |
		    (uint64_t)(1 + below(30)) << 24 |
		    (i == 0 ? below(1u << 24) : 2 * below(8));
	return (count);
}

static inline void
made_sample(struct made *made, uint64_t time_ns)
{
	struct prof_record *r = &made->md_record;
	uint32_t i;

	memset(made, 0, sizeof(*made));
	r->pr_type = PROF_R_SAMPLE;
	r->pr_event = below(MADE_EVENTS);
	r->pr_cpu = below(8) == 0 ? 1000 + below(2000) : below(4);
	r->pr_pid = below(8) == 0 ? (uint32_t)rnd() : 100 + below(3);
	r->pr_tid = r->pr_pid + below(3);
	r->pr_time_ns = time_ns;
	r->pr_in_kernel = (int)below(2);
	r->pr_nested = below(9) == 0;
	r->pr_weight = below(3) == 0 ? any_number() : 1000;
	r->pr_nkernel = below(2) ? made_frames(made->md_kernel,
	    0xffffffff81000000) : 0;
	r->pr_nuser = made_frames(made->md_user, 0x555555550000);
	if (below(50) == 0) {	/* the same list twice */
		memcpy(made->md_kernel, made->md_user,
		    sizeof(made->md_user));
		r->pr_nkernel = r->pr_nuser;
		made->md_kernel[0] ^= below(2);
	}
	r->pr_kernel = made->md_kernel;
	r->pr_user = made->md_user;
	r->pr_nscript = made_script(made->md_script);
	r->pr_script = made->md_script;
	r->pr_kstatus = (uint8_t)below(PROF_STACK_NSTATUS);
	r->pr_ustatus = (uint8_t)below(PROF_STACK_NSTATUS);
	r->pr_ip = below(10) == 0 ? any_number() :
	    r->pr_nkernel > 0 ? made->md_kernel[0] :
	    r->pr_nuser > 0 ? made->md_user[0] : 0;
	r->pr_nargs = below(PROF_MAX_ARGS + 1);
	for (i = 0; i < r->pr_nargs; i++) {
		if (below(4) == 0) {
			made_text(made->md_strs[i], MADE_TEXT);
			r->pr_strs[i] = made->md_strs[i];
		} else {
			r->pr_args[i] = any_number();
		}
	}
	r->pr_nvalues = below(2) ? below(PROF_MAX_VALUES + 1) : 0;
	for (i = 0; i < r->pr_nvalues; i++)
		r->pr_values[i] = any_number();
	if (r->pr_nvalues > 0 && below(3) == 0) {
		r->pr_values_running_ns = any_number() >> 1;
		r->pr_values_ns = r->pr_values_running_ns + 1 + below(1000);
	}
	if (below(3) == 0)
		made_text(made->md_comm, sizeof(made->md_comm));
	r->pr_comm = made->md_comm;
	r->pr_path = "";
}

static inline void
made_life(struct made *made, uint64_t time_ns)
{
	struct prof_record *r = &made->md_record;
	uint32_t i;

	memset(made, 0, sizeof(*made));
	r->pr_type = (enum prof_record_type)(PROF_R_SAMPLE + 1 +
	    below(PROF_R_KSYMBOL - PROF_R_SAMPLE));
	r->pr_event = below(MADE_EVENTS);
	r->pr_cpu = (uint32_t)any_number();
	r->pr_pid = (uint32_t)any_number();
	r->pr_tid = (uint32_t)any_number();
	r->pr_time_ns = time_ns;
	r->pr_weight = any_number();
	r->pr_ppid = (uint32_t)any_number();
	r->pr_ptid = (uint32_t)any_number();
	r->pr_code = (int)any_number();
	r->pr_group_dead = (int)below(2);
	r->pr_addr = any_number();
	r->pr_len = any_number();
	r->pr_offset = any_number();
	r->pr_prot = (uint32_t)any_number();
	r->pr_dev = any_number();
	r->pr_ino = any_number();
	r->pr_build_id_len = below(21);
	for (i = 0; i < r->pr_build_id_len; i++)
		r->pr_build_id[i] = (uint8_t)rnd();
	made_text(made->md_comm, sizeof(made->md_comm));
	made_text(made->md_path, sizeof(made->md_path));
	r->pr_comm = made->md_comm;
	r->pr_path = made->md_path;
}

static inline const char *
text_of(const char *text)
{
	return (text == NULL ? "" : text);
}

/* NULL: they say the same; else the member that does not. */
static inline const char *
difference(const struct prof_record *a, const struct prof_record *b)
{
	uint32_t i;

#define SAME(member) if (a->member != b->member) return (#member)
	SAME(pr_type); SAME(pr_event); SAME(pr_cpu); SAME(pr_pid);
	SAME(pr_tid); SAME(pr_time_ns); SAME(pr_in_kernel); SAME(pr_nested);
	SAME(pr_weight); SAME(pr_ip); SAME(pr_nargs); SAME(pr_nkernel);
	SAME(pr_nuser); SAME(pr_kstatus); SAME(pr_ustatus); SAME(pr_ppid);
	SAME(pr_nscript); SAME(pr_ptid);
	SAME(pr_code); SAME(pr_group_dead); SAME(pr_addr);
	SAME(pr_len); SAME(pr_offset); SAME(pr_prot); SAME(pr_dev);
	SAME(pr_ino); SAME(pr_build_id_len); SAME(pr_nvalues);
	SAME(pr_values_ns); SAME(pr_values_running_ns);
#undef SAME
	for (i = 0; i < a->pr_nvalues; i++)
		if (a->pr_values[i] != b->pr_values[i])
			return ("pr_values");
	for (i = 0; i < PROF_MAX_ARGS; i++) {
		if (a->pr_args[i] != b->pr_args[i])
			return ("pr_args");
		if ((a->pr_strs[i] == NULL) != (b->pr_strs[i] == NULL) ||
		    strcmp(text_of(a->pr_strs[i]), text_of(b->pr_strs[i])))
			return ("pr_strs");
	}
	if (a->pr_nkernel > 0 && memcmp(a->pr_kernel, b->pr_kernel,
	    a->pr_nkernel * sizeof(uint64_t)) != 0)
		return ("pr_kernel");
	if (a->pr_nuser > 0 && memcmp(a->pr_user, b->pr_user,
	    a->pr_nuser * sizeof(uint64_t)) != 0)
		return ("pr_user");
	if (a->pr_nscript > 0 && memcmp(a->pr_script, b->pr_script,
	    a->pr_nscript * sizeof(uint64_t)) != 0)
		return ("pr_script");
	if (strcmp(text_of(a->pr_comm), text_of(b->pr_comm)) != 0)
		return ("pr_comm");
	if (strcmp(text_of(a->pr_path), text_of(b->pr_path)) != 0)
		return ("pr_path");
	if (memcmp(a->pr_build_id, b->pr_build_id, 20) != 0)
		return ("pr_build_id");
	return (NULL);
}

/* ------------------------------------------------------------- files */

static char work_dir[256];

static inline void
work_dir_remove(void)
{
	char command[300];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", work_dir);
	if (system(command) != 0)
		printf("%s stays behind\n", work_dir);
}

/* A path in a directory of the test's own, which goes when it ends. */
static inline const char *
work_path(const char *name)
{
	static char path[400];
	const char *tmp = getenv("TMPDIR");

	if (work_dir[0] == '\0') {
		(void)snprintf(work_dir, sizeof(work_dir),
		    "%s/recording.XXXXXX", tmp != NULL ? tmp : "/tmp");
		CHECK(mkdtemp(work_dir) != NULL);
		atexit(work_dir_remove);
	}
	(void)snprintf(path, sizeof(path), "%s/%s", work_dir, name);
	return (path);
}

/* All of a file, owned by the caller. */
static inline uint8_t *
file_bytes(const char *path, size_t *length)
{
	FILE *file = fopen(path, "re");
	struct stat st;
	uint8_t *bytes;

	CHECK(file != NULL && fstat(fileno(file), &st) == 0);
	bytes = malloc((size_t)st.st_size + 1);
	CHECK(bytes != NULL);
	*length = fread(bytes, 1, (size_t)st.st_size, file);
	CHECK(*length == (size_t)st.st_size);
	(void)fclose(file);
	return (bytes);
}

/* Tell a writer of MADE_EVENTS events, the first being proc. */
static inline void
made_events(struct prof_writer *writer)
{
	static const char *const names[MADE_EVENTS] = {
		"proc", "cycles", "cpu-clock", "sched:sched_switch",
		"syscall::openat:entry"
	};
	struct prof_event_info info;
	uint32_t i;

	for (i = 0; i < MADE_EVENTS; i++) {
		memset(&info, 0, sizeof(info));
		info.pi_name = names[i];
		info.pi_probe = names[i];
		info.pi_provider = "pmc";
		info.pi_unit = i == 2 ? "ns" : "events";
		info.pi_period = i == 1 ? 1000 : 0;
		info.pi_frequency_hz = i == 2 ? 999 : 0;
		info.pi_nargs = i;
		info.pi_arg_names[0] = "dfd";
		info.pi_arg_types[0] = "int";
		info.pi_arg_is_signed[0] = 1;
		info.pi_arg_names[1] = info.pi_arg_types[1] = "char *";
		info.pi_arg_is_str[1] = 1;
		info.pi_arg_names[2] = info.pi_arg_types[2] = "";
		info.pi_arg_names[3] = info.pi_arg_types[3] = "u32";
		info.pi_is_syscall = i == 4;
		info.pi_parts = i * 3;
		CHECK_OK(prof_writer_event(writer, &info),
		    prof_writer_error(writer));
	}
}

/*
 * A small recording with a bit of everything, in several batches; the same
 * for the same seed.  samples and lives may be NULL.
 */
static inline void
made_recording(const char *path, uint64_t seed, uint32_t n, bool raw)
{
	struct prof_accounting rows[MADE_EVENTS];
	struct made *made = malloc(sizeof(*made));
	struct prof_writer *writer;
	struct prof_err error;
	uint64_t time_ns = 1000000;
	uint32_t i;

	CHECK(made != NULL);
	random_state = seed;
	writer = prof_writer_open(path, &error);
	if (writer == NULL)
		CHECK_OK(-1, &error);
	if (raw)
		prof_writer_raw(writer);
	CHECK(prof_writer_info(writer, "command", "made") == 0);
	made_events(writer);
	memset(rows, 0, sizeof(rows));
	for (i = 0; i < n; i++) {
		time_ns += below(5000);
		if (below(6) == 0)
			made_life(made, time_ns);
		else
			made_sample(made, time_ns);
		CHECK_OK(prof_writer_add(writer, &made->md_record),
		    prof_writer_error(writer));
		rows[1].pa_fired++;
		rows[1].pa_unaccounted = -(int64_t)i;
		if (i % (n / 4 + 1) == 3) {
			CHECK(prof_writer_accounting(writer, (int)i % 2, rows,
			    MADE_EVENTS) == 0);
			CHECK(prof_writer_flush(writer) == 0);
		}
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
	free(made);
}

/* All records of a reader, deep copies of what counts, as hashes. */
struct digest_list {
	uint64_t	*dl_hash;
	uint64_t	*dl_bare;	/* samples without their frames */
	size_t		 dl_count;
};

static inline uint64_t
digest_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len-- > 0)
		hash = (hash ^ *at++) * 0x100000001b3ULL;
	return (hash);
}

static inline uint64_t
digest_record(const struct prof_record *record, bool bare)
{
	struct prof_record copy = *record;
	uint64_t hash = 0xcbf29ce484222325ULL;
	uint32_t i;

	for (i = 0; i < PROF_MAX_ARGS; i++) {
		if (copy.pr_strs[i] != NULL)
			hash = digest_bytes(hash, copy.pr_strs[i],
			    strlen(copy.pr_strs[i]) + 1);
		hash = digest_bytes(hash, &copy.pr_args[i], 8);
	}
	hash = digest_bytes(hash, copy.pr_comm, strlen(copy.pr_comm));
	hash = digest_bytes(hash, copy.pr_path, strlen(copy.pr_path));
	hash = digest_bytes(hash, copy.pr_build_id, 20);
	hash = digest_bytes(hash, &copy.pr_time_ns, 8);
	hash = digest_bytes(hash, &copy.pr_weight, 8);
	hash = digest_bytes(hash, &copy.pr_ip, 8);
	hash = digest_bytes(hash, &copy.pr_type, sizeof(copy.pr_type));
	hash = digest_bytes(hash, &copy.pr_event, 16);
	if (bare)
		return (hash);
	hash = digest_bytes(hash, copy.pr_kernel, 8 * copy.pr_nkernel);
	hash = digest_bytes(hash, copy.pr_user, 8 * copy.pr_nuser);
	hash = digest_bytes(hash, copy.pr_script, 8 * copy.pr_nscript);
	hash = digest_bytes(hash, &copy.pr_kstatus, 1);
	return (digest_bytes(hash, &copy.pr_ustatus, 1));
}

static inline struct digest_list
digest_all(struct prof_reader *reader)
{
	struct digest_list list = { NULL, NULL, 0 };
	struct prof_record record;
	size_t cap = 0;
	int rv;

	while ((rv = prof_reader_record(reader, &record)) == 1) {
		if (list.dl_count == cap) {
			cap = cap == 0 ? 1024 : 2 * cap;
			list.dl_hash = realloc(list.dl_hash, cap * 8);
			list.dl_bare = realloc(list.dl_bare, cap * 8);
			CHECK(list.dl_hash != NULL && list.dl_bare != NULL);
		}
		list.dl_bare[list.dl_count] = digest_record(&record, true);
		list.dl_hash[list.dl_count++] = digest_record(&record, false);
	}
	CHECK(rv == 0);
	return (list);
}

static inline void
digest_free(struct digest_list *list)
{
	free(list->dl_hash);
	free(list->dl_bare);
}

#endif /* RECORDING_LIB_H */
