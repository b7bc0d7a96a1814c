/* SPDX-License-Identifier: ISC */
/*
 * The call frame information of what processes map, in the form in which the
 * files have it: libunwind runs the programs itself.
 *
 * Called by spaces.c for each mapping, which costs a look-up, and by
 * libunwind.c when a walk comes to one, which reads what the file says of the
 * functions on that stack: few stacks are finished here, and all entries of a
 * large library are megabytes.  A file is opened through the process that maps
 * it, and must be the one that was mapped: the same build-id, or inode where
 * there is none.  It is read, not mapped.
 */
#include <sys/auxv.h>
#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/search.h"
#include "broker/frames.h"
#include "elf/build_id.h"
#include "elf/unwind_table.h"
#include "image/images.h"
#include "os/procfs.h"
#include "snapshot.h"

#define BUCKETS		1024
#define MANY_OBJECTS	12288	/* then those go that nobody maps */
#define MAX_BYTES	(256UL << 20)	/* of all that was read */
#define AGAIN_NS	1000000000ULL
#define MOST_PARTS	64	/* these cost as much as a large file */

struct prof_objects {
	struct prof_broker *is_broker;	/* NULL: we read files ourselves */
	bool		 is_later;	/* nobody maps them any more ... */
	uint64_t	 is_unchanged_ns; /* ... and when they did */
	struct prof_object *is_bucket[BUCKETS];
	struct prof_object **is_object;	/* by number */
	uint32_t	 is_n;		/* numbers given out ... */
	uint16_t	 is_free[PROF_OBJECTS_MAX]; /* ... and taken back */
	uint32_t	 is_nfree;
	size_t		 is_bytes;
	uint64_t	 is_clock;	/* counts uses */
	uint64_t	 is_forgotten;	/* counts objects that made room */
};

struct prof_objects *
prof_objects_new(void)
{
	struct prof_objects *objects = calloc(1, sizeof(*objects));

	if (objects == NULL)
		return (NULL);
	objects->is_object = calloc(PROF_OBJECTS_MAX,
	    sizeof(*objects->is_object));
	if (objects->is_object == NULL) {
		free(objects);
		return (NULL);
	}
	return (objects);
}

void
prof_objects_read_by(struct prof_objects *objects, struct prof_broker *broker)
{
	objects->is_broker = broker;
}

void
prof_objects_later(struct prof_objects *objects, uint64_t unchanged_ns)
{
	objects->is_later = true;
	objects->is_unchanged_ns = unchanged_ns;
}

static size_t
bytes_of(const struct prof_object *object)
{
	size_t bytes = 0;

	for (size_t n = 0; n < object->ob_nframes; n++)
		bytes += object->ob_frames[n].fm_size +
		    object->ob_frames[n].fm_nentries *
		    sizeof(struct prof_cfi_entry);
	return (bytes);
}

/* Back to what it was before it was read. */
static void
object_forget(struct prof_objects *objects, struct prof_object *object)
{
	objects->is_bytes -= bytes_of(object);
	while (object->ob_nframes > 0) {
		struct prof_frames *frames =
		    &object->ob_frames[--object->ob_nframes];

		if (frames->fm_memory == NULL) {
			free((void *)(uintptr_t)frames->fm_bytes);
			free(frames->fm_entry);
		}
		free(frames->fm_memory);
	}
	free(object->ob_frames);
	object->ob_frames = NULL;
	memset(object->ob_asked, 0, sizeof(object->ob_asked));
	object->ob_is_all = false;
	object->ob_state = OBJECT_UNREAD;
}

void
prof_objects_free(struct prof_objects *objects)
{
	uint32_t n;

	if (objects == NULL)
		return;
	for (n = 0; n < objects->is_n; n++) {
		if (objects->is_object[n] == NULL)
			continue;
		object_forget(objects, objects->is_object[n]);
		free(objects->is_object[n]);
	}
	free(objects->is_object);
	free(objects);
}

static bool
is_object(const struct prof_object *object, const struct prof_record *mapping)
{
	if (object->ob_id_len != mapping->pr_build_id_len)
		return (false);
	if (object->ob_id_len != 0)
		return (memcmp(object->ob_id, mapping->pr_build_id,
		    object->ob_id_len) == 0);
	return (object->ob_dev == mapping->pr_dev &&
	    object->ob_ino == mapping->pr_ino &&
	    strcmp(object->ob_path, mapping->pr_path) == 0);
}

struct prof_object *
prof_objects_get(struct prof_objects *objects,
    const struct prof_record *mapping)
{
	uint64_t hash = mapping->pr_ino * 0x9e3779b97f4a7c15ULL;
	struct prof_object *object, **bucket;
	size_t length = strlen(mapping->pr_path) + 1;

	if ((mapping->pr_path[0] != '/' || mapping->pr_path[1] == '/') &&
	    strcmp(mapping->pr_path, "[vdso]") != 0)
		return (NULL);
	if (mapping->pr_build_id_len >= sizeof(hash))
		memcpy(&hash, mapping->pr_build_id, sizeof(hash));
	bucket = &objects->is_bucket[hash % BUCKETS];
	for (object = *bucket; object != NULL; object = object->ob_next)
		if (is_object(object, mapping))
			return (object);
	if ((objects->is_nfree == 0 && objects->is_n == PROF_OBJECTS_MAX) ||
	    (object = calloc(1, sizeof(*object) + length)) == NULL)
		return (NULL);
	object->ob_dev = mapping->pr_dev;
	object->ob_ino = mapping->pr_ino;
	object->ob_id_len = mapping->pr_build_id_len;
	memcpy(object->ob_id, mapping->pr_build_id, sizeof(object->ob_id));
	memcpy(object->ob_path, mapping->pr_path, length);
	object->ob_number = objects->is_nfree > 0 ?
	    objects->is_free[--objects->is_nfree] : objects->is_n++;
	objects->is_object[object->ob_number] = object;
	object->ob_next = *bucket;
	*bucket = object;
	return (object);
}

bool
prof_objects_are_many(const struct prof_objects *objects)
{
	return (objects->is_n - objects->is_nfree >= MANY_OBJECTS);
}

void
prof_objects_sweep(struct prof_objects *objects)
{
	struct prof_object *object, **at;
	size_t b;

	for (b = 0; b < BUCKETS; b++) {
		at = &objects->is_bucket[b];
		while ((object = *at) != NULL) {
			if (object->ob_is_mapped) {
				object->ob_is_mapped = false;
				at = &object->ob_next;
				continue;
			}
			*at = object->ob_next;
			objects->is_object[object->ob_number] = NULL;
			objects->is_free[objects->is_nfree++] =
			    (uint16_t)object->ob_number;
			object_forget(objects, object);
			free(object);
		}
	}
}

void
prof_object_look(struct prof_object *object, struct prof_elf *elf)
{
	Elf64_Phdr ph;
	size_t n;

	object->ob_ntext = 0;
	for (n = 0; prof_elf_segment(elf, n, &ph); n++)
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) &&
		    object->ob_ntext < sizeof(object->ob_text) / sizeof(ph))
			object->ob_text[object->ob_ntext++] = ph;
	object->ob_nouter = prof_outermost_find(elf, true, object->ob_outer,
	    sizeof(object->ob_outer) / sizeof(object->ob_outer[0]));
}

/* Keep of a file all that a walk needs.  -1: no memory. */
static int
object_read(struct prof_object *object, struct prof_elf *elf)
{
	struct prof_frames frames = { 0 };
	struct prof_cfi_input input = { 0 };
	uint8_t *bytes = NULL;

	prof_object_look(object, elf);
	if (prof_unwind_frames(elf, &input)) {
		bytes = malloc(input.ci_size);
		if (bytes == NULL || prof_cfi_entries(&input,
		    &frames.fm_entry, &frames.fm_nentries) == -1) {
			free(bytes);
			return (-1);
		}
		memcpy(bytes, input.ci_bytes, input.ci_size);
	}
	frames.fm_bytes = bytes;
	frames.fm_size = input.ci_size;
	if (prof_frames_add(object, &frames, true) == -1) {
		free(frames.fm_entry);
		free(bytes);
		return (-1);
	}
	return (0);
}

/* Is this the file that was mapped? */
static bool
is_same(const struct prof_object *object, int fd)
{
	uint8_t id[20] = { 0 };
	struct stat st;

	if (object->ob_id_len != 0)
		return (prof_build_id_of_file(fd, id) == object->ob_id_len &&
		    memcmp(id, object->ob_id, object->ob_id_len) == 0);
	return (fstat(fd, &st) == 0 && st.st_ino == object->ob_ino);
}

/* The file, through the process that maps it; -1: not now. */
static int
open_file(const struct prof_object *object, uint32_t pid,
    const struct prof_mapped *mapping)
{
	const struct prof_record where = {
		.pr_pid = pid,
		.pr_addr = mapping->mp_start,
		.pr_len = mapping->mp_end - mapping->mp_start,
		.pr_path = object->ob_path,
	};
	int fd;

	fd = prof_mapped_file_open(&where);
	/* The process has gone: its build-id decides. */
	if (fd == -1 && object->ob_id_len != 0)
		fd = prof_image_open(object->ob_path);
	if (fd == -1 || is_same(object, fd))
		return (fd);
	close(fd);
	return (-1);
}

/*
 * The same, of a process that ended before, or was never here: its number may
 * be another's now, so only the path is asked.
 */
static int
open_later(const struct prof_objects *objects,
    const struct prof_object *object)
{
	struct prof_image image = {
		.im_path = (char *)(uintptr_t)object->ob_path,
		.im_dev = object->ob_dev, .im_ino = object->ob_ino,
		.im_id_len = object->ob_id_len,
	};
	const int fd = prof_image_open(object->ob_path);

	memcpy(image.im_id, object->ob_id, sizeof(image.im_id));
	if (fd == -1 || prof_image_matches(&image, fd,
	    objects->is_unchanged_ns))
		return (fd);
	close(fd);
	return (-1);
}

/* Is the vDSO that it had mapped ours?  While recording it is. */
static bool
is_own_vdso(const struct prof_objects *objects,
    const struct prof_object *object)
{
	uint8_t id[20];

	return (!objects->is_later || (object->ob_id_len != 0 &&
	    prof_image_own_vdso_id(id) == object->ob_id_len &&
	    memcmp(id, object->ob_id, object->ob_id_len) == 0));
}

/* The kernel's own, so we read it ourselves. */
static int
read_vdso(struct prof_object *object, const struct prof_mapped *mapping)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct prof_elf elf;
	int rv = -1;

	if (vdso != NULL && prof_elf_memory(&elf, vdso, mapping->mp_end -
	    mapping->mp_start) == 0) {
		rv = object_read(object, &elf);
		prof_elf_close(&elf);
	}
	return (rv);
}

/*
 * By a parser, where there is one, and then only what was asked for; of no
 * places: all.  -1: it cannot be had now.
 */
static int
read_object(const struct prof_objects *objects, uint32_t pid,
    const struct prof_mapped *mapping, const struct prof_places *places)
{
	struct prof_object *object = mapping->mp_object;
	struct prof_elf elf;
	int fd, rv = -1;

	if (strcmp(object->ob_path, "[vdso]") == 0)
		return (is_own_vdso(objects, object) ?
		    read_vdso(object, mapping) : -1);
	fd = objects->is_later ? open_later(objects, object) :
	    open_file(object, pid, mapping);
	if (fd == -1)
		return (-1);
	if (objects->is_broker != NULL)
		rv = prof_frames_ask(objects->is_broker, fd, object, places);
	else if (prof_elf_open(&elf, fd) == 0) {
		rv = object_read(object, &elf);
		prof_elf_close(&elf);
	}
	close(fd);
	return (rv);
}

/* What was used longest ago goes, until there is room for what is read now. */
static void
make_room(struct prof_objects *objects, const struct prof_object *keep)
{
	struct prof_object *oldest;
	uint32_t n;

	while (objects->is_bytes > MAX_BYTES) {
		oldest = NULL;
		for (n = 0; n < objects->is_n; n++) {
			struct prof_object *object = objects->is_object[n];

			if (object == NULL || object == keep ||
			    object->ob_state != OBJECT_READY)
				continue;
			if (oldest == NULL || object->ob_used <
			    oldest->ob_used)
				oldest = object;
		}
		if (oldest == NULL)
			return;
		object_forget(objects, oldest);
		objects->is_forgotten++;
	}
}

/* Is it known whether there is an entry for what lies at an offset? */
static bool
is_known(const struct prof_object *object, const struct prof_mapped *mapping,
    uint64_t pc)
{
	struct prof_frame_entry entry;

	return (object->ob_is_all || (object->ob_state == OBJECT_READY &&
	    prof_object_entry(object, pc - prof_object_bias(mapping),
	    &entry)));
}

static int
by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y ? -1 : *x > *y);
}

/* Has it been asked for?  Of some it is said in error: they wait. */
static bool
is_asked(struct prof_object *object, uint64_t offset)
{
	const uint64_t bit = offset * 0x9e3779b97f4a7c15ULL >> 52;
	uint64_t *word = &object->ob_asked[bit / 64];
	const bool was = *word >> bit % 64 & 1;

	*word |= 1ULL << bit % 64;
	return (was);
}

/*
 * The pc, and what could be return addresses into the same file on the stack:
 * a call lies before each.  None at all once it was read often.
 */
static void
places_find(const struct prof_mapped *mapping,
    const struct prof_snapshot *snapshot, uint64_t pc,
    struct prof_places *places)
{
	struct prof_object *object = mapping->mp_object;
	const uint64_t to_offset = mapping->mp_offset - mapping->mp_start;
	uint64_t word;
	size_t at;

	places->pl_n = 0;
	if (object->ob_nframes >= MOST_PARTS)
		return;
	places->pl_offset[places->pl_n++] = pc + to_offset;
	for (at = 0; at + sizeof(word) <= snapshot->sn_bytes &&
	    places->pl_n < PROF_OBJECT_PLACES; at += sizeof(word)) {
		memcpy(&word, snapshot->sn_stack + at, sizeof(word));
		if (word > mapping->mp_start && word <= mapping->mp_end &&
		    !is_asked(object, word - 1 + to_offset))
			places->pl_offset[places->pl_n++] = word - 1 +
			    to_offset;
	}
	qsort(places->pl_offset, places->pl_n, sizeof(places->pl_offset[0]),
	    by_offset);
}

/* Read more of it, or all if that does not say enough. */
static int
read_more(struct prof_objects *objects, uint32_t pid,
    const struct prof_mapped *mapping, const struct prof_snapshot *snapshot,
    uint64_t pc)
{
	struct prof_object *object = mapping->mp_object;
	const size_t before = bytes_of(object);
	struct prof_places places;
	int rv;

	places_find(mapping, snapshot, pc, &places);
	rv = read_object(objects, pid, mapping, &places);
	if (rv == 0 && !is_known(object, mapping, pc)) {
		places.pl_n = 0;
		rv = read_object(objects, pid, mapping, &places);
	}
	objects->is_bytes += bytes_of(object) - before;
	return (rv);
}

bool
prof_object_ready(struct prof_objects *objects, uint32_t pid,
    const struct prof_mapped *mapping, const struct prof_snapshot *snapshot,
    uint64_t pc)
{
	struct prof_object *object = mapping->mp_object;

	object->ob_used = ++objects->is_clock;
	if (is_known(object, mapping, pc))
		return (true);
	/* Another process may show it, later, when this one cannot. */
	if (object->ob_tried_ns != 0 &&
	    prof_now_ns() - object->ob_tried_ns < AGAIN_NS)
		return (false);
	object->ob_tried_ns = prof_now_ns();
	if (read_more(objects, pid, mapping, snapshot, pc) == -1)
		return (false);
	object->ob_tried_ns = 0;
	make_room(objects, object);
	return (true);
}

struct prof_object *
prof_objects_numbered(const struct prof_objects *objects, uint32_t number)
{
	return (number < objects->is_n ? objects->is_object[number] : NULL);
}

uint64_t
prof_objects_forgotten(const struct prof_objects *objects)
{
	return (objects->is_forgotten);
}

const struct prof_object *
prof_objects_at(const struct prof_objects *objects, uint32_t number)
{
	const struct prof_object *object = prof_objects_numbered(objects,
	    number);

	return (object != NULL && object->ob_state == OBJECT_READY ?
	    object : NULL);
}

uint64_t
prof_object_bias(const struct prof_mapped *mapping)
{
	const struct prof_object *object = mapping->mp_object;
	uint64_t off = mapping->mp_offset;
	unsigned n;

	for (n = 0; n < object->ob_ntext; n++) {
		const Elf64_Phdr *ph = &object->ob_text[n];

		/* A mapping starts at the page that the segment starts in. */
		if (off + 65535 >= ph->p_offset &&
		    off < ph->p_offset + ph->p_filesz)
			return (mapping->mp_start - off + ph->p_offset -
			    ph->p_vaddr);
	}
	return (mapping->mp_start - off);
}

bool
prof_object_entry(const struct prof_object *object, uint64_t address,
    struct prof_frame_entry *entry)
{
	uint32_t first = 0;

	for (size_t at = 0; at < object->ob_nframes; at++) {
		const struct prof_frames *frames = &object->ob_frames[at];
		const size_t n = PROF_BEFORE(i, frames->fm_nentries,
		    frames->fm_entry[i].en_start <= address);

		if (n > 0 && address < frames->fm_entry[n - 1].en_end)
			return (prof_object_numbered(object, first +
			    (uint32_t)n - 1, entry));
		first += (uint32_t)frames->fm_nentries;
	}
	return (false);
}

bool
prof_object_numbered(const struct prof_object *object, uint32_t number,
    struct prof_frame_entry *entry)
{
	uint32_t n = number;

	for (size_t at = 0; at < object->ob_nframes; at++) {
		const struct prof_frames *frames = &object->ob_frames[at];

		if (n < frames->fm_nentries) {
			*entry = (struct prof_frame_entry){ number,
			    &frames->fm_entry[n], frames->fm_bytes };
			return (true);
		}
		n -= (uint32_t)frames->fm_nentries;
	}
	return (false);
}

uint16_t
prof_object_outer_rule(const struct prof_object *object, uint64_t address,
    bool has_entry)
{
	const struct prof_outermost *outer;
	size_t n;

	for (n = 0; n < object->ob_nouter; n++) {
		outer = &object->ob_outer[n];
		if (address >= outer->ou_from && address < outer->ou_to &&
		    (outer->ou_when == PROF_OUTER_ALWAYS ||
		    has_entry == (outer->ou_when == PROF_OUTER_DESCRIBED)))
			return (outer->ou_rule);
	}
	return (DTP_UW_END);
}
