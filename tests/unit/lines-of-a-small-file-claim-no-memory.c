/*
 * ASSERTION: a file takes at most 256 MB and four times its size when its
 * lines are asked for: packed nothing, abbreviations that all units share,
 * and a line program of which each byte is a line.
 *
 * Easy to get wrong: it is libdw that takes the memory, and there it cannot
 * be limited; what it will make has to be known before it is asked.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <zlib.h>

#include "cli-check.h"
#include "elf/lines.h"
#include "forged_dwarf.h"

#define ADDRESS		0x1000

struct file {
	struct prof_buf	 fi_abbrevs;
	struct prof_buf	 fi_infos;
	struct prof_buf	 fi_lines;
	struct prof_buf	 fi_strings;
	uint64_t	 fi_flags;	/* of the strings */
};

int	main(void);

/* The most that was resident, in a process of its own. */
static uint64_t
memory_of(int fd)
{
	struct prof_line line[8];
	struct prof_lines *lines;
	struct rusage before, after;
	uint64_t bytes = 0;
	int pipes[2], status;
	pid_t pid;

	CHECK(pipe(pipes) == 0, "pipe");
	if ((pid = fork()) == 0) {
		getrusage(RUSAGE_SELF, &before);
		lines = prof_lines_open(fd, "/nonexistent");
		if (lines != NULL)
			(void)prof_lines_find(lines, ADDRESS, line, 8);
		getrusage(RUSAGE_SELF, &after);
		bytes = (uint64_t)(after.ru_maxrss - before.ru_maxrss) * 1024;
		_exit(write(pipes[1], &bytes, sizeof(bytes)) !=
		    (ssize_t)sizeof(bytes));
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0,
	    "it was killed: %d", status);
	CHECK(read(pipes[0], &bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes),
	    "read");
	close(pipes[0]);
	close(pipes[1]);
	return (bytes);
}

static void
try(const char *what, struct file *file)
{
	const struct forged_section sections[] = {
		{ ".debug_abbrev", &file->fi_abbrevs, 0 },
		{ ".debug_info", &file->fi_infos, 0 },
		{ ".debug_line", &file->fi_lines, 0 },
		{ ".debug_str", &file->fi_strings, file->fi_flags },
	};
	uint64_t most, bytes;
	struct stat st;
	int fd = forge_elf(sections, 4);

	CHECK(fd != -1 && fstat(fd, &st) == 0, "no file");
	prof_buf_free(&file->fi_abbrevs);
	prof_buf_free(&file->fi_infos);
	prof_buf_free(&file->fi_lines);
	prof_buf_free(&file->fi_strings);
	most = (256u << 20) + 4 * (uint64_t)st.st_size;
	bytes = memory_of(fd);
	CHECK(bytes <= most, "%s: %llu bytes of a file of %llu", what,
	    (unsigned long long)bytes, (unsigned long long)st.st_size);
	printf("%s: %llu kB of a file of %llu kB\n", what,
	    (unsigned long long)bytes / 1024,
	    (unsigned long long)st.st_size / 1024);
	close(fd);
}

static struct file
begin(uint64_t codes)
{
	struct file file = { 0 };

	for (uint64_t n = 1; n <= codes; n++)
		forge_abbrev(&file.fi_abbrevs, n);
	prof_buf_bytes(&file.fi_abbrevs, "", 1);
	prof_buf_bytes(&file.fi_strings, "a", 2);
	return (file);
}

static void
packed(void)
{
	static uint8_t zeros[1 << 20];
	struct file file = begin(1);
	const unsigned n = 500;
	const Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB,
	    .ch_size = n * sizeof(zeros), .ch_addralign = 1 };
	struct prof_buf *out = &file.fi_strings;
	z_stream z = { 0 };
	unsigned i;

	forge_unit(&file.fi_infos, 1, 0, ADDRESS, 0);
	forge_lines(&file.fi_lines, 1);
	out->bf_len = 0;
	prof_buf_bytes(out, &head, sizeof(head));
	CHECK(deflateInit(&z, 1) == Z_OK, "zlib");
	for (i = 0; i < n; i++) {
		z.next_in = zeros;
		z.avail_in = sizeof(zeros);
		z.avail_out = sizeof(zeros);
		z.next_out = prof_buf_room(out, sizeof(zeros));
		CHECK(z.next_out != NULL, "memory");
		(void)deflate(&z, i == n - 1 ? Z_FINISH : Z_NO_FLUSH);
		out->bf_len += sizeof(zeros) - z.avail_out;
	}
	deflateEnd(&z);
	file.fi_flags = SHF_COMPRESSED;
	try("packed zeros", &file);
}

static void
shared(void)
{
	struct file file = begin(20000);
	uint64_t n;

	for (n = 0; n < 500; n++)
		forge_unit(&file.fi_infos, 20000, 0, ADDRESS * (n + 1), 0);
	forge_lines(&file.fi_lines, 1);
	try("shared abbreviations", &file);
}

static void
program(void)
{
	struct file file = begin(1);

	forge_unit(&file.fi_infos, 1, 0, ADDRESS, 0);
	forge_lines(&file.fi_lines, 6000000);
	try("a long line program", &file);
}

int
main(void)
{
	packed();
	shared();
	program();
	return (0);
}
