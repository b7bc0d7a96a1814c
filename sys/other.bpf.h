/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * The memory of a task that is not the current one, for the walks over its
 * stacks.  Reading it takes a helper that may sleep and that wants a pointer
 * to the task; only the program itself has one, its functions do not.  So a
 * walk reads pages that were brought here before.  Where one is missing it
 * says which, ends, and begins again when it is there (walk_other.bpf.h).
 *
 * Included by compat.bpf.h in programs that define DTP_OTHER_TASK, of which
 * one at a time runs.
 */
#ifndef OTHER_BPF_H
#define OTHER_BPF_H

#define DTP_PAGES	256	/* that a walk may need */
#define DTP_PAGE_TRIES	8
#define DTP_PAGE	4096UL
#define DTP_PAGE_BEHIND	256	/* what is read may begin on a page's end */

struct dtp_page {
	__u64	pg_page;	/* where it begins */
	__u64	pg_walk;	/* of which walk it is */
	__u64	pg_bytes;	/* 0: the task has nothing there */
	__u8	pg_bytes_of[DTP_PAGE + DTP_PAGE_BEHIND];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, DTP_PAGES);
	__type(key, __u32);
	__type(value, struct dtp_page);
} pages SEC(".maps");

/* Whom a walk is about, and what it has missed. */
volatile struct {
	__u64	ot_walk;	/* its number */
	__u64	ot_mm;
	__u64	ot_wants;	/* the page, plus 1; 0: it has all */
	__u32	ot_slot;	/* and where it goes */
	__u32	ot_tid;		/* as its process knows it */
	__u64	ot_stack;	/* upper end of its original stack */
} other;

/* The page that has these bytes; DTP_PAGES: there is none, or not yet. */
DTP_APART int
dtp_page_find(__u64 from, __u32 size)
{
	__u64 page = from & ~(DTP_PAGE - 1);
	__u32 first = (page >> 12) * 2654435761U >> 16;
	const struct dtp_page *at;
	__u32 slot;

	for (int i = 0; i < DTP_PAGE_TRIES; i++) {
		slot = (first + i) & (DTP_PAGES - 1);
		at = bpf_map_lookup_elem(&pages, &slot);
		if (at == NULL)
			break;
		if (at->pg_walk != other.ot_walk) {
			if (other.ot_wants == 0) {
				other.ot_slot = slot;
				other.ot_wants = page + 1;
			}
			break;
		}
		if (at->pg_page == page)
			return (from - page + size <= at->pg_bytes ? slot :
			    DTP_PAGES);
	}
	return (DTP_PAGES);
}

/* As bpf_probe_read_user: what cannot be read is zeros. */
DTP_INLINE long
dtp_read_user(void *to, __u32 size, const void *from)
{
	__u32 slot = dtp_page_find((__u64)from, size);
	const struct dtp_page *page = bpf_map_lookup_elem(&pages, &slot);
	const void *bytes = NULL;

	if (page != NULL)
		bytes = page->pg_bytes_of + ((__u64)from & (DTP_PAGE - 1));
	return (bpf_probe_read_kernel(to, size, bytes));
}

DTP_INLINE const struct mm_struct *
dtp_walked_mm(void)
{
	return ((const struct mm_struct *)other.ot_mm);
}

/* The page that the walk has missed; apart, as dtp_other_try. */
static DTP_APART int
dtp_page_bring(const struct task_struct *task)
{
	__u64 from = other.ot_wants - 1;
	__u32 slot = other.ot_slot;
	struct dtp_page *page = bpf_map_lookup_elem(&pages, &slot);

	if (page == NULL)
		return (0);
	page->pg_page = from;
	page->pg_walk = other.ot_walk;
	page->pg_bytes = DTP_PAGE + DTP_PAGE_BEHIND;
	if (bpf_copy_from_user_task(page->pg_bytes_of, DTP_PAGE +
	    DTP_PAGE_BEHIND, (const void *)from, (void *)task, 0) == 0)
		return (0);
	page->pg_bytes = DTP_PAGE;
	if (bpf_copy_from_user_task(page->pg_bytes_of, DTP_PAGE,
	    (const void *)from, (void *)task, 0) != 0)
		page->pg_bytes = 0;
	return (0);
}

#endif /* OTHER_BPF_H */
