/* SPDX-License-Identifier: ISC */
/*
 * Images: what mappings map, each file once, by path and build-id, or by
 * path, device and inode where there is no build-id.  The same name for
 * another build is another image.
 *
 * Both sides use it: the recorder to keep files open that were hit, the
 * reader to find a name for an address.
 */
#ifndef IMAGES_H
#define IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/record.h"
#include "confine/reading.h"

#define PROF_IMAGE_ANON	0	/* memory that no file is behind */
#define PROF_IMAGE_OVER	(UINT32_MAX - 1) /* there was no memory for it */

struct prof_image {
	char		*im_path;	/* without the remark "(deleted)" */
	uint64_t	 im_dev;	/* with im_ino, 0: not known */
	uint64_t	 im_ino;
	uint64_t	 im_first_ns;	/* first mapped */
	uint64_t	 im_written_ns;	/* its mtime, once it is held */
	uint32_t	 im_id_len;
	uint8_t		 im_id[20];
};

/* Number 0 is PROF_IMAGE_ANON, which has no path. */
struct prof_images {
	struct prof_dict is_dict;
	struct prof_image *is_image;
	uint32_t	 is_n;
	uint32_t	 is_cap;
	uint64_t	 is_left;	/* bytes that new ones may take */
	uint64_t	 is_over;	/* mappings of files beyond them */
};

/* bytes: of memory, with what is made of them later. */
int	prof_images_init(struct prof_images *images, uint64_t bytes);
void	prof_images_fini(struct prof_images *images);
/* The image of an MMAP, or PROF_IMAGE_OVER; UINT32_MAX: no memory. */
uint32_t prof_images_get(struct prof_images *images,
	    const struct prof_record *mapping);
/*
 * Of those whose number is not 0 in the array each gets its new number there,
 * in the same order; the others are forgotten.  -1: no memory, nothing done.
 */
int	prof_images_keep(struct prof_images *images, uint32_t *number);
/* No file, but has symbols: "[vdso]", and what we name so ourselves. */
bool	prof_path_has_names(const char *path);
/* "[vdso]", which is no file but has symbols. */
bool	prof_image_is_vdso(const struct prof_image *image);
/*
 * Is this open file what was mapped?  By build-id; without one the same inode
 * that was not changed since changed_ns (CLOCK_REALTIME; 0: never taken).
 */
bool	prof_image_matches(const struct prof_image *image, int fd,
	    uint64_t changed_ns);
/* When this open file was last written; UINT64_MAX: not known. */
uint64_t prof_image_written_ns(int fd);
/* The build-id of the vDSO of this process; its length, or 0. */
uint32_t prof_image_own_vdso_id(uint8_t id[20]);
/* The vDSO of this process, if it is that one; its length, or 0. */
size_t	prof_image_own_vdso(const struct prof_image *image,
	    const void **elf);

#endif /* IMAGES_H */
