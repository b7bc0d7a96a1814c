/* SPDX-License-Identifier: ISC */
/*
 * The memory of one perf ring: mapping it, smaller when locked memory is
 * short, and moving along its records.
 *
 * Called by open.c and drain.c.  Knows nothing about what
 * is in a record.
 */
#include <sys/mman.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "os/permission.h"
#include "rings_impl.h"

static bool	map_one(struct ring *, size_t);

static bool
map_one(struct ring *ring, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map;

	map = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
	    ring->rg_fd, 0);
	if (map == MAP_FAILED)
		return (false);
	ring->rg_control = map;
	ring->rg_data = (uint8_t *)map + page;
	ring->rg_bytes = bytes;
	ring->rg_mapped = page + bytes;
	return (true);
}

/*
 * All of one size: were each as large as it could be, the first would leave
 * nothing for the last.
 */
int
prof_ring_map_all(struct prof_rings *rings, size_t first, size_t bytes,
    struct prof_err *error)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), wanted = bytes, n = first;
	struct prof_err cure;

	while (n < rings->rs_nrings) {
		if (map_one(&rings->rs_ring[n], bytes)) {
			n++;
			continue;
		}
		if ((errno != EPERM && errno != ENOMEM) || bytes <= page) {
			prof_fail(error, PROF_E_PERMISSION,
			    "cannot lock memory for the perf ring of CPU %d: "
			    "%s", rings->rs_ring[n].rg_cpu, errno == EPERM ?
			    "the locked memory limit is reached" :
			    strerror(errno));
			return (prof_locked_memory_cure(error));
		}
		while (n > first)
			prof_ring_unmap(&rings->rs_ring[--n]);
		bytes /= 2;
	}
	if (wanted > rings->rs_enough_bytes)
		wanted = rings->rs_enough_bytes;
	if (bytes < wanted) {
		prof_locked_memory_cure(&cure);
		prof_rings_say(rings, "not enough locked memory: perf rings "
		    "reduced from %zu to %zu KiB; %s", wanted / 1024,
		    bytes / 1024, cure.pe_cure);
	}
	return (0);
}

void
prof_ring_unmap(struct ring *ring)
{
	if (ring->rg_control != NULL)
		munmap(ring->rg_control, ring->rg_mapped);
	ring->rg_control = NULL;
}

/* Partner: smp_wmb before the kernel's store of data_head. */
uint64_t
prof_ring_head_of(const struct ring *ring)
{
	return (__atomic_load_n(&ring->rg_control->data_head,
	    __ATOMIC_ACQUIRE));
}

/* Partner: the kernel's load of data_tail before it writes a record. */
void
prof_ring_release(const struct ring *ring, uint64_t position)
{
	__atomic_store_n(&ring->rg_control->data_tail, position,
	    __ATOMIC_RELEASE);
}

/*
 * Positions are multiples of 8 and so is the ring, so a header is always in
 * one piece.  A size that cannot be is left to prof_ring_head to refuse.
 */
const void *
prof_ring_at(const struct prof_rings *rings, const struct ring *ring,
    uint64_t position, size_t left)
{
	size_t offset = position & (ring->rg_bytes - 1), before;
	const struct perf_event_header *header;

	header = (const void *)(ring->rg_data + offset);
	before = ring->rg_bytes - offset;
	if (header->size <= before || header->size > left ||
	    header->size > ring->rg_bytes)
		return (header);
	memcpy(rings->rs_scratch, ring->rg_data + offset, before);
	memcpy((uint8_t *)rings->rs_scratch + before, ring->rg_data,
	    header->size - before);
	return (rings->rs_scratch);
}
