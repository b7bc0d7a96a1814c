/* SPDX-License-Identifier: ISC */
/*
 * The library that a command loads before all others for record --alloc: it
 * stands between the program and its allocator, chooses some allocations by
 * their bytes, and says so at static probes, which the recorder attaches to:
 *
 *	otel_memory:alloc(pointer, bytes)	bytes: those that it stands for
 *	otel_memory:free(pointer)		of one that was chosen
 *
 * An allocation of the interval or more is always chosen, and stands for
 * itself; a smaller one with a probability of its size to the interval, and
 * stands for the interval.  So the sum of what is chosen is, on average, that
 * of all, and each allocation is as likely whatever came before it.
 *
 * Pointers that were chosen are kept in a table, so that no other is ever
 * told to be freed; one for which there is no room is told as 0, and not
 * followed.  free is told before it is done, alloc after: at no time are two
 * allocations of one address known.
 *
 * Nothing here may allocate, nor call what may.  While nobody listens, which
 * the probes' semaphores say, a call costs a few instructions.
 */
#include <sys/mman.h>

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "prof_region.h"

#define INTERVAL	"DTPROF_ALLOC_INTERVAL"
#define DEFAULT_BYTES	(512u << 10)
#define EXPORT		__attribute__((visibility("default")))
#define INLINE		static inline __attribute__((always_inline))

/* Above 0 while somebody is attached; the kernel counts them up. */
#define SEMAPHORE	__attribute__((section(".probes"), used, \
			    visibility("hidden")))
SEMAPHORE volatile unsigned short otel_memory_alloc_semaphore;
SEMAPHORE volatile unsigned short otel_memory_free_semaphore;

#define NOTE(name, arguments)						\
	PROF_PROBE_NOTE("otel_memory", name,				\
	    "otel_memory_" name "_semaphore", arguments)
#define TELL_ALLOC(pointer, bytes)					\
	__asm__ volatile (NOTE("alloc", "8@%0 8@%1")			\
	    :: "r" (pointer), "r" (bytes) : "memory")
#define TELL_FREE(pointer)						\
	__asm__ volatile (NOTE("free", "8@%0") :: "r" (pointer) : "memory")

/*
 * Pointers, by hash: a bucket is a line of the cache.  One that was ever too
 * full says so, and the search goes on in the next.
 */
#define SLOTS		7
#define BUCKETS		(1u << 17)
#define TRIES		16

struct bucket {
	uintptr_t	bu_pointer[SLOTS];	/* 0: free */
	uintptr_t	bu_is_over;
};

/* All that this library has: it begins before main, in one thread. */
static struct {
	void	*(*al_malloc)(size_t size);
	void	 (*al_free)(void *pointer);
	void	*(*al_calloc)(size_t n, size_t size);
	void	*(*al_realloc)(void *pointer, size_t size);
	int	 (*al_posix_memalign)(void **pointer, size_t alignment,
		    size_t size);
	void	*(*al_aligned_alloc)(size_t alignment, size_t size);
	void	*(*al_memalign)(size_t alignment, size_t size);
	void	*(*al_valloc)(size_t size);
	void	*(*al_pvalloc)(size_t size);
	uint64_t al_interval;
	uint64_t al_chance;		/* 2^64 / interval */
	uint64_t al_seed;
	struct bucket *al_table;	/* NULL: none yet, or none to be had */
	uint64_t al_kept;		/* pointers in the table */
	bool	 al_is_ready;
} all;

/* Before the allocator is known: what its search itself allocates. */
static char early[8192] __attribute__((aligned(16)));
static size_t early_used;

static __thread uint64_t random_state
    __attribute__((tls_model("initial-exec")));
/* Above 0 in the allocator's own functions, which may call each other here. */
static __thread unsigned within __attribute__((tls_model("initial-exec")));

/* ------------------------------------------------------------------- table */

INLINE uint64_t
word_mix(uint64_t word)
{
	word = (word ^ word >> 32) * 0x9e3779b97f4a7c15ULL;
	return (word ^ word >> 29);
}

static struct bucket *
table_make(void)
{
	struct bucket *none = NULL, *made;

	made = mmap(NULL, BUCKETS * sizeof(*made), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		return (NULL);
	if (__atomic_compare_exchange_n(&all.al_table, &none, made, false,
	    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return (made);
	munmap(made, BUCKETS * sizeof(*made));
	return (none);
}

static bool
table_put(uintptr_t pointer)
{
	struct bucket *table = __atomic_load_n(&all.al_table,
	    __ATOMIC_ACQUIRE), *bucket;
	const uint64_t hash = word_mix(pointer);
	uintptr_t none;

	if (table == NULL && (table = table_make()) == NULL)
		return (false);
	for (unsigned n = 0; n < TRIES; n++) {
		bucket = &table[(hash + n) & (BUCKETS - 1)];
		for (unsigned i = 0; i < SLOTS; i++) {
			none = 0;
			if (__atomic_compare_exchange_n(
			    &bucket->bu_pointer[i], &none, pointer, false,
			    __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
				__atomic_fetch_add(&all.al_kept, 1,
				    __ATOMIC_RELEASE);
				return (true);
			}
		}
		__atomic_store_n(&bucket->bu_is_over, 1, __ATOMIC_RELEASE);
	}
	return (false);
}

/* true: it was there, and is no longer. */
static bool
table_take(uintptr_t pointer)
{
	struct bucket *table = __atomic_load_n(&all.al_table,
	    __ATOMIC_ACQUIRE), *bucket;
	const uint64_t hash = word_mix(pointer);
	uintptr_t found;

	for (unsigned n = 0; table != NULL && n < TRIES; n++) {
		bucket = &table[(hash + n) & (BUCKETS - 1)];
		for (unsigned i = 0; i < SLOTS; i++) {
			found = pointer;
			if (__atomic_load_n(&bucket->bu_pointer[i],
			    __ATOMIC_ACQUIRE) == pointer &&
			    __atomic_compare_exchange_n(
			    &bucket->bu_pointer[i], &found, 0, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
				__atomic_fetch_sub(&all.al_kept, 1,
				    __ATOMIC_RELEASE);
				return (true);
			}
		}
		if (!__atomic_load_n(&bucket->bu_is_over, __ATOMIC_ACQUIRE))
			break;
	}
	return (false);
}

/* ---------------------------------------------------------------- sampling */

/* Of each thread its own, so that none waits for another. */
INLINE uint64_t
random_next(void)
{
	uint64_t state = random_state;

	if (state == 0)
		state = word_mix(all.al_seed ^ (uintptr_t)&random_state) | 1;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	random_state = state;
	return (state * 0x2545f4914f6cdd1dULL);
}

/* How many bytes an allocation stands for; 0: it is not chosen. */
INLINE uint64_t
weight_of(uint64_t size)
{
	if (otel_memory_alloc_semaphore == 0)
		return (0);
	if (size >= all.al_interval)
		return (size);
	return (random_next() < size * all.al_chance ? all.al_interval : 0);
}

/* In each function itself, so that it is the innermost frame. */
#define ALLOCATED(pointer, size) do {					\
	const uint64_t weight_ = (pointer) == NULL ? 0 :		\
	    weight_of(size);						\
									\
	if (__builtin_expect(weight_ != 0, 0) && within == 0) {		\
		const uintptr_t told_ = table_put((uintptr_t)(pointer)) ? \
		    (uintptr_t)(pointer) : 0;				\
									\
		TELL_ALLOC(told_, weight_);				\
	}								\
} while (0)

#define FREED(pointer) do {						\
	if (__builtin_expect(__atomic_load_n(&all.al_kept,		\
	    __ATOMIC_ACQUIRE) != 0, 0) && (pointer) != NULL &&		\
	    table_take((uintptr_t)(pointer)))				\
		TELL_FREE((uintptr_t)(pointer));			\
} while (0)

/* musl's calloc calls malloc, by its name: that is counted here alone. */
#define WITHIN(call) do {						\
	within++;							\
	call;								\
	within--;							\
} while (0)

/* ------------------------------------------------------------------- begin */

static void
interval_read(void)
{
	const char *text = getenv(INTERVAL);
	const uint64_t bytes = text == NULL ? 0 : strtoull(text, NULL, 10);

	all.al_interval = bytes == 0 ? DEFAULT_BYTES : bytes;
	all.al_chance = UINT64_MAX / all.al_interval;
}

/* By name, as the program itself would find them behind this library. */
static void
all_find(void)
{
	const uint64_t *random = (const void *)(uintptr_t)
	    getauxval(AT_RANDOM);

#define FIND(name)							\
	do {								\
		void *found_ = dlsym(RTLD_NEXT, #name);			\
									\
		memcpy(&all.al_##name, &found_, sizeof(found_));	\
	} while (0)
	FIND(calloc);
	FIND(malloc);
	FIND(free);
	FIND(realloc);
	FIND(posix_memalign);
	FIND(aligned_alloc);
	FIND(memalign);
	FIND(valloc);
	FIND(pvalloc);
#undef FIND
	all.al_seed = (random == NULL ? 0 : *random) ^ (uint64_t)getpid();
	interval_read();
	all.al_is_ready = true;
}

__attribute__((constructor)) static void
begin_early(void)
{
	if (!all.al_is_ready)
		all_find();
}

static bool
is_early(const void *pointer)
{
	return ((uintptr_t)pointer - (uintptr_t)early < sizeof(early));
}

/* While the search runs that would tell which function to call. */
static void *
early_get(size_t size)
{
	const size_t at = early_used;

	if (size > sizeof(early) - at - 32)
		return (NULL);
	memcpy(early + at, &size, sizeof(size));
	early_used = at + 16 + ((size + 15) & ~(size_t)15);
	return (early + at + 16);
}

static void *
early_move(const void *pointer, size_t size)
{
	void *moved = malloc(size);
	size_t had;

	memcpy(&had, (const char *)pointer - 16, sizeof(had));
	if (moved != NULL)
		memcpy(moved, pointer, had < size ? had : size);
	return (moved);
}

/* The first call comes before all constructors, and may come within begin. */
static bool
is_ready(void)
{
	static bool has_begun;

	if (!all.al_is_ready && !has_begun) {
		has_begun = true;
		all_find();
	}
	return (all.al_is_ready);
}
#define READY	(__builtin_expect(all.al_is_ready, 1) || is_ready())

/* ------------------------------------------------------ what stands between */

EXPORT void *
malloc(size_t size)
{
	void *pointer;

	if (!READY)
		return (early_get(size));
	pointer = all.al_malloc(size);
	ALLOCATED(pointer, size);
	return (pointer);
}

EXPORT void
free(void *pointer)
{
	if (is_early(pointer) || !READY)
		return;
	FREED(pointer);
	all.al_free(pointer);
}

EXPORT void *
calloc(size_t n, size_t size)
{
	void *pointer;

	/* What has never been handed out is 0. */
	if (!READY)
		return (early_get(n * size));
	WITHIN(pointer = all.al_calloc(n, size));
	ALLOCATED(pointer, n * size);
	return (pointer);
}

EXPORT void *
realloc(void *old, size_t size)
{
	void *pointer;

	if (!READY)
		return (old == NULL ? early_get(size) : early_move(old, size));
	if (is_early(old))
		return (early_move(old, size));
	FREED(old);
	WITHIN(pointer = all.al_realloc(old, size));
	ALLOCATED(pointer, size);
	return (pointer);
}

EXPORT void *
reallocarray(void *old, size_t n, size_t size)
{
	void *pointer;
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return (NULL);
	}
	if (!READY || is_early(old))
		return (realloc(old, bytes));
	FREED(old);
	WITHIN(pointer = all.al_realloc(old, bytes));
	ALLOCATED(pointer, bytes);
	return (pointer);
}

EXPORT int
posix_memalign(void **pointer, size_t alignment, size_t size)
{
	int rv;

	if (!READY)
		return (ENOMEM);
	WITHIN(rv = all.al_posix_memalign(pointer, alignment, size));
	if (rv == 0)
		ALLOCATED(*pointer, size);
	return (rv);
}

EXPORT void *
aligned_alloc(size_t alignment, size_t size)
{
	void *pointer = NULL;

	if (READY)
		WITHIN(pointer = all.al_aligned_alloc(alignment, size));
	ALLOCATED(pointer, size);
	return (pointer);
}

EXPORT void *
memalign(size_t alignment, size_t size)
{
	void *pointer = NULL;

	if (READY)
		WITHIN(pointer = all.al_memalign(alignment, size));
	ALLOCATED(pointer, size);
	return (pointer);
}

EXPORT void *
valloc(size_t size)
{
	void *pointer = NULL;

	if (READY)
		WITHIN(pointer = all.al_valloc(size));
	ALLOCATED(pointer, size);
	return (pointer);
}

EXPORT void *
pvalloc(size_t size)
{
	void *pointer = NULL;

	if (READY)
		WITHIN(pointer = all.al_pvalloc(size));
	ALLOCATED(pointer, size);
	return (pointer);
}
