/* SPDX-License-Identifier: ISC */
/*
 * What a process has mapped at the time of a sample, with the objects that
 * stand behind it: the model of processes (process/), in which the number of
 * an image is that of an object, from 1.
 *
 * Called by snapshots.c with the process and mapping events of a session.
 */
#include <stdlib.h>

#include "process/processes.h"
#include "snapshot.h"

#define KEEP_NS		2000000000ULL	/* events may be late by so much */

struct prof_spaces {
	struct prof_objects *sp_objects;
	struct prof_processes *sp_processes;
	uint64_t	 sp_newest_ns;	/* of all that is handed over */
	uint64_t	 sp_kept_ns;	/* nothing is forgotten from then on */
};

struct prof_spaces *
prof_spaces_new(struct prof_objects *objects, unsigned mode)
{
	struct prof_spaces *spaces = calloc(1, sizeof(*spaces));

	if (spaces == NULL)
		return (NULL);
	spaces->sp_objects = objects;
	spaces->sp_processes = prof_processes_new(mode | PROF_PROCESSES_NOW,
	    PROF_PROCESSES_MOST_NOW);
	if (spaces->sp_processes == NULL) {
		free(spaces);
		return (NULL);
	}
	return (spaces);
}

void
prof_spaces_free(struct prof_spaces *spaces)
{
	if (spaces == NULL)
		return;
	prof_processes_free(spaces->sp_processes);
	free(spaces);
}

static void
spaces_forget(struct prof_spaces *spaces, uint64_t time_ns)
{
	if (time_ns > spaces->sp_newest_ns)
		spaces->sp_newest_ns = time_ns;
	if (spaces->sp_newest_ns - spaces->sp_kept_ns < 2 * KEEP_NS)
		return;
	spaces->sp_kept_ns = spaces->sp_newest_ns - KEEP_NS;
	prof_processes_forget(spaces->sp_processes, spaces->sp_kept_ns);
}

int
prof_spaces_observe(struct prof_spaces *spaces,
    const struct prof_record *record)
{
	const struct prof_object *object = record->pr_type == PROF_R_MMAP ?
	    prof_objects_get(spaces->sp_objects, record) : NULL;

	if (!record->pr_is_ahead)
		spaces_forget(spaces, record->pr_time_ns);
	return (prof_processes_take(spaces->sp_processes, record,
	    object == NULL ? PROF_IMAGE_ANON : object->ob_number + 1));
}

int
prof_spaces_renew(struct prof_spaces *spaces, uint32_t pid, uint64_t time_ns)
{
	return (prof_processes_renew(spaces->sp_processes, pid, time_ns));
}

int
prof_spaces_mark(struct prof_spaces *spaces)
{
	uint32_t *number = calloc(PROF_OBJECTS_MAX + 1, sizeof(*number)), n;
	struct prof_object *object;

	if (number == NULL)
		return (-1);
	prof_processes_images(spaces->sp_processes, number, false);
	for (n = 0; n < PROF_OBJECTS_MAX; n++) {
		object = prof_objects_numbered(spaces->sp_objects, n);
		if (object != NULL)
			object->ob_is_mapped = number[n + 1] != 0;
	}
	free(number);
	return (0);
}

bool
prof_spaces_find(struct prof_spaces *spaces, uint32_t pid, uint64_t time_ns,
    struct prof_space *space)
{
	space->ss_spaces = spaces;
	space->ss_pid = pid;
	space->ss_time_ns = time_ns;
	space->ss_version = prof_processes_version(spaces->sp_processes, pid,
	    time_ns);
	return (space->ss_version != 0);
}

bool
prof_space_at(const struct prof_space *space, uint64_t address,
    struct prof_mapped *mapped)
{
	const struct prof_spaces *spaces = space->ss_spaces;
	struct prof_mapping mapping;

	if (!prof_processes_at(spaces->sp_processes, space->ss_pid,
	    space->ss_time_ns, address, &mapping))
		return (false);
	mapped->mp_start = mapping.mp_start;
	mapped->mp_end = mapping.mp_end;
	mapped->mp_offset = mapping.mp_offset;
	mapped->mp_object = mapping.mp_image == PROF_IMAGE_ANON ? NULL :
	    prof_objects_numbered(spaces->sp_objects, mapping.mp_image - 1);
	return (true);
}
