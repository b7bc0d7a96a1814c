/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: The walk in the kernel finds the module of a file by device,
 * inode, size and time of change.  Each file is shown once.  A file that has
 * changed since is another one, and a hidden file is not found.  Where all
 * places of an inode are taken, the file is not shown, and no other is lost.
 *
 * Easy to get wrong: a device has another form in the kernel; a place in front
 * of a file that is shown becomes free.
 */
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/bpf/publish/publish_impl.h"
#include "cli-check.h"

#define FIRST(inode)	((uint32_t)((inode) * DTP_UW_MIX >> 32))

static struct prof_unwind_memory memory;

/* As sys/unwind_vma.bpf.h looks it up; 0: not there. */
static uint32_t
module_of(const struct stat *st, uint64_t *shift)
{
	const struct dtp_uw_file *file;
	uint32_t n;

	for (n = 0; n < DTP_UW_FILE_PROBES; n++) {
		file = &memory.um_files[(FIRST(st->st_ino) + n) &
		    (DTP_UW_FILES - 1)];
		*shift = file->uf_shift;
		if (file->uf_module != 0 && file->uf_inode == st->st_ino &&
		    file->uf_bytes == (uint64_t)st->st_size &&
		    file->uf_device == (major(st->st_dev) << 20 |
		    minor(st->st_dev)) && file->uf_changed_ns ==
		    (uint64_t)st->st_ctim.tv_sec * 1000000000 +
		    (uint64_t)st->st_ctim.tv_nsec)
			return (file->uf_module);
	}
	return (0);
}

static void
places_are_taken(struct prof_module *module, const struct stat *st)
{
	struct dtp_uw_file *file;
	uint64_t shift;
	uint32_t n;

	for (n = 0; n < DTP_UW_FILE_PROBES; n++) {
		file = &memory.um_files[(FIRST(st->st_ino) + n) &
		    (DTP_UW_FILES - 1)];
		file->uf_inode = ~st->st_ino;
		file->uf_module = 100 + n;
	}
	prof_file_show(&memory, module, module->mo_fd);
	CHECK(!module->mo_is_shown, "there is no place");
	prof_file_hide(&memory, module);
	file->uf_module = 0;
	prof_file_show(&memory, module, module->mo_fd);
	CHECK(module_of(st, &shift) == 7, "the last place is free");
	/* One in front of it is free again. */
	memory.um_files[FIRST(st->st_ino) & (DTP_UW_FILES - 1)].uf_module = 0;
	CHECK(module_of(st, &shift) == 7, "it is still there");
	prof_file_hide(&memory, module);
	CHECK(file->uf_module == 0 && module_of(st, &shift) == 0,
	    "it is hidden");
	OK("a file without a place is not shown");
}

int
main(void)
{
	char path[] = "/tmp/dtprof-file.XXXXXX";
	struct prof_module module = { .mo_number = 7, .mo_path = path,
	    .mo_fd = mkstemp(path), .mo_ntext = 2 };
	struct stat st;
	uint64_t shift;

	memory.um_files = calloc(DTP_UW_FILES, sizeof(*memory.um_files));
	CHECK(memory.um_files != NULL && module.mo_fd != -1 &&
	    write(module.mo_fd, "x", 1) == 1 && fstat(module.mo_fd, &st) == 0,
	    "no file");
	module.mo_text[0] = (Elf64_Phdr){ .p_offset = 0x1000,
	    .p_vaddr = 0x401000 };
	module.mo_text[1] = (Elf64_Phdr){ .p_offset = 0x3000,
	    .p_vaddr = 0x404000 };
	prof_file_show(&memory, &module, module.mo_fd);
	CHECK(!module.mo_is_shown && module_of(&st, &shift) == 0,
	    "code at two distances has one");
	module.mo_text[1].p_vaddr = 0x403000;
	prof_file_show(&memory, &module, module.mo_fd);
	CHECK(module_of(&st, &shift) == 7 && shift == 0x1000 - 0x401000ULL,
	    "module %u, shift %llx", module_of(&st, &shift),
	    (unsigned long long)shift);
	st.st_size++;
	CHECK(module_of(&st, &shift) == 0, "another size");
	st.st_size--;
	st.st_ctim.tv_nsec ^= 1;
	CHECK(module_of(&st, &shift) == 0, "changed since");
	st.st_ctim.tv_nsec ^= 1;
	prof_file_hide(&memory, &module);
	CHECK(module_of(&st, &shift) == 0, "it is hidden");
	OK("a file is known as it was, until it is hidden");
	places_are_taken(&module, &st);
	close(module.mo_fd);
	unlink(path);
	free(memory.um_files);
	return (0);
}
