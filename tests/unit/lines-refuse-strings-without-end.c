/*
 * ASSERTION: DWARF whose strings do not end within their section is not read,
 * be it .debug_str or .debug_line_str; the same DWARF with an end is.
 *
 * Easy to get wrong: libdw (elfutils 0.188) takes for granted that there is an
 * end, and reads behind the section, where nothing or anything may be.
 */
/* SPDX-License-Identifier: ISC */
#include <errno.h>

#include "cli-check.h"
#include "elf/lines.h"
#include "forged_dwarf.h"

int	main(void);

/* Is it read, with these bytes as its strings? */
static bool
is_read(const char *section, const char *bytes, size_t length)
{
	struct prof_buf abbrevs = { 0 }, infos = { 0 }, strings = { 0 },
	    lines = { 0 };
	const struct forged_section sections[] = {
		{ ".debug_abbrev", &abbrevs, 0 },
		{ ".debug_info", &infos, 0 },
		{ ".debug_line", &lines, 0 },
		{ section, &strings, 0 },
	};
	struct prof_lines *found;
	int fd;

	forge_abbrev(&abbrevs, 1);
	prof_buf_bytes(&abbrevs, "", 1);
	forge_unit(&infos, 1, 0, 0x1000, 0);
	forge_lines(&lines, 100);
	prof_buf_bytes(&strings, bytes, length);
	fd = forge_elf(sections, 4);
	CHECK(fd != -1, "no file");
	found = prof_lines_open(fd, "/nonexistent");
	CHECK(found != NULL || errno == EFBIG, "%s: not said why", section);
	prof_lines_close(found);
	close(fd);
	prof_buf_free(&abbrevs);
	prof_buf_free(&infos);
	prof_buf_free(&lines);
	prof_buf_free(&strings);
	return (found != NULL);
}

int
main(void)
{
	static const char *const sections[] = { ".debug_str",
	    ".debug_line_str" };

	for (size_t n = 0; n < 2; n++) {
		CHECK(is_read(sections[n], "some\0name", 10),
		    "%s: with an end it is not read", sections[n]);
		CHECK(!is_read(sections[n], "some\0name", 9),
		    "%s: without an end it is read", sections[n]);
		CHECK(is_read(sections[n], "", 0), "%s: empty", sections[n]);
		printf("%s: without an end refused\n", sections[n]);
	}
	return (0);
}
