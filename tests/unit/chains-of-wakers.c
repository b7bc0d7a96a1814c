/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: the chain of a wait names who ended it, and behind this thread
 * only a wait that ended before it woke the waiter and after the waiter began
 * to wait.  It ends at an interrupt, at a thread that did not wait meanwhile,
 * at one that was not recorded, and, as unknown, where the waker is not known
 * or a lost sample may have been its last wait.  Chains of the same names are
 * one.  A small file that has a million waits is refused, as it takes too much
 * memory.
 *
 * Easy to get wrong: a wait has the time when its thread ran again, which may
 * be long after it was woken; the waker may have waited again since then.
 */
#include "profile/chains.h"
#include "recording-lib.h"

#define MS	1000000u
#define SECOND	1000u		/* each case has one, in milliseconds */
#define EVENT	1u
#define LONG	10u		/* threads of the longest chain */
#define MANY	1000000u	/* waits that pack to 60 kB */

/* Blocked and then runnable, in milliseconds of the case. */
struct wait {
	unsigned	 wt_case;
	unsigned	 wt_tid;
	unsigned	 wt_from;
	unsigned	 wt_woken;
	unsigned	 wt_ran;
	unsigned	 wt_waker;	/* 0: no thread */
	const char	*wt_name;	/* of it, an interrupt, or "-" */
};

enum { CLIENT = 100, SERVER, WRITER, FIRST };
#define STRANGER	999

static const char *const names[] = { "client", "server", "writer" };

static const struct wait waits[] = {
	/* One behind the other; the server waits again before the client ran */
	{ 0, WRITER, 30, 50, 50, 0, "hardirq" },
	{ 0, SERVER, 20, 60, 60, WRITER, "writer" },
	{ 0, SERVER, 75, 85, 85, 0, "softirq" },
	{ 0, CLIENT, 10, 70, 90, SERVER, "server" },
	/* Both wakers had waited before. */
	{ 1, WRITER, 10, 20, 20, 0, "hardirq" },
	{ 1, SERVER, 40, 50, 50, WRITER, "writer" },
	{ 1, CLIENT, 30, 60, 60, SERVER, "server" },
	/* The server was woken before the client waited, and ran after. */
	{ 2, SERVER, 10, 20, 40, WRITER, "writer" },
	{ 2, CLIENT, 30, 60, 60, SERVER, "server" },
	/* A timer stands between. */
	{ 3, SERVER, 20, 30, 30, WRITER, "writer" },
	{ 3, SERVER, 32, 50, 50, 0, "hardirq" },
	{ 3, CLIENT, 10, 60, 60, SERVER, "server" },
	/* A thread that is no target; a waker that is not known. */
	{ 4, SERVER, 20, 40, 40, STRANGER, "stranger" },
	{ 4, CLIENT, 10, 60, 60, SERVER, "server" },
	{ 5, SERVER, 20, 40, 40, 0, "-" },
	{ 5, CLIENT, 10, 60, 60, SERVER, "server" },
	/* A sample was lost from 45 to 50 ms, then one from 15 to 25 ms. */
	{ 6, SERVER, 20, 40, 40, WRITER, "writer" },
	{ 6, CLIENT, 10, 60, 60, SERVER, "server" },
	{ 7, SERVER, 30, 40, 40, WRITER, "writer" },
	{ 7, CLIENT, 10, 60, 60, SERVER, "server" },
};

/* What the wait of the client is to be, by case. */
struct expected {
	const char	*ex_chain;
	enum prof_chain_end ex_end;
	uint64_t	 ex_ms;
	uint64_t	 ex_next_ms;	/* of the second thread */
};

static const struct expected expected[] = {
	{ "client futex, server futex, writer futex", PROF_CHAIN_HARDIRQ, 60,
	    40 },
	{ "client futex, server futex, writer -", PROF_CHAIN_NO_WAIT, 30, 10 },
	{ "client futex, server -", PROF_CHAIN_NO_WAIT, 30, 0 },
	{ "client futex, server futex", PROF_CHAIN_HARDIRQ, 50, 18 },
	{ "client futex, server futex, stranger -", PROF_CHAIN_NOT_RECORDED,
	    50, 20 },
	{ "client futex, server futex", PROF_CHAIN_UNKNOWN, 50, 20 },
	{ "client futex, server -", PROF_CHAIN_UNKNOWN, 50, 0 },
	{ "client futex, server futex, writer -", PROF_CHAIN_NO_WAIT, 50, 10 },
};

#define NCASES	(sizeof(expected) / sizeof(expected[0]))

static struct prof_writer *writer;

static uint64_t
at(unsigned in, unsigned ms)
{
	return ((uint64_t)(1 + in) * SECOND * MS + (uint64_t)ms * MS);
}

static void
record_add(struct prof_record *record)
{
	if (record->pr_comm == NULL)
		record->pr_comm = "";
	record->pr_path = "";
	CHECK_OK(prof_writer_add(writer, record), prof_writer_error(writer));
}

static void
part_add(const struct wait *wait, const char *state, uint64_t ms)
{
	record_add(&(struct prof_record){ .pr_type = PROF_R_SAMPLE,
	    .pr_event = EVENT, .pr_pid = CLIENT, .pr_tid = wait->wt_tid,
	    .pr_time_ns = at(wait->wt_case, wait->wt_ran),
	    .pr_weight = ms * MS, .pr_nargs = 4,
	    .pr_strs = { state, "futex", wait->wt_name },
	    .pr_args = { 0, 0, 0, wait->wt_waker } });
}

static void
wait_add(const struct wait *wait)
{
	part_add(wait, "blocked", wait->wt_woken - wait->wt_from);
	if (wait->wt_ran > wait->wt_woken)
		part_add(wait, "runnable", wait->wt_ran - wait->wt_woken);
}

/* Each is woken by the next one, which was woken later than it began. */
static void
long_add(void)
{
	struct wait wait = { NCASES, FIRST + LONG, 0, 0, 0, 0, "hardirq" };

	for (unsigned n = LONG; n-- > 0;) {
		wait.wt_tid = FIRST + n;
		wait.wt_from = 1 + n;
		wait.wt_woken = wait.wt_ran = 100 - n;
		wait_add(&wait);
		wait.wt_waker = wait.wt_tid;
		wait.wt_name = "chained";
	}
}

static void
lost_add(unsigned in, unsigned from, unsigned to)
{
	record_add(&(struct prof_record){ .pr_type = PROF_R_LOST,
	    .pr_event = EVENT, .pr_weight = 1, .pr_addr = at(in, from),
	    .pr_time_ns = at(in, to) });
}

static void
many_add(void)
{
	const struct wait wait = { 0, CLIENT, 0, 1, 1, 0, "hardirq" };

	for (unsigned n = 0; n < MANY; n++)
		wait_add(&wait);
}

static void
file_write(const char *path, const char *target, bool is_many)
{
	static const struct prof_event_info infos[] = {
		{ .pi_name = "proc", .pi_probe = "proc", .pi_unit = "events",
		    .pi_provider = "proc" },
		{ .pi_name = "off-cpu", .pi_probe = "off-cpu",
		    .pi_provider = "wait", .pi_unit = "ns", .pi_nargs = 4,
		    .pi_arg_names = { "state", "reason", "waker",
		    "waker_tid" }, .pi_arg_types = { "const char *",
		    "const char *", "const char *", "unsigned int" },
		    .pi_arg_is_str = { 1, 1, 1, 0 } },
	};
	struct prof_err error;

	CHECK((writer = prof_writer_open(path, &error)) != NULL);
	CHECK(prof_writer_info(writer, "target", target) == 0);
	for (size_t n = 0; n < 2; n++)
		CHECK(prof_writer_event(writer, &infos[n]) == 0);
	for (unsigned n = 0; n < 3 + LONG; n++)
		record_add(&(struct prof_record){ .pr_type = PROF_R_TASK,
		    .pr_time_ns = 1, .pr_pid = CLIENT, .pr_tid = CLIENT + n,
		    .pr_comm = n < 3 ? names[n] : "chained" });
	lost_add(6, 45, 50);
	lost_add(7, 15, 25);
	for (size_t n = 0; n < sizeof(waits) / sizeof(waits[0]); n++)
		wait_add(&waits[n]);
	long_add();
	if (is_many)
		many_add();
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

static void
chain_put(const struct prof_chain *chain, char *text, size_t size)
{
	int n = 0;

	for (size_t i = 0; i < chain->ca_nlinks; i++)
		n += snprintf(text + n, size - (size_t)n, "%s%s %s",
		    i > 0 ? ", " : "", chain->ca_link[i].cl_thread,
		    chain->ca_link[i].cl_reason == NULL ? "-" :
		    chain->ca_link[i].cl_reason);
}

static const struct prof_chain *
chain_find(const struct prof_chains *chains, const char *name, size_t *n)
{
	const struct prof_chain *chain, *found = NULL;

	*n = 0;
	for (size_t i = 0; (chain = prof_chains_at(chains, i)) != NULL; i++)
		if (strcmp(chain->ca_link[0].cl_thread, name) == 0) {
			found = chain;
			++*n;
		}
	return (found);
}

static struct prof_chains *
chains_of(struct prof_reader *reader, struct prof_symbols *symbols,
    unsigned in)
{
	const struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_from_ns = at(in, 0), .pl_to_ns = at(in + 1, 0)
	};
	struct prof_chains *chains;
	struct prof_err error = { 0 };

	chains = prof_chains_new(reader, symbols, &options, &error);
	CHECK_OK(chains == NULL ? -1 : 0, &error);
	return (chains);
}

static void
case_check(struct prof_reader *reader, struct prof_symbols *symbols,
    unsigned in, bool is_all)
{
	const struct expected *ex = &expected[in];
	struct prof_chains *chains = chains_of(reader, symbols, in);
	const struct prof_chain *chain;
	char text[512];
	size_t n;

	chain = chain_find(chains, "client", &n);
	CHECK(n == 1);
	chain_put(chain, text, sizeof(text));
	printf("%u: %s, end %d: %" PRIu64 " ns, second %" PRIu64 " ns\n", in,
	    text, chain->ca_end, chain->ca_ns, chain->ca_link[1].cl_ns);
	CHECK(strcmp(text, ex->ex_chain) == 0);
	CHECK(chain->ca_end == (is_all && ex->ex_end ==
	    PROF_CHAIN_NOT_RECORDED ? PROF_CHAIN_NO_WAIT : ex->ex_end));
	CHECK(chain->ca_waits == 1 && chain->ca_ns == ex->ex_ms * MS &&
	    chain->ca_longest_ns == chain->ca_ns &&
	    chain->ca_link[1].cl_ns == ex->ex_next_ms * MS);
	prof_chains_free(chains);
}

/* Of n threads in a row, those that wait for all others reach the limit. */
static void
long_check(struct prof_reader *reader, struct prof_symbols *symbols)
{
	struct prof_chains *chains = chains_of(reader, symbols, NCASES);
	const struct prof_chain *chain;
	size_t n, waited = 0;

	chain_find(chains, "chained", &n);
	CHECK(n == PROF_CHAIN_LINKS + 1 && n == prof_chains_n(chains));
	for (size_t i = 0; (chain = prof_chains_at(chains, i)) != NULL; i++) {
		CHECK((chain->ca_end == PROF_CHAIN_LIMIT) ==
		    (chain->ca_waits == LONG - PROF_CHAIN_LINKS));
		waited += chain->ca_waits;
	}
	CHECK(waited == LONG);
	prof_chains_free(chains);
}

static void
file_check(const char *path, const char *target)
{
	struct prof_err error = { 0 };
	struct prof_symbols *symbols;
	struct prof_reader *reader;

	file_write(path, target, false);
	CHECK((reader = prof_reader_open(path, &error)) != NULL);
	CHECK((symbols = prof_symbols_open(reader, NULL, &error)) != NULL);
	for (unsigned in = 0; in < NCASES; in++)
		case_check(reader, symbols, in, strcmp(target, "all") == 0);
	long_check(reader, symbols);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

static void
limit_check(const char *path)
{
	const struct prof_profile_options options = {
		.pl_size = sizeof(options)
	};
	struct prof_err error = { 0 };
	struct prof_symbols *symbols;
	struct prof_reader *reader;

	file_write(path, "pids", true);
	CHECK((reader = prof_reader_open(path, &error)) != NULL);
	CHECK((symbols = prof_symbols_open(reader, NULL, &error)) != NULL);
	CHECK(prof_chains_new(reader, symbols, &options, &error) == NULL);
	CHECK_OK(error.pe_code == PROF_E_LIMIT ? 0 : -1, &error);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

int
main(void)
{
	file_check(work_path("pids.dtp"), "pids");
	file_check(work_path("all.dtp"), "all");
	limit_check(work_path("many.dtp"));
	printf("ok: chains of wakers of %zu cases, and of %u threads\n",
	    NCASES, LONG);
	return (0);
}
