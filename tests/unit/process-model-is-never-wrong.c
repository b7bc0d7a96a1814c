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
#include <string.h>

#include "cli-check.h"
#include "process/processes.h"

#define HISTORIES	20000
#define STEPS		70
#define PIDS		8
#define PAGES		16
#define PAGE		4096ULL
#define STEP_NS		10
#define ITEMS		(STEPS * 4)
#define QUERIES		1000

/* What a page of a process is. */
struct page {
	bool		 pg_is_mapped;
	bool		 pg_is_vague;	/* was forked while a list was read */
	uint32_t	 pg_image;
	int		 pg_delta;	/* pages */
	uint64_t	 pg_born_ns;	/* heard of, if nothing is lost */
};

struct task {
	bool		 tk_lives;
	bool		 tk_in_exec;	/* it has mapped, but does not run */
	bool		 tk_in_vfork;	/* and so its parent waits */
	int		 tk_waits_for;	/* process; 0: runs */
	uint64_t	 tk_since_ns;	/* this memory */
	struct page	 tk_page[PAGES];
};

struct item {
	struct prof_record im_record;
	uint32_t	 im_image;
	uint64_t	 im_order;	/* in which they are heard of */
	uint64_t	 im_read_ns;	/* of a list; 0: an event */
	bool		 im_is_renewal;
	bool		 im_is_lost;
};

/* A list of mappings that was read between two times. */
struct list {
	int		 li_pid;
	uint64_t	 li_from_ns;
	uint64_t	 li_read_ns;
};

struct machine {
	struct task	 ma_task[PIDS + 1];
	struct task	 ma_then[STEPS][PIDS + 1];
	struct item	 ma_item[ITEMS];
	unsigned	 ma_n;
	struct list	 ma_list[STEPS];
	unsigned	 ma_nlists;
	struct list	 ma_reading;	/* li_pid 0: none is */
	struct page	 ma_seen[PAGES];
	bool		 ma_has_seen;
	uint64_t	 ma_loss[4][2];
	unsigned	 ma_nlosses;
	uint64_t	 ma_now_ns;
	bool		 ma_is_perf;
};

static uint64_t random_state;
static uint64_t nwrong, nknown, nopen;
static bool planted;		/* losses are not told of */

static unsigned
draw(unsigned n)
{
	random_state = random_state * 6364136223846793005ULL +
	    1442695040888963407ULL;
	return ((unsigned)(random_state >> 33) % n);
}

/* ------------------------------------------------------------ the machine */

static struct item *
tell(struct machine *ma, enum prof_record_type type, int pid)
{
	struct item *item = &ma->ma_item[ma->ma_n++];

	CHECK(ma->ma_n <= ITEMS, "too many items");
	memset(item, 0, sizeof(*item));
	item->im_record.pr_type = type;
	item->im_record.pr_pid = item->im_record.pr_tid = (uint32_t)pid;
	item->im_record.pr_time_ns = ma->ma_now_ns;
	item->im_order = ma->ma_now_ns;
	return (item);
}

static void
tell_mapping(struct machine *ma, int pid, unsigned first, unsigned n,
    const struct page *page)
{
	struct item *item = tell(ma, PROF_R_MMAP, pid);

	item->im_record.pr_addr = (first + 1) * PAGE;
	item->im_record.pr_len = n * PAGE;
	item->im_record.pr_offset = (uint64_t)((int)first + 1 +
	    page->pg_delta) * PAGE;
	item->im_image = page->pg_image;
}

static void
map_pages(struct machine *ma, int pid, uint64_t born_ns)
{
	const unsigned first = draw(PAGES), n = 1 + draw(draw(4) == 0 ?
	    PAGES - first : (PAGES - first + 3) / 4);
	const struct page page = { .pg_is_mapped = true,
	    .pg_image = draw(4), .pg_delta = (int)draw(3),
	    .pg_born_ns = born_ns };
	unsigned i;

	for (i = first; i < first + n; i++)
		ma->ma_task[pid].tk_page[i] = page;
	tell_mapping(ma, pid, first, n, &page);
}

static void
unmap_pages(struct machine *ma, int pid)
{
	const unsigned first = draw(PAGES), n = 1 + draw(PAGES - first);
	unsigned i;

	for (i = first; i < first + n; i++)
		ma->ma_task[pid].tk_page[i].pg_is_mapped = false;
}

static void
begin_child(struct machine *ma, int pid, bool is_vfork)
{
	struct task *child, *parent = &ma->ma_task[pid];
	int free_pid = 1;
	unsigned i;

	while (free_pid <= PIDS && ma->ma_task[free_pid].tk_lives)
		free_pid++;
	if (free_pid > PIDS)
		return;
	child = &ma->ma_task[free_pid];
	*child = *parent;
	child->tk_since_ns = ma->ma_now_ns;
	for (i = 0; i < PAGES; i++)
		child->tk_page[i].pg_is_vague |= ma->ma_reading.li_pid == pid;
	child->tk_in_vfork = is_vfork;
	child->tk_waits_for = 0;
	if (is_vfork)
		parent->tk_waits_for = free_pid;
	tell(ma, PROF_R_FORK, free_pid)->im_record.pr_ppid = (uint32_t)pid;
}

/* A vfork's child has a memory of its own, or ended. */
static void
wake_parent(struct machine *ma, int pid)
{
	int parent;

	ma->ma_task[pid].tk_in_vfork = false;
	for (parent = 1; parent <= PIDS; parent++)
		if (ma->ma_task[parent].tk_waits_for == pid)
			ma->ma_task[parent].tk_waits_for = 0;
}

static void
exec_begin(struct machine *ma, int pid)
{
	struct task *task = &ma->ma_task[pid];

	wake_parent(ma, pid);
	memset(task->tk_page, 0, sizeof(task->tk_page));
	task->tk_since_ns = ma->ma_now_ns;
	task->tk_in_exec = !ma->ma_is_perf;
	tell(ma, ma->ma_is_perf ? PROF_R_EXEC : PROF_R_COMM, pid);
}

static void
exec_go_on(struct machine *ma, int pid)
{
	/* Without its name it is not known whose they are. */
	if (draw(3) != 0) {
		map_pages(ma, pid, ma->ma_task[pid].tk_since_ns - 1);
		return;
	}
	ma->ma_task[pid].tk_in_exec = false;
	tell(ma, PROF_R_EXEC, pid);
}

static void
exit_now(struct machine *ma, int pid)
{
	wake_parent(ma, pid);
	ma->ma_task[pid].tk_lives = false;
	tell(ma, PROF_R_EXIT, pid)->im_record.pr_group_dead = 1;
}

static void
threads(struct machine *ma, int pid)
{
	static const enum prof_record_type type[] = { PROF_R_FORK,
	    PROF_R_EXIT, PROF_R_COMM };
	struct item *item = tell(ma, type[draw(3)], pid);

	item->im_record.pr_tid = (uint32_t)(100 + pid);
	item->im_record.pr_ppid = (uint32_t)pid;
}

/* ----------------------------------------------- lists that are read late */

static void
list_begin(struct machine *ma, int pid)
{
	if (ma->ma_reading.li_pid != 0 || ma->ma_task[pid].tk_in_exec)
		return;
	ma->ma_reading = (struct list){ pid, ma->ma_now_ns, 0 };
	ma->ma_has_seen = false;
}

static void
list_see(struct machine *ma)
{
	const struct task *task = &ma->ma_task[ma->ma_reading.li_pid];

	if (!task->tk_lives || task->tk_in_exec) {
		ma->ma_reading.li_pid = 0;
		return;
	}
	memcpy(ma->ma_seen, task->tk_page, sizeof(ma->ma_seen));
	ma->ma_has_seen = true;
}

static void
list_end(struct machine *ma)
{
	const struct list list = { ma->ma_reading.li_pid,
	    ma->ma_reading.li_from_ns, ma->ma_now_ns };
	const unsigned from = ma->ma_n;
	unsigned i;

	ma->ma_list[ma->ma_nlists++] = list;
	tell(ma, PROF_R_MMAP, list.li_pid)->im_is_renewal = true;
	for (i = 0; i < PAGES; i++)
		if (ma->ma_seen[i].pg_is_mapped)
			tell_mapping(ma, list.li_pid, i, 1, &ma->ma_seen[i]);
	for (i = from; i < ma->ma_n; i++) {
		ma->ma_item[i].im_record.pr_time_ns = list.li_from_ns;
		ma->ma_item[i].im_read_ns = list.li_read_ns;
	}
	ma->ma_reading.li_pid = 0;
}

static void
list_go_on(struct machine *ma)
{
	if (ma->ma_reading.li_pid == 0 || draw(2) == 0)
		return;
	if (!ma->ma_has_seen)
		list_see(ma);
	else if (ma->ma_n + PAGES * 2 + STEPS < ITEMS)
		list_end(ma);
}

static void
step(struct machine *ma)
{
	const int pid = 1 + (int)draw(PIDS);
	struct task *task = &ma->ma_task[pid];

	ma->ma_now_ns += STEP_NS;
	list_go_on(ma);
	if (!task->tk_lives || task->tk_waits_for != 0)
		return;
	if (task->tk_in_exec) {
		exec_go_on(ma, pid);
		return;
	}
	switch (draw(task->tk_in_vfork ? 2 : 16)) {
	case 0:
		exec_begin(ma, pid);
		break;
	case 1:
		exit_now(ma, pid);
		break;
	case 2:
	case 3:
		begin_child(ma, pid, draw(3) == 0);
		break;
	case 4:
		threads(ma, pid);
		break;
	case 5:
		tell(ma, PROF_R_COMM, pid);
		break;
	case 6:
		unmap_pages(ma, pid);
		break;
	case 7:
		list_begin(ma, pid);
		break;
	default:
		map_pages(ma, pid, ma->ma_now_ns);
		break;
	}
}

/* ------------------------------------------------------ what is heard of it */

static void
lose_some(struct machine *ma)
{
	const uint64_t from_ns = STEP_NS * (3 + draw(STEPS - 3)) - 5;
	const uint64_t to_ns = from_ns + STEP_NS * (1 + draw(8));
	struct item *item;
	unsigned n;

	ma->ma_loss[ma->ma_nlosses][0] = from_ns;
	ma->ma_loss[ma->ma_nlosses++][1] = to_ns;
	for (n = 0; n < ma->ma_n; n++) {
		item = &ma->ma_item[n];
		if (item->im_read_ns == 0 && item->im_record.pr_type !=
		    PROF_R_LOST && item->im_record.pr_time_ns > from_ns &&
		    item->im_record.pr_time_ns < to_ns)
			item->im_is_lost |= draw(3) != 0;
	}
	item = tell(ma, PROF_R_LOST, 0);
	item->im_record.pr_time_ns = item->im_order = to_ns;
	item->im_record.pr_addr = from_ns;
	item->im_is_lost = planted;
}

static int
item_compare(const void *a, const void *b)
{
	const struct item *ia = a, *ib = b;

	if (ia->im_order != ib->im_order)
		return (ia->im_order < ib->im_order ? -1 : 1);
	return (0);
}

/* Stable: insertion, as lists are to stay together. */
static void
sort_items(struct machine *ma)
{
	struct item item;
	unsigned n, at;

	for (n = 1; n < ma->ma_n; n++) {
		item = ma->ma_item[n];
		for (at = n; at > 0 && item_compare(&ma->ma_item[at - 1],
		    &item) > 0; at--)
			ma->ma_item[at] = ma->ma_item[at - 1];
		ma->ma_item[at] = item;
	}
}

static void
make_history(struct machine *ma, bool is_perf)
{
	unsigned n;
	int pid;

	memset(ma, 0, sizeof(*ma));
	ma->ma_is_perf = is_perf;
	ma->ma_now_ns = 1;
	for (pid = 1; pid <= 2; pid++) {
		ma->ma_task[pid].tk_lives = true;
		tell(ma, PROF_R_TASK, pid);
		map_pages(ma, pid, 1);
	}
	for (n = 0; n < STEPS; n++) {
		step(ma);
		memcpy(ma->ma_then[n], ma->ma_task, sizeof(ma->ma_task));
	}
	for (n = draw(3); n > 0; n--)
		lose_some(ma);
	for (n = 4; n < ma->ma_n; n++)
		if (draw(4) == 0 && ma->ma_item[n].im_read_ns == 0 &&
		    ma->ma_item[n].im_record.pr_type != PROF_R_LOST)
			ma->ma_item[n].im_order += draw(6 * STEP_NS);
	sort_items(ma);
}

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

/* May it be open what a page is, as far as is heard of until a time? */
static bool
may_be_open(const struct machine *ma, const struct task *task, int pid,
    const struct page *page, uint64_t time_ns, uint64_t heard_ns)
{
	uint64_t since_ns = page->pg_born_ns;
	const struct list *list;
	unsigned n;

	for (n = 0; n < ma->ma_nlists; n++) {
		list = &ma->ma_list[n];
		if (list->li_pid != pid || list->li_read_ns > heard_ns)
			continue;
		if (list->li_from_ns <= time_ns &&
		    list->li_read_ns >= time_ns)
			return (true);
		if (list->li_read_ns < time_ns && list->li_from_ns >=
		    task->tk_since_ns && list->li_from_ns > since_ns)
			since_ns = list->li_from_ns;
	}
	for (n = 0; n < ma->ma_nlosses; n++)
		if (ma->ma_loss[n][1] > since_ns &&
		    ma->ma_loss[n][0] <= time_ns)
			return (true);
	return (page->pg_is_vague);
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

/* Can code be met there? */
static bool
runs(const struct machine *ma, unsigned then, int pid, unsigned n)
{
	const struct task *task = &ma->ma_then[then][pid];

	return (task->tk_lives && !task->tk_in_exec &&
	    task->tk_page[n].pg_is_mapped);
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

/* Of a loss it is heard when it is over. */
static uint64_t
oldest_unheard(const struct machine *ma, unsigned from)
{
	uint64_t oldest_ns = UINT64_MAX, time_ns;
	const struct prof_record *record;

	for (; from < ma->ma_n; from++) {
		record = &ma->ma_item[from].im_record;
		time_ns = record->pr_type == PROF_R_LOST ? record->pr_addr :
		    record->pr_time_ns;
		oldest_ns = time_ns < oldest_ns ? time_ns : oldest_ns;
	}
	return (oldest_ns);
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
