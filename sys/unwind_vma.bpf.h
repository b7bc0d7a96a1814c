/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * What the current task has mapped at an address, as the kernel itself has it:
 * so a process has stacks from its first instruction on, before the library
 * has heard of it, if its files are known (struct dtp_uw_file).
 *
 * Called by unwind.bpf.h for an address that is in no published mapping.  The
 * kernel's tree is searched without its lock, which the task at hand may hold.
 * It may be changing: what is found says by itself where it lies and whose it
 * is, and is read twice where it must agree, or there is nothing.
 */
#ifndef UNWIND_VMA_BPF_H
#define UNWIND_VMA_BPF_H

#include "unwind_maps.bpf.h"

#ifndef DTP_UW_ELSEWHERE

#define DTP_MT_LEVELS	4		/* of the tree: thousands of mappings */
#define DTP_MT_NODE	0xffUL		/* no bits of a pointer to a node */
#define DTP_MT_TYPE(p)	((p) >> 3 & 0xf)
#define DTP_MT_LEAF	1
#define DTP_MT_ARANGE	3
#define DTP_VM_EXEC	0x4UL
#define DTP_NSEC_MASK	0x7fffffff	/* above is a flag of the kernel's */
#define DTP_VDSO	0x5d6f7364765bULL /* "[vdso]" */

/*
 * How many pivots of uw_node lie before an address: the slot to go on with.
 * The last of all pivots is the largest number there is; where there are fewer,
 * the kernel's pointers follow, which are as large.
 */
DTP_INLINE __u64
dtp_mt_offset(const struct dtp_unwind *uw, __u64 address)
{
	__u64 offset = 0, is_before = ~0ULL, pivot;

	for (__u64 i = 0; i < DTP_MT_PIVOTS; i++) {
		pivot = uw->uw_node[i];
		is_before &= ((__s64)(pivot - address) >> 63) &
		    ~((__s64)pivot >> 63);
		offset -= is_before;
		barrier_var(offset);
	}
	return (offset);
}

/* What a node has for an address: a node, a mapping, or nothing (0). */
DTP_INLINE __u64
dtp_mt_descend(struct dtp_unwind *uw, __u64 node, __u64 address)
{
	const __u64 wide = bpf_core_field_offset(struct maple_range_64, slot);
	const __u64 inner = bpf_core_field_offset(struct maple_arange_64,
	    slot);
	const struct maple_range_64 *at = (void *)(node & ~DTP_MT_NODE);
	__u64 is_inner = 0 - (((DTP_MT_TYPE(node) ^ DTP_MT_ARANGE) - 1) >> 63);
	__u64 next = 0;

	/* No branch: each would be followed at every level. */
	barrier_var(is_inner);
	bpf_probe_read_kernel(uw->uw_node, sizeof(at->pivot), &at->pivot);
	bpf_probe_read_kernel(&next, sizeof(next), (const __u8 *)at + wide +
	    (is_inner & (inner - wide)) + dtp_mt_offset(uw, address) * 8);
	return (next);
}

/* The mapping that may hold an address; 0: there is none. */
DTP_APART __u64
dtp_find_vma(struct dtp_unwind *uw, __u64 address)
{
	const struct mm_struct *mm = dtp_walked_mm();
	__u64 at = 0, is_leaf = 0;

	if (uw == NULL || mm == NULL)
		return (0);
	DTP_READ((void **)&at, &mm->mm_mt.ma_root);
	/* A tree of one mapping is that of no program. */
	if ((at & 3) != 2)
		return (0);
	for (int i = 0; i < DTP_MT_LEVELS && !is_leaf; i++) {
		is_leaf = DTP_MT_TYPE(at) <= DTP_MT_LEAF;
		at = dtp_mt_descend(uw, at, address);
	}
	return (is_leaf ? at : 0);
}

/* When the status of a file changed; each change of its contents does that. */
DTP_INLINE __u64
dtp_changed_ns(struct dtp_vma *read)
{
	const struct inode *inode = read->vr_inode;
	const struct inode___6_6 *later = (const void *)inode;
	const struct inode___6_1 *first = (const void *)inode;
	struct timespec64 *time = &read->vr_time;

	if (bpf_core_field_exists(inode->i_ctime_sec)) {
		DTP_READ(&time->tv_sec, &inode->i_ctime_sec);
		DTP_READ(&read->vr_ns, &inode->i_ctime_nsec);
		time->tv_nsec = read->vr_ns & DTP_NSEC_MASK;
	} else if (bpf_core_field_exists(later->__i_ctime))
		bpf_probe_read_kernel(time, sizeof(*time), &later->__i_ctime);
	else
		bpf_probe_read_kernel(time, sizeof(*time), &first->i_ctime);
	return (time->tv_sec * 1000000000ULL + time->tv_nsec);
}

/*
 * The device of the path by which it was opened: of an overlay that is its own,
 * as stat(2) shows it, while a file of the one below is mapped.  Where nothing
 * is below, what is read there is no device of a file that is known.
 */
DTP_INLINE __u32
dtp_device_above(struct dtp_vma *read)
{
	const struct backing_file *below = (const void *)read->vr_file;
	const void *path = &read->vr_file->f_path.dentry;
	__u32 device = 0;

	if (bpf_core_field_exists(below->user_path))
		path = &below->user_path.dentry;
	bpf_probe_read_kernel(&read->vr_dentry, sizeof(read->vr_dentry), path);
	DTP_READ(&read->vr_super, &read->vr_dentry->d_sb);
	DTP_READ(&device, &read->vr_super->s_dev);
	return (device);
}

/* How the library knows the mapping's file; -1: it is none, nor the vDSO. */
DTP_INLINE int
dtp_file_of(const struct vm_area_struct *vma, struct dtp_vma *read)
{
	struct dtp_uw_file *file = &read->vr_wanted;

	file->uf_inode = file->uf_bytes = file->uf_changed_ns = 0;
	file->uf_device = read->vr_above = 0;
	if (read->vr_file != NULL) {
		DTP_READ(&read->vr_inode, &read->vr_file->f_inode);
		DTP_READ(&file->uf_inode,
		    (const __u64 *)&read->vr_inode->i_ino);
		DTP_READ(&file->uf_bytes,
		    (const __u64 *)&read->vr_inode->i_size);
		DTP_READ(&read->vr_super, &read->vr_inode->i_sb);
		DTP_READ(&file->uf_device, &read->vr_super->s_dev);
		read->vr_above = dtp_device_above(read);
		file->uf_changed_ns = dtp_changed_ns(read);
		return (0);
	}
	/* The kernel's own mappings have a description, first its name. */
	DTP_READ(&read->vr_special, (const char *const **)&
	    vma->vm_private_data);
	if (read->vr_special == NULL)
		return (-1);
	DTP_READ(&read->vr_name, read->vr_special);
	read->vr_text = 0;
	bpf_probe_read_kernel_str(&read->vr_text, sizeof(read->vr_text),
	    read->vr_name);
	return (read->vr_text == DTP_VDSO ? 0 : -1);
}

/* The file's module, and where its code lies. */
DTP_INLINE void
dtp_find_file(const struct dtp_vma *read, struct dtp_uw_map *map)
{
	const struct dtp_uw_file *wanted = &read->vr_wanted;
	__u32 first = (__u32)(wanted->uf_inode * DTP_UW_MIX >> 32), at, module;
	const struct dtp_uw_file *file;
	__u64 differs;

	map->um_module = DTP_UW_LOST;
	for (int i = 0; i < DTP_UW_FILE_PROBES; i++) {
		at = (first + i) & (DTP_UW_FILES - 1);
		file = bpf_map_lookup_elem(&uw_files, &at);
		if (file == NULL)
			return;
		/* Partner: the store of uf_module in publish/files.c. */
		module = DTP_LOAD(&file->uf_module);
		differs = (file->uf_inode ^ wanted->uf_inode) |
		    (file->uf_bytes ^ wanted->uf_bytes) |
		    (file->uf_changed_ns ^ wanted->uf_changed_ns);
		if (module != 0 && differs == 0 &&
		    (file->uf_device == wanted->uf_device ||
		    file->uf_device == read->vr_above)) {
			map->um_bias += file->uf_shift;
			map->um_module = module;
			return;
		}
	}
}

/* Address less offset in the file: splitting or merging does not change it. */
DTP_INLINE __u64
dtp_vma_bias(const struct vm_area_struct *vma, struct dtp_vma *read)
{
	DTP_READ(&read->vr_page, (const __u64 *)&vma->vm_pgoff);
	DTP_READ(&read->vr_start, (const __u64 *)&vma->vm_start);
	return (read->vr_start - (read->vr_page << cfg.dc_page_shift));
}

/* What dtp_find_vma has found, into uw_map.  0: it holds pc. */
DTP_APART int
dtp_uw_take_vma(struct dtp_unwind *uw, __u64 from, __u64 pc)
{
	const struct vm_area_struct *vma = (const void *)from;
	struct dtp_uw_map *map;
	struct dtp_vma *read;
	__u64 bias, again;

	if (uw == NULL)
		return (-1);
	map = &uw->uw_map;
	read = &uw->uw_vma;
	map->um_module = 0;
	map->um_is_young = 1;
	DTP_READ(&read->vr_flags, (const __u64 *)&vma->vm_flags);
	DTP_READ(&read->vr_file, (const struct file **)&vma->vm_file);
	map->um_bias = bias = dtp_vma_bias(vma, read);
	if (dtp_file_of(vma, read) == 0)
		dtp_find_file(read, map);
	DTP_READ(&read->vr_still, (const struct file **)&vma->vm_file);
	DTP_READ(&map->um_end, (const __u64 *)&vma->vm_end);
	DTP_READ(&read->vr_mm, (const struct mm_struct **)&vma->vm_mm);
	again = dtp_vma_bias(vma, read);
	map->um_start = read->vr_start;
	if (read->vr_mm == dtp_walked_mm() &&
	    read->vr_still == read->vr_file && again == bias &&
	    (read->vr_flags & DTP_VM_EXEC) != 0 &&
	    pc >= map->um_start && pc < map->um_end)
		return (0);
	map->um_start = map->um_end = 0;
	return (-1);
}

#endif /* !DTP_UW_ELSEWHERE */

#endif /* UNWIND_VMA_BPF_H */
