/*
 * ASSERTION: The build-id of every file that a running program has mapped is
 * the one that readelf prints, and a file that is no program has none.
 */
/* SPDX-License-Identifier: ISC */
#include <fcntl.h>

#include "elf/build_id.h"
#include "os/procfs.h"
#include "rings.h"

#define MAX_FILES	64

struct files {
	int	fi_n;
	char	fi_path[MAX_FILES][256];
	char	fi_id[MAX_FILES][48];
};

static void
hex(const uint8_t *bytes, uint32_t len, char *out)
{
	uint32_t n;

	for (n = 0; n < len; n++)
		sprintf(out + 2 * n, "%02x", bytes[n]);
	out[2 * len] = '\0';
}

static int
keep(void *arg, const struct prof_record *record)
{
	struct files *files = arg;

	if (record->pr_type != PROF_R_MMAP || record->pr_path[0] != '/' ||
	    record->pr_path[1] == '/' || files->fi_n == MAX_FILES)
		return (0);
	snprintf(files->fi_path[files->fi_n], 256, "%s", record->pr_path);
	hex(record->pr_build_id, record->pr_build_id_len,
	    files->fi_id[files->fi_n++]);
	return (0);
}

/* What readelf says; "": none. */
static void
ask_readelf(const char *path, char id[48])
{
	char command[400], line[512];
	FILE *output;

	id[0] = '\0';
	snprintf(command, sizeof(command), "readelf -n '%s' 2>/dev/null",
	    path);
	output = popen(command, "r");
	CHECK(output != NULL, "%s", strerror(errno));
	while (fgets(line, sizeof(line), output) != NULL)
		if (strstr(line, "Build ID: ") != NULL)
			sscanf(strstr(line, "Build ID: "), "Build ID: %47s",
			    id);
	pclose(output);
}

/* A program with many libraries, that waits for its standard input. */
static int
start_program(int *input)
{
	int ends[2], ready[2], pid;
	char byte;

	CHECK(pipe(ends) == 0 && pipe(ready) == 0, "%s", strerror(errno));
	pid = fork();
	CHECK(pid != -1, "%s", strerror(errno));
	if (pid == 0) {
		dup2(ends[0], 0);
		dup2(ready[1], 1);
		close(ends[1]);
		execlp("python3", "python3", "-c", "import ssl, sqlite3, "
		    "lzma, ctypes, sys; print(1, flush=True); "
		    "sys.stdin.read()", (char *)NULL);
		/* What every system has; it copies, so it is ready too. */
		(void)!write(ready[1], "", 1);
		execlp("cat", "cat", (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	close(ready[1]);
	CHECK(read(ready[0], &byte, 1) == 1, "python3 did not start");
	close(ready[0]);
	*input = ends[1];
	return (pid);
}

static void
no_program(void)
{
	static const char junk[] = "\177ELF\002\001\001 and then nothing";
	char path[] = "/tmp/dtprof-buildid.XXXXXX";
	uint8_t id[20];
	int fd = mkstemp(path);

	CHECK(fd != -1, "%s", strerror(errno));
	unlink(path);
	CHECK(prof_build_id_of_file(fd, id) == 0, "of an empty file");
	CHECK(write(fd, junk, sizeof(junk)) == (ssize_t)sizeof(junk),
	    "%s", strerror(errno));
	CHECK(prof_build_id_of_file(fd, id) == 0, "of a broken file");
	close(fd);
}

/* Other notes come before it, and what is cut or too long is none. */
static void
bare_notes(void)
{
	uint32_t notes[16] = { 4, 5, 1, 0x554e47, 1, 2, 4, 20, 3, 0x554e47,
	    0x04030201, 5, 6, 7, 8 };
	uint8_t id[20];

	CHECK(prof_build_id_of_notes(notes, 60, 4, id) == 20 && id[0] == 1 &&
	    id[3] == 4 && id[4] == 5 && id[19] == 0, "behind another note");
	CHECK(prof_build_id_of_notes(notes, 56, 4, id) == 0, "a cut note");
	notes[7] = 21;
	CHECK(prof_build_id_of_notes(notes, 64, 4, id) == 0, "21 bytes");
	notes[7] = 0xfffffffc;
	CHECK(prof_build_id_of_notes(notes, 64, 4, id) == 0, "4 GiB");
}

int
main(void)
{
	struct files *files = calloc(1, sizeof(*files));
	int n, input, pid, same = 0;
	char id[48];

	CHECK(files != NULL, "no memory");
	if (system("readelf --version >/dev/null 2>&1") != 0)
		skip("readelf is not installed");
	pid = start_program(&input);
	CHECK(prof_procfs_snapshot_pid(pid, 1, keep, files) == 0, "snapshot");
	close(input);
	waitpid(pid, NULL, 0);
	for (n = 0; n < files->fi_n; n++) {
		ask_readelf(files->fi_path[n], id);
		CHECK(strcmp(id, files->fi_id[n]) == 0,
		    "%s: readelf says %s, we say %s", files->fi_path[n], id,
		    files->fi_id[n]);
		same += id[0] != '\0';
	}
	CHECK(same >= 2, "only %d files with a build-id", same);
	no_program();
	bare_notes();
	printf("ok: %d files, %d build-ids as readelf has them\n",
	    files->fi_n, same);
	free(files);
	return (0);
}
