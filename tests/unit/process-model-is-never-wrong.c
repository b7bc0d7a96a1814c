/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Whatever processes do, and however late or lossy it is heard of,
 * the model of processes is certain of nothing that is wrong, and knows all
 * but what a loss or the reading of a list of mappings leaves open: as it is
 * published, as stacks are unwound and as symbols are looked up.
 *
 * Easy to get wrong: a fork that is heard of after what the child mapped, an
 * exec that maps before it tells, a number that is used again, a loss that
 * changes what was known for certain before.
 *
 * The reference is a machine of eight processes of 16 pages, whose whole state
 * is kept after each step.  Usage: process-model-is-never-wrong [--seed N]
 */
#include "cli-check.h"
#include "process-machine.h"
#include "process/processes.h"

#define HISTORIES	20000
#define QUERIES		1000

static uint64_t nwrong, nknown, nopen;

/* ---------------------------------------------------------- what is known */

static void
take(struct prof_processes *ps, const struct item *item)
{
	const struct prof_record *record = &item->im_record;
	int rv;

	if (item->im_is_lost)
		return;
	if (item->im_is_renewal)
		rv = prof_processes_renew(ps, record->pr_pid,
		    record->pr_time_ns);
	else if (item->im_read_ns != 0)
		rv = prof_processes_read(ps, record, item->im_image,
		    item->im_read_ns);
	else
		rv = prof_processes_take(ps, record, item->im_image);
	CHECK(rv == 0, "no memory");
}

/* heard_ns: what is later is not heard of yet. */
static void
judge(const struct machine *ma, unsigned then, int pid, unsigned n,
    uint64_t heard_ns, bool is_found, const struct prof_mapping *mapping)
{
	const struct task *task = &ma->ma_then[then][pid];
	const struct page *page = &task->tk_page[n];
	const uint64_t time_ns = 1 + STEP_NS * (then + 1ULL) + 5;
	const uint64_t pc = (n + 1) * PAGE;

	bool is_wrong;

	if (!is_found || !mapping->mp_is_certain) {
		nopen++;
		is_wrong = !may_be_open(ma, task, pid, page, time_ns,
		    heard_ns);
	} else {
		nknown++;
		is_wrong = mapping->mp_image != page->pg_image ||
		    (page->pg_image != PROF_IMAGE_ANON &&
		    mapping->mp_offset + (pc - mapping->mp_start) != pc +
		    (uint64_t)page->pg_delta * PAGE);
	}
	nwrong += is_wrong;
	if (is_wrong && !planted)
		printf("process %d, page %u at %llu: image %u%s, not %u "
		    "since %llu\n", pid, n, (unsigned long long)time_ns,
		    is_found ? mapping->mp_image : UINT32_MAX, is_found &&
		    mapping->mp_is_certain ? "" : " or open", page->pg_image,
		    (unsigned long long)page->pg_born_ns);
}

/* Publishing: what is mapped last, when nothing is still to be heard of. */
static void
ask_newest(const struct machine *ma, const struct prof_processes *ps,
    unsigned then, uint64_t heard_ns)
{
	const int pid = 1 + (int)draw(PIDS);
	struct prof_mapping found[PAGES + 1], *mapping = found;
	uint64_t at = 0;
	unsigned n;

	memset(found, 0, sizeof(found));
	while (mapping < found + PAGES && prof_processes_next(ps,
	    (uint32_t)pid, UINT64_MAX, at, mapping)) {
		CHECK(mapping->mp_start >= at && mapping->mp_end >
		    mapping->mp_start, "mappings overlap");
		at = mapping++->mp_end;
	}
	for (n = 0, mapping = found; n < PAGES; n++) {
		while (mapping->mp_end != 0 &&
		    mapping->mp_end <= (n + 1) * PAGE)
			mapping++;
		if (runs(ma, then, pid, n))
			judge(ma, then, pid, n, heard_ns, mapping->mp_end !=
			    0 && mapping->mp_start <= (n + 1) * PAGE,
			    mapping);
	}
}

/*
 * As while recording: it is asked now and then, of all that nothing is still
 * to be heard of, and what is older than that is forgotten.
 */
static void
record(const struct machine *ma)
{
	struct prof_processes *ps = prof_processes_new(PROF_PROCESSES_NOW |
	    (ma->ma_is_perf ? PROF_PROCESSES_PERF : 0u),
	    PROF_PROCESSES_MOST_NOW);
	struct prof_mapping mapping;
	uint64_t oldest_ns, heard_ns = 0;
	unsigned n, i, then, page;
	int pid;

	CHECK(ps != NULL, "no memory");
	for (n = 0; n < ma->ma_n; n++) {
		take(ps, &ma->ma_item[n]);
		if (ma->ma_item[n].im_order > heard_ns)
			heard_ns = ma->ma_item[n].im_order;
		oldest_ns = oldest_unheard(ma, n + 1);
		if (draw(4) != 0 || heard_ns < 20 || oldest_ns <= heard_ns)
			continue;
		then = (unsigned)((heard_ns - 11) / STEP_NS);
		if (then >= STEPS)
			break;
		ask_newest(ma, ps, then, heard_ns);
		for (i = 0; i < 4; i++) {
			pid = 1 + (int)draw(PIDS);
			page = draw(PAGES);
			if (runs(ma, then, pid, page))
				judge(ma, then, pid, page, heard_ns,
				    prof_processes_at(ps, (uint32_t)pid,
				    heard_ns, (page + 1) * PAGE, &mapping),
				    &mapping);
		}
		prof_processes_forget(ps, heard_ns);
	}
	prof_processes_free(ps);
}

static void
judge_space(const struct prof_processes *ps, uint32_t space, uint64_t pc,
    const struct prof_mapping *at)
{
	struct prof_mapping mapping = { .mp_image = UINT32_MAX };
	const bool is_found = prof_processes_mapping(ps, space, pc, &mapping);

	if (is_found && mapping.mp_image == at->mp_image &&
	    (at->mp_image == PROF_IMAGE_ANON || mapping.mp_offset -
	    mapping.mp_start == at->mp_offset - at->mp_start))
		return;
	nwrong++;
	if (!planted)
		printf("page %u in space %u: image %u, not %u since %llu\n",
		    (unsigned)(pc / PAGE - 1), space, mapping.mp_image,
		    at->mp_image, (unsigned long long)at->mp_since_ns);
}

/* As of a recording: all was heard of, and any time is asked for. */
static void
read_back(const struct machine *ma)
{
	struct prof_processes *ps = prof_processes_new(PROF_PROCESSES_ALL |
	    (ma->ma_is_perf ? PROF_PROCESSES_PERF : 0u),
	    prof_processes_most(0));
	struct prof_mapping at;
	unsigned n, then, page;
	uint64_t time_ns, pc;
	bool is_found;
	uint32_t space;
	int pid;

	CHECK(ps != NULL, "no memory");
	for (n = 0; n < ma->ma_n; n++)
		take(ps, &ma->ma_item[n]);
	CHECK(prof_processes_seal(ps) == 0, "no memory");
	for (n = 0; n < QUERIES; n++) {
		pid = 1 + (int)draw(PIDS);
		then = draw(STEPS);
		page = draw(PAGES);
		if (!runs(ma, then, pid, page))
			continue;
		time_ns = 1 + STEP_NS * (then + 1ULL) + 5;
		pc = (page + 1) * PAGE;
		is_found = prof_processes_at(ps, (uint32_t)pid, time_ns, pc,
		    &at);
		judge(ma, then, pid, page, UINT64_MAX, is_found, &at);
		space = prof_processes_space(ps, (uint32_t)pid, time_ns);
		/* What is certain has a space that says the same. */
		if (is_found && at.mp_is_certain)
			judge_space(ps, space, pc, &at);
	}
	prof_processes_free(ps);
}

static void
run(uint64_t seed, unsigned histories)
{
	static struct machine machine;
	unsigned n;

	nwrong = nknown = nopen = 0;
	for (n = 0; n < histories; n++) {
		random_state = (seed + n) * 0x9e3779b97f4a7c15ULL;
		make_history(&machine, (seed + n) % 8 == 0);
		record(&machine);
		read_back(&machine);
		CHECK(planted || nwrong == 0, "history --seed %llu",
		    (unsigned long long)(seed + n));
	}
}

int
main(int argc, char *argv[])
{
	const uint64_t seed = argc == 3 && strcmp(argv[1], "--seed") == 0 ?
	    strtoull(argv[2], NULL, 10) : 1;

	run(seed, HISTORIES);
	CHECK(nknown > nopen, "%llu of %llu answers are open",
	    (unsigned long long)nopen, (unsigned long long)(nopen + nknown));
	OK("%d histories: none of %llu certain answers is wrong, %llu are open "
	    "as they may be", HISTORIES, (unsigned long long)nknown,
	    (unsigned long long)nopen);
	planted = true;
	run(seed, HISTORIES / 20);
	CHECK(nwrong > 100, "losses that nobody told of: %llu wrong",
	    (unsigned long long)nwrong);
	OK("losses that nobody told of are found out (%llu wrong answers)",
	    (unsigned long long)nwrong);
	return (0);
}
