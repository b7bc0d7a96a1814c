/* SPDX-License-Identifier: ISC */
/*
 * A recording of one run of a program that is on and off the CPU:
 *
 *	make_states out.dtp SEED [STATE FUNCTION PERMILLE | running]
 *
 * Each of ten functions has time in each state of threads, as the table below
 * says, which varies from run to run by some percent: all of a run by one
 * factor, each state of a function by another.  STATE of FUNCTION takes
 * PERMILLE of its time: 1500 is 50 % more.  With running alone the recording
 * has no waits.  Used by tests of comparisons by state.
 */
#include <math.h>

#include "../unit/recording-lib.h"

#define BEGIN		5000000000ULL
#define KERNEL		0xffffffff81000000ULL
#define FUNCTIONS	10
#define SAMPLES		12	/* of a function in a state */
#define NSTATES		3

static const char *const states[NSTATES] = { "running", "runnable",
    "blocked" };

/* In us, by function. */
static const uint32_t time_us[NSTATES][FUNCTIONS] = {
	{ 40000, 30000, 20000, 10000, 8000, 6000, 4000, 3000, 2000, 1000 },
	{ 9000, 1000, 3000, 0, 500, 4000, 800, 2000, 300, 0 },
	{ 5000, 0, 60000, 30000, 0, 20000, 12000, 0, 7000, 3000 },
};

static struct prof_writer *writer;
static uint64_t now_ns = BEGIN;

static void
record_add(struct prof_record record)
{
	if (record.pr_comm == NULL)
		record.pr_comm = "";
	if (record.pr_path == NULL)
		record.pr_path = "";
	record.pr_time_ns = now_ns;
	CHECK_OK(prof_writer_add(writer, &record), prof_writer_error(writer));
}

static void
write_events(bool has_waits)
{
	struct prof_event_info info[3] = {
		{ .pi_name = "proc", .pi_unit = "events",
		    .pi_provider = "process" },
		{ .pi_name = "cpu-clock", .pi_unit = "ns", .pi_provider = "pmc",
		    .pi_frequency_hz = 1000 },
		{ .pi_name = "off-cpu", .pi_unit = "ns", .pi_provider = "wait",
		    .pi_nargs = 3,
		    .pi_arg_names = { "state", "prev_state", "reason" },
		    .pi_arg_types = { "const char *", "unsigned int",
		    "const char *" },
		    .pi_arg_is_str = { 1, 0, 1 } },
	};
	char name[32];

	for (size_t i = 0; i < (has_waits ? 3 : 2); i++) {
		info[i].pi_probe = info[i].pi_name;
		CHECK_OK(prof_writer_event(writer, &info[i]),
		    prof_writer_error(writer));
	}
	record_add((struct prof_record){ .pr_type = PROF_R_START });
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "work_%u", i);
		record_add((struct prof_record){ .pr_type = PROF_R_KSYMBOL,
		    .pr_addr = KERNEL + i * 4096, .pr_len = 4096,
		    .pr_path = name });
	}
	record_add((struct prof_record){ .pr_type = PROF_R_TASK,
	    .pr_pid = 1000, .pr_tid = 1000, .pr_comm = "made" });
}

/* About 1; rnd() is uniform, and the sum of four of them nearly normal. */
static double
noise(double spread)
{
	double sum = -2;

	for (int n = 0; n < 4; n++)
		sum += (double)below(1u << 30) / (double)(1u << 30);
	return (exp(spread * sum * sqrt(3)));
}

static void
write_sample(int state, uint32_t function, uint64_t weight_ns)
{
	static const char *const reasons[] = { "futex", "read", "sleep" };
	const uint64_t frame = KERNEL + function * 4096ULL + 16;
	struct prof_record record = {
		.pr_type = PROF_R_SAMPLE, .pr_event = state == 0 ? 1 : 2,
		.pr_pid = 1000, .pr_tid = 1000, .pr_weight = weight_ns,
		.pr_in_kernel = 1, .pr_ip = frame, .pr_nkernel = 1,
		.pr_kernel = &frame, .pr_kstatus = PROF_STACK_OK,
	};

	if (state != 0) {
		record.pr_nargs = 3;
		record.pr_strs[0] = states[state];
		record.pr_args[1] = state == 2;
		record.pr_strs[2] = state == 1 ? "preempted" :
		    reasons[function % 3];
	}
	now_ns += weight_ns;
	record_add(record);
}

int
main(int argc, char **argv)
{
	const uint32_t planted = argc == 6 ?
	    (uint32_t)strtoul(argv[4], NULL, 10) : FUNCTIONS;
	struct prof_err error = { 0 };
	double whole;

	if (argc < 3 || argc == 5 || argc > 6)
		return (2);
	random_state = 2 * strtoull(argv[2], NULL, 10) + 1;
	for (int n = 0; n < 20; n++)	/* near seeds begin alike */
		(void)rnd();
	whole = noise(0.02);
	writer = prof_writer_open(argv[1], &error);
	CHECK(writer != NULL);
	CHECK(prof_writer_info(writer, "command", "made --states") == 0);
	write_events(argc != 4);
	for (int s = 0; s < (argc == 4 ? 1 : NSTATES); s++)
		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			const double more = f == planted && strcmp(states[s],
			    argv[3]) == 0 ? strtod(argv[5], NULL) / 1000 : 1;
			const double ns = 1000 * whole * more * noise(0.05) *
			    time_us[s][f] / SAMPLES;

			for (int n = 0; n < SAMPLES && ns > 0; n++)
				write_sample(s, f, (uint64_t)ns);
		}
	record_add((struct prof_record){ .pr_type = PROF_R_STOP });
	CHECK_OK(prof_writer_close(writer, &error), &error);
	return (0);
}
