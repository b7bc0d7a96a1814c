/* SPDX-License-Identifier: ISC */
/* Cgroups by their id. */
#ifndef PROF_CGROUP_H
#define PROF_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Where the cgroup lies in the hierarchy of the CPU controller, e.g.
 * "/system.slice/x.service"; "": it is gone, or may not be looked up.
 */
void	prof_cgroup_path(uint64_t id, char *path, size_t size);

/* The mount of version 2; "": there is none. */
void	prof_cgroup_mount(char *path, size_t size);

#endif /* PROF_CGROUP_H */
