/* SPDX-License-Identifier: ISC */
/* What /proc and /sys say: processes, their mappings, the kernel. */
#ifndef PROF_PROCFS_H
#define PROF_PROCFS_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"
#include "prof.h"

/*
 * The executable mappings of a process alone.  PROF_MAPS_MORE: it has more
 * mappings of all kinds than `most', and not all have been read.
 */
#define PROF_MAPS_MORE	1
int	prof_procfs_maps(int pid, uint64_t time_ns, bool build_ids,
	    unsigned most, prof_record_fn *fn, void *arg);
/* One process: PROF_R_TASK per thread, PROF_R_MMAP per executable mapping. */
int	prof_procfs_snapshot_pid(int pid, uint64_t time_ns,
	    prof_record_fn *fn, void *arg);	/* 0 also when it has gone */
/* The same without mappings. */
int	prof_procfs_snapshot_tasks(int pid, uint64_t time_ns,
	    prof_record_fn *fn, void *arg);
int	prof_procfs_snapshot_all(uint64_t time_ns, prof_record_fn *fn,
	    void *arg);
/* Are the addresses of the kernel's functions shown to us? */
bool	prof_kernel_names_shown(struct prof_err *why);
/*
 * The bytes of a PERF_RECORD_KSYMBOL up to its trailer, or more than it has.
 * The trailer is right behind the name: the kernel (seen up to 6.18) makes such
 * a record larger for each further event that wants it, another recorder's
 * too, and what is then behind the trailer is whatever was in the ring.
 */
size_t	prof_ksymbol_body(const void *bytes, size_t size);
/* The kernel's, from _stext to _etext. */
struct prof_text {
	uint64_t	tx_start;
	uint64_t	tx_end;
};
/*
 * Kernel text and modules as PROF_R_MMAP of pid 0xffffffff.  text: where it
 * lies; NULL: /proc/kallsyms is read for it.
 */
int	prof_procfs_snapshot_kernel(const struct prof_text *text,
	    uint64_t time_ns, prof_record_fn *fn, void *arg);
/* Children of a process, appended to a caller-owned array; -1: no memory. */
int	prof_procfs_children(int pid, int **pids, size_t *n, size_t *cap);
/*
 * Visit processes and, where asked, all that descend from them, each before
 * its children are looked for.  -1: no memory, or visit said so.
 */
int	prof_procfs_family(const int *ids, size_t nids, bool descendants,
	    int (*visit)(void *arg, int pid), void *arg);
bool	prof_procfs_exists(int id);
/* A line of /proc/PID/maps, changed; pr_path points into it. */
bool	prof_maps_parse(char *line, struct prof_record *record);
/* The file behind a mapping, as its process sees it; -1: it has gone. */
int	prof_mapped_file_open(const struct prof_record *record);
struct prof_build_ids;
/* Fill in the build-id of a mapping from the file that is mapped. */
void	prof_mapping_build_id(struct prof_build_ids *ids,
	    struct prof_record *record);
/* A small file whole, NUL-ended: its length, or -1. */
ssize_t	prof_proc_read(const char *path, char *out, size_t size);
int	prof_proc_pid(const char *name);	/* -1: not a number */

#endif /* PROF_PROCFS_H */
