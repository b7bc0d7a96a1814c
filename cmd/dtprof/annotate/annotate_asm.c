/* SPDX-License-Identifier: ISC */
/*
 * The instructions of a function, by objdump of binutils: run once for the
 * function, without a shell, on the very file that was mapped (by build-id);
 * what it prints is parsed and kept.  Each place is counted at the
 * instruction that it lies in.  Where there is no text of the function, the
 * rows are bare addresses and a note says why.
 *
 * Called by cmd_annotate.c.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helper/helper.h"
#include "../helper/owner.h"
#include "../ui/tools.h"
#include "annotate.h"

#define MAX_INLINED	64
#define MAX_CODE	200000	/* instructions that are read */
#define SLACK		16	/* bytes of the last instruction */
#define NOT_EXECUTABLE	126	/* as shells say it */
#define NOT_FOUND	127

int
annotate_line(struct prof_symbols *symbols, const struct prof_label *label,
    int64_t offset, const char **file, unsigned *number, char **chain)
{
	struct prof_line line[MAX_INLINED];
	struct prof_frame frame = label->lb_frame;
	size_t n, length;
	FILE *stream;

	frame.fr_id += (uint64_t)offset;
	n = prof_symbols_lines(symbols, label->lb_space, &frame, line,
	    MAX_INLINED);
	*file = n > 0 && line[0].ln_file != NULL ? line[0].ln_file : "";
	*number = n > 0 && line[0].ln_file != NULL ? line[0].ln_number : 0;
	*chain = NULL;
	stream = open_memstream(chain, &length);
	if (stream == NULL)
		return (-1);
	for (size_t i = 0; i + 1 < n; i++)
		fprintf(stream, "%s%s, inlined at %s:%u", i == 0 ? "" :
		    " of ", line[i].ln_function, line[i + 1].ln_file != NULL ?
		    line[i + 1].ln_file : "?", line[i + 1].ln_number);
	return (fclose(stream) == 0 ? 0 : -1);
}

/* ------------------------------------------------------------ objdump */

/* It reads a program that may be anybody's: as its owner, with limits. */
static void __attribute__((noreturn))
objdump_run(const char *path, char *const *argv, char *const *environment,
    int output)
{
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct owner owner;

	owner_of(&owner, path);
	if (null == -1 || dup2(output, STDOUT_FILENO) == -1 ||
	    dup2(null, STDERR_FILENO) == -1 || owner_become(&owner) == -1)
		_exit(NOT_EXECUTABLE);
	(void)execvpe(argv[0], argv, environment);
	_exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

int
annotate_objdump(const char *path, uint64_t from, uint64_t to, pid_t *pid)
{
	char name[] = TOOL_OBJDUMP, start[48], stop[48], file[] = "--";
	char code[] = "-dCw", bare[] = "--no-show-raw-insn";
	char *copy = strdup(path);
	char *const argv[] = { name, code, bare, start, stop, file, copy,
	    NULL };
	char *const environment[] = { (char[]){ "LC_ALL=C" }, NULL };
	int fds[2];

	snprintf(start, sizeof(start), "--start-address=0x%" PRIx64, from);
	snprintf(stop, sizeof(stop), "--stop-address=0x%" PRIx64, to);
	if (copy == NULL || pipe2(fds, O_CLOEXEC) == -1) {
		free(copy);
		return (-1);
	}
	*pid = fork();
	if (*pid == 0)
		objdump_run(path, argv, environment, fds[1]);
	free(copy);
	(void)close(fds[1]);
	if (*pid != -1)
		return (fds[0]);
	*pid = 0;
	(void)close(fds[0]);
	return (-1);
}

int
annotate_objdump_end(pid_t pid)
{
	int status = 0;

	while (pid > 0 && waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	return (status);
}

/* "  401136:\tmov    %rsp,%rbp": the address and what follows it. */
static char *
parse_code(char *line, uint64_t *address)
{
	char *end;

	if (line[0] != ' ')
		return (NULL);
	errno = 0;
	*address = strtoull(line, &end, 16);
	if (errno != 0 || end[0] != ':' || end[1] != '\t')
		return (NULL);
	line = end + 2;
	line[strcspn(line, "\n")] = '\0';
	return (line);
}

static int
compare_code(const void *key, const void *row)
{
	const uint64_t address = *(const uint64_t *)key;
	const struct an_row *r = row;

	return ((address > r->ar_number) - (address < r->ar_number));
}

/* Rows of the function's instructions; NULL, or why there are none. */
static const char *
read_code(struct annotate *an, const char *path, uint64_t from, uint64_t to)
{
	char *line = NULL, *code;
	size_t size = 0, before = an->an_nrows;
	uint64_t address;
	int status, fd;
	FILE *stream;
	pid_t pid = 0;

	fd = helper_is_there() ? helper_objdump(path, from, to) :
	    annotate_objdump(path, from, to, &pid);
	stream = fd == -1 ? NULL : fdopen(fd, "r");
	if (stream == NULL)
		return ("out of memory");
	while (getline(&line, &size, stream) != -1) {
		code = parse_code(line, &address);
		if (code == NULL || an->an_nrows - before >= MAX_CODE ||
		    address < from || address >= to)
			continue;
		/* The search below needs them in order. */
		if (an->an_nrows > before &&
		    address <= an->an_row[an->an_nrows - 1].ar_number)
			continue;
		if (annotate_row(an, AN_CODE, address, strdup(code)) == NULL)
			break;
	}
	free(line);
	(void)fclose(stream);
	status = helper_is_there() ? helper_objdump_end() :
	    annotate_objdump_end(pid);
	if (an->an_nrows > before)
		return (NULL);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return ("no instructions: objdump is not installed; "
		    TOOL_OBJDUMP_CURE);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_EXECUTABLE)
		return ("no instructions: objdump cannot be executed");
	return ("no instructions: objdump cannot disassemble this file, or "
	    "found no code at this address");
}

/* Why nobody can have the text of this function; NULL: path has it. */
static const char *
find_file(const struct annotate *an, const char **path)
{
	const struct prof_function *fu = an->an_function;
	const struct prof_label *label = an->an_place[0].ap_label;

	if (fu->fu_kind == PROF_FRAME_KERNEL)
		return ("no instructions and no lines: dtprof found no file "
		    "with the code of the recorded kernel");
	if (strcmp(fu->fu_module, "[vdso]") == 0)
		return ("no instructions and no lines: this code is the "
		    "kernel's vDSO, which is not in a file");
	if (strcmp(fu->fu_module, "[jit]") == 0 ||
	    fu->fu_unnamed == PROF_UNNAMED_ANON)
		return ("no instructions and no lines: this code was generated "
		    "in memory and is not in a file");
	if (fu->fu_kind > PROF_FRAME_KERNEL)
		return ("no instructions: this is a script function, which "
		    "has only source lines");
	if (fu->fu_unnamed == PROF_UNNAMED_NOPROC ||
	    fu->fu_unnamed == PROF_UNNAMED_NOMAP)
		return ("no instructions and no lines: the file that was "
		    "mapped at this address is unknown");
	*path = prof_symbols_file(an->an_place[0].ap_symbols,
	    label->lb_space, &label->lb_frame);
	return (*path != NULL ? NULL : "no instructions: since the recording, "
	    "the file with this code was removed or replaced by another build");
}

/* ---------------------------------------------------------------- rows */

/* Without text: just the places. */
static int
bare_rows(struct annotate *an, const char *why)
{
	struct an_row *row;

	if (annotate_row(an, AN_NOTE, 0, strdup(why)) == NULL)
		return (-1);
	for (size_t i = 0; i < an->an_nplaces; i++) {
		row = annotate_row(an, AN_CODE,
		    an->an_place[i].ap_label->lb_address, NULL);
		if (row == NULL)
			return (-1);
		row->ar_first = an->an_place[i].ap_first;
	}
	return (0);
}

/*
 * Each place to the instruction it lies in: the address of a call's return
 * was moved into the call.  What lies outside of all is bare.
 */
static int
count_code(struct annotate *an, size_t from)
{
	const size_t end = an->an_nrows;
	const struct an_place *place;
	size_t at, low, high;
	uint64_t address;

	for (size_t i = 0; i < an->an_nplaces; i++) {
		place = &an->an_place[i];
		address = place->ap_label->lb_address;
		for (low = from, high = end; low < high; ) {
			at = low + (high - low) / 2;
			if (compare_code(&address, &an->an_row[at]) >= 0)
				low = at + 1;
			else
				high = at;
		}
		if (low == from || (low == end && address >=
		    an->an_row[low - 1].ar_number + SLACK)) {
			struct an_row *row = annotate_row(an, AN_CODE,
			    address, NULL);

			if (row == NULL)
				return (-1);
			row->ar_first = place->ap_first;
			continue;
		}
		at = low - 1;
		if (an->an_row[at].ar_first == AN_NONE)
			an->an_row[at].ar_first = annotate_sums(an);
		if (an->an_row[at].ar_first == AN_NONE)
			return (-1);
		annotate_add(an, an->an_row[at].ar_first, place->ap_first);
	}
	return (0);
}

/* In front of each run of instructions of a line, that line. */
static int
add_lines(struct annotate *an, size_t from)
{
	struct prof_symbols *symbols = an->an_place[0].ap_symbols;
	const struct prof_label *label = an->an_place[0].ap_label;
	struct an_row *code = an->an_row, *row;
	size_t n = an->an_nrows;
	char *chain = NULL, *text, *last = NULL;
	const char *file;
	unsigned number;
	int rv = -1;

	an->an_row = NULL;
	an->an_nrows = an->an_cap_rows = 0;
	for (size_t i = 0; i < n; i++) {
		if (i >= from) {
			/* The flags of a return would look one before. */
			if (annotate_line(symbols, label, (int64_t)(
			    code[i].ar_number - label->lb_address), &file,
			    &number, &chain) == -1 || asprintf(&text,
			    "%s:%u%s%s%s", file, number, chain[0] == '\0' ?
			    "" : " (", chain, chain[0] == '\0' ? "" : ")") ==
			    -1)
				goto out;
			free(chain);
			chain = NULL;
			if (file[0] != '\0' && (last == NULL ||
			    strcmp(last, text) != 0)) {
				free(last);
				last = strdup(text);
				if (last == NULL || annotate_row(an, AN_LINE,
				    0, text) == NULL)
					goto out;
			} else {
				free(text);
			}
		}
		row = annotate_row(an, code[i].ar_kind, code[i].ar_number,
		    NULL);
		if (row == NULL)
			goto out;
		*row = code[i];
		code[i].ar_text = NULL;
	}
	rv = 0;
out:
	for (size_t i = 0; i < n; i++)
		free(code[i].ar_text);
	free(code);
	free(chain);
	free(last);
	return (rv);
}

int
annotate_asm(struct annotate *an)
{
	const struct prof_function *fu = an->an_function;
	const size_t head = an->an_nrows;
	const char *path = NULL, *why;
	uint64_t end = fu->fu_address + fu->fu_size, last;
	int rv;

	if (annotate_row(an, AN_FILE, 0, strdup(fu->fu_module)) == NULL)
		return (-1);
	if (an->an_nplaces == 0)
		return (0);
	if (an->an_base != NULL && !an->an_is_same_build)
		return (annotate_row(an, AN_NOTE, 0, strdup("no instructions: "
		    "base and new are different builds, or the file with this "
		    "code was removed")) == NULL ? -1 : 0);
	last = an->an_place[an->an_nplaces - 1].ap_label->lb_address;
	if (end <= last)
		end = last + SLACK;
	why = find_file(an, &path);
	/* What a file does not name is all of it: from the first place. */
	if (why == NULL)
		why = read_code(an, path, fu->fu_unnamed == PROF_NAMED ?
		    fu->fu_address : an->an_place[0].ap_label->lb_address,
		    end);
	if (why != NULL)
		rv = bare_rows(an, why);
	else if ((rv = count_code(an, head + 1)) == 0)
		rv = add_lines(an, head + 1);
	annotate_mark(an, head);
	return (rv);
}
