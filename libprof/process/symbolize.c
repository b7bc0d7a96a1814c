/* SPDX-License-Identifier: ISC */
/*
 * See symbolize.h.
 *
 *	sample --> filter --> hits ----\  by time
 *	process events, mappings --> processes (process/) --> places
 *
 * The filter knows what was met lately: (process, stack) and (process,
 * innermost pc), each with the epoch of the process, which a new program, a
 * new mapping or an end changes.  What it forgets is just met again.  The
 * kernel's addresses are everybody's and need no life.
 *
 * A file is opened when it is first mapped, since soon it may be gone with
 * its container; of too many, those that no sample met lately are closed.
 */
#include <sys/resource.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/procfs.h"
#include "symbolize_impl.h"

#define FILTER		65536u		/* slots */
#define EPOCHS		4096u
#define MAX_PCS		(1u << 20)	/* that wait in a round */
#define MAX_PLACES	(4u << 20)
#define MAX_HELD	512u

/* Of a life: no record, but those of mappings that follow tell of all. */
#define RENEWED		UINT8_MAX

/* A life or a mapping, as far as mappings are concerned. */
struct life {
	uint64_t	lf_time_ns;
	uint64_t	lf_start;
	uint64_t	lf_length;
	uint64_t	lf_offset;
	uint32_t	lf_pid;
	uint32_t	lf_tid;
	uint32_t	lf_ppid;
	uint32_t	lf_image;
	uint32_t	lf_order;
	uint8_t		lf_type;
	bool		lf_group_dead;
};

/* Addresses of a process that were met at a time. */
struct hit {
	uint64_t	hi_time_ns;
	uint32_t	hi_pid;
	uint32_t	hi_n;
};

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

struct prof_hits *
prof_hits_new(unsigned mode)
{
	struct prof_hits *hits = calloc(1, sizeof(*hits));
	struct rlimit limit;

	if (hits == NULL)
		return (NULL);
	hits->ht_processes = prof_processes_new(mode | PROF_PROCESSES_NOW,
	    PROF_PROCESSES_MOST_NOW);
	hits->ht_filter = calloc(FILTER, sizeof(*hits->ht_filter));
	hits->ht_epoch = calloc(EPOCHS, sizeof(*hits->ht_epoch));
	if (prof_images_init(&hits->ht_images, UINT64_MAX) == -1 ||
	    hits->ht_processes == NULL || hits->ht_filter == NULL ||
	    hits->ht_epoch == NULL) {
		prof_hits_free(hits);
		return (NULL);
	}
	hits->ht_mode = mode;
	hits->ht_many_images = HITS_MANY_IMAGES;
	hits->ht_realtime_ns = clock_ns(CLOCK_REALTIME) -
	    clock_ns(CLOCK_MONOTONIC);
	/* Others need descriptors, too. */
	hits->ht_max_held = MAX_HELD;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur / 4 < MAX_HELD)
		hits->ht_max_held = (uint32_t)(limit.rlim_cur / 4);
	return (hits);
}

static void
set_free(struct hits_set *set)
{
	prof_map_free(&set->hs_map);
	free(set->hs_key);
}

void
prof_hits_free(struct prof_hits *hits)
{
	uint32_t n;

	if (hits == NULL)
		return;
	prof_hits_jit_free(hits);
	for (n = 0; n < hits->ht_held_cap; n++)
		if (hits->ht_held[n] != 0)
			close(hits->ht_held[n] - 1);
	free(hits->ht_held);
	free(hits->ht_used);
	set_free(&hits->ht_places);
	set_free(&hits->ht_kernel);
	free(hits->ht_life);
	free(hits->ht_hit);
	free(hits->ht_pc);
	free(hits->ht_filter);
	free(hits->ht_epoch);
	prof_processes_free(hits->ht_processes);
	if (hits->ht_images.is_image != NULL)
		prof_images_fini(&hits->ht_images);
	free(hits);
}

bool
prof_hits_set_add(struct hits_set *set, uint64_t key)
{
	uint64_t *grown;
	uint32_t cap;
	bool is_new;

	if (set->hs_n >= MAX_PLACES)
		return (false);
	if (set->hs_n == set->hs_cap) {
		cap = set->hs_cap == 0 ? 1024 : set->hs_cap * 2;
		grown = reallocarray(set->hs_key, cap, sizeof(*grown));
		if (grown == NULL)
			return (false);
		set->hs_key = grown;
		set->hs_cap = cap;
	}
	if (prof_map_get(&set->hs_map, key, &is_new) == PROF_INTERN_FAILED)
		return (false);
	if (is_new)
		set->hs_key[set->hs_n++] = key;
	return (true);
}

/* Room for n more in an array that doubles; false: no memory. */
static bool
reserve(void **array, size_t *cap, size_t used, size_t n, size_t size)
{
	size_t want = *cap == 0 ? 256 : *cap;
	void *grown;

	while (want < used + n)
		want *= 2;
	if (want == *cap)
		return (true);
	grown = reallocarray(*array, want, size);
	if (grown == NULL)
		return (false);
	*array = grown;
	*cap = want;
	return (true);
}

/* -------------------------------------------------------- samples */

static uint32_t *
epoch_of(const struct prof_hits *hits, uint32_t pid)
{
	return (&hits->ht_epoch[(pid * 2654435769u >> 16) & (EPOCHS - 1)]);
}

/* Was it met lately?  Now it was. */
static bool
met(struct prof_hits *hits, uint64_t what, uint64_t whose)
{
	/* Not what ^ whose: addresses and pids would make up for each other. */
	uint64_t key = what * 0x9e3779b97f4a7c15ULL ^ whose;
	uint64_t *slot;

	key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9ULL;
	key ^= key >> 32;
	slot = &hits->ht_filter[key & (FILTER - 1)];
	if (*slot == key)
		return (true);
	*slot = key;
	return (false);
}

/* Addresses of the process; calls lie before where they return to. */
static void
hit(struct prof_hits *hits, const struct prof_record *sample,
    const uint64_t *frames, uint32_t n, unsigned back)
{
	struct hit *hit;
	uint32_t i;

	if (n > MAX_PCS - hits->ht_npcs || !reserve((void **)&hits->ht_hit,
	    &hits->ht_hit_cap, hits->ht_nhits, 1, sizeof(*hits->ht_hit)) ||
	    !reserve((void **)&hits->ht_pc, &hits->ht_pc_cap, hits->ht_npcs,
	    n, sizeof(*hits->ht_pc))) {
		hits->ht_dropped++;
		return;
	}
	hit = &hits->ht_hit[hits->ht_nhits++];
	hit->hi_time_ns = sample->pr_time_ns;
	hit->hi_pid = sample->pr_pid;
	hit->hi_n = n;
	for (i = 0; i < n; i++)
		hits->ht_pc[hits->ht_npcs++] = frames[i] - back;
}

static void
hit_kernel(struct prof_hits *hits, const uint64_t *frames, uint32_t n,
    unsigned back)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!prof_hits_set_add(&hits->ht_kernel, frames[i] - back))
			hits->ht_dropped++;
}

void
prof_hits_sample(struct prof_hits *hits, const struct prof_record *sample,
    uint32_t kernel, uint32_t user)
{
	const uint64_t whose = (uint64_t)sample->pr_pid << 32 ^
	    (uint64_t)*epoch_of(hits, sample->pr_pid) << 8;
	const uint64_t *ip = &sample->pr_ip;

	if (sample->pr_nkernel > 0) {
		if (!met(hits, sample->pr_kernel[0], 1))
			hit_kernel(hits, sample->pr_kernel, 1, 0);
		if (kernel != 0 && !met(hits, kernel, 2))
			hit_kernel(hits, sample->pr_kernel + 1,
			    sample->pr_nkernel - 1, 1);
	}
	if (sample->pr_nuser > 0) {
		if (!met(hits, sample->pr_user[0], whose | 3))
			hit(hits, sample, sample->pr_user, 1, 0);
		if (user != 0 && !met(hits, user, whose | 4))
			hit(hits, sample, sample->pr_user + 1,
			    sample->pr_nuser - 1, 1);
	}
	if (sample->pr_nuser > 0 || sample->pr_nkernel > 0 || *ip == 0)
		return;
	if (sample->pr_in_kernel && !met(hits, *ip, 1))
		hit_kernel(hits, ip, 1, 0);
	else if (!sample->pr_in_kernel && !met(hits, *ip, whose | 3))
		hit(hits, sample, ip, 1, 0);
}

/* ---------------------------------------------------------- lives */

/* Close one that was not met since the last look at it. */
static void
let_go(struct prof_hits *hits)
{
	uint32_t n;

	for (n = 0; n < 2 * hits->ht_held_cap; n++) {
		hits->ht_hand = (hits->ht_hand + 1) % hits->ht_held_cap;
		if (hits->ht_held[hits->ht_hand] == 0)
			continue;
		if (hits->ht_used[hits->ht_hand]) {
			hits->ht_used[hits->ht_hand] = false;
			continue;
		}
		close(hits->ht_held[hits->ht_hand] - 1);
		hits->ht_held[hits->ht_hand] = 0;
		hits->ht_nheld--;
		return;
	}
}

/* Keep the file open, if it is what was mapped. */
static void
hold(struct prof_hits *hits, uint32_t number,
    const struct prof_record *mapping)
{
	struct prof_image *image = &hits->ht_images.is_image[number];
	int fd = prof_mapped_file_open(mapping);

	/* In the container's eyes, or in ours. */
	if (fd == -1)
		fd = prof_image_open(image->im_path);
	if (fd == -1)
		return;
	/* Before it is looked at: what is written later shows. */
	image->im_written_ns = prof_image_written_ns(fd);
	if (!prof_image_matches(image, fd, image->im_first_ns +
	    hits->ht_realtime_ns)) {
		close(fd);
		return;
	}
	if (hits->ht_nheld >= hits->ht_max_held)
		let_go(hits);
	hits->ht_held[number] = fd + 1;
	hits->ht_nheld++;
}

/* By number of image, what is kept about it. */
static bool
grow_held(struct prof_hits *hits)
{
	uint32_t before = hits->ht_held_cap;
	uint32_t cap = before == 0 ? 256 : before * 2;
	bool *used;
	int *held;

	held = reallocarray(hits->ht_held, cap, sizeof(*held));
	if (held == NULL)
		return (false);
	hits->ht_held = held;
	used = reallocarray(hits->ht_used, cap, sizeof(*used));
	if (used == NULL)
		return (false);
	hits->ht_used = used;
	memset(held + before, 0, (cap - before) * sizeof(*held));
	memset(used + before, 0, (cap - before) * sizeof(*used));
	hits->ht_held_cap = cap;
	return (true);
}

/* The number of an image; UINT32_MAX: no memory. */
static uint32_t
image_of(struct prof_hits *hits, const struct prof_record *mapping)
{
	const uint32_t before = hits->ht_images.is_n;
	uint32_t image;

	if (before >= HITS_MAX_IMAGES) {
		hits->ht_dropped++;
		return (PROF_IMAGE_ANON);
	}
	image = prof_images_get(&hits->ht_images, mapping);
	if (image == UINT32_MAX)
		return (image);
	while (image >= hits->ht_held_cap)
		if (!grow_held(hits))
			return (UINT32_MAX);
	if (hits->ht_images.is_n != before)
		hold(hits, image, mapping);
	return (image);
}

/* Something that waits for the end of the round. */
static int
life_add(struct prof_hits *hits, const struct prof_record *record,
    uint32_t image, uint8_t type)
{
	struct life *life;

	if (!reserve((void **)&hits->ht_life, &hits->ht_life_cap,
	    hits->ht_nlives, 1, sizeof(*life)))
		return (-1);
	(*epoch_of(hits, record->pr_pid))++;
	life = &hits->ht_life[hits->ht_nlives];
	*life = (struct life){
		.lf_time_ns = record->pr_time_ns,
		.lf_start = record->pr_addr,
		.lf_length = record->pr_len,
		.lf_offset = record->pr_offset,
		.lf_pid = record->pr_pid,
		.lf_tid = record->pr_tid,
		.lf_ppid = record->pr_ppid,
		.lf_image = image,
		.lf_order = (uint32_t)hits->ht_nlives++,
		.lf_type = type,
		.lf_group_dead = record->pr_group_dead != 0,
	};
	return (0);
}

int
prof_hits_life(struct prof_hits *hits, const struct prof_record *record)
{
	uint32_t image = PROF_IMAGE_ANON;

	if (record->pr_type == PROF_R_MMAP) {
		if (record->pr_pid == UINT32_MAX)
			return (0);
		image = image_of(hits, record);
		if (image == UINT32_MAX)
			return (-1);
	}
	return (life_add(hits, record, image, (uint8_t)record->pr_type));
}

int
prof_hits_renew(struct prof_hits *hits, uint32_t pid, uint64_t time_ns)
{
	const struct prof_record record = { .pr_pid = pid,
	    .pr_time_ns = time_ns };

	return (life_add(hits, &record, PROF_IMAGE_ANON, RENEWED));
}

/* ---------------------------------------------------------- round */

static int
life_compare(const void *a, const void *b)
{
	const struct life *la = a, *lb = b;

	if (la->lf_time_ns != lb->lf_time_ns)
		return (la->lf_time_ns < lb->lf_time_ns ? -1 : 1);
	return (la->lf_order < lb->lf_order ? -1 :
	    la->lf_order > lb->lf_order);
}

static int
take_life(struct prof_hits *hits, const struct life *life)
{
	const struct prof_record record = {
		.pr_type = (enum prof_record_type)life->lf_type,
		.pr_time_ns = life->lf_time_ns,
		.pr_pid = life->lf_pid,
		.pr_tid = life->lf_tid,
		.pr_ppid = life->lf_ppid,
		.pr_addr = life->lf_start,
		.pr_len = life->lf_length,
		.pr_offset = life->lf_offset,
		.pr_group_dead = life->lf_group_dead,
	};

	if (life->lf_type == RENEWED)
		return (prof_processes_renew(hits->ht_processes, life->lf_pid,
		    life->lf_time_ns));
	if (hits->ht_nalive > 0 && (life->lf_type == PROF_R_EXEC ||
	    (life->lf_type == PROF_R_EXIT && life->lf_group_dead)))
		prof_hits_jit_end(hits, life->lf_pid);
	return (prof_processes_take(hits->ht_processes, &record,
	    life->lf_image));
}

static void
take_pc(struct prof_hits *hits, const struct hit *hit, uint64_t pc)
{
	struct prof_mapping mapping;
	uint64_t place;
	uint32_t jit;

	if (!prof_processes_at(hits->ht_processes, hit->hi_pid,
	    hit->hi_time_ns, pc, &mapping))
		return;
	if (mapping.mp_image != PROF_IMAGE_ANON) {
		place = mapping.mp_offset + (pc - mapping.mp_start);
		if (place >> HITS_OFFSET_BITS != 0)
			return;
		place |= (uint64_t)mapping.mp_image << HITS_OFFSET_BITS;
		hits->ht_used[mapping.mp_image] = true;
	} else {
		jit = prof_hits_jit(hits, hit->hi_pid, prof_processes_since(
		    hits->ht_processes, hit->hi_pid, hit->hi_time_ns),
		    hit->hi_time_ns);
		if (jit == UINT32_MAX || pc >> HITS_ADDRESS_BITS != 0)
			return;
		place = HITS_JIT | (uint64_t)jit << HITS_ADDRESS_BITS | pc;
	}
	if (!prof_hits_set_add(&hits->ht_places, place))
		hits->ht_dropped++;
}

int
prof_hits_round(struct prof_hits *hits)
{
	const struct hit *hit = hits->ht_hit;
	const uint64_t *pc = hits->ht_pc;
	size_t n, life = 0;
	uint32_t i;
	int rv = 0;

	if (hits->ht_nlives > 1)
		qsort(hits->ht_life, hits->ht_nlives,
		    sizeof(*hits->ht_life), life_compare);
	for (n = 0; n < hits->ht_nhits; n++, hit++) {
		while (life < hits->ht_nlives && hits->ht_life[
		    life].lf_time_ns <= hit->hi_time_ns)
			rv |= take_life(hits, &hits->ht_life[life++]);
		for (i = 0; i < hit->hi_n; i++)
			take_pc(hits, hit, *pc++);
	}
	while (life < hits->ht_nlives)
		rv |= take_life(hits, &hits->ht_life[life++]);
	/* What comes from now on is younger. */
	if (hits->ht_nlives > 0)
		prof_processes_forget(hits->ht_processes,
		    hits->ht_life[hits->ht_nlives - 1].lf_time_ns);
	hits->ht_nlives = hits->ht_nhits = hits->ht_npcs = 0;
	if (hits->ht_images.is_n >= hits->ht_many_images)
		rv |= prof_hits_forget_images(hits);
	return (rv);
}
