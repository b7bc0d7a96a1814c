/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Whatever processes do, and however late or lossy it is heard of,
 * what is published of a process is what it has mapped, once nothing is still
 * to be heard of; but where a loss or the reading of a list leaves it open.
 *
 * Easy to get wrong: the end of a process that is heard of after the next one
 * of its number, what a parent maps and is heard of when its children are
 * published.
 *
 * The reference is that of process-model-is-never-wrong.
 * Usage: published-as-is-mapped [--seed N]
 */
#include "unwind-stubs.h"

#undef CHECK
#include "cli-check.h"
#include "process-machine.h"

#define HISTORIES	20000
#define FIRST_PAGE	1	/* the first page has this number */

static uint64_t nright, nopen;

static void
judge(const struct machine *ma, struct prof_unwind *unwind, unsigned then,
    uint64_t heard_ns)
{
	const int pid = 1 + (int)draw(PIDS);
	const struct task *task = &ma->ma_then[then][pid];
	const uint64_t time_ns = 1 + STEP_NS * (then + 1ULL) + 5;
	const struct dtp_uw_map *map;
	const struct page *page;
	unsigned n;

	prof_unwind_publish(unwind);
	for (n = 0; n < PAGES; n++) {
		page = &task->tk_page[n];
		if (!runs(ma, then, pid, n))
			continue;
		map = published_at(unwind, (uint32_t)pid,
		    (n + FIRST_PAGE) * PAGE);
		if (map != NULL && map->um_module == page->pg_image &&
		    (page->pg_image == 0 || map->um_bias == -(uint64_t)
		    page->pg_delta * PAGE)) {
			nright++;
			continue;
		}
		nopen++;
		CHECK(may_be_open(ma, task, pid, page, time_ns, heard_ns),
		    "process %d, page %u at %llu: %d, not %u", pid, n,
		    (unsigned long long)time_ns, map == NULL ? -1 :
		    (int)map->um_module, page->pg_image);
	}
}

static void
hear(struct prof_unwind *unwind, const struct item *item)
{
	struct prof_record record = item->im_record;
	int rv;

	if (item->im_is_lost)
		return;
	record.pr_ino = item->im_image;
	if (item->im_is_renewal)
		rv = prof_unwind_renew(unwind, record.pr_pid,
		    record.pr_time_ns, false);
	else
		rv = prof_unwind_observe(unwind, &record);
	CHECK(rv == 0, "no memory");
}

static void
publish_history(const struct machine *ma)
{
	const int fds[PROF_UNWIND_FDS] = { -1 };
	struct prof_err error;
	struct prof_unwind *unwind = prof_unwind_new(fds, 1, 0, NULL, &error);
	uint64_t heard_ns = 0;
	unsigned n, then;

	CHECK(unwind != NULL, "no memory");
	for (n = 0; n < ma->ma_n; n++) {
		hear(unwind, &ma->ma_item[n]);
		if (ma->ma_item[n].im_order > heard_ns)
			heard_ns = ma->ma_item[n].im_order;
		if (draw(4) == 0)
			prof_unwind_publish(unwind);
		if (draw(4) != 0 || heard_ns < 20 ||
		    oldest_unheard(ma, n + 1) <= heard_ns)
			continue;
		then = (unsigned)((heard_ns - 11) / STEP_NS);
		if (then >= STEPS)
			break;
		judge(ma, unwind, then, heard_ns);
	}
	prof_unwind_free(unwind);
}

int
main(int argc, char *argv[])
{
	const uint64_t seed = argc == 3 && strcmp(argv[1], "--seed") == 0 ?
	    strtoull(argv[2], NULL, 10) : 1;
	static struct machine machine;
	unsigned n;

	planted = false;
	for (n = 0; n < HISTORIES; n++) {
		random_state = (seed + n) * 0x9e3779b97f4a7c15ULL;
		make_history(&machine, false);
		publish_history(&machine);
	}
	CHECK(nright > nopen, "%llu pages of %llu are open",
	    (unsigned long long)nopen, (unsigned long long)(nopen + nright));
	OK("%d histories: %llu pages are published as mapped, %llu are open as "
	    "they may be", HISTORIES, (unsigned long long)nright,
	    (unsigned long long)nopen);
	return (0);
}
