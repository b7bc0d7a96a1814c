/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: after prof_reader_elapsed, profiles have the samples of off-cpu
 * and of running time as samples of one event, in nanoseconds, each with its
 * state; lost samples of both are lost of it.  Samples of a clock weigh their
 * period, samples of cycles their share of the running time that was counted.
 * The idle task has no elapsed time, other events stay as they are, and so do
 * records in order of time.  Without waits, or if only a part of the running
 * time was sampled, it is refused.
 *
 * Easy to get wrong: the columns of samples keep what the one before had, and
 * the u of a modifier may follow a slash, while the h of 997hz is none.
 */
#include "recording-lib.h"

#define RUNNING_NS	5000000u	/* as counted at context switches */
#define WAITED_NS	7000000u
#define SAMPLES		10u
#define LOST		5u

enum { EVENT_RUNNING = 1, EVENT_WAITS, EVENT_OTHER };

static void
add(struct prof_writer *writer, uint32_t event, uint32_t pid, uint64_t weight)
{
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = event, .pr_pid = pid, .pr_tid = pid, .pr_comm = "",
	    .pr_path = "", .pr_weight = weight };
	static uint64_t now;

	record.pr_time_ns = ++now;
	if (event == EVENT_WAITS) {
		record.pr_nargs = 2;
		record.pr_strs[0] = "blocked";
		record.pr_args[1] = 1;
	}
	CHECK(prof_writer_add(writer, &record) == 0);
}

static void
write_file(const char *path, const char *running, const char *unit,
    const char *limit)
{
	struct prof_event_info infos[] = {
		{ .pi_name = "proc" },
		{ .pi_name = running, .pi_unit = unit, .pi_period = 1000 },
		{ .pi_name = "off-cpu", .pi_provider = "wait",
		    .pi_unit = "ns", .pi_nargs = 2,
		    .pi_arg_names = { "state", "prev_state" },
		    .pi_arg_types = { "const char *", "unsigned int" },
		    .pi_arg_is_str = { 1, 0 } },
		{ .pi_name = "faults", .pi_unit = "events", .pi_period = 1 },
	};
	struct prof_accounting accounts[] = { [EVENT_WAITS] = {
	    .pa_fired = SAMPLES + LOST, .pa_stored = SAMPLES,
	    .pa_full = LOST }, [EVENT_OTHER] = { 0 } };
	struct prof_writer *writer;
	struct prof_err error;
	char text[32];

	CHECK((writer = prof_writer_open(path, &error)) != NULL);
	for (size_t n = 0; n < sizeof(infos) / sizeof(infos[0]); n++) {
		infos[n].pi_probe = infos[n].pi_name;
		if (infos[n].pi_unit == NULL)
			infos[n].pi_unit = "events";
		if (infos[n].pi_provider == NULL)
			infos[n].pi_provider = strncmp(infos[n].pi_name,
			    "profile:", 8) == 0 ? "profile" : "pmc";
		CHECK(prof_writer_event(writer, &infos[n]) == 0);
	}
	snprintf(text, sizeof(text), "%u", RUNNING_NS);
	CHECK(prof_writer_info(writer, "waits.2.running_ns", text) == 0);
	if (limit != NULL)
		CHECK(prof_writer_info(writer, limit, "yes") == 0);
	for (unsigned n = 0; n < SAMPLES; n++) {
		add(writer, EVENT_RUNNING, 1, 1000 * (n % 2 + 1));
		add(writer, EVENT_WAITS, 1, WAITED_NS / SAMPLES);
		add(writer, EVENT_OTHER, 1, 1);
		add(writer, EVENT_RUNNING, 0, 1000000);
	}
	CHECK(prof_writer_accounting(writer, 0, accounts,
	    EVENT_OTHER + 1) == 0);
	CHECK(prof_writer_close(writer, &error) == 0);
}

/* By state: what is below the node of its name. */
static uint64_t
state_weight(const struct prof_profile *profile, size_t event,
    const char *state)
{
	const struct prof_tree_node *nodes = prof_profile_nodes(profile);
	const uint64_t *self = prof_profile_self(profile, event);
	uint64_t sum = 0;

	for (uint32_t n = 1; n < prof_profile_nnodes(profile); n++)
		for (uint32_t at = n; at != 0; at = nodes[at].pt_parent)
			if (strcmp(prof_profile_label(profile,
			    nodes[at].pt_label)->lb_name, state) == 0)
				sum += self[n];
	return (sum);
}

static void
check_profile(const char *path, uint64_t running_ns)
{
	static const char *const args[] = { "state" };
	const struct prof_profile_options options = { .pl_size =
	    sizeof(options), .pl_roots = PROF_ROOT_ARGS, .pl_args = args,
	    .pl_nargs = 1 };
	const struct prof_entry *entry;
	struct prof_quality quality;
	struct prof_symbols *symbols;
	struct prof_profile *profile;
	struct prof_reader *reader;
	struct prof_err error;
	unsigned samples = 0;
	int event;

	CHECK((reader = prof_reader_open(path, &error)) != NULL);
	CHECK((event = prof_reader_elapsed(reader)) == EVENT_OTHER + 1);
	CHECK(prof_reader_elapsed(reader) == event);
	CHECK((symbols = prof_symbols_open(reader, NULL, &error)) != NULL);
	profile = prof_profile_new(reader, symbols, &options, &error);
	CHECK(profile != NULL);
	prof_profile_quality(profile, (size_t)event, &quality);
	printf("%s: %llu ns, lost %g\n", path,
	    (unsigned long long)quality.pq_weight, quality.pq_lost);
	CHECK(quality.pq_samples == 2 * SAMPLES);
	CHECK(quality.pq_lost == prof_lost_share(SAMPLES, LOST));
	CHECK(state_weight(profile, (size_t)event, "blocked") == WAITED_NS);
	CHECK(state_weight(profile, (size_t)event, "running") == running_ns);
	CHECK(quality.pq_weight == WAITED_NS + running_ns);
	CHECK(prof_profile_count(profile, EVENT_RUNNING) == 0);
	CHECK(prof_profile_count(profile, EVENT_WAITS) == 0);
	CHECK(prof_profile_weight(profile, EVENT_OTHER) == SAMPLES);
	while (prof_reader_next(reader, &entry) == 1)
		samples += entry->en_sample != NULL &&
		    entry->en_event == EVENT_RUNNING;
	CHECK(samples == 2 * SAMPLES);
	prof_profile_free(profile);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

static void
check_refused(const char *path)
{
	struct prof_reader *reader;
	struct prof_err error;

	CHECK((reader = prof_reader_open(path, &error)) != NULL);
	CHECK(prof_reader_elapsed(reader) == -1);
	printf("%s: %s\n", prof_reader_error(reader)->pe_text,
	    prof_reader_error(reader)->pe_cure);
	CHECK(prof_reader_error(reader)->pe_cure[0] != '\0');
	prof_reader_close(reader);
}

int
main(void)
{
	static const char *const clocks[] = { "cpu-clock", "profile:::997hz",
	    "cpu-clock/period=1000/", "cpu-clock/freq=99/p" };
	static const char *const parts[] = { "cpu-clock:u", "profile:::997hz:k",
	    "cpu-clock/freq=99/u", "cpu-clock{pid == 1}" };
	const char *path = work_path("x.dtp");

	for (size_t n = 0; n < sizeof(clocks) / sizeof(clocks[0]); n++) {
		write_file(path, clocks[n], "ns", "filter");
		check_profile(path, SAMPLES / 2 * (1000 + 2000));
	}
	write_file(path, "cycles", "cycles", NULL);
	check_profile(path, RUNNING_NS);
	write_file(path, "cycles", "cycles", "filter");
	check_refused(path);
	write_file(path, "cycles", "cycles", "merged");
	check_refused(path);
	write_file(path, "cpu-clock", "ns", "user_only");
	check_refused(path);
	for (size_t n = 0; n < sizeof(parts) / sizeof(parts[0]); n++) {
		write_file(path, parts[n], "ns", NULL);
		check_refused(path);
	}
	write_file(path, "cycles{pid == 1}", "cycles", NULL);
	check_refused(path);
	return (0);
}
