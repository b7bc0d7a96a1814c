/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: what a profile takes is bounded by the size of its recording: a
 * deep stack that many threads have, by threads and reversed, and samples that
 * are all different.  Beyond that stacks stand together under a name that says
 * so, no weight is lost, and the profile is the same on one CPU as on all.
 *
 * Easy to get wrong: a file of 9 kB said 1.7 GB of tree.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include <sched.h>

#include "abi/dtp_abi.h"
#include "recording-lib.h"

#define DEEP		8000
#define LIMIT_KIB	(128 << 10)

struct what {
	const char	*wh_name;
	unsigned	 wh_depth;
	unsigned	 wh_samples;
	unsigned	 wh_leaves;	/* different ones */
	unsigned	 wh_threads;	/* one behind the other */
	int		 wh_reverse;
};

struct seen {
	uint64_t	se_weight;
	uint64_t	se_nodes;
	uint64_t	se_over;	/* weight beyond the budget */
	uint64_t	se_hash;
	uint64_t	se_says;
	uint64_t	se_kib;
};

int	main(void);

static void
write_file(const char *path, const struct what *what)
{
	struct prof_event_info info = { .pi_name = "lives", .pi_probe = "p",
	    .pi_provider = "p", .pi_unit = "events", .pi_period = 1 };
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_event = 1, .pr_weight = 1, .pr_ustatus = PROF_STACK_OK,
	    .pr_comm = "", .pr_path = "" };
	static uint64_t frames[DEEP];
	struct prof_writer *writer;
	struct prof_err error;

	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	CHECK(prof_writer_event(writer, &info) == 0);
	info.pi_name = "samples";
	info.pi_parts = DTP_P_USTACK;
	CHECK(prof_writer_event(writer, &info) == 0);
	for (unsigned i = 0; i < what->wh_depth; i++)
		frames[i] = 0x1000 + 16 * i;
	record.pr_user = frames;
	record.pr_nuser = what->wh_depth;
	for (unsigned n = 0; n < what->wh_samples; n++) {
		record.pr_pid = record.pr_tid = 1 + n /
		    (what->wh_samples / what->wh_threads);
		record.pr_time_ns = n;
		frames[0] = record.pr_ip = 0x100000 +
		    16 * (uint64_t)(n % what->wh_leaves);
		CHECK(prof_writer_add(writer, &record) == 0);
	}
	CHECK(prof_writer_close(writer, &error) == 0);
}

static struct seen
look(const char *path, const struct what *what)
{
	const struct prof_profile_options options = {
	    .pl_size = sizeof(options), .pl_roots = PROF_ROOT_TID,
	    .pl_bucket_ns = 1, .pl_max_buckets = 10000,
	    .pl_reverse = what->wh_reverse };
	struct prof_reader *reader;
	struct prof_symbols *symbols;
	struct prof_profile *profile;
	struct prof_quality quality;
	const struct prof_tree_node *node;
	const struct prof_label *label;
	struct seen seen = { 0 };
	struct prof_err error = { 0 };
	const uint64_t *self;
	struct rusage usage;

	CHECK((reader = prof_reader_open(path, &error)) != NULL);
	CHECK((symbols = prof_symbols_open(reader, NULL, &error)) != NULL);
	profile = prof_profile_new(reader, symbols, &options, &error);
	CHECK_OK(profile == NULL ? -1 : 0, &error);
	CHECK((self = prof_profile_self(profile, 1)) != NULL);
	seen.se_nodes = prof_profile_nnodes(profile);
	node = prof_profile_nodes(profile);
	for (size_t n = 0; n < seen.se_nodes; n++) {
		label = prof_profile_label(profile, node[n].pt_label);
		seen.se_weight += self[n];
		if (label->lb_kind == PROF_LABEL_OVER)
			seen.se_over += self[n];
		seen.se_hash = (seen.se_hash ^ node[n].pt_parent ^ self[n] ^
		    (uint64_t)label->lb_name[0] << 32) * 0x9e3779b97f4a7c15;
	}
	prof_profile_quality(profile, 1, &quality);
	seen.se_says = strstr(quality.pq_text, "memory budget") != NULL;
	prof_profile_free(profile);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
	getrusage(RUSAGE_SELF, &usage);
	seen.se_kib = (uint64_t)usage.ru_maxrss;
	return (seen);
}

/* In a process of its own, whose memory is measured; is_alone: on one CPU. */
static struct seen
look_apart(const char *path, const struct what *what, bool is_alone)
{
	const int cpu = sched_getcpu();
	cpu_set_t set;
	struct seen seen = { 0 };
	int pipes[2], status;
	pid_t pid;

	CHECK(pipe(pipes) == 0);
	if ((pid = fork()) == 0) {
		CPU_ZERO(&set);
		CPU_SET((size_t)cpu, &set);
		CHECK(!is_alone ||
		    sched_setaffinity(0, sizeof(set), &set) == 0);
		seen = look(path, what);
		_exit(write(pipes[1], &seen, sizeof(seen)) !=
		    (ssize_t)sizeof(seen));
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(read(pipes[0], &seen, sizeof(seen)) == (ssize_t)sizeof(seen));
	close(pipes[0]);
	close(pipes[1]);
	return (seen);
}

static void
try(const struct what *what, bool is_over)
{
	char path[] = "/tmp/profile-small.XXXXXX";
	struct seen seen, again;
	struct stat st;

	CHECK(mkdtemp(path) != NULL && rmdir(path) == 0);
	write_file(path, what);
	CHECK(stat(path, &st) == 0);
	seen = look_apart(path, what, false);
	again = look_apart(path, what, true);
	printf("%s: %lld bytes, %" PRIu64 " kB, %" PRIu64 " nodes, %" PRIu64
	    " of %u beyond the budget\n", what->wh_name,
	    (long long)st.st_size, seen.se_kib, seen.se_nodes, seen.se_over,
	    what->wh_samples);
	CHECK(seen.se_weight == what->wh_samples);
	CHECK(seen.se_hash == again.se_hash);
	CHECK(seen.se_kib < LIMIT_KIB + 4 * (uint64_t)st.st_size / 1024);
	CHECK((seen.se_over > 0) == is_over);
	CHECK(seen.se_says == is_over);
	CHECK(unlink(path) == 0);
}

int
main(void)
{
	static const struct what plain = { "a plain one", 100, 2000, 50, 2,
	    0 };
	static const struct what whats[] = {
		{ "a deep stack of many threads", DEEP, 1200, 1, 1200, 0 },
		{ "the same, reversed", DEEP, 1200, 1, 1200, 1 },
		{ "a stack of many threads", 400, 180000, 1, 1200, 0 },
		{ "samples that are all different", 2, 300000, 997, 1000, 0 },
	};

	try(&plain, false);
	for (size_t n = 0; n < sizeof(whats) / sizeof(whats[0]); n++)
		try(&whats[n], true);
	return (0);
}
