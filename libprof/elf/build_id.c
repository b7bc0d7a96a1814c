/* SPDX-License-Identifier: ISC */
/*
 * Build-ids: the name of an image that survives its replacement on disk.
 * Read from the notes of an ELF file, of the own vdso, or of a bare note
 * section as /sys/kernel/notes shows it, and remembered per file, since one
 * libc.so.6 stands behind nearly every process.
 *
 * Called by procfs.c (snapshots) and backend/perf/drain.c (mappings for which
 * the kernel gave no build-id).  Files are untrusted: every size is bounded,
 * and no more than a few pages are read from any.  Symbols are not read here.
 */
#include <sys/auxv.h>
#include <sys/stat.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"
#include "prof.h"

/* More program headers or larger notes than these are no program's. */
#define MAX_PHDRS	512
#define MAX_NOTES	16384
#define MAX_KNOWN	16384	/* files; then all are read again */

/* Where the bytes come from: a file, or memory of a known length. */
struct source {
	int		 so_fd;
	const uint8_t	*so_bytes;
	size_t		 so_len;
};

/* One program header, of either class. */
struct segment {
	uint64_t	sg_offset;
	uint64_t	sg_size;
	uint64_t	sg_align;
	bool		sg_is_note;
};

struct prof_build_ids {
	struct build_id	*bi_slot;	/* open addressing */
	size_t		 bi_n;
	size_t		 bi_nslots;	/* a power of two, or 0 */
};

/* A file without a build-id is remembered too: bu_len is 0. */
struct build_id {
	struct prof_file_key bu_key;
	bool		 bu_used;
	uint8_t		 bu_len;
	uint8_t		 bu_id[20];
};

static bool	source_read(const struct source *, uint64_t, void *, size_t);
static bool	segment_read(const struct source *, const Elf64_Ehdr *,
		    uint32_t, struct segment *);
static bool	ehdr_read(const struct source *, Elf64_Ehdr *);
static uint32_t	build_id_of(const struct source *, uint8_t [20]);
static struct build_id *slot_find(struct build_id *, size_t,
		    const struct prof_file_key *);
static int	slots_grow(struct prof_build_ids *);

static bool
source_read(const struct source *source, uint64_t offset, void *out,
    size_t n)
{
	ssize_t got;

	if (source->so_bytes != NULL) {
		if (offset > source->so_len || n > source->so_len - offset)
			return (false);
		memcpy(out, source->so_bytes + offset, n);
		return (true);
	}
	if (offset > INT64_MAX - n)
		return (false);
	do
		got = pread(source->so_fd, out, n, (off_t)offset);
	while (got == -1 && errno == EINTR);
	return (got == (ssize_t)n);
}

/* The ELF header, widened to 64 bits; only the machine's own byte order. */
static bool
ehdr_read(const struct source *source, Elf64_Ehdr *ehdr)
{
	Elf32_Ehdr narrow;

	if (!source_read(source, 0, ehdr->e_ident, EI_NIDENT) ||
	    memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0)
		return (false);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (ehdr->e_ident[EI_DATA] != ELFDATA2LSB)
		return (false);
#else
	if (ehdr->e_ident[EI_DATA] != ELFDATA2MSB)
		return (false);
#endif
	if (ehdr->e_ident[EI_CLASS] == ELFCLASS64)
		return (source_read(source, 0, ehdr, sizeof(*ehdr)) &&
		    ehdr->e_phentsize == sizeof(Elf64_Phdr));
	if (ehdr->e_ident[EI_CLASS] != ELFCLASS32 ||
	    !source_read(source, 0, &narrow, sizeof(narrow)) ||
	    narrow.e_phentsize != sizeof(Elf32_Phdr))
		return (false);
	ehdr->e_phoff = narrow.e_phoff;
	ehdr->e_phnum = narrow.e_phnum;
	ehdr->e_phentsize = narrow.e_phentsize;
	return (true);
}

static bool
segment_read(const struct source *source, const Elf64_Ehdr *ehdr, uint32_t n,
    struct segment *segment)
{
	union {
		Elf64_Phdr wide;
		Elf32_Phdr narrow;
	} phdr;
	uint64_t at = (uint64_t)n * ehdr->e_phentsize;

	if (ehdr->e_phoff > UINT64_MAX - at ||
	    !source_read(source, ehdr->e_phoff + at, &phdr, ehdr->e_phentsize))
		return (false);
	if (ehdr->e_ident[EI_CLASS] == ELFCLASS64) {
		segment->sg_offset = phdr.wide.p_offset;
		segment->sg_size = phdr.wide.p_filesz;
		segment->sg_align = phdr.wide.p_align;
		segment->sg_is_note = phdr.wide.p_type == PT_NOTE;
	} else {
		segment->sg_offset = phdr.narrow.p_offset;
		segment->sg_size = phdr.narrow.p_filesz;
		segment->sg_align = phdr.narrow.p_align;
		segment->sg_is_note = phdr.narrow.p_type == PT_NOTE;
	}
	return (true);
}

uint32_t
prof_build_id_of_notes(const void *notes, size_t len, size_t align,
    uint8_t out[20])
{
	const uint8_t *bytes = notes;
	Elf64_Nhdr note;
	size_t at = 0, name, desc;

	if (align != 8)
		align = 4;
	while (len >= sizeof(note) && at <= len - sizeof(note)) {
		memcpy(&note, bytes + at, sizeof(note));
		name = at + sizeof(note);
		if (note.n_namesz > len - name)
			return (0);
		desc = (name + note.n_namesz + align - 1) & ~(align - 1);
		if (desc > len || note.n_descsz > len - desc)
			return (0);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(bytes + name, "GNU", 4) == 0 &&
		    note.n_descsz >= 1 && note.n_descsz <= 20) {
			memset(out, 0, 20);
			memcpy(out, bytes + desc, note.n_descsz);
			return (note.n_descsz);
		}
		at = (desc + note.n_descsz + align - 1) & ~(align - 1);
	}
	return (0);
}

static uint32_t
build_id_of(const struct source *source, uint8_t out[20])
{
	uint8_t notes[MAX_NOTES];
	struct segment segment;
	Elf64_Ehdr ehdr;
	uint32_t len, n;

	memset(out, 0, 20);
	if (!ehdr_read(source, &ehdr) || ehdr.e_phnum > MAX_PHDRS)
		return (0);
	for (n = 0; n < ehdr.e_phnum; n++) {
		if (!segment_read(source, &ehdr, n, &segment))
			return (0);
		if (!segment.sg_is_note || segment.sg_size > sizeof(notes) ||
		    !source_read(source, segment.sg_offset, notes,
		    segment.sg_size))
			continue;
		len = prof_build_id_of_notes(notes, segment.sg_size,
		    segment.sg_align, out);
		if (len != 0)
			return (len);
	}
	return (0);
}

uint32_t
prof_build_id_of_file(int fd, uint8_t out[20])
{
	const struct source source = { .so_fd = fd };

	return (build_id_of(&source, out));
}

uint32_t
prof_build_id_of_memory(const void *bytes, size_t len, uint8_t out[20])
{
	const struct source source = { .so_fd = -1, .so_bytes = bytes,
	    .so_len = len };

	return (build_id_of(&source, out));
}

/*
 * The kernel maps one and the same vdso into every process of its own word
 * size; those of the narrower size get another one, which we do not have.
 */
uint32_t
prof_build_id_of_vdso(uint64_t addr, uint64_t len, uint8_t out[20])
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);

	memset(out, 0, 20);
	if (vdso == NULL || addr <= UINT32_MAX || len > 65536)
		return (0);
	/* The first page holds its headers and notes, and is always there. */
	return (prof_build_id_of_memory(vdso, len < 4096 ? len : 4096, out));
}

/* ------------------------------------------------------------- memory */

struct prof_build_ids *
prof_build_ids_new(void)
{
	return (calloc(1, sizeof(struct prof_build_ids)));
}

void
prof_build_ids_free(struct prof_build_ids *ids)
{
	if (ids == NULL)
		return;
	free(ids->bi_slot);
	free(ids);
}

static struct build_id *
slot_find(struct build_id *slots, size_t nslots,
    const struct prof_file_key *key)
{
	uint64_t hash = (key->fk_ino ^ key->fk_dev << 40 ^ key->fk_mtime_ns) *
	    0x9e3779b97f4a7c15ULL;
	size_t at = (hash >> 20) & (nslots - 1);

	while (slots[at].bu_used &&
	    (slots[at].bu_key.fk_ino != key->fk_ino ||
	    slots[at].bu_key.fk_dev != key->fk_dev ||
	    slots[at].bu_key.fk_mtime_ns != key->fk_mtime_ns))
		at = (at + 1) & (nslots - 1);
	return (&slots[at]);
}

static int
slots_grow(struct prof_build_ids *ids)
{
	size_t n, nslots = ids->bi_nslots == 0 ? 256 : ids->bi_nslots * 2;
	struct build_id *slots = calloc(nslots, sizeof(*slots));

	if (slots == NULL)
		return (-1);
	for (n = 0; n < ids->bi_nslots; n++)
		if (ids->bi_slot[n].bu_used)
			*slot_find(slots, nslots, &ids->bi_slot[n].bu_key) =
			    ids->bi_slot[n];
	free(ids->bi_slot);
	ids->bi_slot = slots;
	ids->bi_nslots = nslots;
	return (0);
}

bool
prof_build_ids_find(const struct prof_build_ids *ids,
    const struct prof_file_key *key, uint8_t out[20], uint32_t *len)
{
	const struct build_id *slot;

	if (ids->bi_nslots == 0)
		return (false);
	slot = slot_find(ids->bi_slot, ids->bi_nslots, key);
	if (!slot->bu_used)
		return (false);
	memcpy(out, slot->bu_id, 20);
	*len = slot->bu_len;
	return (true);
}

void
prof_build_ids_add(struct prof_build_ids *ids,
    const struct prof_file_key *key, const uint8_t id[20], uint32_t len)
{
	struct build_id *slot;

	if (ids->bi_n >= MAX_KNOWN) {
		memset(ids->bi_slot, 0, ids->bi_nslots *
		    sizeof(*ids->bi_slot));
		ids->bi_n = 0;
	}
	/* Without memory the file is just read again. */
	if (ids->bi_n * 2 >= ids->bi_nslots && slots_grow(ids) == -1)
		return;
	slot = slot_find(ids->bi_slot, ids->bi_nslots, key);
	if (slot->bu_used)
		return;
	slot->bu_used = true;
	slot->bu_key = *key;
	memcpy(slot->bu_id, id, 20);
	slot->bu_len = (uint8_t)len;
	ids->bi_n++;
}

uint32_t
prof_build_ids_of_file(struct prof_build_ids *ids, int fd, uint64_t ino,
    uint8_t out[20])
{
	struct prof_file_key key;
	struct stat st;
	uint32_t len;

	memset(out, 0, 20);
	/* Another inode than the one mapped is another program. */
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    (ino != 0 && st.st_ino != ino))
		return (0);
	key.fk_dev = st.st_dev;
	key.fk_ino = st.st_ino;
	key.fk_mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
	    (uint64_t)st.st_mtim.tv_nsec;
	if (prof_build_ids_find(ids, &key, out, &len))
		return (len);
	len = prof_build_id_of_file(fd, out);
	prof_build_ids_add(ids, &key, out, len);
	return (len);
}

void
prof_build_id(const char *path, char *text, size_t size)
{
	uint8_t id[20];
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY |
	    O_NONBLOCK);
	const uint32_t n = fd == -1 ? 0 : prof_build_id_of_file(fd, id);

	if (fd != -1)
		close(fd);
	if (size > 0)
		text[0] = '\0';
	for (uint32_t i = 0; i < n && 2 * i + 2 < size; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}
