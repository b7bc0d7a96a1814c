/* SPDX-License-Identifier: ISC */
/* Build-ids of files, and a cache of them. */
#ifndef PROF_BUILD_ID_H
#define PROF_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read a build-id note; length, or 0. */
uint32_t prof_build_id_of_file(int fd, uint8_t out[20]);
uint32_t prof_build_id_of_memory(const void *elf, size_t len,
	    uint8_t out[20]);
uint32_t prof_build_id_of_notes(const void *notes, size_t len, size_t align,
	    uint8_t out[20]);
uint32_t prof_build_id_of_vdso(uint64_t addr, uint64_t len, uint8_t out[20]);

/* Build-ids already read, by file.  Not for two threads at once. */
struct prof_file_key {
	uint64_t	fk_dev;
	uint64_t	fk_ino;
	uint64_t	fk_mtime_ns;	/* or 0, where a moment is looked at */
};
struct prof_build_ids *prof_build_ids_new(void);	/* owned by caller */
void	prof_build_ids_free(struct prof_build_ids *ids);
bool	prof_build_ids_find(const struct prof_build_ids *ids,
	    const struct prof_file_key *key, uint8_t out[20], uint32_t *len);
void	prof_build_ids_add(struct prof_build_ids *ids,
	    const struct prof_file_key *key, const uint8_t id[20],
	    uint32_t len);
/* Of an open file; 0 also when its inode is not ino (0: any). */
uint32_t prof_build_ids_of_file(struct prof_build_ids *ids, int fd,
	    uint64_t ino, uint8_t out[20]);

/* The build-id of a file in hexadecimal; "": it has none. */
void prof_build_id(const char *path, char *text, size_t size);

#endif /* PROF_BUILD_ID_H */
