/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: recordings of many hosts, merged, have each stack by name with
 * the sum of its weights, the sum of all accounting, and of their times; 2,000
 * of them take no more memory than 200; and what does not add up is refused
 * with the reason.  Easy to get wrong: the same pid, address, kernel address,
 * inode or number of code is something else on each host, and the same
 * function lies elsewhere in each process.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "import/merge.h"
#include "process/stack.h"
#include "process/symbols.h"
#include "recording-lib.h"
#include "recording/frame.h"
#include "recording/sink.h"
#include "recording/table.h"

#define FEW		200
#define MANY		2000
#define HOSTS		4
#define SAMPLES		40
#define FUNCTIONS	4
#define SIZE		0x1000u
#define MEMORY_KB	6144	/* that ten times as many may take more */

static const char *const names[FUNCTIONS] = {
	"main", "parse", "render", "flush"
};

/* Stacks by name, and what they weigh. */
struct sum {
	char		su_name[160];
	uint64_t	su_weight;
};

#define SUMS	32768		/* by hash */

static struct sum expected[SUMS], found[SUMS];
static size_t nexpected, nfound;
static struct prof_accounting account;
static uint64_t total_ns, waited_ns;

static struct sum *
sum_at(struct sum *sums, const char *name)
{
	size_t i = digest_bytes(0, name, strlen(name)) % SUMS;

	while (sums[i].su_name[0] != '\0' &&
	    strcmp(sums[i].su_name, name) != 0)
		i = (i + 1) % SUMS;
	return (&sums[i]);
}

static void
sum_add(struct sum *sums, size_t *n, const char *name, uint64_t weight)
{
	struct sum *sum = sum_at(sums, name);

	CHECK(*n < SUMS / 2 && strlen(name) < sizeof(sum->su_name));
	if (sum->su_name[0] == '\0') {
		strcpy(sum->su_name, name);
		++*n;
	}
	sum->su_weight += weight;
}

/* ------------------------------------------------------------ one host */

struct host {
	struct prof_writer *ho_writer;
	unsigned	 ho_number;
	unsigned	 ho_build;
	uint32_t	 ho_pid;
	uint64_t	 ho_app;	/* where the program lies */
	uint64_t	 ho_jit;
	uint64_t	 ho_kernel;
	uint32_t	 ho_code;	/* number of the first script */
	uint64_t	 ho_time_ns;
	bool		 ho_has_id;
};

static void
put_table(struct host *host, const struct prof_table *head, uint64_t base,
    const char *suffix)
{
	struct prof_table table = *head;
	struct prof_buf body = { 0 };
	char name[64];

	prof_table_pack(&body, &table);
	for (unsigned n = 0; n < FUNCTIONS; n++) {
		snprintf(name, sizeof(name), "%s%s", names[n], suffix);
		prof_table_pack_function(&body, &table,
		    &(struct prof_table_function){ .tf_address = base +
		    n * SIZE, .tf_size = SIZE, .tf_name = name,
		    .tf_module = head->tb_kind == PROF_TABLE_KERNEL ?
		    "[kernel]" : "" });
	}
	CHECK(prof_writer_symbols(host->ho_writer, body.bf_data,
	    body.bf_len) == 0);
	prof_buf_free(&body);
}

static void
put_tables(struct host *host)
{
	struct prof_table file = { .tb_kind = PROF_TABLE_FILE,
	    .tb_path = "/srv/app", .tb_why = PROF_UNNAMED_NOSYM,
	    .tb_nsegments = 1, .tb_segment = { { 0, 1 << 20, 0 } },
	    .tb_dev = 1, .tb_ino = 77 };
	const struct prof_table kernel = { .tb_kind = PROF_TABLE_KERNEL,
	    .tb_why = PROF_UNNAMED_NOSYM };
	const struct prof_table jit = { .tb_kind = PROF_TABLE_JIT,
	    .tb_why = PROF_UNNAMED_ANON, .tb_pid = host->ho_pid,
	    .tb_time_ns = host->ho_time_ns };
	struct prof_buf body = { 0 };
	char suffix[32];

	if (host->ho_has_id) {
		file.tb_id_len = 1;
		file.tb_id[0] = (uint8_t)host->ho_build;
	}
	snprintf(suffix, sizeof(suffix), "_app%u", host->ho_build);
	put_table(host, &file, 0, suffix);
	put_table(host, &kernel, host->ho_kernel, "_kernel");
	put_table(host, &jit, host->ho_jit, "_jit");
	prof_table_pack(&body, &(struct prof_table){
	    .tb_kind = PROF_TABLE_SCRIPT });
	for (unsigned n = 0; n < FUNCTIONS; n++) {
		const struct prof_table_step step = { 4, n + 2 };

		prof_table_pack_code(&body, &(struct prof_table_code){
		    .tc_number = host->ho_code + n * 3, .tc_name = names[n],
		    .tc_file = "/srv/app.py", .tc_line = n + 1,
		    .tc_step = &step, .tc_nsteps = 1 });
	}
	CHECK(prof_writer_symbols(host->ho_writer, body.bf_data,
	    body.bf_len) == 0);
	prof_buf_free(&body);
}

static void
put_process(struct host *host)
{
	struct prof_record record = { .pr_type = PROF_R_TASK,
	    .pr_time_ns = host->ho_time_ns, .pr_pid = host->ho_pid,
	    .pr_tid = host->ho_pid, .pr_path = "", .pr_comm = "" };
	char comm[16];

	snprintf(comm, sizeof(comm), "app%u", host->ho_number % 3);
	record.pr_comm = comm;
	CHECK(prof_writer_add(host->ho_writer, &record) == 0);
	record.pr_type = PROF_R_MMAP;
	record.pr_addr = host->ho_app;
	record.pr_len = 1 << 20;
	record.pr_path = "/srv/app";
	record.pr_dev = 1;
	record.pr_ino = 77;	/* the same everywhere, and not the same */
	record.pr_build_id_len = host->ho_has_id;
	record.pr_build_id[0] = (uint8_t)host->ho_build;
	CHECK(prof_writer_add(host->ho_writer, &record) == 0);
	record.pr_addr = host->ho_jit;
	record.pr_path = "//anon";
	record.pr_build_id_len = 0;
	record.pr_dev = record.pr_ino = 0;
	CHECK(prof_writer_add(host->ho_writer, &record) == 0);
	record = (struct prof_record){ .pr_type = PROF_R_START,
	    .pr_time_ns = host->ho_time_ns, .pr_path = "", .pr_comm = "" };
	CHECK(prof_writer_add(host->ho_writer, &record) == 0);
}

/* The stack as pcs here, and as names in what is expected. */
static void
put_sample(struct host *host)
{
	const uint32_t k = below(FUNCTIONS), a = below(FUNCTIONS),
	    b = below(FUNCTIONS), j = below(FUNCTIONS), s = below(FUNCTIONS);
	const bool in_kernel = below(3) == 0, in_jit = below(3) == 0,
	    has_script = below(3) == 0, is_known = below(9) != 0;
	const uint64_t kernel[] = { host->ho_kernel + k * SIZE + below(SIZE) };
	/* A call in its last instruction returns behind its function. */
	const uint64_t user[] = { in_jit ? host->ho_jit + j * SIZE + 4 :
	    host->ho_app + a * SIZE + below(SIZE),
	    is_known ? host->ho_app + (b + 1) * SIZE : 0x10 };
	const uint64_t script[] = { (uint64_t)PROF_FRAME_PYTHON <<
	    PROF_WORD_KIND_SHIFT | (uint64_t)(host->ho_code + s * 3) <<
	    PROF_FRAME_INSTRUCTION_BITS | 5 };
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = 1, .pr_pid = host->ho_pid, .pr_tid = host->ho_pid,
	    .pr_time_ns = host->ho_time_ns, .pr_weight = 1 + below(1000),
	    .pr_in_kernel = in_kernel, .pr_kernel = kernel,
	    .pr_nkernel = in_kernel, .pr_user = user, .pr_nuser = 2,
	    .pr_script = script, .pr_nscript = has_script,
	    .pr_ip = in_kernel ? kernel[0] : user[0],
	    .pr_ustatus = PROF_STACK_OK, .pr_comm = "", .pr_path = "" };
	char name[256], leaf[64], second[64];

	snprintf(leaf, sizeof(leaf), in_jit ? "%s_jit" : "%s_app%u",
	    names[in_jit ? j : a], host->ho_build);
	if (is_known)
		snprintf(second, sizeof(second), "%s_app%u", names[b],
		    host->ho_build);
	else
		strcpy(second, "[not mapped]");
	snprintf(name, sizeof(name), "app%u;%s%s;%s;%s%s%s",
	    host->ho_number % 3, in_kernel ? names[k] : "",
	    in_kernel ? "_kernel" : "", leaf, second, has_script ?
	    ";[interpreter boundary];" : "", has_script ? names[s] : "");
	sum_add(expected, &nexpected, name, record.pr_weight);
	CHECK(prof_writer_add(host->ho_writer, &record) == 0);
}

static void
put_accounting(struct host *host)
{
	struct prof_accounting rows[2] = { { 0 } };

	for (int cpu = 0; cpu < 2; cpu++) {
		memset(rows, 0, sizeof(rows));
		rows[1].pa_stored = rows[1].pa_read = SAMPLES / 2;
		rows[1].pa_full = below(5);
		rows[1].pa_filtered = below(50);
		rows[1].pa_fired = rows[1].pa_stored + rows[1].pa_full +
		    rows[1].pa_filtered;
		rows[1].pa_ustack[PROF_STACK_OK] = rows[1].pa_stored;
		rows[1].pa_has_count = 1;
		rows[1].pa_count = 100 + below(100);
		rows[1].pa_unaccounted = -(int64_t)below(10);
		account.pa_stored += rows[1].pa_stored;
		account.pa_full += rows[1].pa_full;
		account.pa_filtered += rows[1].pa_filtered;
		account.pa_fired += rows[1].pa_fired;
		account.pa_count += rows[1].pa_count;
		account.pa_unaccounted += rows[1].pa_unaccounted;
		CHECK(prof_writer_accounting(host->ho_writer, cpu, rows, 2) ==
		    0);
	}
}

static void
put_about(struct host *host, const char *unit)
{
	const struct prof_event_info events[] = {
		{ .pi_name = "proc", .pi_probe = "proc:::",
		    .pi_provider = "proc", .pi_unit = "events" },
		{ .pi_name = "cpu-clock", .pi_probe = "pmc:::cpu-clock",
		    .pi_provider = "pmc", .pi_unit = unit,
		    .pi_period = 1000 },
	};
	char text[64];

	snprintf(text, sizeof(text), "boot-%u", host->ho_number % HOSTS);
	CHECK(prof_writer_info(host->ho_writer, "machine.boot", text) == 0);
	snprintf(text, sizeof(text), "host-%u", host->ho_number % HOSTS);
	CHECK(prof_writer_info(host->ho_writer, "machine.host", text) == 0);
	snprintf(text, sizeof(text), "%" PRIu64, host->ho_time_ns);
	CHECK(prof_writer_info(host->ho_writer, "time.monotonic_ns", text) ==
	    0);
	CHECK(prof_writer_info(host->ho_writer, "path", "bpf") == 0);
	CHECK(prof_writer_info(host->ho_writer, "snapshots.taken", "3") == 0);
	snprintf(text, sizeof(text), "%u", below(1000));
	waited_ns += strtoull(text, NULL, 10);
	CHECK(prof_writer_info(host->ho_writer, "waits.1.short_ns", text) ==
	    0);
	for (size_t e = 0; e < 2; e++)
		CHECK(prof_writer_event(host->ho_writer, &events[e]) == 0);
}

/* In memory first: nothing waits for the disk. */
static void
host_write(const char *path, unsigned number, const char *unit)
{
	const int memory = memfd_create("host", MFD_CLOEXEC);
	struct prof_err error = { 0 };
	struct host host = { .ho_number = number, .ho_build = number % 2,
	    .ho_has_id = number % 3 != 0,
	    .ho_writer = prof_writer_open_memory(memory, &error),
	    .ho_pid = 100 + below(5),
	    .ho_app = 0x550000000000 + ((uint64_t)below(4096) << 20),
	    .ho_jit = 0x7f0000000000 + ((uint64_t)below(4096) << 20),
	    .ho_kernel = 0xffffffff80000000 + ((uint64_t)below(64) << 21),
	    .ho_code = 1 + below(1000),
	    .ho_time_ns = 1 + ((uint64_t)number << 20) };
	struct prof_record stop = { .pr_type = PROF_R_STOP, .pr_path = "",
	    .pr_comm = "" };
	char buffer[1 << 16];
	FILE *file = fopen(path, "we");
	ssize_t n;

	CHECK(host.ho_writer != NULL && file != NULL);
	/* Without a build-id an inode tells apart, on one machine alone. */
	if (!host.ho_has_id)
		host.ho_build = number % HOSTS;
	put_about(&host, unit);
	total_ns -= host.ho_time_ns;
	put_process(&host);
	for (int i = 0; i < SAMPLES; i++) {
		host.ho_time_ns += 1 + below(1000);
		put_sample(&host);
	}
	host.ho_time_ns += below(1000);
	stop.pr_time_ns = host.ho_time_ns;
	total_ns += host.ho_time_ns;
	CHECK(prof_writer_add(host.ho_writer, &stop) == 0);
	put_tables(&host);
	put_accounting(&host);
	CHECK_OK(prof_writer_close(host.ho_writer, &error), &error);
	for (off_t at = 0; (n = pread(memory, buffer, sizeof(buffer), at)) >
	    0; at += n)
		CHECK(fwrite(buffer, 1, (size_t)n, file) == (size_t)n);
	CHECK(fclose(file) == 0 && close(memory) == 0);
}

/* ------------------------------------------------------------ all of it */

static const char *paths[MANY];

static void
see_sample(struct prof_symbols *symbols, const struct prof_record *record)
{
	struct prof_frame frames[8], kernel;
	size_t n = prof_record_stack(symbols, record,
	    PROF_FRAMES_ALL, frames, 8);
	const uint32_t space = prof_symbols_space(symbols, record->pr_pid,
	    record->pr_time_ns);
	char name[160];
	int at = snprintf(name, sizeof(name), "%s;", record->pr_comm);

	if (record->pr_nkernel > 0) {
		prof_frame_of_pc(record->pr_kernel[0], PROF_FRAME_KERNEL,
		    false, &kernel);
		CHECK(record->pr_ip == record->pr_kernel[0]);
		at += snprintf(name + at, sizeof(name) - (size_t)at, "%s",
		    prof_symbols_function(symbols, prof_symbols_find(symbols,
		    space, &kernel))->fu_name);
	}
	for (size_t i = 0; i < n; i++)
		at += snprintf(name + at, sizeof(name) - (size_t)at, ";%s",
		    prof_symbols_function(symbols, prof_symbols_find(symbols,
		    space, &frames[i]))->fu_name);
	sum_add(found, &nfound, name, record->pr_weight);
}

static void
see_all(const char *path)
{
	const struct prof_symbols_options options = {
		.so_size = sizeof(options), .so_only_recorded = 1,
	};
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(path, &error);
	struct prof_symbols *symbols;
	struct prof_accounting sum;
	struct prof_throttled throttled[2];
	struct prof_record record;
	const char *waits;
	struct prof_ran ran;

	CHECK(reader != NULL);
	symbols = prof_symbols_open(reader, &options, &error);
	CHECK(symbols != NULL);
	while (prof_reader_record(reader, &record) == 1)
		if (record.pr_type == PROF_R_SAMPLE)
			see_sample(symbols, &record);
	CHECK(prof_reader_accounting(reader, 1, -1, &sum) == 0);
	CHECK(sum.pa_fired == account.pa_fired);
	CHECK(sum.pa_stored == account.pa_stored);
	CHECK(sum.pa_written == account.pa_stored);
	CHECK(sum.pa_full == account.pa_full);
	CHECK(sum.pa_filtered == account.pa_filtered);
	CHECK(sum.pa_count == account.pa_count);
	CHECK(sum.pa_unaccounted == account.pa_unaccounted);
	waits = prof_reader_info(reader, "waits.1.short_ns");
	CHECK(waits != NULL && strtoull(waits, NULL, 10) == waited_ns);
	CHECK(prof_reader_throttled(reader, throttled, &ran) == 0);
	CHECK(ran.rn_is_known && ran.rn_ns == total_ns);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

static void
compare_sums(void)
{
	for (size_t i = 0; i < SUMS; i++) {
		const struct sum *sum = sum_at(found, expected[i].su_name);

		if (sum->su_weight != expected[i].su_weight) {
			printf("%s: %" PRIu64 ", not %" PRIu64 "\n",
			    expected[i].su_name, sum->su_weight,
			    expected[i].su_weight);
			exit(1);
		}
	}
	CHECK(nfound == nexpected);
}

/* In a process of its own; how much memory it took at most, in kB. */
static long
merge_in_child(size_t n, const char *output)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct prof_err error = { 0 };
		struct prof_import *import = prof_merge_new(paths, n, output,
		    &error);

		if (import == NULL)
			printf("%s\n", error.pe_text);
		fflush(stdout);
		_exit(import == NULL);
	}
	CHECK(pid != -1 && wait4(pid, &status, 0, &usage) == pid);
	CHECK(status == 0);
	return (usage.ru_maxrss);
}

static void
refused(const char *a, const char *b, const char *why)
{
	const char *const both[] = { a, b };
	struct prof_err error = { 0 };

	CHECK(prof_merge_new(both, 2, NULL, &error) == NULL);
	if (strstr(error.pe_text, why) == NULL) {
		printf("'%s' is not '%s'\n", error.pe_text, why);
		exit(1);
	}
}

int
main(void)
{
	char output[400], other[400];
	char name[32];
	long few, many;

	random_state = 30;
	strcpy(output, work_path("merged.dtp"));
	for (unsigned n = 0; n < MANY; n++) {
		snprintf(name, sizeof(name), "%u.dtp", n);
		paths[n] = strdup(work_path(name));
		CHECK(paths[n] != NULL);
		host_write(paths[n], n, "ns");
	}
	few = merge_in_child(FEW, output);
	many = merge_in_child(MANY, output);
	see_all(output);
	compare_sums();
	if (many > few + MEMORY_KB) {
		printf("%d recordings took %ld kB, %d took %ld kB\n", FEW,
		    few, MANY, many);
		return (1);
	}
	strcpy(other, work_path("other.dtp"));
	host_write(other, MANY, "events");
	refused(paths[0], other, "event 'cpu-clock' has another unit");
	refused(paths[0], paths[0], "the same recording is given twice");
	refused(paths[0], "-", "standard input cannot be merged");
	printf("%d recordings: %zu stacks by name, accounting and time add "
	    "up; memory: %ld kB for %d, %ld kB for %d\n", MANY, nexpected,
	    few, FEW, many, MANY);
	return (0);
}
