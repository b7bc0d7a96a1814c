/* SPDX-License-Identifier: ISC */
/*
 * See images.h.  What decides whether a file may give names to a recording
 * stands here, once: prof_image_matches.
 */
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine/reading.h"
#include "elf/build_id.h"
#include "images.h"

#define DELETED		" (deleted)"
#define MAX_VDSO	65536
#define IMAGE_BYTES	640	/* memory of one and its module */

int
prof_images_init(struct prof_images *images, uint64_t bytes)
{
	memset(images, 0, sizeof(*images));
	images->is_left = bytes;
	images->is_cap = 64;
	images->is_image = calloc(images->is_cap, sizeof(*images->is_image));
	if (images->is_image == NULL ||
	    (images->is_image[0].im_path = strdup("")) == NULL) {
		free(images->is_image);
		return (-1);
	}
	images->is_n = 1;
	return (0);
}

void
prof_images_fini(struct prof_images *images)
{
	while (images->is_n > 0)
		free(images->is_image[--images->is_n].im_path);
	free(images->is_image);
	prof_dict_free(&images->is_dict);
}

bool
prof_image_is_vdso(const struct prof_image *image)
{
	return (strcmp(image->im_path, "[vdso]") == 0);
}

bool
prof_path_has_names(const char *path)
{
	/* The last two are symbols.c's: imports bring them back. */
	static const char *const names[] = { "[vdso]", "[anon]", "[jit]" };
	size_t n;

	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (strcmp(path, names[n]) == 0)
			return (true);
	return (false);
}

/* Memory of a process's own: "//anon", "[heap]", "/dev/zero", ... */
static bool
is_anon(const struct prof_record *mapping)
{
	static const char *const prefixes[] = {
		"//anon", "/dev/zero", "/anon_hugepage", "/SYSV", "/memfd:"
	};
	const char *path = mapping->pr_path;
	size_t n;

	if (path[0] != '/')
		return (!prof_path_has_names(path));
	if (mapping->pr_build_id_len != 0)
		return (false);
	for (n = 0; n < sizeof(prefixes) / sizeof(prefixes[0]); n++)
		if (strncmp(path, prefixes[n], strlen(prefixes[n])) == 0)
			return (true);
	return (false);
}

/* What tells images apart, as bytes; its length.  The path may go on. */
static size_t
key_of(const struct prof_image *image, size_t path_len, uint8_t *key)
{
	size_t n = image->im_id_len;

	key[0] = (uint8_t)n;
	if (n != 0) {
		memcpy(key + 1, image->im_id, n);
		n++;
	} else {
		memcpy(key + 1, &image->im_dev, 8);
		memcpy(key + 9, &image->im_ino, 8);
		n = 17;
	}
	memcpy(key + n, image->im_path, path_len);
	return (n + path_len);
}

/* false: its key is new, and there is no memory left for one more. */
static bool
image_fits(struct prof_images *images, const uint8_t *key, size_t len)
{
	if (prof_dict_peek(&images->is_dict, key, len) != PROF_INTERN_FAILED)
		return (true);
	if (images->is_left < IMAGE_BYTES + len) {
		images->is_over++;
		return (false);
	}
	images->is_left -= IMAGE_BYTES + len;
	return (true);
}

static bool
image_add(struct prof_images *images, const struct prof_image *new,
    size_t path_len)
{
	struct prof_image *image;

	if (images->is_n == images->is_cap) {
		image = reallocarray(images->is_image, images->is_cap * 2,
		    sizeof(*image));
		if (image == NULL)
			return (false);
		images->is_image = image;
		images->is_cap *= 2;
	}
	image = &images->is_image[images->is_n];
	*image = *new;
	image->im_path = strndup(new->im_path, path_len);
	if (image->im_path == NULL)
		return (false);
	images->is_n++;
	return (true);
}

uint32_t
prof_images_get(struct prof_images *images, const struct prof_record *mapping)
{
	struct prof_image image = {
		.im_path = (char *)(uintptr_t)mapping->pr_path,
		.im_dev = mapping->pr_dev,
		.im_ino = mapping->pr_ino,
		.im_first_ns = mapping->pr_time_ns,
		.im_id_len = mapping->pr_build_id_len,
	};
	uint8_t key[PATH_MAX + 64];
	size_t len, len_of_key, mark = sizeof(DELETED) - 1;
	uint32_t number;
	bool is_new;

	if (is_anon(mapping) ||
	    mapping->pr_build_id_len > sizeof(mapping->pr_build_id))
		return (PROF_IMAGE_ANON);
	memcpy(image.im_id, mapping->pr_build_id, sizeof(image.im_id));
	len = strnlen(mapping->pr_path, PATH_MAX);
	if (len > mark && memcmp(mapping->pr_path + len - mark, DELETED,
	    mark) == 0)
		len -= mark;
	len_of_key = key_of(&image, len, key);
	if (!image_fits(images, key, len_of_key))
		return (PROF_IMAGE_OVER);
	number = prof_dict_find(&images->is_dict, key, len_of_key, &is_new);
	if (number == PROF_INTERN_FAILED ||
	    (is_new && !image_add(images, &image, len)))
		return (UINT32_MAX);
	return (number + 1);	/* 0 is PROF_IMAGE_ANON */
}

int
prof_images_keep(struct prof_images *images, uint32_t *number)
{
	uint8_t key[PATH_MAX + 64];
	struct prof_dict dict = { 0 };
	uint32_t n, kept = 1;
	bool is_new;

	/* The dictionary gives its numbers in order, so these come out. */
	for (n = 1; n < images->is_n; n++) {
		const struct prof_image *image = &images->is_image[n];

		if (number[n] != 0 && prof_dict_find(&dict, key, key_of(image,
		    strlen(image->im_path), key), &is_new) ==
		    PROF_INTERN_FAILED) {
			prof_dict_free(&dict);
			return (-1);
		}
	}
	for (n = 1; n < images->is_n; n++) {
		if (number[n] == 0) {
			free(images->is_image[n].im_path);
			continue;
		}
		number[n] = kept;
		images->is_image[kept++] = images->is_image[n];
	}
	images->is_n = kept;
	prof_dict_free(&images->is_dict);
	images->is_dict = dict;
	return (0);
}

bool
prof_image_matches(const struct prof_image *image, int fd,
    uint64_t changed_ns)
{
	uint8_t id[20];
	struct stat st;

	if (image->im_id_len != 0)
		return (prof_build_id_of_file(fd, id) == image->im_id_len &&
		    memcmp(id, image->im_id, image->im_id_len) == 0);
	return (image->im_ino != 0 && fstat(fd, &st) == 0 &&
	    st.st_ino == image->im_ino &&
	    ((uint64_t)major(st.st_dev) << 32 | minor(st.st_dev)) ==
	    image->im_dev &&
	    (uint64_t)st.st_ctim.tv_sec * 1000000000 +
	    (uint64_t)st.st_ctim.tv_nsec < changed_ns);
}

uint64_t
prof_image_written_ns(int fd)
{
	struct stat st;

	return (fstat(fd, &st) == -1 ? UINT64_MAX :
	    (uint64_t)st.st_mtim.tv_sec * 1000000000 +
	    (uint64_t)st.st_mtim.tv_nsec);
}

uint32_t
prof_image_own_vdso_id(uint8_t id[20])
{
	const void *ehdr = (const void *)getauxval(AT_SYSINFO_EHDR);

	return (ehdr == NULL ? 0 : prof_build_id_of_memory(ehdr, 4096, id));
}

/* Its headers tell how long it is: sections stand last. */
size_t
prof_image_own_vdso(const struct prof_image *image, const void **elf)
{
	const Elf64_Ehdr *ehdr = (const void *)getauxval(AT_SYSINFO_EHDR);
	uint8_t id[20];
	size_t size;

	if (ehdr == NULL || image->im_id_len == 0 ||
	    prof_image_own_vdso_id(id) != image->im_id_len ||
	    memcmp(id, image->im_id, image->im_id_len) != 0)
		return (0);
	size = ehdr->e_shoff + (size_t)ehdr->e_shnum * ehdr->e_shentsize;
	*elf = ehdr;
	return (size > MAX_VDSO ? 0 : size);
}
