/* SPDX-License-Identifier: ISC */
/*
 * Waits until the programs that are running have ended.  Called at stop, when
 * nothing starts any more and counts are about to be read.
 */
#include <sys/syscall.h>

#include <linux/membarrier.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backend/bpf/wait.h"
#include "base/error.h"

/*
 * An update of a map of maps waits until all programs have ended that may
 * have seen what was there before: an RCU grace period, as membarrier(2) asks
 * for, but also where that is refused (CPUs without a tick, a filter of
 * system calls).
 */
static int
wait_by_map(void)
{
	const uint32_t zero = 0;
	int inner, outer = -1, rv = -1;

	inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dtprof_inner",
	    sizeof(uint32_t), sizeof(uint32_t), 1, NULL);
	if (inner >= 0) {
		LIBBPF_OPTS(bpf_map_create_opts, opts,
		    .inner_map_fd = (uint32_t)inner);

		outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS,
		    "dtprof_outer", sizeof(uint32_t), sizeof(uint32_t), 1,
		    &opts);
	}
	if (outer >= 0)
		rv = bpf_map_update_elem(outer, &zero, &inner, BPF_ANY);
	if (outer >= 0)
		close(outer);
	if (inner >= 0)
		close(inner);
	return (rv);
}

/* Whoever ran a program when this was called has come out of it. */
int
prof_bpf_wait(struct prof_err *error)
{
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0 ||
	    wait_by_map() == 0)
		return (0);
	return (prof_fail(error, PROF_E_KERNEL, "cannot wait for running BPF "
	    "programs: %s", strerror(errno)));
}
