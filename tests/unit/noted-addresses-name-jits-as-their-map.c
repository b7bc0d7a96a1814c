/*
 * ASSERTION: What a recording keeps of the map of a JIT gives each place that
 * samples met the name that the map has for it, whatever lines overlap there:
 * the later one's.
 *
 * Easy to get wrong: a recording keeps no order of lines, and of functions
 * that overlap in it the inner one wins.
 */
/* SPDX-License-Identifier: ISC */
#include <string.h>
#include <unistd.h>

#include "broker/broker.h"
#include "cli-check.h"
#include "elf/symtab.h"
#include "process/symbolize.h"
#include "recording/table.h"

#define BASE	0x700000000000ULL
#define SPACE	400
#define MANY	40
#define ROUNDS	200

static uint64_t	random_state = 1;
static int	owner[SPACE];	/* by the map; -1: nobody */
static char	map_path[64];

static unsigned
below(unsigned n)
{
	random_state = random_state * 6364136223846793005ULL + 1;
	return ((unsigned)(random_state >> 33) % n);
}

/* Lines as they come, of which later ones lie on earlier ones. */
static void
write_map(void)
{
	FILE *file = fopen(map_path, "w");
	const int n = 1 + (int)below(MANY);

	CHECK(file != NULL, "no %s", map_path);
	for (int i = 0; i < SPACE; i++)
		owner[i] = -1;
	for (int line = 0; line < n; line++) {
		const unsigned from = below(SPACE);
		const unsigned size = 1 + below(SPACE - from);

		for (unsigned i = from; i < from + size; i++)
			owner[i] = line;
		fprintf(file, "%llx %x f%d\n", BASE + from, size, line);
	}
	CHECK(fclose(file) == 0, "%s", map_path);
}

static int
keep(void *arg, const void *body, size_t len)
{
	struct prof_cur cur = prof_cur_of(body, len);
	struct prof_table_function function;
	struct prof_symtab *kept = arg;
	struct prof_table table;

	CHECK(prof_table_unpack(&cur, &table) == 1 &&
	    table.tb_kind == PROF_TABLE_JIT, "no table of a JIT");
	while (prof_table_unpack_function(&cur, &table, &function) == 1)
		CHECK(prof_symtab_add(kept, function.tf_address,
		    function.tf_size, function.tf_name), "no memory");
	return (0);
}

static void
meet(struct prof_noted *noted, uint64_t pc)
{
	const struct prof_record sample = {
		.pr_type = PROF_R_SAMPLE, .pr_pid = (uint32_t)getpid(),
		.pr_time_ns = 20, .pr_user = &pc, .pr_nuser = 1,
		.pr_ip = pc, .pr_comm = "", .pr_path = "",
	};

	prof_noted_sample(noted, &sample, 0, 0);
}

static int
one_round(void)
{
	struct prof_record event = {
		.pr_type = PROF_R_TASK, .pr_pid = (uint32_t)getpid(),
		.pr_tid = (uint32_t)getpid(), .pr_time_ns = 10,
		.pr_comm = "", .pr_path = "",
	};
	struct prof_noted *noted = prof_noted_new(PROF_PROCESSES_ALL);
	struct prof_symtab *kept = prof_symtab_new();
	struct prof_noted_stats stats;
	struct prof_symbol symbol;
	struct prof_err error;
	struct prof_broker *broker = prof_broker_new(&error);
	int named = 0;

	write_map();
	CHECK(noted != NULL && kept != NULL && broker != NULL, "no memory");
	CHECK(prof_noted_event(noted, &event) == 0, "no memory");
	event.pr_type = PROF_R_MMAP;
	event.pr_addr = BASE;
	event.pr_len = SPACE;
	event.pr_path = "//anon";
	CHECK(prof_noted_event(noted, &event) == 0, "no memory");
	for (unsigned i = 0; i < SPACE; i++)
		meet(noted, BASE + i);
	CHECK(prof_noted_round(noted) == 0, "no memory");
	CHECK(prof_noted_tables(noted, broker, keep, kept, &stats) == 0,
	    "no tables");
	CHECK(prof_symtab_sort(kept), "no memory");
	for (unsigned i = 0; i < SPACE; i++) {
		const bool is_there = prof_symtab_find(kept, BASE + i,
		    &symbol);

		CHECK(is_there == (owner[i] != -1), "at %u", i);
		if (!is_there)
			continue;
		CHECK(atoi(symbol.sy_name + 1) == owner[i], "at %u: %s, not "
		    "f%d", i, symbol.sy_name, owner[i]);
		named++;
	}
	prof_symtab_free(kept);
	prof_noted_free(noted);
	prof_broker_free(broker);
	return (named);
}

static void
forget_map(void)
{
	(void)unlink(map_path);
}

int
main(void)
{
	int named = 0;

	(void)snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map",
	    (int)getpid());
	atexit(forget_map);
	for (int i = 0; i < ROUNDS; i++)
		named += one_round();
	CHECK(named > ROUNDS * SPACE / 2, "only %d", named);
	OK("%d places have the names that their maps give", named);
	return (0);
}
