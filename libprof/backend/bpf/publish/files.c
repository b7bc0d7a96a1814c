/* SPDX-License-Identifier: ISC */
/*
 * Tells the walk in the kernel which module a file is, so that a process has
 * stacks from its first instruction on if its files are known: what is not
 * published yet is looked up there (sys/unwind_vma.bpf.h).
 *
 * Called by modules.c and numbers.c, from the thread of the drain.  A file is
 * the one with this device, inode, size and time of its last change.  Of copies
 * with the same build-id, which are one module, the first one met is known;
 * processes of the others are known when they are published.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "publish_impl.h"

#define MINOR_BITS	20	/* of a device, as the kernel has it */

/* Where a module's file is, or (0) may be; NULL: nowhere. */
static struct dtp_uw_file *
file_place(struct prof_unwind_memory *memory, uint64_t inode, uint32_t module)
{
	const uint32_t first = (uint32_t)(inode * DTP_UW_MIX >> 32);
	struct dtp_uw_file *file;
	uint32_t n;

	for (n = 0; n < DTP_UW_FILE_PROBES; n++) {
		file = &memory->um_files[(first + n) & (DTP_UW_FILES - 1)];
		if (file->uf_module == module)
			return (file);
	}
	return (NULL);
}

/* The same for all of its code, or it is not told of. */
static bool
file_shift(const struct prof_module *module, struct dtp_uw_file *file)
{
	uint64_t shift;
	unsigned n;

	for (n = 0; n < module->mo_ntext; n++) {
		shift = module->mo_text[n].p_offset -
		    module->mo_text[n].p_vaddr;
		if (n > 0 && shift != file->uf_shift)
			return (false);
		file->uf_shift = shift;
	}
	return (true);
}

void
prof_file_show(struct prof_unwind_memory *memory, struct prof_module *module)
{
	struct dtp_uw_file file = { 0 }, *place;
	struct stat st;

	if (!file_shift(module, &file))
		return;
	if (module->mo_path != NULL) {
		if (module->mo_fd == -1 || fstat(module->mo_fd, &st) == -1)
			return;
		file.uf_inode = st.st_ino;
		file.uf_bytes = (uint64_t)st.st_size;
		file.uf_device = (uint32_t)(major(st.st_dev) << MINOR_BITS |
		    minor(st.st_dev));
		file.uf_changed_ns = (uint64_t)st.st_ctim.tv_sec *
		    1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	}
	if ((place = file_place(memory, file.uf_inode, 0)) == NULL)
		return;
	*place = file;
	/* Partner: the load of uf_module in unwind_vma.bpf.h. */
	__atomic_store_n(&place->uf_module, module->mo_number,
	    __ATOMIC_RELEASE);
	module->mo_inode = file.uf_inode;
	module->mo_is_shown = true;
}

void
prof_file_hide(struct prof_unwind_memory *memory, struct prof_module *module)
{
	struct dtp_uw_file *place;

	if (!module->mo_is_shown)
		return;
	place = file_place(memory, module->mo_inode, module->mo_number);
	if (place != NULL)
		__atomic_store_n(&place->uf_module, 0, __ATOMIC_RELEASE);
	module->mo_is_shown = false;
}
