/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: the time of waits whose stacks chance decided not to walk is
 * divided among those of the same group for which it decided to, in proportion
 * to their time and to the number of others for which each of them stands;
 * every total is what was measured, to the nanosecond, also if the numbers do
 * not divide.  Waits of which chance did not decide keep their time.  Where
 * none of a group was walked, and where each sample is shown at its time,
 * nothing is divided, and what was not walked has no stack.  Waits of different
 * states, and those that a thread ended and those that an interrupt ended, are
 * never one group, even if the report does not show these.
 *
 * Easy to get wrong: what was always walked stands for itself alone; a wait
 * that a thread ended is not idle, so no idle wait stands for it.
 */
#include "recording-lib.h"

#define SURE_NS		1000u
#define ONE_NS		2000u
#define OTHER_NS	1000u
#define UNWALKED_NS	20011u
#define ALONE_NS	777u
#define WOKEN_NS	5003u
#define RUNNABLE_NS	307u
#define STEP	3u
#define OTHERS	15u	/* for which one with step 4 stands */

#define PC		0xffffffffc0001000u
#define FUNCTION_BYTES	0x100u

enum { EVENT_WAITS = 1 };

static const char *const functions[] = { "surely", "one", "other" };
enum function { SURELY, ONE, OTHER, NOT_WALKED };

/* What a wait is without its stack. */
static const struct wait {
	const char	*wt_state;
	const char	*wt_waker;
	uint32_t	 wt_tid;
} interrupt = { "blocked", "interrupt", 0 }, woken = { "blocked", "main", 1 },
    runnable = { "runnable", "interrupt", 0 };

static void
add_wait(struct prof_writer *writer, uint32_t tid, const struct wait *wait,
    enum function function, uint8_t step, uint64_t weight)
{
	const uint64_t pc = PC + FUNCTION_BYTES * function;
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = EVENT_WAITS, .pr_pid = 1, .pr_tid = tid,
	    .pr_comm = "", .pr_path = "", .pr_weight = weight,
	    .pr_nargs = 3, .pr_strs = { wait->wt_state, wait->wt_waker },
	    .pr_args = { 0, 0, wait->wt_tid }, .pr_by_chance = step };
	static uint64_t now;

	record.pr_time_ns = ++now;
	if (function != NOT_WALKED) {
		record.pr_in_kernel = 1;
		record.pr_nkernel = 1;
		record.pr_kernel = &pc;
		record.pr_ip = pc;
		record.pr_kstatus = PROF_STACK_OK;
	}
	CHECK(prof_writer_add(writer, &record) == 0);
}

static void
add(struct prof_writer *writer, uint32_t tid, enum function function,
    uint8_t step, uint64_t weight)
{
	add_wait(writer, tid, &interrupt, function, step, weight);
}

static void
write_file(const char *path)
{
	const struct prof_event_info infos[] = {
		{ .pi_name = "proc", .pi_probe = "proc", .pi_unit = "events",
		    .pi_provider = "proc" },
		{ .pi_name = "off-cpu", .pi_probe = "off-cpu",
		    .pi_provider = "wait", .pi_unit = "ns", .pi_nargs = 3,
		    .pi_arg_names = { "state", "waker", "waker_tid" },
		    .pi_arg_types = { "const char *", "const char *",
		    "unsigned int" }, .pi_arg_is_str = { 1, 1, 0 } },
	};
	struct prof_writer *writer;
	struct prof_err error;

	CHECK((writer = prof_writer_open(path, &error)) != NULL);
	for (size_t n = 0; n < sizeof(infos) / sizeof(infos[0]); n++)
		CHECK(prof_writer_event(writer, &infos[n]) == 0);
	for (size_t n = 0; n < NOT_WALKED; n++)
		CHECK(prof_writer_add(writer, &(struct prof_record){
		    .pr_type = PROF_R_KSYMBOL, .pr_comm = "",
		    .pr_addr = PC + FUNCTION_BYTES * n,
		    .pr_len = FUNCTION_BYTES, .pr_path = functions[n] }) == 0);
	add(writer, 1, SURELY, 0, SURE_NS);
	add(writer, 1, ONE, STEP, ONE_NS);
	add(writer, 1, OTHER, STEP, OTHER_NS);
	add(writer, 1, NOT_WALKED, STEP, UNWALKED_NS);
	add(writer, 2, NOT_WALKED, STEP, ALONE_NS);
	add(writer, 3, ONE, STEP, ONE_NS);
	add(writer, 3, NOT_WALKED, STEP, UNWALKED_NS);
	add_wait(writer, 3, &woken, NOT_WALKED, STEP, WOKEN_NS);
	add_wait(writer, 3, &runnable, NOT_WALKED, STEP, RUNNABLE_NS);
	add(writer, 4, ONE, 1, ONE_NS);
	add(writer, 4, OTHER, 4, OTHER_NS);
	add(writer, 4, NOT_WALKED, 2, UNWALKED_NS);
	CHECK(prof_writer_close(writer, &error) == 0);
}

/* Of the thread, in the function. */
static uint64_t
weight_at(const struct prof_profile *profile, const char *thread,
    const char *name)
{
	const struct prof_tree_node *nodes = prof_profile_nodes(profile);
	const uint64_t *self = prof_profile_self(profile, EVENT_WAITS);
	uint64_t sum = 0;

	for (uint32_t n = 1; n < prof_profile_nnodes(profile); n++) {
		if (self[n] == 0 || strcmp(prof_profile_label(profile,
		    nodes[n].pt_label)->lb_name, name) != 0)
			continue;
		for (uint32_t at = n; at != 0; at = nodes[at].pt_parent)
			if (strncmp(prof_profile_label(profile,
			    nodes[at].pt_label)->lb_name, thread,
			    strlen(thread)) == 0) {
				sum += self[n];
				break;
			}
	}
	return (sum);
}

static void
check_profile(const char *path, bool is_by_time)
{
	const struct prof_profile_options options = {
	    .pl_size = sizeof(options), .pl_roots = PROF_ROOT_TID,
	    .pl_bucket_ns = is_by_time ? 1 : 0, .pl_max_buckets = 64 };
	const uint64_t by_chance = ONE_NS + OTHER_NS + UNWALKED_NS,
	    by_interrupt = ONE_NS + UNWALKED_NS,
	    others = WOKEN_NS + RUNNABLE_NS,
	    of_one = is_by_time ? 0 : UNWALKED_NS * ONE_NS /
	    (ONE_NS + OTHERS * OTHER_NS);
	struct prof_quality quality;
	struct prof_symbols *symbols;
	struct prof_profile *profile;
	struct prof_reader *reader;
	struct prof_err error;
	uint64_t one, other, none;

	CHECK((reader = prof_reader_open(path, &error)) != NULL);
	CHECK((symbols = prof_symbols_open(reader, NULL, &error)) != NULL);
	profile = prof_profile_new(reader, symbols, &options, &error);
	CHECK(profile != NULL);
	prof_profile_quality(profile, EVENT_WAITS, &quality);
	one = weight_at(profile, "1 ", "one");
	other = weight_at(profile, "1 ", "other");
	none = weight_at(profile, "1 ", "[no stack recorded]");
	printf("%llu, %llu, %llu; %s\n", (unsigned long long)one,
	    (unsigned long long)other, (unsigned long long)none,
	    quality.pq_text);
	CHECK(quality.pq_weight == SURE_NS + by_chance + ALONE_NS +
	    by_interrupt + others + by_chance);
	CHECK(quality.pq_samples == 12);
	CHECK(weight_at(profile, "1 ", "surely") == SURE_NS);
	CHECK(weight_at(profile, "2 ", "[no stack recorded]") == ALONE_NS);
	CHECK(one + other + none == by_chance);
	CHECK(weight_at(profile, "3 ", "one") == (is_by_time ? ONE_NS :
	    by_interrupt));
	CHECK(weight_at(profile, "3 ", "[no stack recorded]") == others +
	    (is_by_time ? UNWALKED_NS : 0));
	CHECK(weight_at(profile, "4 ", "one") == ONE_NS + of_one);
	CHECK(weight_at(profile, "4 ", "other") == OTHER_NS + (is_by_time ? 0 :
	    UNWALKED_NS - of_one));
	if (is_by_time) {
		CHECK(one == ONE_NS && other == OTHER_NS);
		CHECK(strstr(quality.pq_text, "has no stack") != NULL);
	} else {
		CHECK(one == by_chance * ONE_NS / (ONE_NS + OTHER_NS) ||
		    one == by_chance * ONE_NS / (ONE_NS + OTHER_NS) + 1);
		CHECK(none == 0);
		CHECK(strstr(quality.pq_text, "estimated") != NULL);
	}
	prof_profile_free(profile);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

int
main(void)
{
	const char *path = work_path("x.dtp");

	write_file(path);
	check_profile(path, false);
	check_profile(path, true);
	return (0);
}
