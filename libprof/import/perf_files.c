/* SPDX-License-Identifier: ISC */
/*
 * Build-ids where perf.data has none, as into pipes, with -z, and after perf
 * was killed.  What is left then is where a file was: its device, inode and
 * path.  If that inode was not changed since before the recording, it is the
 * file that was mapped, as far as anybody can tell; its build-id, if it has
 * one, then stands for it, so that a later reader sees when it is replaced.
 * Nothing proves it, and so it is said.
 *
 * Called by perfdata.c.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/build_id.h"
#include "image/images.h"
#include "perfdata.h"
#include "profile/profile_impl.h"

uint64_t
perf_begin_ns(const struct perf_data *data)
{
	const uint64_t written = data->pd_import->im_written_ns;
	const uint64_t took = data->pd_last_ns - data->pd_first_ns;

	return (data->pd_last_ns < data->pd_first_ns || took > written ? 0 :
	    written - took);
}

/* Looks at the file once. */
static int
add_file(struct perf_data *data, const struct prof_record *mapping)
{
	const struct prof_image image = {
		.im_path = (char *)(uintptr_t)mapping->pr_path,
		.im_dev = mapping->pr_dev, .im_ino = mapping->pr_ino,
	};
	struct perf_file *file = prof_grow((void **)&data->pd_file,
	    &data->pd_nfiles, &data->pd_cap_files, sizeof(*file));
	const int fd = file == NULL ? -1 :
	    prof_image_open(mapping->pr_path);

	if (file == NULL)
		return (-1);
	memset(file, 0, sizeof(*file));
	if (fd == -1)
		return (0);
	if (prof_image_matches(&image, fd, perf_begin_ns(data))) {
		file->pf_len = prof_build_id_of_file(fd, file->pf_id);
		data->pd_unchanged++;
	}
	(void)close(fd);
	return (0);
}

int
perf_files_id(struct perf_data *data, struct prof_record *mapping)
{
	struct prof_buf key = { 0 };
	uint32_t n = PROF_INTERN_FAILED;
	bool is_new = false;

	if (mapping->pr_build_id_len == 0 &&
	    strcmp(mapping->pr_path, "[vdso]") == 0)
		perf_kernel_vdso(data, mapping);
	if (mapping->pr_build_id_len != 0 || mapping->pr_ino == 0 ||
	    data->pd_foreign)
		return (0);
	prof_buf_bytes(&key, &mapping->pr_dev, sizeof(mapping->pr_dev));
	prof_buf_bytes(&key, &mapping->pr_ino, sizeof(mapping->pr_ino));
	prof_buf_bytes(&key, mapping->pr_path, strlen(mapping->pr_path));
	if (!key.bf_failed)
		n = prof_dict_find(&data->pd_paths, key.bf_data, key.bf_len,
		    &is_new);
	prof_buf_free(&key);
	if (n == PROF_INTERN_FAILED ||
	    (is_new && add_file(data, mapping) == -1) || n >= data->pd_nfiles)
		return (prof_fail_nomem(&data->pd_import->im_error));
	mapping->pr_build_id_len = data->pd_file[n].pf_len;
	memcpy(mapping->pr_build_id, data->pd_file[n].pf_id,
	    sizeof(mapping->pr_build_id));
	return (0);
}

int
perf_files_say(struct perf_data *data)
{
	char text[32];

	if (data->pd_unchanged == 0)
		return (data->pd_nbuild_ids > 0 || data->pd_has_ids ? 0 :
		    prof_import_say(data->pd_import, "perf.data has no "
		    "build-ids, and none of the recorded files is known to be "
		    "unchanged, so user addresses are unresolved: record with "
		    "perf record --buildid-mmap"));
	(void)snprintf(text, sizeof(text), "%llu",
	    (unsigned long long)perf_begin_ns(data));
	if (prof_import_info(data->pd_import, "import.unchanged_ns", text) ==
	    -1)
		return (-1);
	return (prof_import_say(data->pd_import, "no build-id for %llu file%s: "
	    "symbols come from files on disk that have the recorded inodes "
	    "and are older than the recording; the content of these files was "
	    "not verified", (unsigned long long)data->pd_unchanged,
	    data->pd_unchanged == 1 ? "" : "s"));
}

void
perf_files_fini(struct perf_data *data)
{
	prof_dict_free(&data->pd_paths);
	free(data->pd_file);
}
