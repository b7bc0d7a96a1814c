/* SPDX-License-Identifier: ISC */
/*
 * See symbolize.h.
 *
 *	sample --> filter --> entries -\  by time
 *	process events, mappings --> processes (process/) --> places
 *
 * The filter knows what was met lately: (process, stack) and (process,
 * innermost pc), each with the epoch of the process, which a new program, a
 * new mapping or an end changes.  What it forgets is just met again.  The
 * kernel's addresses are everybody's and need no process.
 *
 * A file is opened when it is first mapped, since soon it may be gone with
 * its container; of too many, those that no sample met lately are closed.
 */
#include <sys/resource.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "os/procfs.h"
#include "symbolize_impl.h"

#define FILTER		65536u		/* slots */
#define EPOCHS		4096u
#define MAX_PCS		(1u << 20)	/* that wait in a round */
#define MAX_PLACES	(4u << 20)
#define ROUND_KEPT	(1u << 15)	/* items, from round to round */
#define MAX_HELD	512u

/* Type of a change: the mappings that follow are all that there are. */
#define RENEWED		UINT8_MAX

/* A process event or a mapping event, as far as mappings are concerned. */
struct change {
	uint64_t	ch_time_ns;
	uint64_t	ch_start;
	uint64_t	ch_length;
	uint64_t	ch_offset;
	uint32_t	ch_pid;
	uint32_t	ch_tid;
	uint32_t	ch_ppid;
	uint32_t	ch_image;
	uint32_t	ch_order;
	uint8_t		ch_type;
	bool		ch_group_dead;
};

/* Addresses in one sample of a process; they follow in nt_pc. */
struct noted_entry {
	uint64_t	ne_time_ns;
	uint32_t	ne_pid;
	uint32_t	ne_n;
};

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

struct prof_noted *
prof_noted_new(unsigned mode)
{
	struct prof_noted *noted = calloc(1, sizeof(*noted));
	struct rlimit limit;

	if (noted == NULL)
		return (NULL);
	noted->nt_processes = prof_processes_new(
	    (mode & ~PROF_NOTED_LIVE) | PROF_PROCESSES_NOW,
	    PROF_PROCESSES_MOST_NOW);
	noted->nt_filter = calloc(FILTER, sizeof(*noted->nt_filter));
	noted->nt_epoch = calloc(EPOCHS, sizeof(*noted->nt_epoch));
	if (prof_images_init(&noted->nt_images, UINT64_MAX) == -1 ||
	    noted->nt_processes == NULL || noted->nt_filter == NULL ||
	    noted->nt_epoch == NULL) {
		prof_noted_free(noted);
		return (NULL);
	}
	noted->nt_mode = mode;
	noted->nt_many_images = NOTED_MANY_IMAGES;
	noted->nt_realtime_ns = clock_ns(CLOCK_REALTIME) -
	    clock_ns(CLOCK_MONOTONIC);
	/* Others need descriptors, too. */
	noted->nt_max_held = MAX_HELD;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur / 4 < MAX_HELD)
		noted->nt_max_held = (uint32_t)(limit.rlim_cur / 4);
	return (noted);
}

void
prof_noted_set_free(struct noted_set *set)
{
	prof_map_free(&set->ns_map);
	free(set->ns_key);
	memset(set, 0, sizeof(*set));
}

void
prof_noted_free(struct prof_noted *noted)
{
	uint32_t n;

	if (noted == NULL)
		return;
	prof_noted_jit_free(noted);
	for (n = 0; n < noted->nt_held_cap; n++)
		if (noted->nt_held[n] != 0)
			close(noted->nt_held[n] - 1);
	free(noted->nt_held);
	free(noted->nt_used);
	prof_noted_set_free(&noted->nt_places);
	prof_noted_set_free(&noted->nt_kernel);
	free(noted->nt_change);
	free(noted->nt_entry);
	free(noted->nt_pc);
	free(noted->nt_filter);
	free(noted->nt_epoch);
	prof_processes_free(noted->nt_processes);
	if (noted->nt_images.is_image != NULL)
		prof_images_fini(&noted->nt_images);
	free(noted);
}

bool
prof_noted_set_add(struct noted_set *set, uint64_t key)
{
	bool is_new;

	if (set->ns_n >= MAX_PLACES || !prof_room(&set->ns_key, &set->ns_cap,
	    (size_t)set->ns_n + 1, sizeof(*set->ns_key)) ||
	    prof_map_get(&set->ns_map, key, &is_new) == PROF_INTERN_FAILED)
		return (false);
	if (is_new)
		set->ns_key[set->ns_n++] = key;
	return (true);
}

/* What a storm filled once is not kept for all other rounds. */
static void
array_trim(void *items, size_t *cap)
{
	void **array = items;

	if (*cap <= ROUND_KEPT)
		return;
	free(*array);
	*array = NULL;
	*cap = 0;
}

/* -------------------------------------------------------- samples */

static uint32_t *
epoch_of(const struct prof_noted *noted, uint32_t pid)
{
	return (&noted->nt_epoch[(pid * 2654435769u >> 16) & (EPOCHS - 1)]);
}

/* Test and set in the filter of recently seen addresses. */
static bool
filter_met(struct prof_noted *noted, uint64_t what, uint64_t whose)
{
	/* Not what ^ whose: addresses and pids would make up for each other. */
	uint64_t key = what * 0x9e3779b97f4a7c15ULL ^ whose;
	uint64_t *slot;

	key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9ULL;
	key ^= key >> 32;
	slot = &noted->nt_filter[key & (FILTER - 1)];
	if (*slot == key)
		return (true);
	*slot = key;
	return (false);
}

/* Addresses of the process; calls lie before where they return to. */
static void
addresses_note(struct prof_noted *noted, const struct prof_record *sample,
    const uint64_t *frames, uint32_t n, unsigned back)
{
	struct noted_entry *entry;
	uint32_t i;

	if (n > MAX_PCS - noted->nt_npcs ||
	    !prof_room(&noted->nt_entry, &noted->nt_entry_cap,
	    noted->nt_nentries + 1, sizeof(*noted->nt_entry)) ||
	    !prof_room(&noted->nt_pc, &noted->nt_pc_cap,
	    noted->nt_npcs + n, sizeof(*noted->nt_pc))) {
		noted->nt_dropped++;
		return;
	}
	entry = &noted->nt_entry[noted->nt_nentries++];
	entry->ne_time_ns = sample->pr_time_ns;
	entry->ne_pid = sample->pr_pid;
	entry->ne_n = n;
	for (i = 0; i < n; i++)
		noted->nt_pc[noted->nt_npcs++] = frames[i] - back;
}

static void
kernel_note(struct prof_noted *noted, const uint64_t *frames, uint32_t n,
    unsigned back)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!prof_noted_set_add(&noted->nt_kernel, frames[i] - back))
			noted->nt_dropped++;
}

static void
time_take(struct prof_noted *noted, const struct prof_record *record)
{
	if (!record->pr_is_ahead && record->pr_time_ns > noted->nt_newest_ns)
		noted->nt_newest_ns = record->pr_time_ns;
}

void
prof_noted_sample(struct prof_noted *noted, const struct prof_record *sample,
    uint64_t kernel, uint64_t user)
{
	const uint64_t whose = (uint64_t)sample->pr_pid << 32 ^
	    (uint64_t)*epoch_of(noted, sample->pr_pid) << 8;
	const uint64_t *ip = &sample->pr_ip;

	time_take(noted, sample);
	if (sample->pr_nkernel > 0) {
		if (!filter_met(noted, sample->pr_kernel[0], 1))
			kernel_note(noted, sample->pr_kernel, 1, 0);
		if (kernel != 0 && !filter_met(noted, kernel, 2))
			kernel_note(noted, sample->pr_kernel + 1,
			    sample->pr_nkernel - 1, 1);
	}
	if (sample->pr_nuser > 0) {
		if (!filter_met(noted, sample->pr_user[0], whose | 3))
			addresses_note(noted, sample, sample->pr_user, 1, 0);
		if (user != 0 && !filter_met(noted, user, whose | 4))
			addresses_note(noted, sample, sample->pr_user + 1,
			    sample->pr_nuser - 1, 1);
	}
	if (sample->pr_nuser > 0 || sample->pr_nkernel > 0 || *ip == 0)
		return;
	if (sample->pr_in_kernel && !filter_met(noted, *ip, 1))
		kernel_note(noted, ip, 1, 0);
	else if (!sample->pr_in_kernel && !filter_met(noted, *ip, whose | 3))
		addresses_note(noted, sample, ip, 1, 0);
}

/* -------------------------------------- process events, mappings */

/* Close one that was not met since the last look at it. */
static void
let_go(struct prof_noted *noted)
{
	uint32_t n;

	for (n = 0; n < 2 * noted->nt_held_cap; n++) {
		noted->nt_hand = (noted->nt_hand + 1) % noted->nt_held_cap;
		if (noted->nt_held[noted->nt_hand] == 0)
			continue;
		if (noted->nt_used[noted->nt_hand]) {
			noted->nt_used[noted->nt_hand] = false;
			continue;
		}
		close(noted->nt_held[noted->nt_hand] - 1);
		noted->nt_held[noted->nt_hand] = 0;
		noted->nt_nheld--;
		return;
	}
}

/* Keep the file open, if it is what was mapped. */
static void
image_hold(struct prof_noted *noted, uint32_t number,
    const struct prof_record *mapping)
{
	struct prof_image *image = &noted->nt_images.is_image[number];
	int fd = prof_mapped_file_open(mapping);

	/* In the container's eyes, or in ours. */
	if (fd == -1)
		fd = prof_image_open(image->im_path);
	if (fd == -1)
		return;
	/* Before it is looked at: what is written later shows. */
	image->im_written_ns = prof_image_written_ns(fd);
	if (!prof_image_matches(image, fd, image->im_first_ns +
	    noted->nt_realtime_ns)) {
		close(fd);
		return;
	}
	if (noted->nt_nheld >= noted->nt_max_held)
		let_go(noted);
	noted->nt_held[number] = fd + 1;
	noted->nt_nheld++;
}

/* By number of image, what is kept about it. */
static bool
grow_held(struct prof_noted *noted)
{
	uint32_t before = noted->nt_held_cap;
	uint32_t cap = before == 0 ? 256 : before * 2;
	bool *used;
	int *held;

	held = reallocarray(noted->nt_held, cap, sizeof(*held));
	if (held == NULL)
		return (false);
	noted->nt_held = held;
	used = reallocarray(noted->nt_used, cap, sizeof(*used));
	if (used == NULL)
		return (false);
	noted->nt_used = used;
	memset(held + before, 0, (cap - before) * sizeof(*held));
	memset(used + before, 0, (cap - before) * sizeof(*used));
	noted->nt_held_cap = cap;
	return (true);
}

/* The number of an image; UINT32_MAX: no memory. */
static uint32_t
image_of(struct prof_noted *noted, const struct prof_record *mapping)
{
	const uint32_t before = noted->nt_images.is_n;
	uint32_t image;

	if (before >= NOTED_MAX_IMAGES) {
		noted->nt_dropped++;
		return (PROF_IMAGE_ANON);
	}
	image = prof_images_get(&noted->nt_images, mapping);
	if (image == UINT32_MAX)
		return (image);
	while (image >= noted->nt_held_cap)
		if (!grow_held(noted))
			return (UINT32_MAX);
	if (noted->nt_images.is_n != before)
		image_hold(noted, image, mapping);
	return (image);
}

/* Something that waits for the end of the round. */
static int
change_add(struct prof_noted *noted, const struct prof_record *record,
    uint32_t image, uint8_t type)
{
	struct change *change;

	if (!prof_room(&noted->nt_change, &noted->nt_change_cap,
	    noted->nt_nchanges + 1, sizeof(*change)))
		return (-1);
	(*epoch_of(noted, record->pr_pid))++;
	change = &noted->nt_change[noted->nt_nchanges];
	*change = (struct change){
		.ch_time_ns = record->pr_time_ns,
		.ch_start = record->pr_addr,
		.ch_length = record->pr_len,
		.ch_offset = record->pr_offset,
		.ch_pid = record->pr_pid,
		.ch_tid = record->pr_tid,
		.ch_ppid = record->pr_ppid,
		.ch_image = image,
		.ch_order = (uint32_t)noted->nt_nchanges++,
		.ch_type = type,
		.ch_group_dead = record->pr_group_dead != 0,
	};
	return (0);
}

int
prof_noted_event(struct prof_noted *noted, const struct prof_record *record)
{
	uint32_t image = PROF_IMAGE_ANON;

	time_take(noted, record);
	if (record->pr_type == PROF_R_MMAP) {
		if (record->pr_pid == UINT32_MAX)
			return (0);
		image = image_of(noted, record);
		if (image == UINT32_MAX)
			return (-1);
		prof_noted_jit_dump(noted, record);
	}
	return (change_add(noted, record, image, (uint8_t)record->pr_type));
}

int
prof_noted_renew(struct prof_noted *noted, uint32_t pid, uint64_t time_ns)
{
	const struct prof_record record = { .pr_pid = pid,
	    .pr_time_ns = time_ns };

	return (change_add(noted, &record, PROF_IMAGE_ANON, RENEWED));
}

/* ---------------------------------------------------------- round */

static int
change_compare(const void *a, const void *b)
{
	const struct change *la = a, *lb = b;

	if (la->ch_time_ns != lb->ch_time_ns)
		return (la->ch_time_ns < lb->ch_time_ns ? -1 : 1);
	return (la->ch_order < lb->ch_order ? -1 :
	    la->ch_order > lb->ch_order);
}

static int
change_take(struct prof_noted *noted, const struct change *change)
{
	const struct prof_record record = {
		.pr_type = (enum prof_record_type)change->ch_type,
		.pr_time_ns = change->ch_time_ns,
		.pr_pid = change->ch_pid,
		.pr_tid = change->ch_tid,
		.pr_ppid = change->ch_ppid,
		.pr_addr = change->ch_start,
		.pr_len = change->ch_length,
		.pr_offset = change->ch_offset,
		.pr_group_dead = change->ch_group_dead,
	};

	if (change->ch_type == RENEWED)
		return (prof_processes_renew(noted->nt_processes,
		    change->ch_pid, change->ch_time_ns));
	if ((noted->nt_nalive > 0 || noted->nt_ndumps > 0) &&
	    (change->ch_type == PROF_R_EXEC ||
	    (change->ch_type == PROF_R_EXIT && change->ch_group_dead)))
		prof_noted_jit_end(noted, change->ch_pid, change->ch_time_ns);
	return (prof_processes_take(noted->nt_processes, &record,
	    change->ch_image));
}

static void
take_pc(struct prof_noted *noted, const struct noted_entry *entry, uint64_t pc)
{
	struct prof_mapping mapping;
	uint64_t place;
	uint32_t jit;

	if (!prof_processes_at(noted->nt_processes, entry->ne_pid,
	    entry->ne_time_ns, pc, &mapping))
		return;
	if (mapping.mp_image != PROF_IMAGE_ANON) {
		place = mapping.mp_offset + (pc - mapping.mp_start);
		if (place >> NOTED_OFFSET_BITS != 0)
			return;
		place |= (uint64_t)mapping.mp_image << NOTED_OFFSET_BITS;
		noted->nt_used[mapping.mp_image] = true;
	} else if (noted->nt_mode & PROF_NOTED_LIVE) {
		/* A map of a JIT is read as a whole. */
		return;
	} else {
		jit = prof_noted_jit(noted, entry->ne_pid, prof_processes_since(
		    noted->nt_processes, entry->ne_pid, entry->ne_time_ns),
		    entry->ne_time_ns);
		if (jit == UINT32_MAX || pc >> NOTED_ADDRESS_BITS != 0)
			return;
		place = NOTED_JIT | (uint64_t)jit << NOTED_ADDRESS_BITS | pc;
	}
	if (!prof_noted_set_add(&noted->nt_places, place))
		noted->nt_dropped++;
}

int
prof_noted_round(struct prof_noted *noted)
{
	const struct noted_entry *entry = noted->nt_entry;
	const uint64_t *pc = noted->nt_pc;
	size_t n, change = 0;
	uint32_t i;
	int rv = 0;

	if (noted->nt_nchanges > 1)
		qsort(noted->nt_change, noted->nt_nchanges,
		    sizeof(*noted->nt_change), change_compare);
	for (n = 0; n < noted->nt_nentries; n++, entry++) {
		while (change < noted->nt_nchanges && noted->nt_change[
		    change].ch_time_ns <= entry->ne_time_ns)
			rv |= change_take(noted, &noted->nt_change[change++]);
		for (i = 0; i < entry->ne_n; i++)
			take_pc(noted, entry, *pc++);
	}
	while (change < noted->nt_nchanges)
		rv |= change_take(noted, &noted->nt_change[change++]);
	/* What comes from now on is younger. */
	if (noted->nt_nchanges > 0)
		prof_processes_forget(noted->nt_processes,
		    noted->nt_newest_ns);
	noted->nt_nchanges = noted->nt_nentries = noted->nt_npcs = 0;
	array_trim(&noted->nt_change, &noted->nt_change_cap);
	array_trim(&noted->nt_entry, &noted->nt_entry_cap);
	array_trim(&noted->nt_pc, &noted->nt_pc_cap);
	if (noted->nt_images.is_n >= noted->nt_many_images)
		rv |= prof_noted_forget_images(noted);
	return (rv);
}

const struct prof_processes *
prof_noted_processes(const struct prof_noted *noted)
{
	return (noted->nt_processes);
}

bool
prof_noted_any(const struct prof_noted *noted)
{
	return (noted->nt_places.ns_n > 0 || noted->nt_kernel.ns_n > 0);
}
