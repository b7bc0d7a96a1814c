/* SPDX-License-Identifier: ISC */
/*
 * Memory that the walk in the kernel reads: maps the small tables, makes
 * slabs as they are needed, and hands out runs of words.
 *
 * Called by unwind.c and unwind_modules.c, from the thread of the drain
 * only.  Making a slab is the one thing here that calls bpf(2) while a
 * recording may run: once for 8 MiB of tables.
 */
#include <sys/mman.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "unwind_impl.h"

#define SLAB_BYTES	(DTP_UW_SLAB_WORDS * 4 + 64)
#define REST_NS		1000000000ULL

uint64_t prof_now_ns(void);

/* Words given back: the oldest first. */
struct rested {
	struct rested	*re_next;
	struct prof_words re_words;
	uint64_t	 re_since_ns;
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

int
prof_unwind_memory_init(struct prof_unwind_memory *memory, const int fds[5],
    size_t ncpus, uint64_t max_bytes, struct prof_err *error)
{
	memset(memory, 0, sizeof(*memory));
	memory->um_procs = map_table(fds[0], DTP_UW_PROCS *
	    sizeof(struct dtp_uw_proc));
	memory->um_modules = map_table(fds[1], DTP_UW_MODULES *
	    sizeof(struct dtp_uw_module));
	memory->um_entries = map_table(fds[2], DTP_UW_ENTRIES *
	    sizeof(struct dtp_uw_entry));
	memory->um_slabs_fd = fds[3];
	memory->um_cache_bytes = ncpus * DTP_UW_CACHE * sizeof(uint64_t);
	memory->um_cache = map_table(fds[4], memory->um_cache_bytes);
	memory->um_max_slabs = (uint32_t)(max_bytes / SLAB_BYTES);
	if (memory->um_max_slabs > DTP_UW_SLABS)
		memory->um_max_slabs = DTP_UW_SLABS;
	if (memory->um_procs == NULL || memory->um_modules == NULL ||
	    memory->um_entries == NULL || memory->um_cache == NULL)
		return (prof_fail(error, PROF_E_NOMEM,
		    "cannot map the unwind tables"));
	return (0);
}

static void
unmap(void *memory, size_t bytes)
{
	if (memory != NULL)
		munmap(memory, whole_pages(bytes));
}

void
prof_unwind_memory_fini(struct prof_unwind_memory *memory)
{
	struct rested *rested, *next;
	uint32_t n;

	unmap(memory->um_procs, DTP_UW_PROCS * sizeof(struct dtp_uw_proc));
	unmap(memory->um_modules, DTP_UW_MODULES *
	    sizeof(struct dtp_uw_module));
	unmap(memory->um_entries, DTP_UW_ENTRIES *
	    sizeof(struct dtp_uw_entry));
	unmap(memory->um_cache, memory->um_cache_bytes);
	for (n = 0; n < memory->um_nslabs; n++) {
		unmap(memory->um_slab[n], SLAB_BYTES);
		close(memory->um_slab_fd[n]);
	}
	for (n = 0; n < 32; n++)
		for (rested = memory->um_rested[n]; rested != NULL;
		    rested = next) {
			next = rested->re_next;
			free(rested);
		}
	memset(memory, 0, sizeof(*memory));
}

static int
add_slab(struct prof_unwind_memory *memory)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts,
	    .map_flags = BPF_F_MMAPABLE);
	uint32_t n = memory->um_nslabs;
	int fd;

	if (n == memory->um_max_slabs)
		return (-1);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "uw_slab", 4, SLAB_BYTES, 1,
	    &opts);
	if (fd < 0)
		return (-1);
	memory->um_slab[n] = map_table(fd, SLAB_BYTES);
	if (memory->um_slab[n] == NULL || bpf_map_update_elem(
	    memory->um_slabs_fd, &n, &fd, BPF_ANY) != 0) {
		unmap(memory->um_slab[n], SLAB_BYTES);
		memory->um_slab[n] = NULL;
		close(fd);
		return (-1);
	}
	memory->um_slab_fd[n] = fd;
	memory->um_nslabs++;
	return (0);
}

static unsigned
power_of(uint32_t n)
{
	unsigned power = 4;

	while (1U << power < n)
		power++;
	return (power);
}

int
prof_words_get(struct prof_unwind_memory *memory, uint32_t n,
    struct prof_words *words)
{
	unsigned power = power_of(n);
	struct rested *rested = memory->um_rested[power];
	uint32_t slab, size = 1U << power;

	if (n > DTP_UW_SLAB_WORDS)
		return (-1);
	if (rested != NULL && prof_now_ns() - rested->re_since_ns > REST_NS) {
		*words = rested->re_words;
		memory->um_rested[power] = rested->re_next;
		free(rested);
		return (0);
	}
	/* A table is never given back, so it gets no more than it needs. */
	if (n > 65536)
		size = n;
	for (slab = 0; slab < memory->um_nslabs; slab++)
		if (DTP_UW_SLAB_WORDS - memory->um_used[slab] >= size)
			break;
	if (slab == memory->um_nslabs && add_slab(memory) == -1)
		return (-1);
	words->wd_slab = slab;
	words->wd_at = memory->um_used[slab];
	words->wd_n = size;
	memory->um_used[slab] += size;
	return (0);
}

void
prof_words_put(struct prof_unwind_memory *memory,
    const struct prof_words *words)
{
	struct rested *rested, **last;

	if (words->wd_n == 0 || (rested = malloc(sizeof(*rested))) == NULL)
		return;
	rested->re_words = *words;
	rested->re_since_ns = prof_now_ns();
	rested->re_next = NULL;
	last = &memory->um_rested[power_of(words->wd_n)];
	while (*last != NULL)
		last = &(*last)->re_next;
	*last = rested;
}

uint32_t *
prof_words_at(const struct prof_unwind_memory *memory,
    const struct prof_words *words)
{
	return (memory->um_slab[words->wd_slab] + words->wd_at);
}
