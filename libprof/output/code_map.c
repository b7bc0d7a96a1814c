/* SPDX-License-Identifier: ISC */
/*
 * See code_map.h.  A recording has many processes, of which each maps the
 * same files elsewhere.  A place is found by file and offset; it is shown
 * where the first process that mapped this part of the file had it:
 *
 *	process 1	 [ libc 0-26000 ]	      [ a.out ]
 *	process 2		 [ libc 0-26000 ]     [ b.out ]
 *	shown		 [ libc 0-26000 ]	      [ a.out ][ b.out ]
 *
 * Where two files were at one place (programs of a fixed address) the one that
 * is met later is moved behind what is there.  Of the kernel no range is
 * recorded: a mapping is what was sampled of one of its modules without
 * another between.  Code that was made in memory lies elsewhere in each
 * process, so neither range nor address of it is shown.
 *
 * Called by locations.c.
 */
#include <stdlib.h>

#include "base/search.h"
#include "code_map.h"
#include "profile/profile_impl.h"
#include "recording/query.h"

#define MAX_PIECES	64	/* parts of one file that are looked through */
#define MAX_MOVES	1024
#define PAGE		4096

/* A part of a file as the first process had it. */
struct piece {
	uint64_t	pi_start;
	uint64_t	pi_length;
	uint64_t	pi_offset;
	uint32_t	pi_next;	/* of its image; + 1 */
	uint32_t	pi_number;	/* as a mapping; 0: not met yet */
};

/* A range that a mapping has, or will have when it is met; sorted. */
struct taken {
	uint64_t	ta_start;
	uint64_t	ta_limit;
	const char	*ta_path;
	uint32_t	ta_number;	/* 0: not met yet */
};

struct prof_code_map {
	struct prof_symbols *cd_symbols;
	struct piece	*cd_piece;
	size_t		 cd_npieces;
	size_t		 cd_cap_pieces;
	uint32_t	*cd_first;	/* piece of an image; + 1 */
	struct prof_code_mapping *cd_mapping;
	size_t		 cd_nmappings;
	size_t		 cd_cap_mappings;
	struct taken	*cd_taken;
	size_t		 cd_ntaken;
	size_t		 cd_cap_taken;
	struct prof_dict cd_names;	/* of mappings without a range */
	uint32_t	*cd_named;	/* number of the mapping */
	size_t		 cd_nnamed;
	size_t		 cd_cap_named;
};

/* ------------------------------------------------------------- mappings */

static uint32_t
mapping_add(struct prof_code_map *map, const char *path,
    const struct prof_image *image, uint64_t start, uint64_t limit,
    uint64_t offset)
{
	struct prof_code_mapping *mapping = prof_grow(
	    (void **)&map->cd_mapping, &map->cd_nmappings,
	    &map->cd_cap_mappings, sizeof(*mapping));

	if (mapping == NULL)
		return (UINT32_MAX);
	*mapping = (struct prof_code_mapping){ path, image, start, limit,
	    offset };
	return ((uint32_t)map->cd_nmappings);
}

/* The image behind a module, which is named by its image's string. */
static const struct prof_image *
image_of(const struct prof_code_map *map, const char *module)
{
	const struct prof_images *images = &map->cd_symbols->sy_images;

	for (uint32_t n = 0; n < images->is_n; n++)
		if (images->is_image[n].im_path == module)
			return (&images->is_image[n]);
	return (NULL);
}

/*
 * One without a range: what is known is its name.  A file is its string; what
 * is none, "[kernel]", may have several.
 */
static uint32_t
mapping_named(struct prof_code_map *map, const char *path)
{
	uint32_t n, *number;
	bool is_new;

	if (path[0] == '\0')
		return (0);
	n = path[0] == '[' ? prof_dict_find(&map->cd_names, path,
	    strlen(path), &is_new) : prof_dict_find(&map->cd_names, &path,
	    sizeof(path), &is_new);
	if (n == PROF_INTERN_FAILED)
		return (n);
	if (!is_new)
		return (map->cd_named[n]);
	number = prof_grow((void **)&map->cd_named, &map->cd_nnamed,
	    &map->cd_cap_named, sizeof(*number));
	if (number == NULL)
		return (UINT32_MAX);
	return (*number = mapping_add(map, path, image_of(map, path), 0, 0,
	    0));
}

/* --------------------------------------------------------------- ranges */

/* The first range that ends behind an address; cd_ntaken: there is none. */
static size_t
taken_find(const struct prof_code_map *map, uint64_t address)
{
	return (PROF_BEFORE(i, map->cd_ntaken,
	    map->cd_taken[i].ta_limit <= address));
}

static int
taken_add(struct prof_code_map *map, uint64_t start, uint64_t limit,
    const char *path)
{
	const size_t at = taken_find(map, start);

	if (prof_grow((void **)&map->cd_taken, &map->cd_ntaken,
	    &map->cd_cap_taken, sizeof(*map->cd_taken)) == NULL)
		return (-1);
	memmove(map->cd_taken + at + 1, map->cd_taken + at,
	    (map->cd_ntaken - 1 - at) * sizeof(*map->cd_taken));
	map->cd_taken[at] = (struct taken){ start, limit, path, 0 };
	return (0);
}

/* Move a range to where there is room, upwards; false: there is none. */
static bool
find_room(const struct prof_code_map *map, uint64_t *start, uint64_t length)
{
	const uint64_t within = *start % PAGE;
	uint64_t limit;
	size_t at;

	for (int moves = 0; moves < MAX_MOVES; moves++) {
		if (length == 0 || __builtin_add_overflow(*start, length,
		    &limit))
			return (false);
		at = taken_find(map, *start);
		if (at == map->cd_ntaken ||
		    map->cd_taken[at].ta_start >= limit)
			return (true);
		*start = map->cd_taken[at].ta_limit;
		if (__builtin_add_overflow(*start, 2 * PAGE, &limit))
			return (false);
		*start = (*start + PAGE - 1) / PAGE * PAGE + within;
	}
	return (false);
}

/* --------------------------------------------------------------- pieces */

static struct piece *
piece_find(struct prof_code_map *map, uint32_t image, uint64_t offset,
    uint64_t length, unsigned *passed)
{
	struct piece *piece;
	uint32_t n;

	*passed = 0;
	for (n = map->cd_first[image]; n != 0; n = piece->pi_next) {
		piece = &map->cd_piece[n - 1];
		if (offset >= piece->pi_offset && offset - piece->pi_offset <
		    piece->pi_length && length <= piece->pi_length -
		    (offset - piece->pi_offset))
			return (piece);
		++*passed;
	}
	return (NULL);
}

static int
piece_add(struct prof_code_map *map, uint32_t image,
    const struct prof_record *record)
{
	struct piece *piece;
	unsigned passed;

	if (record->pr_len == 0 || piece_find(map, image, record->pr_offset,
	    record->pr_len, &passed) != NULL || passed >= MAX_PIECES)
		return (0);
	piece = prof_grow((void **)&map->cd_piece, &map->cd_npieces,
	    &map->cd_cap_pieces, sizeof(*piece));
	if (piece == NULL)
		return (-1);
	*piece = (struct piece){ record->pr_addr, record->pr_len,
	    record->pr_offset, map->cd_first[image], 0 };
	map->cd_first[image] = (uint32_t)map->cd_npieces;
	return (0);
}

static int
load_pieces(struct prof_code_map *map)
{
	struct prof_symbols *symbols = map->cd_symbols;
	struct prof_record record;
	uint64_t time_ns;
	uint32_t image;

	map->cd_first = calloc(symbols->sy_nmodules + 1,
	    sizeof(*map->cd_first));
	if (map->cd_first == NULL)
		return (-1);
	for (size_t n = 0; n < prof_reader_nlife(symbols->sy_reader); n++) {
		if (prof_reader_life_type(symbols->sy_reader, n, &time_ns) !=
		    PROF_R_MMAP)
			continue;
		prof_reader_life(symbols->sy_reader, n, &record);
		if (record.pr_pid == UINT32_MAX)
			continue;
		image = prof_images_get(&symbols->sy_images, &record);
		if (image != PROF_IMAGE_ANON && image <
		    symbols->sy_nmodules && piece_add(map, image, &record) ==
		    -1)
			return (-1);
	}
	return (0);
}

static uint32_t
piece_number(struct prof_code_map *map, struct piece *piece,
    const struct prof_image *image)
{
	uint64_t start = piece->pi_start;

	if (piece->pi_number != 0)
		return (piece->pi_number);
	if (!find_room(map, &start, piece->pi_length))
		return (mapping_named(map, image->im_path));
	if (taken_add(map, start, start + piece->pi_length,
	    image->im_path) == -1)
		return (UINT32_MAX);
	piece->pi_number = mapping_add(map, image->im_path, image, start,
	    start + piece->pi_length, piece->pi_offset);
	return (piece->pi_number);
}

/* ------------------------------------------------------------ the kernel */

static bool
is_kernel(const struct prof_label *label)
{
	return (label->lb_frame.fr_kind == PROF_FRAME_KERNEL &&
	    label->lb_address != 0 && label->lb_address != UINT64_MAX);
}

static int
address_compare(const void *a, const void *b)
{
	const struct prof_label *la = *(const struct prof_label *const *)a;
	const struct prof_label *lb = *(const struct prof_label *const *)b;

	return (la->lb_address < lb->lb_address ? -1 :
	    la->lb_address > lb->lb_address);
}

/* A mapping for each run of sampled addresses of one module. */
static int
load_runs(struct prof_code_map *map, const struct prof_label **labels,
    size_t n)
{
	size_t first, i;

	for (first = 0; first < n; first = i) {
		for (i = first + 1; i < n && strcmp(labels[i]->lb_module,
		    labels[first]->lb_module) == 0; i++)
			continue;
		/* Two names for one address: the first one has it. */
		while (i < n && labels[i]->lb_address ==
		    labels[i - 1]->lb_address)
			i++;
		if (taken_add(map, labels[first]->lb_address,
		    labels[i - 1]->lb_address + 1,
		    labels[first]->lb_module) == -1)
			return (-1);
	}
	return (0);
}

static int
load_kernel(struct prof_code_map *map, const struct prof_profile *profile)
{
	const size_t nlabels = prof_profile_nlabels(profile);
	const struct prof_label **labels = calloc(nlabels + 1,
	    sizeof(const struct prof_label *)), *label;
	size_t n = 0;
	int rv;

	if (labels == NULL)
		return (-1);
	for (uint32_t l = 0; l < nlabels; l++) {
		label = prof_profile_label(profile, l);
		if (is_kernel(label))
			labels[n++] = label;
	}
	qsort(labels, n, sizeof(const struct prof_label *), address_compare);
	rv = load_runs(map, labels, n);
	free(labels);
	return (rv);
}

/* ------------------------------------------------------------ the whole */

struct prof_code_map *
prof_code_map_new(const struct prof_flame *flame)
{
	struct prof_code_map *map = calloc(1, sizeof(*map));

	if (map == NULL)
		return (NULL);
	map->cd_symbols = flame->fm_profile->pf_labels.lb_symbols;
	/* Addresses of folded stacks and of pprof were made up by import. */
	if (map->cd_symbols->sy_is_given || (load_pieces(map) == 0 &&
	    load_kernel(map, flame->fm_profile) == 0))
		return (map);
	prof_code_map_free(map);
	return (NULL);
}

static uint32_t
find_kernel(struct prof_code_map *map, const struct prof_label *label,
    uint64_t *address)
{
	const size_t at = taken_find(map, label->lb_address);

	struct taken *taken = &map->cd_taken[at];

	if (at == map->cd_ntaken || taken->ta_start > label->lb_address)
		return (mapping_named(map, label->lb_module));
	*address = label->lb_address;
	if (taken->ta_number == 0)
		taken->ta_number = mapping_add(map, taken->ta_path, NULL,
		    taken->ta_start, taken->ta_limit, 0);
	return (taken->ta_number);
}

static uint32_t
find_user(struct prof_code_map *map, const struct prof_label *label,
    uint64_t *address)
{
	const struct prof_frame *frame = &label->lb_frame;
	const uint64_t pc = frame->fr_id - ((frame->fr_flags &
	    PROF_FRAME_RETURN) != 0 && frame->fr_id > 0);
	struct prof_mapping mapping;
	const struct prof_code_mapping *found;
	const struct prof_image *image;
	struct piece *piece;
	unsigned passed;
	uint64_t offset;
	uint32_t number;

	if (!prof_processes_mapping(map->cd_symbols->sy_processes,
	    label->lb_space, pc, &mapping)) {
		*address = pc;
		return (0);
	}
	if (mapping.mp_image == PROF_IMAGE_ANON ||
	    mapping.mp_image == PROF_IMAGE_OVER)
		return (mapping_named(map, label->lb_module));
	offset = mapping.mp_offset + (pc - mapping.mp_start);
	image = &map->cd_symbols->sy_images.is_image[mapping.mp_image];
	piece = piece_find(map, mapping.mp_image, offset, 1, &passed);
	if (piece == NULL)
		return (mapping_named(map, image->im_path));
	number = piece_number(map, piece, image);
	found = prof_code_map_at(map, number);
	if (found != NULL && found->cm_limit > 0)
		*address = found->cm_start + (offset - piece->pi_offset);
	return (number);
}

uint32_t
prof_code_map_find(struct prof_code_map *map, const struct prof_label *label,
    uint64_t *address)
{
	*address = 0;
	if (map->cd_symbols->sy_is_given || label->lb_frame.fr_id == 0 ||
	    label->lb_frame.fr_kind > PROF_FRAME_KERNEL)
		return (mapping_named(map, label->lb_module));
	return (is_kernel(label) ? find_kernel(map, label, address) :
	    find_user(map, label, address));
}

const struct prof_code_mapping *
prof_code_map_at(const struct prof_code_map *map, uint32_t number)
{
	return (number == 0 || number > map->cd_nmappings ? NULL :
	    &map->cd_mapping[number - 1]);
}

void
prof_code_map_free(struct prof_code_map *map)
{
	if (map == NULL)
		return;
	free(map->cd_piece);
	free(map->cd_first);
	free(map->cd_mapping);
	free(map->cd_taken);
	free(map->cd_named);
	prof_dict_free(&map->cd_names);
	free(map);
}
