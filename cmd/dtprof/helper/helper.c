/* SPDX-License-Identifier: ISC */
/*
 * Run as root, a command that reads recordings, and programs that they name,
 * is two processes: one without rights that reads, and its helper, which has
 * them and reads nothing (libprof/confine/reading.h).  Here is what the first
 * asks the second for, and what the second does: in pairs.
 *
 * The reader may be a hostile file's.  So the helper reads and writes only
 * what the command line names, starts only what it would have started anyway,
 * and shows of a source no more than the owner of the program may read.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../annotate/annotate.h"
#include "../flamegraph/flame.h"
#include "../ui/terminal.h"
#include "helper.h"

enum what {
	REGULAR, STAT, NARROW, REPLACE, APPEND, IS_OTHER, SOURCE,
	PAGER, PAGER_END, OBJDUMP, OBJDUMP_END, SHOW, PLOT_BEGIN, PLOT_FILE,
	PLOT_FETCH, PLOT_DRAW, PLOT_REMOVE, WHATS
};

#define MAX_WORDS	3

/* One request: up to three words, each with its NUL. */
struct job {
	const struct named *jo_named;
	const char	*jo_word[MAX_WORDS];
	int		 jo_fd;
	int		*jo_give;
};

/* What the command line names. */
struct named {
	const struct prof_cmd *na_cmd;
	const char	*na_options;
	int		 na_n;
	char		*const *na_operands;
};

bool
helper_is_there(void)
{
	return (prof_reading_is_confined() != 0);
}

/* ------------------------------------------------------------ the reader */

/* Words as one, and a descriptor there; one back, where came is not NULL. */
static int
helper_ask(enum what what, const char *const *words, size_t n, int fd,
    int *came)
{
	char *bytes, *at;
	size_t size = 0;
	int rv, error_number;

	for (size_t i = 0; i < n; i++)
		size += strlen(words[i]) + 1;
	at = bytes = malloc(size + 1);
	if (bytes == NULL)
		return (-1);
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, words[i]) + 1;
	rv = prof_reading_ask(PROF_READING_OWN + what, bytes, size, fd, came);
	error_number = errno;
	free(bytes);
	errno = error_number;
	return (rv);
}

static int
ask_one(enum what what, const char *word)
{
	return (helper_ask(what, &word, 1, -1, NULL));
}

/* A descriptor, or -1. */
static int
ask_open(enum what what, const char *one, const char *two, const char *three)
{
	const char *const words[MAX_WORDS] = { one, two, three };
	int came = -1;

	if (helper_ask(what, words, three != NULL ? 3 : two != NULL ? 2 : 1, -1,
	    &came) == -1 && came != -1) {
		(void)close(came);
		came = -1;
	}
	return (came);
}

/* ---------------------------------------------------------------- files */

/* Is it the name, or in the directory of that name? */
static bool
is_within(const char *path, const char *name, size_t length)
{
	return (length > 0 && strncmp(path, name, length) == 0 &&
	    (path[length] == '\0' || (path[length] == '/' &&
	    strstr(path + length, "/../") == NULL)));
}

/* A word of the command line: a file, a directory, or DIR:COMMAND. */
static bool
is_named_by(const char *path, const char *word)
{
	const char *colon;

	if (word == NULL)
		return (false);
	for (colon = strchr(word, ':'); colon != NULL;
	    colon = strchr(colon + 1, ':'))
		if (is_within(path, word, (size_t)(colon - word)))
			return (true);
	return (is_within(path, word, strlen(word)));
}

/* The value of an option; NULL: it has none, or it is no name. */
static const char *
value_of(const struct named *named, const struct opt_row *row, size_t n)
{
	const void *at = named->na_options + row->op_at;
	const struct opt_strings *strings = at;

	if (row->op_type == OPT_STRING)
		return (n == 0 ? *(const char *const *)at : NULL);
	return (row->op_type == OPT_STRINGS && n < strings->os_n ?
	    strings->os_text[n] : NULL);
}

static int
may_write(void *arg, const char *path)
{
	const struct named *named = arg;
	const char *also = named->na_cmd->cm_writes == NULL ? NULL :
	    named->na_cmd->cm_writes(named->na_options);
	const struct opt_row *row;
	const char *value;

	for (row = named->na_cmd->cm_options; row->op_type != OPT_END; row++) {
		value = value_of(named, row, 0);
		if (value != NULL && strcmp(value, path) == 0)
			return (1);
	}
	value = named->na_cmd->cm_output;
	return ((value != NULL && strcmp(value, path) == 0) ||
	    (also != NULL && strcmp(also, path) == 0));
}

static int
may_read(void *arg, const char *path)
{
	const struct named *named = arg;
	const char *const *input;
	const struct opt_row *row;
	const char *value;

	for (int i = 0; i < named->na_n; i++)
		if (is_named_by(path, named->na_operands[i]))
			return (1);
	for (row = named->na_cmd->cm_options; row->op_type != OPT_END; row++)
		for (size_t n = 0; (value = value_of(named, row, n)) != NULL;
		    n++)
			if (is_named_by(path, value))
				return (1);
	for (input = named->na_cmd->cm_inputs; input != NULL &&
	    *input != NULL; input++)
		if (is_named_by(path, *input))
			return (1);
	return (strcmp(path, DEFAULT_RECORDING) == 0);
}

static bool
is_readable(const struct job *job, const char *path)
{
	if (may_read((void *)(uintptr_t)job->jo_named, path))
		return (true);
	errno = EPERM;
	return (false);
}

static bool
is_writable(const struct job *job, const char *path)
{
	if (may_write((void *)(uintptr_t)job->jo_named, path))
		return (true);
	errno = EPERM;
	return (false);
}

int
helper_open_regular(const char *path)
{
	return (ask_open(REGULAR, path, NULL, NULL));
}

static int
do_regular(struct job *job)
{
	if (is_readable(job, job->jo_word[0]))
		*job->jo_give = file_open_regular(job->jo_word[0]);
	return (*job->jo_give == -1 ? -1 : 0);
}

int
helper_stat(const char *path, struct stat *st)
{
	const int fd = ask_open(STAT, path, NULL, NULL);
	const int rv = fd == -1 ? -1 : fstat(fd, st);

	if (fd != -1)
		(void)close(fd);
	return (rv);
}

static int
do_stat(struct job *job)
{
	if (is_readable(job, job->jo_word[0]))
		*job->jo_give = open(job->jo_word[0], O_PATH | O_CLOEXEC);
	return (*job->jo_give == -1 ? -1 : 0);
}

void
helper_narrow(const char *path)
{
	(void)ask_one(NARROW, path);
}

static int
do_narrow(struct job *job)
{
	file_narrow(job->jo_word[0]);
	return (0);
}

static int
ask_write(enum what what, const char *command, const char *path,
    const char *bytes, size_t length)
{
	const char *const words[] = { command, path };
	const int fd = memfd_create("output", MFD_CLOEXEC);
	struct out out;
	int rv = -1;

	if (fd != -1) {
		out_init(&out, fd);
		out_mem(&out, bytes, length);
		out_flush(&out);
		errno = out.ou_errno;
	}
	if (fd == -1 || out.ou_errno != 0)
		msg_fail(command, "free memory", "%s: %s", path,
		    strerror(errno));
	else
		rv = helper_ask(what, words, 2, fd, NULL);
	if (fd != -1)
		(void)close(fd);
	return (rv);
}

int
helper_replace(const char *command, const char *path, const char *bytes,
    size_t length)
{
	return (ask_write(REPLACE, command, path, bytes, length));
}

int
helper_append(const char *command, const char *path, const char *bytes,
    size_t length)
{
	return (ask_write(APPEND, command, path, bytes, length));
}

static int
do_write(struct job *job, int (*to)(const char *, const char *, const char *,
    size_t))
{
	void *bytes = NULL;
	struct stat st;
	int rv;

	if (!is_writable(job, job->jo_word[1]) ||
	    fstat(job->jo_fd, &st) == -1)
		return (-1);
	if (st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
		    job->jo_fd, 0);
	if (bytes == MAP_FAILED)
		return (-1);
	rv = to(job->jo_word[0], job->jo_word[1], bytes, (size_t)st.st_size);
	if (bytes != NULL)
		(void)munmap(bytes, (size_t)st.st_size);
	return (rv);
}

static int
do_replace(struct job *job)
{
	return (do_write(job, file_replace));
}

static int
do_append(struct job *job)
{
	return (do_write(job, file_append));
}

/* -------------------------------------------------------------- sources */

bool
helper_is_other(const char *program)
{
	return (ask_one(IS_OTHER, program) != 0);
}

static int
do_is_other(struct job *job)
{
	struct owner owner;

	owner_of(&owner, job->jo_word[0]);
	return (owner.ow_is_other);
}

int
helper_open_source(const char *program, const char *path)
{
	return (ask_open(SOURCE, program, path, NULL));
}

/* Of a program of root's, what everybody may read. */
static int
do_source(struct job *job)
{
	struct owner owner;
	struct stat st;
	int fd;

	owner_of(&owner, job->jo_word[0]);
	fd = owner_open(&owner, job->jo_word[1]);
	if (fd != -1 && !owner.ow_is_other && (fstat(fd, &st) == -1 ||
	    (st.st_mode & S_IROTH) == 0)) {
		(void)close(fd);
		fd = -1;
		errno = EACCES;
	}
	*job->jo_give = fd;
	return (fd == -1 ? -1 : 0);
}

/* ------------------------------------------------------- other programs */

int
helper_pager(void)
{
	return (ask_open(PAGER, "", NULL, NULL));
}

static struct terminal terminal;

static int
do_pager(struct job *job)
{
	if (terminal.te_pager == 0)
		*job->jo_give = terminal_pager(&terminal);
	return (*job->jo_give == -1 ? -1 : 0);
}

int
helper_pager_end(void)
{
	return (ask_one(PAGER_END, ""));
}

static int
do_pager_end(struct job *job)
{
	(void)job;
	return (terminal_pager_end(&terminal));
}

int
helper_objdump(const char *path, uint64_t from, uint64_t to)
{
	char start[24], stop[24];

	snprintf(start, sizeof(start), "%llu", (unsigned long long)from);
	snprintf(stop, sizeof(stop), "%llu", (unsigned long long)to);
	return (ask_open(OBJDUMP, path, start, stop));
}

static pid_t objdump;

static int
do_objdump(struct job *job)
{
	uint64_t from, to;

	if (objdump == 0 && opt_number(job->jo_word[1], &from) == 0 &&
	    opt_number(job->jo_word[2], &to) == 0)
		*job->jo_give = annotate_objdump(job->jo_word[0], from, to,
		    &objdump);
	return (*job->jo_give == -1 ? -1 : 0);
}

int
helper_objdump_end(void)
{
	return (ask_one(OBJDUMP_END, ""));
}

static int
do_objdump_end(struct job *job)
{
	const int status = annotate_objdump_end(objdump);

	(void)job;
	objdump = 0;
	return (status);
}

int
helper_show(const char *path)
{
	return (ask_one(SHOW, path));
}

static int
do_show(struct job *job)
{
	return (is_writable(job, job->jo_word[0]) ?
	    flame_show(job->jo_word[0]) : -1);
}

/* --------------------------------------------------------------- plots */

static struct plot_dir plot;

/* Without a directory a name would be one in the root directory. */
static bool
is_plotting(void)
{
	return (plot.pd_path[0] != '\0');
}

int
helper_plot_begin(const char *command)
{
	return (ask_one(PLOT_BEGIN, command));
}

static int
do_plot_begin(struct job *job)
{
	(void)job;
	return (is_plotting() ? -1 :
	    plot_begin(&plot, job->jo_named->na_cmd->cm_name));
}

int
helper_plot_file(const char *name)
{
	return (ask_open(PLOT_FILE, name, NULL, NULL));
}

/* The directory keeps names, not copies of them. */
static int
do_plot_file(struct job *job)
{
	static char names[PLOT_FILES][64];
	const char *word = job->jo_word[0];
	char *name = names[plot.pd_n % PLOT_FILES];
	FILE *file;

	if (!is_plotting() || plot.pd_n == PLOT_FILES ||
	    word[0] == '.' || strchr(word, '/') != NULL ||
	    strlen(word) >= sizeof(names[0]))
		return (-1);
	file = plot_file(&plot, strcpy(name, word));
	if (file == NULL)
		return (-1);
	*job->jo_give = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
	(void)fclose(file);
	return (*job->jo_give == -1 ? -1 : 0);
}

int
helper_plot_fetch(const char *name, const char *path)
{
	const char *const words[] = { name, path };

	return (helper_ask(PLOT_FETCH, words, 2, -1, NULL));
}

static int
do_plot_fetch(struct job *job)
{
	return (is_plotting() && is_writable(job, job->jo_word[1]) &&
	    strchr(job->jo_word[0], '/') == NULL ?
	    plot_fetch(&plot, job->jo_word[0], job->jo_word[1]) : -1);
}

int
helper_plot_draw(enum plot_template template, const char *type,
    const char *path)
{
	const char number[] = { (char)('0' + template), '\0' };
	const char *const words[] = { number, type, path };

	return (helper_ask(PLOT_DRAW, words, 3, -1, NULL));
}

static int
do_plot_draw(struct job *job)
{
	const unsigned template = (unsigned)(job->jo_word[0][0] - '0');

	return (is_plotting() && template < PLOT_TEMPLATES &&
	    (strcmp(job->jo_word[1], "svg") == 0 ||
	    strcmp(job->jo_word[1], "png") == 0) &&
	    is_writable(job, job->jo_word[2]) ?
	    plot_draw(&plot, (enum plot_template)template, job->jo_word[1],
	    job->jo_word[2]) : -1);
}

void
helper_plot_remove(void)
{
	(void)ask_one(PLOT_REMOVE, "");
}

static int
do_plot_remove(struct job *job)
{
	(void)job;
	plot_remove(&plot);
	plot.pd_path[0] = '\0';
	return (0);
}

/* ------------------------------------------------------------ the helper */

static const struct {
	int	(*si_do)(struct job *);
	size_t	 si_words;
} served[WHATS] = {
	[REGULAR] = { do_regular, 1 },
	[STAT] = { do_stat, 1 },
	[NARROW] = { do_narrow, 1 },
	[REPLACE] = { do_replace, 2 },
	[APPEND] = { do_append, 2 },
	[IS_OTHER] = { do_is_other, 1 },
	[SOURCE] = { do_source, 2 },
	[PAGER] = { do_pager, 1 },
	[PAGER_END] = { do_pager_end, 1 },
	[OBJDUMP] = { do_objdump, 3 },
	[OBJDUMP_END] = { do_objdump_end, 1 },
	[SHOW] = { do_show, 1 },
	[PLOT_BEGIN] = { do_plot_begin, 1 },
	[PLOT_FILE] = { do_plot_file, 1 },
	[PLOT_FETCH] = { do_plot_fetch, 2 },
	[PLOT_DRAW] = { do_plot_draw, 3 },
	[PLOT_REMOVE] = { do_plot_remove, 1 },
};

static int
job_serve(void *arg, unsigned what, char *bytes, size_t size, int fd, int *give)
{
	struct job job = { .jo_named = arg, .jo_fd = fd, .jo_give = give };
	size_t at = 0;

	what -= PROF_READING_OWN;
	if (what >= WHATS) {
		errno = EPERM;
		return (-1);
	}
	/* A NUL stands behind the bytes, too. */
	for (size_t i = 0; i < served[what].si_words; i++) {
		job.jo_word[i] = bytes + (at < size ? at : size);
		at += strlen(job.jo_word[i]) + 1;
	}
	return (served[what].si_do(&job));
}

int
helper_begin(const struct prof_cmd *cmd, const void *options, int n,
    char *const *operands)
{
	struct named named = { cmd, options, n, operands };
	const struct prof_reading reading = {
		.rg_size = sizeof(reading),
		.rg_may_read = may_read,
		.rg_may_write = may_write,
		.rg_serve = job_serve,
		.rg_arg = &named,
	};
	struct prof_err error = { 0 };

	if (prof_reading_confine(&reading, &error) == 0)
		return (0);
	return (msg_prof(cmd->cm_name, &error));
}
