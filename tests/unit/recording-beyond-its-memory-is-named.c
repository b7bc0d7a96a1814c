/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a small recording that claims many processes, mappings, files or
 * names is read within memory that belongs to its size; what is beyond is left
 * out and said, and code that it would have named is not given another's name.
 * Its samples are all in a profile.
 *
 * Easy to get wrong: what was mapped before the budget ended still stands
 * there, and would name the code of a program that came later.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "abi/dtp_abi.h"
#include "process/symbols.h"
#include "recording-lib.h"
#include "recording/table.h"

#define PLACE		0x10000000ull
#define FORKS		400000u
#define MAPPINGS	70000u
#define ONE_HAS		32768	/* a process keeps so many at least */
#define FILES		30000u
#define LONG		4000
#define NAMES		2000
#define LIMIT_KIB	(160 << 10)

/* Something that is too much, and where that is seen. */
struct too_much {
	const char	*tm_what;
	void		(*tm_write)(struct prof_writer *writer);
	const char	*tm_note;
	uint32_t	tm_pid;		/* whose code has no name then */
	enum prof_unnamed tm_why;
	unsigned long	tm_least;	/* so many were left out */
};

int	main(void);

static uint64_t now_ns;

static void
add(struct prof_writer *writer, struct prof_record record)
{
	record.pr_time_ns = ++now_ns;
	record.pr_tid = record.pr_pid;
	record.pr_comm = "";
	if (record.pr_path == NULL)
		record.pr_path = "";
	CHECK_OK(prof_writer_add(writer, &record), prof_writer_error(writer));
}

static void
map(struct prof_writer *writer, uint32_t pid, uint64_t address, uint64_t ino,
    const char *path)
{
	add(writer, (struct prof_record){ .pr_type = PROF_R_MMAP,
	    .pr_pid = pid, .pr_addr = address, .pr_len = 4096, .pr_ino = ino,
	    .pr_path = path });
}

static void
many_processes(struct prof_writer *writer)
{
	for (uint32_t n = 0; n < FORKS; n++)
		add(writer, (struct prof_record){ .pr_type = PROF_R_FORK,
		    .pr_pid = 1000 + n, .pr_ppid = 1, .pr_ptid = 1 });
	/* Another program in the place of the first one. */
	add(writer, (struct prof_record){ .pr_type = PROF_R_EXEC,
	    .pr_pid = 7 });
	map(writer, 7, PLACE, 2, "/nonexistent/later");
}

static void
many_after_start(struct prof_writer *writer)
{
	now_ns += 1000000;
	add(writer, (struct prof_record){ .pr_type = PROF_R_START });
	now_ns += 2000000000;
	many_processes(writer);
}

static void
many_mappings(struct prof_writer *writer)
{
	add(writer, (struct prof_record){ .pr_type = PROF_R_TASK,
	    .pr_pid = 8 });
	map(writer, 8, PLACE, 1, "/nonexistent/program");
	for (uint32_t n = 0; n < MAPPINGS; n++)
		map(writer, 8, 2 * PLACE + 8192ull * n, 1,
		    "/nonexistent/program");
}

static void
many_files(struct prof_writer *writer)
{
	static char path[LONG];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	add(writer, (struct prof_record){ .pr_type = PROF_R_TASK,
	    .pr_pid = 8 });
	for (uint32_t n = 0; n < FILES; n++)
		map(writer, 8, PLACE, 100 + n, path);
}

static void
many_names(struct prof_writer *writer)
{
	struct prof_table table = { .tb_kind = PROF_TABLE_FILE,
	    .tb_path = "/nonexistent/program", .tb_ino = 1 };
	struct prof_table_function function = { .tf_size = 16,
	    .tf_module = "" };
	static char name[LONG];
	struct prof_buf body = { 0 };

	memset(name, 'x', sizeof(name) - 1);
	function.tf_name = name;
	prof_table_pack(&body, &table);
	for (uint32_t n = 0; n < NAMES; n++) {
		function.tf_address = 16 * n;
		prof_table_pack_function(&body, &table, &function);
	}
	CHECK_OK(prof_writer_symbols(writer, body.bf_data, body.bf_len),
	    prof_writer_error(writer));
	prof_buf_free(&body);
}

/* That of process events, and one that samples. */
static void
add_events(struct prof_writer *writer)
{
	struct prof_event_info info = { .pi_name = "proc", .pi_probe = "p",
	    .pi_provider = "p", .pi_unit = "events", .pi_period = 1 };

	CHECK_OK(prof_writer_event(writer, &info), prof_writer_error(writer));
	info.pi_name = "samples";
	info.pi_parts = DTP_P_USTACK;
	CHECK_OK(prof_writer_event(writer, &info), prof_writer_error(writer));
}

static void
sample(struct prof_writer *writer)
{
	static const uint64_t frame = PLACE;

	add(writer, (struct prof_record){ .pr_type = PROF_R_SAMPLE,
	    .pr_event = 1, .pr_pid = 7, .pr_weight = 1, .pr_ip = PLACE,
	    .pr_user = &frame, .pr_nuser = 1, .pr_ustatus = PROF_STACK_OK });
}

static void
write_file(const char *path, const struct too_much *much)
{
	struct prof_err error = { 0 };
	struct prof_writer *writer = prof_writer_open(path, &error);

	CHECK_OK(writer == NULL ? -1 : 0, &error);
	now_ns = 0;
	add_events(writer);
	add(writer, (struct prof_record){ .pr_type = PROF_R_TASK,
	    .pr_pid = 7 });
	map(writer, 7, PLACE, 1, "/nonexistent/program");
	sample(writer);
	much->tm_write(writer);
	sample(writer);
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

static enum prof_unnamed
why_at(struct prof_symbols *symbols, uint32_t pid, uint64_t time_ns)
{
	const uint32_t space = prof_symbols_space(symbols, pid, time_ns);

	return (prof_symbols_function(symbols, prof_symbols_find(symbols,
	    space, &(struct prof_frame){ PLACE, PROF_FRAME_NATIVE, 0 }))->
	    fu_unnamed);
}

static uint64_t
profile_weight(struct prof_reader *reader, struct prof_symbols *symbols)
{
	const struct prof_profile_options options = {
	    .pl_size = sizeof(options) };
	struct prof_err error = { 0 };
	struct prof_profile *profile = prof_profile_new(reader, symbols,
	    &options, &error);
	uint64_t weight = 0;

	CHECK_OK(profile == NULL ? -1 : 0, &error);
	for (size_t n = 0; n < prof_profile_nnodes(profile); n++)
		weight += prof_profile_self(profile, 1)[n];
	prof_profile_free(profile);
	return (weight);
}

static void
look(const char *path, const struct too_much *much)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(path, &error);
	struct prof_symbols *symbols;
	const char *note = "";
	enum prof_unnamed why;

	CHECK_OK(reader == NULL ? -1 : 0, &error);
	symbols = prof_symbols_open(reader, NULL, &error);
	CHECK_OK(symbols == NULL ? -1 : 0, &error);
	CHECK(why_at(symbols, 7, 3) == PROF_UNNAMED_NOFILE);
	CHECK(profile_weight(reader, symbols) == 2);
	why = why_at(symbols, much->tm_pid, now_ns);
	if (why != much->tm_why)
		printf("%s: reason %d\n", much->tm_what, (int)why);
	CHECK(why == much->tm_why);
	for (size_t n = 0; note != NULL &&
	    strstr(note, "memory budget") == NULL; n++)
		note = prof_symbols_limit(symbols, n);
	printf("%s: %s\n", much->tm_what, note == NULL ? "not said" : note);
	CHECK(note != NULL && strstr(note, much->tm_note) != NULL);
	CHECK(strtoul(note + strcspn(note, "0123456789"), NULL, 10) >=
	    much->tm_least);
	/* Where no start is known, no time since then is. */
	CHECK(strstr(much->tm_note, "from") != NULL ||
	    strstr(note, "from") == NULL);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

static void
try(const struct too_much *much)
{
	char path[] = "/tmp/recording-beyond.XXXXXX";
	struct rusage usage;
	struct stat st;
	int status;
	pid_t pid;

	CHECK(mkdtemp(path) != NULL && rmdir(path) == 0);
	write_file(path, much);
	CHECK(stat(path, &st) == 0);
	fflush(stdout);
	if ((pid = fork()) == 0) {
		look(path, much);
		exit(0);
	}
	CHECK(wait4(pid, &status, 0, &usage) == pid && status == 0);
	printf("%s: %lld bytes, %ld kB\n", much->tm_what,
	    (long long)st.st_size, usage.ru_maxrss);
#if !defined(__SANITIZE_ADDRESS__)	/* which takes room of its own */
	CHECK(usage.ru_maxrss < LIMIT_KIB);
#endif
	CHECK(unlink(path) == 0);
}

int
main(void)
{
	static const struct too_much much[] = {
		{ "processes", many_processes, "process and mapping events",
		    7, PROF_UNNAMED_OVER, 2 },
		{ "processes later", many_after_start, ", from 2.000 s on,",
		    7, PROF_UNNAMED_OVER, 2 },
		{ "mappings", many_mappings, "mappings", 8,
		    PROF_UNNAMED_OVER, ONE_HAS },
		{ "files", many_files, "mappings", 8, PROF_UNNAMED_OVER,
		    FILES / 2 },
		{ "names", many_names, "symbol tables", 7,
		    PROF_UNNAMED_NOFILE, 1 },
	};

	for (size_t n = 0; n < sizeof(much) / sizeof(much[0]); n++)
		try(&much[n]);
	return (0);
}
