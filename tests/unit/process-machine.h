/* SPDX-License-Identifier: ISC */
/*
 * A machine of eight processes of 16 pages, for tests of what is known of
 * processes: its whole state is kept after each step, and what is heard of it
 * comes late, or is lost.
 */
#ifndef PROCESS_MACHINE_H
#define PROCESS_MACHINE_H

#include <stdbool.h>
#include <string.h>

#include "base/record.h"

#define STEPS		70
#define PIDS		8
#define PAGES		16
#define PAGE		4096ULL
#define STEP_NS		10
#define ITEMS		(STEPS * 4)

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

/* --------------------------------------------------------------- answers */

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

/* Can code be met there? */
static bool
runs(const struct machine *ma, unsigned then, int pid, unsigned n)
{
	const struct task *task = &ma->ma_then[then][pid];

	return (task->tk_lives && !task->tk_in_exec &&
	    task->tk_page[n].pg_is_mapped);
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

#endif /* PROCESS_MACHINE_H */
