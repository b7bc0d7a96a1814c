/*
 * Compares the model of processes with what processes saw of themselves.
 *
 *	mapped_then RECORDING MAPS ...
 *
 * Each MAPS begins with a line of a process's number and a time, and goes on
 * as /proc/PID/maps was then (tests/work/histories.c).  What was executable
 * must be what the model has for that time: the same file at the same offset.
 * There is no event of munmap, so it may have more.  Prints how many answers
 * were right, wrong and open; ends with 1 if any is wrong, or open though
 * nothing was lost.
 */
/* SPDX-License-Identifier: ISC */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "image/images.h"
#include "process/processes.h"
#include "recording/query.h"

static struct prof_images images;
static unsigned nright, nwrong, nopen, nlosses;

static struct prof_processes *
model_of(const char *path)
{
	struct prof_processes *model;
	struct prof_record record;
	struct prof_reader *reader;
	struct prof_err error;
	uint32_t image;
	size_t n;

	if ((reader = prof_reader_open(path, &error)) == NULL)
		errx(2, "%s: %s", path, error.pe_text);
	model = prof_processes_new(PROF_PROCESSES_ALL,
	    prof_processes_most(prof_reader_length(reader)));
	if (model == NULL || prof_images_init(&images, UINT64_MAX) == -1)
		errx(2, "no memory");
	for (n = 0; n < prof_reader_nlife(reader); n++) {
		prof_reader_life(reader, n, &record);
		nlosses += record.pr_type == PROF_R_LOST;
		if (record.pr_pid == UINT32_MAX)
			continue;
		image = record.pr_type == PROF_R_MMAP ?
		    prof_images_get(&images, &record) : PROF_IMAGE_ANON;
		if (prof_processes_take(model, &record, image) == -1)
			errx(2, "no memory");
	}
	if (prof_processes_seal(model) == -1)
		errx(2, "no memory");
	return (model);
}

/* One address of a line: what is the model's? */
static void
compare(const struct prof_processes *model, uint32_t pid, uint64_t time_ns,
    uint64_t pc, uint64_t offset, const char *path)
{
	struct prof_mapping mapping;
	const char *found;

	if (!prof_processes_at(model, pid, time_ns, pc, &mapping) ||
	    !mapping.mp_is_certain) {
		nopen++;
		printf("process %u at %" PRIu64 ": %#" PRIx64 ": %s is open\n",
		    pid, time_ns, pc, path);
		return;
	}
	found = mapping.mp_image == PROF_IMAGE_ANON ? "" :
	    images.is_image[mapping.mp_image].im_path;
	if (strcmp(found, path) == 0 && (path[0] != '/' ||
	    mapping.mp_offset + (pc - mapping.mp_start) == offset)) {
		nright++;
		return;
	}
	nwrong++;
	printf("process %u at %" PRIu64 ": %#" PRIx64 ": '%s' at %#" PRIx64
	    ", not '%s' at %#" PRIx64 "\n", pid, time_ns, pc, found,
	    mapping.mp_offset + (pc - mapping.mp_start), path, offset);
}

static void
read_maps(const struct prof_processes *model, const char *name)
{
	uint64_t start, end, offset, time_ns;
	char line[512], mode[8], path[256];
	FILE *file = fopen(name, "r");
	uint32_t pid;

	if (file == NULL || fgets(line, sizeof(line), file) == NULL ||
	    sscanf(line, "%" SCNu32 " %" SCNu64, &pid, &time_ns) != 2)
		errx(2, "%s: cannot be read", name);
	while (fgets(line, sizeof(line), file) != NULL) {
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
		    " %*s %*s %255s", &start, &end, mode, &offset, path) < 4)
			errx(2, "%s: a strange line", name);
		/* The page of old system calls is the same in each process. */
		if (mode[2] != 'x' || start >> 63 != 0)
			continue;
		compare(model, pid, time_ns, start, offset, path);
		compare(model, pid, time_ns, end - 1, offset + (end - 1 -
		    start), path);
	}
	fclose(file);
}

int
main(int argc, char *argv[])
{
	const struct prof_processes *model;
	int n;

	if (argc < 3)
		errx(2, "usage: mapped_then RECORDING MAPS ...");
	model = model_of(argv[1]);
	for (n = 2; n < argc; n++)
		read_maps(model, argv[n]);
	printf("%u right, %u wrong, %u open after %u losses\n", nright, nwrong,
	    nopen, nlosses);
	return (nwrong > 0 || (nopen > 0 && nlosses == 0) || nright == 0);
}
