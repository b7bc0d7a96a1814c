/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: modules of two readers that share line tables have the same table
 * of a file with a build-id, which outlives both; another build, a file without
 * a build-id and one for which there is no room each have their own.
 * Easy to get wrong: lines of another build under the same path; a table that
 * its first reader closes.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli-check.h"
#include "elf/build_id.h"
#include "image/module.h"

static struct prof_image
image_of(uint8_t first)
{
	struct prof_image image = { .im_path = "/elsewhere", .im_id_len = 20 };

	memset(image.im_id, first, sizeof(image.im_id));
	return (image);
}

int
main(void)
{
	struct prof_line_tables tables = { .ls_n = 0 };
	struct prof_module_files files = { .mf_tables = &tables };
	struct prof_image image = { .im_path = "/proc/self/exe" }, other;
	struct prof_module one = { .mo_image = &image }, two = one;
	struct prof_lines *lines;
	int fd = open(image.im_path, O_RDONLY);

	image.im_id_len = prof_build_id_of_file(fd, image.im_id);
	CHECK(image.im_id_len > 0, "no build-id");
	lines = prof_module_lines(&one, &files);
	CHECK(lines != NULL && tables.ls_n == 1, "no lines");
	prof_module_fini(&one);
	CHECK(prof_module_lines(&two, &files) == lines, "read twice");
	CHECK(prof_line_tables_find(&tables, &image) == lines, "closed");
	prof_module_fini(&two);
	other = image_of(1);
	CHECK(prof_line_tables_find(&tables, &other) == NULL, "other build");
	other.im_id_len = 0;
	CHECK(!prof_line_tables_keep(&tables, &other, lines) &&
	    prof_line_tables_find(&tables, &other) == NULL, "no build-id");
	OK("one table for two readers");
	for (uint8_t n = 1; n < PROF_LINE_TABLES; n++) {
		other = image_of(n);
		lines = prof_lines_open(fd, NULL);
		CHECK(prof_line_tables_keep(&tables, &other, lines), "%u", n);
	}
	two = (struct prof_module){ .mo_image = &image };
	tables.ls_table[0].lt_id[0]++;
	lines = prof_module_lines(&two, &files);
	CHECK(lines != NULL && !two.mo_kept_lines, "no table of its own");
	prof_module_fini(&two);
	prof_line_tables_fini(&tables);
	CHECK(tables.ls_n == 0, "not empty");
	close(fd);
	OK("a file without room has its own");
	return (0);
}
