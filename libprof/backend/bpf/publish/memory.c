/* SPDX-License-Identifier: ISC */
/*
 * Memory that the walk in the kernel reads: maps the small tables, makes
 * slabs as they are needed, and hands out runs of words.
 *
 * Called by publish.c and modules.c, from the thread of the drain
 * only.  Making a slab is the one thing here that calls bpf(2) while a
 * recording may run: two calls for 8 MiB of tables, which are counted.
 *
 * Words that are given back rest for a second before they are given out
 * again: a walk, which takes microseconds, may be reading them.
 */
#include <sys/mman.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/error.h"
#include "publish_impl.h"

#define REST_NS		1000000000ULL
#define MAX_SHARED	(DTP_UW_ENTRIES - (DTP_UW_RULES - DTP_UW_END))
#define GRAIN		16	/* words: rows and mappings stay aligned */

/* Words that nobody has, or had until a moment ago. */
struct extent {
	struct extent	*ex_next;
	struct prof_words ex_words;
	uint64_t	 ex_since_ns;
};

static size_t
whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return ((bytes + page - 1) / page * page);
}

static void *
map_table(int fd, size_t bytes)
{
	void *memory = mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);

	return (memory == MAP_FAILED ? NULL : memory);
}

static void
pages_unmap(void *memory, size_t bytes)
{
	if (memory != NULL)
		munmap(memory, whole_pages(bytes));
}

static void
free_all(struct extent *extent)
{
	struct extent *next;

	for (; extent != NULL; extent = next) {
		next = extent->ex_next;
		free(extent);
	}
}

void
prof_unwind_memory_fini(struct prof_unwind_memory *memory)
{
	uint32_t n;

	pages_unmap(memory->um_procs, DTP_UW_PROCS *
	    sizeof(struct dtp_uw_proc));
	pages_unmap(memory->um_modules, DTP_UW_MODULES *
	    sizeof(struct dtp_uw_module));
	pages_unmap(memory->um_entries, DTP_UW_ENTRIES *
	    sizeof(struct dtp_uw_entry));
	pages_unmap(memory->um_cache, memory->um_cache_bytes);
	pages_unmap(memory->um_files, DTP_UW_FILES *
	    sizeof(struct dtp_uw_file));
	pages_unmap(memory->um_chains, DTP_CHAINS *
	    sizeof(struct dtp_chain));
	pages_unmap(memory->um_numbers, DTP_UW_NUMBERS *
	    sizeof(struct dtp_uw_number));
	for (n = 0; n < memory->um_nslabs; n++) {
		pages_unmap(memory->um_slab[n], PROF_SLAB_BYTES);
		close(memory->um_slab_fd[n]);
	}
	free_all(memory->um_free);
	free_all(memory->um_resting);
	memset(memory, 0, sizeof(*memory));
}

/* Among the free ones, in order, joined with its neighbours. */
static void
set_free(struct prof_unwind_memory *memory, struct extent *extent)
{
	struct extent **at = &memory->um_free, *before = NULL, *behind;
	const struct prof_words *words = &extent->ex_words;

	while (*at != NULL && ((*at)->ex_words.wd_slab < words->wd_slab ||
	    ((*at)->ex_words.wd_slab == words->wd_slab &&
	    (*at)->ex_words.wd_at < words->wd_at))) {
		before = *at;
		at = &(*at)->ex_next;
	}
	extent->ex_next = *at;
	*at = extent;
	behind = extent->ex_next;
	if (behind != NULL && behind->ex_words.wd_slab == words->wd_slab &&
	    words->wd_at + words->wd_n == behind->ex_words.wd_at) {
		extent->ex_words.wd_n += behind->ex_words.wd_n;
		extent->ex_next = behind->ex_next;
		free(behind);
	}
	if (before != NULL && before->ex_words.wd_slab == words->wd_slab &&
	    before->ex_words.wd_at + before->ex_words.wd_n == words->wd_at) {
		before->ex_words.wd_n += words->wd_n;
		before->ex_next = extent->ex_next;
		free(extent);
	}
}

int
prof_unwind_slab(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts,
	    .map_flags = BPF_F_MMAPABLE);

	return (bpf_map_create(BPF_MAP_TYPE_ARRAY, "uw_slab",
	    sizeof(uint32_t), PROF_SLAB_BYTES, 1, &opts));
}

/* One more slab, this one; its descriptor is taken over. */
static int
add_slab(struct prof_unwind_memory *memory, int fd)
{
	struct extent *extent = malloc(sizeof(*extent));
	uint32_t n = memory->um_nslabs;

	if (fd >= 0 && extent != NULL)
		memory->um_slab[n] = map_table(fd, PROF_SLAB_BYTES);
	if (memory->um_slab[n] == NULL || bpf_map_update_elem(
	    memory->um_slabs_fd, &n, &fd, BPF_ANY) != 0) {
		pages_unmap(memory->um_slab[n], PROF_SLAB_BYTES);
		memory->um_slab[n] = NULL;
		if (fd >= 0)
			close(fd);
		free(extent);
		return (-1);
	}
	memory->um_slab_fd[n] = fd;
	memory->um_nslabs++;
	extent->ex_words = (struct prof_words){ n, 0, DTP_UW_SLAB_WORDS };
	set_free(memory, extent);
	return (0);
}

int
prof_unwind_memory_init(struct prof_unwind_memory *memory,
    const int fds[PROF_UNWIND_FDS], size_t ncpus, uint64_t max_bytes,
    struct prof_err *error)
{
	memset(memory, 0, sizeof(*memory));
	memory->um_resting_last = &memory->um_resting;
	memory->um_procs = map_table(fds[0], DTP_UW_PROCS *
	    sizeof(struct dtp_uw_proc));
	memory->um_modules = map_table(fds[1], DTP_UW_MODULES *
	    sizeof(struct dtp_uw_module));
	memory->um_entries = map_table(fds[2], DTP_UW_ENTRIES *
	    sizeof(struct dtp_uw_entry));
	memory->um_slabs_fd = fds[3];
	memory->um_cache_bytes = ncpus * DTP_UW_CACHE * sizeof(uint64_t);
	memory->um_cache = map_table(fds[4], memory->um_cache_bytes);
	memory->um_files = map_table(fds[5], DTP_UW_FILES *
	    sizeof(struct dtp_uw_file));
	memory->um_chains = map_table(fds[6], DTP_CHAINS *
	    sizeof(struct dtp_chain));
	memory->um_numbers = map_table(fds[7], DTP_UW_NUMBERS *
	    sizeof(struct dtp_uw_number));
	max_bytes /= DTP_UW_SLAB_WORDS * sizeof(uint32_t);
	memory->um_max_slabs = max_bytes > DTP_UW_SLABS ? DTP_UW_SLABS :
	    (uint32_t)max_bytes;
	/* Made before, as programs are loaded by what a slab is like. */
	if (memory->um_max_slabs > 0)
		(void)add_slab(memory, fds[8]);
	else
		close(fds[8]);
	if (memory->um_procs == NULL || memory->um_modules == NULL ||
	    memory->um_entries == NULL || memory->um_cache == NULL ||
	    memory->um_files == NULL || memory->um_chains == NULL ||
	    memory->um_numbers == NULL)
		return (prof_fail(error, PROF_E_NOMEM,
		    "cannot map the unwind tables"));
	return (0);
}

/* What has rested long enough is free. */
static void
resting_free(struct prof_unwind_memory *memory)
{
	uint64_t now_ns = prof_now_ns();
	struct extent *extent;

	while ((extent = memory->um_resting) != NULL &&
	    now_ns - extent->ex_since_ns > REST_NS) {
		memory->um_resting = extent->ex_next;
		if (memory->um_resting == NULL)
			memory->um_resting_last = &memory->um_resting;
		memory->um_nresting -= extent->ex_words.wd_n;
		set_free(memory, extent);
	}
}

/* The first that is large enough, or its beginning. */
static int
words_take(struct prof_unwind_memory *memory, uint32_t n,
    struct prof_words *words)
{
	struct extent **at = &memory->um_free, *extent;

	while ((extent = *at) != NULL && extent->ex_words.wd_n < n)
		at = &extent->ex_next;
	if (extent == NULL)
		return (-1);
	*words = extent->ex_words;
	words->wd_n = n;
	extent->ex_words.wd_at += n;
	extent->ex_words.wd_n -= n;
	if (extent->ex_words.wd_n == 0) {
		*at = extent->ex_next;
		free(extent);
	}
	memory->um_used += n;
	return (0);
}

int
prof_words_get(struct prof_unwind_memory *memory, uint32_t n,
    struct prof_words *words)
{
	if (n > DTP_UW_SLAB_WORDS)
		return (-1);
	n = (n + GRAIN - 1) / GRAIN * GRAIN;
	resting_free(memory);
	if (words_take(memory, n, words) == 0)
		return (0);
	if (memory->um_nslabs == memory->um_max_slabs)
		return (-1);
	memory->um_calls += 2;
	return (add_slab(memory, prof_unwind_slab()) == -1 ?
	    -1 : words_take(memory, n, words));
}

void
prof_words_put(struct prof_unwind_memory *memory,
    const struct prof_words *words)
{
	struct extent *extent;

	if (words->wd_n == 0)
		return;
	memory->um_used -= words->wd_n;
	if ((extent = malloc(sizeof(*extent))) == NULL)
		return;		/* so it stays unused */
	extent->ex_next = NULL;
	extent->ex_words = *words;
	extent->ex_since_ns = prof_now_ns();
	*memory->um_resting_last = extent;
	memory->um_resting_last = &extent->ex_next;
	memory->um_nresting += words->wd_n;
}

uint32_t *
prof_words_at(const struct prof_unwind_memory *memory,
    const struct prof_words *words)
{
	return (memory->um_slab[words->wd_slab] + words->wd_at);
}

uint16_t
prof_entry_shared(struct prof_unwind_memory *memory,
    const struct dtp_uw_entry *entry)
{
	const uint32_t nslots = 2 * DTP_UW_ENTRIES;
	uint64_t hash = XXH3_64bits(entry, sizeof(*entry));
	uint32_t n = (uint32_t)(hash % nslots);
	uint16_t known;

	for (; (known = memory->um_entry_slot[n]) != 0; n = (n + 1) % nslots)
		if (memcmp(&memory->um_entries[known - 1], entry,
		    sizeof(*entry)) == 0)
			return ((uint16_t)(DTP_UW_RULES + known - 1));
	if (memory->um_nentries == MAX_SHARED)
		return (DTP_UW_USER);
	memory->um_entries[memory->um_nentries] = *entry;
	memory->um_entry_slot[n] = (uint16_t)++memory->um_nentries;
	return ((uint16_t)(DTP_UW_RULES + memory->um_nentries - 1));
}
