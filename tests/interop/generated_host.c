/* SPDX-License-Identifier: ISC */
/*
 * Writes the recording of a host that does not exist, whose sums are known,
 * and prints them: event, samples, weight, fired, lost, one line each.
 *
 * usage: generated_host FILE SEED [KEY=VALUE ...]
 *
 *	samples, seconds	how many, over what time (10000, 130)
 *	stacks, functions	how many different ones (2000, 1000)
 *	threads, cpus		(40, 8)
 *	start			of the recording, seconds since 1970 (now)
 *	graph			seed of the call graph (1)
 *	host, boot		texts (h, b)
 *
 * Stacks are paths of a call graph, 12 to 40 frames deep, the same for the
 * same graph; few of them have most samples.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recording/table.h"
#include "recording/write.h"

#define TEXT		0x400000u
#define SIZE		0x40u		/* of a function */
#define PATH		"/usr/bin/server"
#define LEAST		12u
#define DEEPEST		40u
#define EVENTS		3u
#define S		1000000000ULL

struct wanted {
	uint64_t	 samples, seconds, stacks, functions, threads, cpus,
			 start, graph;
	const char	*host, *boot;
};

struct made {
	struct wanted	 w;
	uint64_t	 random;
	uint64_t	(*stack)[DEEPEST];
	uint8_t		*depth;
	struct prof_accounting sum[EVENTS];
	struct prof_writer *writer;
};

static const struct {
	const char	*name, *provider, *unit;
	uint64_t	 period;
} events[EVENTS] = {
	{ "proc", "proc", "events", 1 },
	{ "cpu-clock", "profile", "ns", 52631578 },
	{ "page-faults", "pmc", "events", 1 },
};

static uint64_t
drawn(struct made *made)
{
	made->random ^= made->random << 13;
	made->random ^= made->random >> 7;
	made->random ^= made->random << 17;
	return (made->random * 0x2545f4914f6cdd1dULL >> 16);
}

static void
number_of(struct wanted *w, const char *text)
{
	static const struct {
		const char	*key;
		size_t		 at;
	} keys[] = {
#define KEY(name) { #name "=", offsetof(struct wanted, name) }
		KEY(samples), KEY(seconds), KEY(stacks), KEY(functions),
		KEY(threads), KEY(cpus), KEY(start), KEY(graph),
#undef KEY
	};

	if (strncmp(text, "host=", 5) == 0)
		w->host = text + 5;
	if (strncmp(text, "boot=", 5) == 0)
		w->boot = text + 5;
	for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); n++)
		if (strncmp(text, keys[n].key, strlen(keys[n].key)) == 0)
			*(uint64_t *)(void *)((char *)w + keys[n].at) =
			    strtoull(text + strlen(keys[n].key), NULL, 10);
}

/* A function calls four others, which are known by its number. */
static void
make_stacks(struct made *made)
{
	const uint64_t seed = made->random;

	made->random = made->w.graph * 2 + 1;
	made->stack = calloc(made->w.stacks, sizeof(*made->stack));
	made->depth = calloc(made->w.stacks, 1);
	if (made->stack == NULL || made->depth == NULL)
		exit(1);
	for (uint64_t n = 0; n < made->w.stacks; n++) {
		const unsigned depth = LEAST + (unsigned)(drawn(made) %
		    (DEEPEST - LEAST + 1));
		uint64_t function = 0;

		made->depth[n] = (uint8_t)depth;
		for (unsigned i = depth; i-- > 0; ) {
			made->stack[n][i] = TEXT + function * SIZE + 0x10;
			function = (function * 2654435761u + 1 +
			    drawn(made) % 4) % made->w.functions;
		}
	}
	made->random = seed;
}

static void
put_names(struct made *made)
{
	struct prof_table table = { .tb_kind = PROF_TABLE_FILE,
	    .tb_path = PATH, .tb_why = PROF_UNNAMED_NOSYM, .tb_nsegments = 1,
	    .tb_segment = { { 0, made->w.functions * SIZE, 0 } },
	    .tb_id_len = 20, .tb_id = { 1, 2, 3 } };
	struct prof_buf body = { 0 };
	char name[32];

	prof_table_pack(&body, &table);
	for (uint64_t n = 0; n < made->w.functions; n++) {
		snprintf(name, sizeof(name), "function_%" PRIu64, n);
		prof_table_pack_function(&body, &table,
		    &(struct prof_table_function){ .tf_address = SIZE * n,
		    .tf_size = SIZE, .tf_name = name, .tf_module = "" });
	}
	(void)prof_writer_symbols(made->writer, body.bf_data, body.bf_len);
	prof_buf_free(&body);
}

static void
put_head(struct made *made, uint64_t mono_ns)
{
	struct prof_record record = { .pr_type = PROF_R_TASK, .pr_path = "",
	    .pr_time_ns = mono_ns, .pr_pid = 100 };
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, made->w.start * (uint64_t)S);
	(void)prof_writer_info(made->writer, "time.realtime_ns", text);
	snprintf(text, sizeof(text), "%" PRIu64, mono_ns);
	(void)prof_writer_info(made->writer, "time.monotonic_ns", text);
	(void)prof_writer_info(made->writer, "machine.host", made->w.host);
	(void)prof_writer_info(made->writer, "machine.boot", made->w.boot);
	(void)prof_writer_info(made->writer, "command", "server");
	for (unsigned e = 0; e < EVENTS; e++)
		(void)prof_writer_event(made->writer,
		    &(struct prof_event_info){ .pi_name = events[e].name,
		    .pi_probe = events[e].name,
		    .pi_provider = events[e].provider,
		    .pi_unit = events[e].unit,
		    .pi_period = events[e].period });
	for (uint64_t n = 0; n < made->w.threads; n++) {
		snprintf(text, 16, "worker-%" PRIu64, n % 4);
		record.pr_tid = 100 + (uint32_t)n;
		record.pr_comm = text;
		(void)prof_writer_add(made->writer, &record);
	}
	record = (struct prof_record){ .pr_type = PROF_R_MMAP,
	    .pr_time_ns = mono_ns, .pr_pid = 100, .pr_tid = 100,
	    .pr_addr = TEXT, .pr_len = made->w.functions * SIZE,
	    .pr_path = PATH, .pr_comm = "", .pr_build_id_len = 20,
	    .pr_build_id = { 1, 2, 3 } };
	(void)prof_writer_add(made->writer, &record);
}

static void
put_sample(struct made *made, uint64_t time_ns)
{
	const unsigned event = drawn(made) % 8 == 0 ? 2 : 1;
	/* Of numbers below N, small ones more often. */
	const uint64_t n = drawn(made) % (1 + drawn(made) % made->w.stacks);
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = event, .pr_pid = 100, .pr_path = "", .pr_comm = "",
	    .pr_time_ns = time_ns, .pr_user = made->stack[n],
	    .pr_nuser = made->depth[n], .pr_ip = made->stack[n][0],
	    .pr_weight = events[event].period,
	    .pr_ustatus = PROF_STACK_OK };
	struct prof_accounting *sum = &made->sum[event];

	record.pr_tid = 100 + (uint32_t)(drawn(made) % made->w.threads);
	record.pr_cpu = (uint32_t)(drawn(made) % made->w.cpus);
	if (drawn(made) % 997 == 0) {
		record.pr_type = PROF_R_LOST;
		record.pr_weight = 1 + drawn(made) % 5;
		record.pr_addr = time_ns - 1000;
		sum->pa_full += record.pr_weight;
		sum->pa_fired += record.pr_weight;
	} else {
		sum->pa_fired++;
		sum->pa_stored++;
		sum->pa_read++;
		sum->pa_weight += record.pr_weight;
		sum->pa_ustack[PROF_STACK_OK]++;
	}
	(void)prof_writer_add(made->writer, &record);
}

static int
host_make(struct made *made, const char *path)
{
	const uint64_t from_ns = (1000 + drawn(made) % 100000) * S;
	struct prof_record mark = { .pr_type = PROF_R_START, .pr_comm = "",
	    .pr_path = "", .pr_time_ns = from_ns };
	struct prof_err error = { 0 };

	made->writer = prof_writer_open(path, &error);
	if (made->writer == NULL)
		return (-1);
	make_stacks(made);
	put_head(made, from_ns);
	(void)prof_writer_add(made->writer, &mark);
	for (uint64_t n = 0; n < made->w.samples; n++)
		put_sample(made, from_ns + (uint64_t)((double)n /
		    (double)made->w.samples * (double)made->w.seconds * 1e9));
	mark.pr_type = PROF_R_STOP;
	mark.pr_time_ns = from_ns + made->w.seconds * S;
	(void)prof_writer_add(made->writer, &mark);
	put_names(made);
	(void)prof_writer_accounting(made->writer, -1, made->sum, EVENTS);
	return (prof_writer_close(made->writer, &error));
}

int
main(int argc, char **argv)
{
	struct made made = { .w = { .samples = 10000, .seconds = 130,
	    .stacks = 2000, .functions = 1000, .threads = 40, .cpus = 8,
	    .start = (uint64_t)time(NULL), .graph = 1, .host = "h",
	    .boot = "b" } };

	if (argc < 3)
		return (2);
	made.random = strtoull(argv[2], NULL, 10) * 2 + 1;
	for (int n = 3; n < argc; n++)
		number_of(&made.w, argv[n]);
	for (int n = 0; n < 20; n++)
		(void)drawn(&made);
	if (host_make(&made, argv[1]) == -1)
		return (1);
	for (unsigned e = 1; e < EVENTS; e++)
		printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
		    "\n", events[e].name, made.sum[e].pa_stored,
		    made.sum[e].pa_weight, made.sum[e].pa_fired,
		    made.sum[e].pa_full);
	return (0);
}
