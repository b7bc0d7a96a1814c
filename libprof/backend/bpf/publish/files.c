/* SPDX-License-Identifier: ISC */
/*
 * Tells the walk in the kernel which module a file is, so that a process has
 * stacks from its first instruction on if its files are known: what is not
 * published yet is looked up there (sys/unwind_vma.bpf.h).
 *
 * Called by modules.c and numbers.c, from the thread of the drain.  A file is
 * the one with this device, inode, size and time of its last change; copies
 * with the same build-id are one module.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "publish_impl.h"

#define MINOR_BITS	20	/* of a device, as the kernel has it */

static bool
file_is(const struct dtp_uw_file *a, const struct dtp_uw_file *b)
{
	return (a->uf_inode == b->uf_inode && a->uf_bytes == b->uf_bytes &&
	    a->uf_changed_ns == b->uf_changed_ns &&
	    a->uf_device == b->uf_device);
}

/* A free place for a file; NULL: there is none, or it is there already. */
static struct dtp_uw_file *
file_place(struct prof_unwind_memory *memory, const struct dtp_uw_file *file)
{
	const uint32_t first = (uint32_t)(file->uf_inode * DTP_UW_MIX >> 32);
	struct dtp_uw_file *at, *place = NULL;
	uint32_t n;

	for (n = DTP_UW_FILE_PROBES; n-- > 0; ) {
		at = &memory->um_files[(first + n) & (DTP_UW_FILES - 1)];
		if (at->uf_module == 0)
			place = at;
		else if (file_is(at, file))
			return (NULL);
	}
	return (place);
}

/* false: not the same for all of its code, so the file is not shown. */
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
prof_file_show(struct prof_unwind_memory *memory, struct prof_module *module,
    int fd)
{
	struct dtp_uw_file file = { 0 }, *place;
	struct stat st;

	if (!file_shift(module, &file))
		return;
	if (module->mo_path != NULL) {
		if (fd == -1 || fstat(fd, &st) == -1)
			return;
		file.uf_inode = st.st_ino;
		file.uf_bytes = (uint64_t)st.st_size;
		file.uf_device = (uint32_t)(major(st.st_dev) << MINOR_BITS |
		    minor(st.st_dev));
		file.uf_changed_ns = (uint64_t)st.st_ctim.tv_sec *
		    1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	}
	if ((place = file_place(memory, &file)) == NULL)
		return;
	*place = file;
	/* Partner: the load of uf_module in unwind_vma.bpf.h. */
	__atomic_store_n(&place->uf_module, module->mo_number,
	    __ATOMIC_RELEASE);
	module->mo_is_shown = true;
}

void
prof_file_hide(struct prof_unwind_memory *memory, struct prof_module *module)
{
	uint32_t n;

	for (n = 0; module->mo_is_shown && n < DTP_UW_FILES; n++)
		if (memory->um_files[n].uf_module == module->mo_number)
			__atomic_store_n(&memory->um_files[n].uf_module, 0,
			    __ATOMIC_RELEASE);
	module->mo_is_shown = false;
}
