/* SPDX-License-Identifier: ISC */
/*
 * Makes two recordings of the same samples: one that holds names, and one
 * that does not, as an imported one.  Says what keeping names costs.
 *
 *	names [-1] [-c CPUs] [-p processes] [-t threads] samples addresses
 *	    leaves with.dtp without.dtp file ...
 *
 * Addresses lie in functions of the files, as many in each; 22 frames, 4096
 * lists of callers with so many innermost places ("leaves") each.  Each
 * process has the files elsewhere in its memory, and so many threads; -1 makes
 * the first recording alone.
 * "Added" is what the thread of the drain does, its CPU time.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "broker/broker.h"
#include "elf/build_id.h"
#include "elf/symtab.h"
#include "elf/view.h"
#include "process/symbolize.h"
#include "recording/write.h"

#define FRAMES	22
#define PATHS	4096
#define PID	1000
#define FIRST	0x7f0000000000u
#define APART	(1ULL << 32)
#define PAGE	4095ULL
#define BEGIN	5000000000000ULL
#define SHIFT	(16 * (PAGE + 1))	/* from process to process */

static uint64_t frames[PATHS][FRAMES], *address;
static size_t naddresses;
static uint64_t leaves, processes = 1, threads = 1, cpus = 1;
static uint64_t random_state;

static uint64_t
rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state * 0x2545f4914f6cdd1dULL);
}

static double
cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return ((double)now.tv_sec + (double)now.tv_nsec / 1e9);
}

static void
fail(const char *what)
{
	(void)fprintf(stderr, "names: %s\n", what);
	exit(1);
}

/* As many of its functions as are wanted, spread over all of them. */
static void
take_addresses(const char *path, uint64_t base, size_t want)
{
	int fd = open(path, O_RDONLY);
	struct prof_symtab *table = fd == -1 ? NULL : prof_symtab_of_elf(fd,
	    NULL);
	struct prof_symbol symbol;
	size_t n, count;

	if (table == NULL)
		fail(path);
	count = prof_symtab_count(table);
	for (n = 0; n < want; n++) {
		prof_symtab_at(table, n * count / want % count, &symbol);
		address[naddresses++] = base + symbol.sy_address +
		    (symbol.sy_size > 1 ? 1 + rnd() % (symbol.sy_size - 1) :
		    0);
	}
	prof_symtab_free(table);
	close(fd);
}

static void
add_event(struct prof_writer *writer, struct prof_noted *noted,
    const struct prof_record *record)
{
	if (prof_writer_add(writer, record) == -1 || (noted != NULL &&
	    prof_noted_event(noted, record) == -1))
		fail("cannot write");
}

static uint32_t
pid_of(uint64_t process)
{
	return ((uint32_t)(PID + process * threads));
}

/* Into every process. */
static void
map(struct prof_writer *writer, struct prof_noted *noted, const char *path,
    uint64_t base)
{
	struct prof_record record = { .pr_type = PROF_R_MMAP,
	    .pr_time_ns = BEGIN, .pr_path = path, .pr_comm = "",
	    .pr_prot = 5 };
	uint64_t process;
	int fd = open(path, O_RDONLY);
	struct prof_elf elf;
	Elf64_Phdr ph;
	size_t n;

	if (fd == -1 || prof_elf_open(&elf, fd) == -1)
		fail(path);
	record.pr_build_id_len = prof_build_id_of_file(fd,
	    record.pr_build_id);
	for (n = 0; prof_elf_segment(&elf, n, &ph); n++) {
		if (ph.p_type != PT_LOAD || (ph.p_flags & PF_X) == 0)
			continue;
		record.pr_offset = ph.p_offset & ~PAGE;
		record.pr_len = (ph.p_filesz + (ph.p_vaddr & PAGE) + PAGE) &
		    ~PAGE;
		for (process = 0; process < processes; process++) {
			record.pr_pid = record.pr_tid = pid_of(process);
			record.pr_addr = base + process * SHIFT +
			    (ph.p_vaddr & ~PAGE);
			add_event(writer, noted, &record);
		}
	}
	prof_elf_close(&elf);
	close(fd);
}

static int
put(void *writer, const void *body, size_t len)
{
	return (prof_writer_symbols(writer, body, len));
}

/* Of any process, thread and CPU.  Of many processes each does few things. */
static void
any_sample(struct prof_record *record, uint64_t *stack)
{
	uint64_t each = PATHS / processes < 64 ? 64 : PATHS / processes;
	uint64_t process = rnd() % processes;
	uint64_t path = (process * each + rnd() % each) % PATHS;
	size_t n;

	stack[0] = address[(path * leaves + rnd() % leaves) % naddresses];
	memcpy(stack + 1, frames[path] + 1, (FRAMES - 1) * sizeof(*stack));
	for (n = 0; n < FRAMES; n++)
		stack[n] += process * SHIFT;
	record->pr_ip = stack[0];
	record->pr_pid = pid_of(process);
	record->pr_tid = record->pr_pid + (uint32_t)(rnd() % threads);
	record->pr_cpu = (uint32_t)(rnd() % cpus);
	record->pr_time_ns += 1000 + rnd() % 1000;
}

static void
add_samples(struct prof_writer *writer, struct prof_noted *noted, uint64_t n)
{
	uint64_t stack[FRAMES];
	struct prof_record record = { .pr_type = PROF_R_SAMPLE, .pr_event = 1,
	    .pr_nuser = FRAMES, .pr_user = stack,
	    .pr_ustatus = PROF_STACK_OK, .pr_comm = "", .pr_weight = 1,
	    .pr_time_ns = BEGIN };
	uint32_t kernel, user;
	uint64_t i;

	for (i = 0; i < n; i++) {
		any_sample(&record, stack);
		if (prof_writer_add(writer, &record) == -1)
			fail("cannot write");
		if (noted == NULL)
			continue;
		prof_writer_stacks(writer, &kernel, &user);
		prof_noted_sample(noted, &record, kernel, user);
		if (i % 4096 == 4095 && prof_noted_round(noted) == -1)
			fail("no memory");
	}
}

/* What adding a sample took, ns. */
static double
make(const char *path, char **files, bool keep, uint64_t n)
{
	struct prof_event_info process = { .pi_name = "", .pi_probe = "",
	    .pi_provider = "proc", .pi_unit = "" };
	struct prof_event_info info = { .pi_name = "e", .pi_probe = "e",
	    .pi_provider = "pmc", .pi_unit = "events", .pi_period = 1 };
	struct prof_noted *noted = keep ? prof_noted_new(PROF_PROCESSES_PERF) :
	    NULL;
	struct prof_noted_stats stats;
	struct prof_err error;
	struct prof_broker *broker = keep ? prof_broker_new(&error) : NULL;
	struct prof_writer *writer = prof_writer_open(path, &error);
	double start, took;
	size_t i;

	if (writer == NULL || prof_writer_event(writer, &process) == -1 ||
	    prof_writer_event(writer, &info) == -1)
		fail(path);
	for (i = 0; files[i] != NULL; i++)
		map(writer, noted, files[i], FIRST + i * APART);
	random_state = 7;
	start = cpu_s();
	add_samples(writer, noted, n);
	took = (cpu_s() - start) / (double)n * 1e9;
	if (noted != NULL && (prof_noted_round(noted) == -1 ||
	    prof_noted_tables(noted, broker, put, writer, &stats) == -1))
		fail("no names");
	if (noted != NULL)
		printf("%" PRIu64 " samples, %" PRIu64 " places, %" PRIu64
		    " functions\n", n, stats.ns_places, stats.ns_functions);
	prof_noted_free(noted);
	prof_broker_free(broker);
	if (prof_writer_close(writer, &error) == -1)
		fail(path);
	return (took);
}

/* Returns the first argument that is no option. */
static int
options(int argc, char *argv[], bool *one)
{
	uint64_t *number;
	int option;

	while ((option = getopt(argc, argv, "+1c:p:t:")) != -1) {
		if (option == '1') {
			*one = true;
			continue;
		}
		number = option == 'c' ? &cpus : option == 'p' ? &processes :
		    option == 't' ? &threads : NULL;
		if (number == NULL || (*number = strtoull(optarg, NULL, 10)) ==
		    0)
			fail("-1, -c CPUs, -p processes, -t threads");
	}
	return (optind);
}

int
main(int argc, char *argv[])
{
	bool one = false;
	double with;
	uint64_t samples, want;
	size_t i, nfiles;

	argv += options(argc, argv, &one) - 1;
	for (nfiles = 0; argv[nfiles + 1] != NULL; nfiles++)
		continue;
	if (nfiles < 6)
		fail("samples addresses leaves with.dtp without.dtp file ...");
	nfiles -= 5;
	samples = strtoull(argv[1], NULL, 10);
	want = strtoull(argv[2], NULL, 10);
	leaves = strtoull(argv[3], NULL, 10);
	address = calloc(want + 1, sizeof(*address));
	if (address == NULL || leaves == 0 || want < nfiles)
		fail("no addresses");
	random_state = 42;
	for (i = 0; i < nfiles; i++)
		take_addresses(argv[6 + i], FIRST + i * APART, want / nfiles);
	for (i = 0; i < PATHS * FRAMES; i++)
		frames[i / FRAMES][i % FRAMES] = address[i % naddresses];
	with = make(argv[4], argv + 6, true, samples);
	printf("a sample added: %.0f ns", with);
	if (!one)
		printf(", %.0f of them for names", with - make(argv[5],
		    argv + 6, false, samples));
	printf("\n");
	return (0);
}
