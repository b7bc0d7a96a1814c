/*
 * ASSERTION: While recording, files that no sample met and that nobody maps
 * any more are forgotten, so that their number has a limit; those that were
 * met, and those that are mapped, keep their places and names.
 *
 * Easy to get wrong: numbers of files are in places, in mappings that several
 * processes share, and in what is held open; one that is not renewed names
 * another file's functions.
 */
/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "cli-check.h"
#include "process/symbolize_impl.h"

#define FILES		150000u
#define KEPT		50u
#define EVERY		1000u
#define BASE		0x100000ULL
#define STEP		0x10000ULL

static struct prof_noted *noted;
static uint64_t now_ns = 1000;

static void
map(uint32_t pid, uint64_t addr, uint32_t file)
{
	char path[64];
	struct prof_record record = { .pr_type = PROF_R_MMAP, .pr_pid = pid,
	    .pr_tid = pid, .pr_addr = addr, .pr_len = 0x1000,
	    .pr_offset = 0, .pr_path = path, .pr_comm = "",
	    .pr_dev = 1, .pr_ino = file + 1, .pr_build_id_len = 20 };

	snprintf(path, sizeof(path), "/nowhere/file%u", file);
	memcpy(record.pr_build_id, &file, sizeof(file));
	record.pr_time_ns = ++now_ns;
	CHECK(prof_noted_event(noted, &record) == 0, "no memory");
}

static void
fork_of(uint32_t parent, uint32_t child)
{
	const struct prof_record record = { .pr_type = PROF_R_FORK,
	    .pr_pid = child, .pr_tid = child, .pr_ppid = parent,
	    .pr_ptid = parent, .pr_comm = "", .pr_time_ns = ++now_ns };

	CHECK(prof_noted_event(noted, &record) == 0, "no memory");
}

static void
sample(uint32_t pid, uint64_t pc)
{
	const struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_pid = pid, .pr_tid = pid, .pr_ip = pc, .pr_user = &pc,
	    .pr_nuser = 1, .pr_comm = "", .pr_time_ns = ++now_ns };

	prof_noted_sample(noted, &record, 0, 0);
}

/* Does a mapping of a process lead to the file's name? */
static bool
leads_to(uint32_t pid, uint64_t pc, uint32_t file)
{
	struct prof_mapping mapping;
	char path[64];

	snprintf(path, sizeof(path), "/nowhere/file%u", file);
	return (prof_processes_at(noted->nt_processes, pid, now_ns, pc,
	    &mapping) && strcmp(noted->nt_images.is_image[
	    mapping.mp_image].im_path, path) == 0);
}

/* Each file that was met at its own offset has that place, and no other. */
static void
places(void)
{
	uint32_t n, image;
	uint64_t offset;
	char path[64];

	CHECK(noted->nt_places.ns_n == FILES / EVERY, "%u places",
	    noted->nt_places.ns_n);
	for (n = 0; n < noted->nt_places.ns_n; n++) {
		image = (uint32_t)(noted->nt_places.ns_key[n] >>
		    NOTED_OFFSET_BITS);
		offset = noted->nt_places.ns_key[n] &
		    ((1ULL << NOTED_OFFSET_BITS) - 1);
		CHECK(image < noted->nt_images.is_n, "image %u", image);
		snprintf(path, sizeof(path), "/nowhere/file%u",
		    (uint32_t)offset * EVERY);
		CHECK(strcmp(noted->nt_images.is_image[image].im_path,
		    path) == 0, "%s is %s", path,
		    noted->nt_images.is_image[image].im_path);
	}
}

int
main(void)
{
	uint32_t n, most = 0;

	noted = prof_noted_new(PROF_PROCESSES_ALL);
	CHECK(noted != NULL, "no memory");
	for (n = 0; n < KEPT; n++)
		map(1, BASE + (n + 1) * STEP, FILES + n);
	fork_of(1, 2);
	for (n = 0; n < FILES; n++) {
		map(3, BASE, n);
		if (n % EVERY == 0)
			sample(3, BASE + n / EVERY);
		if (n % 500 == 499)
			CHECK(prof_noted_round(noted) == 0, "round");
		if (noted->nt_images.is_n > most)
			most = noted->nt_images.is_n;
	}
	CHECK(prof_noted_round(noted) == 0, "round");
	CHECK(most < 2 * NOTED_MANY_IMAGES, "%u images at once", most);
	places();
	for (n = 0; n < KEPT; n++)
		CHECK(leads_to(1, BASE + (n + 1) * STEP + 5, FILES + n) &&
		    leads_to(2, BASE + (n + 1) * STEP + 5, FILES + n),
		    "mapping %u has another file's name", n);
	CHECK(leads_to(3, BASE + 5, FILES - 1), "the last has another name");
	OK("of 150,000 files those have their names that were met or are "
	    "mapped");
	prof_noted_free(noted);
	return (0);
}
