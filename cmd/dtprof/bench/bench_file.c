/* SPDX-License-Identifier: ISC */
/*
 * The directory of a bench: bench.json says what was asked for and on what
 * machine; runs.jsonl has a line for each run, appended and synced as soon
 * as the run has ended, so that nothing measured is lost by whatever ends
 * the rest.  A line that was cut short is taken off before going on.
 *
 * Called by bench.c; compare reads the same files (compare_bench.c).
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../opt/words.h"
#include "../ui/json.h"
#include "bench.h"

const struct bench_metric_name bench_metrics[BENCH_NMETRICS] = {
	[BENCH_WALL] = { "wall", "wall time", "s" },
	[BENCH_CPU] = { "cpu", "CPU time", "s" },
	[BENCH_USER] = { "user", "user time", "s" },
	[BENCH_SYSTEM] = { "system", "system time", "s" },
	[BENCH_MAX_RSS] = { "max_rss", "memory", "bytes" },
	[BENCH_MINOR_FAULTS] = { "minor_faults", "minor faults", "" },
	[BENCH_MAJOR_FAULTS] = { "major_faults", "major faults", "" },
	[BENCH_VOLUNTARY_SWITCHES] = { "voluntary_switches",
	    "voluntary switches", "" },
	[BENCH_INVOLUNTARY_SWITCHES] = { "involuntary_switches",
	    "involuntary switches", "" },
	[BENCH_CYCLES] = { "cycles", "cycles", "" },
	[BENCH_INSTRUCTIONS] = { "instructions", "instructions", "" },
	[BENCH_BRANCH_MISSES] = { "branch-misses", "branch misses", "" },
	[BENCH_CACHE_MISSES] = { "cache-misses", "cache misses", "" },
};

static int
file_fail(const char *path, const char *what)
{
	return (msg_fail("bench", "check the directory and the disk, or choose "
	    "another directory with -o", "%s: %s", path, what));
}

/* NULL: no memory. */
static char *
path_of(const struct bench *bench, const char *name)
{
	char *path;

	return (asprintf(&path, "%s/%s", bench->be_directory, name) == -1 ?
	    NULL : path);
}

/* -------------------------------------------------------------- reading */

static int
load_commands(struct bench *bench, const struct json *list, const char *path)
{
	const char *why;

	bench->be_command = calloc(json_count(list) + 1,
	    sizeof(*bench->be_command));
	if (bench->be_command == NULL)
		return (file_fail(path, "out of memory"));
	for (const struct json *one = list->js_first; one != NULL;
	    one = one->js_next) {
		struct bench_command *bc =
		    &bench->be_command[bench->be_ncommands++];
		const char *text = json_text(one, "command");
		const char *name = json_text(one, "name");

		if (text == NULL || name == NULL)
			return (file_fail(path,
			    "a command lacks the key \"command\" or "
			    "\"name\""));
		bc->bc_text = strdup(text);
		bc->bc_name = strdup(name);
		if (bc->bc_text == NULL || bc->bc_name == NULL)
			return (file_fail(path, "out of memory"));
		if (!bench->be_shell && (bc->bc_argv = words_split(text,
		    &why)) == NULL)
			return (file_fail(path, why));
		if (json_text(one, "build_id") != NULL)
			snprintf(bc->bc_build_id, sizeof(bc->bc_build_id),
			    "%s", json_text(one, "build_id"));
	}
	return (0);
}

/* Runs of two builds are no runs of the same; -1: a message was printed. */
static int
check_programs(const struct bench *then, const char *path)
{
	for (size_t i = 0; i < then->be_ncommands; i++) {
		struct bench_command now = then->be_command[i];

		bench_program(&now);
		if (strcmp(now.bc_build_id,
		    then->be_command[i].bc_build_id) == 0)
			continue;
		return (msg_fail("bench", "give the commands again to start "
		    "over, or choose another directory with -o",
		    "%s: the program of '%s' was rebuilt since the first run",
		    path, now.bc_name));
	}
	return (0);
}

/* Is what is asked for what is there?  No commands: whatever is there. */
static bool
is_same(const struct bench *now, const struct bench *then)
{
	bool same = now->be_ncommands == then->be_ncommands &&
	    now->be_shell == then->be_shell &&
	    now->be_record == then->be_record &&
	    now->be_off_cpu == then->be_off_cpu &&
	    strcmp(now->be_prepare != NULL ? now->be_prepare : "",
	    then->be_prepare != NULL ? then->be_prepare : "") == 0;

	for (size_t i = 0; same && i < now->be_ncommands; i++)
		same = strcmp(now->be_command[i].bc_text,
		    then->be_command[i].bc_text) == 0 &&
		    strcmp(now->be_command[i].bc_build_id,
		    then->be_command[i].bc_build_id) == 0 &&
		    strcmp(now->be_command[i].bc_name,
		    then->be_command[i].bc_name) == 0;
	return (same || now->be_ncommands == 0);
}

static void
free_commands(struct bench *bench)
{
	for (size_t i = 0; i < bench->be_ncommands; i++) {
		free(bench->be_command[i].bc_text);
		free(bench->be_command[i].bc_name);
		words_free(bench->be_command[i].bc_argv);
		bench_count_close(&bench->be_command[i]);
	}
	free(bench->be_command);
	free(bench->be_prepare);
}

static int
load_about(struct bench *bench, const struct json *json, const char *path)
{
	const struct json *commands = json_get(json, "commands");
	const char *prepare = json_text(json, "prepare");
	const char *seed = json_text(json, "seed");
	struct bench then = { .be_directory = bench->be_directory };
	int rv;

	bench->be_has_files = true;
	if (json_number(json, "schema_version", 0) != JSON_SCHEMA)
		return (file_fail(path, "written by another version of dtprof "
		    "bench"));
	if (json_count(commands) == 0 || seed == NULL ||
	    json_count(commands) > BENCH_COMMANDS)
		return (file_fail(path, "not a file of dtprof bench"));
	then.be_shell = json_number(json, "shell", 0) != 0;
	then.be_record = json_number(json, "record", 0) != 0;
	then.be_off_cpu = json_number(json, "off_cpu", 0) != 0;
	then.be_seed = strtoull(seed, NULL, 10);
	then.be_runs = (uint64_t)json_number(json, "runs", 0);
	then.be_warmups = (uint64_t)json_number(json, "warmups", 0);
	then.be_prepare = prepare != NULL ? strdup(prepare) : NULL;
	rv = load_commands(&then, commands, path);
	if (rv == 0 && bench->be_ncommands == 0 && !bench->be_is_again)
		rv = check_programs(&then, path);
	if (rv == -1 || !is_same(bench, &then)) {
		free_commands(&then);
		return (rv);
	}
	free_commands(bench);
	bench->be_command = then.be_command;
	bench->be_ncommands = then.be_ncommands;
	bench->be_prepare = then.be_prepare;
	bench->be_shell = then.be_shell;
	bench->be_record = then.be_record;
	bench->be_off_cpu = then.be_off_cpu;
	bench->be_seed = then.be_seed;
	if (!bench->be_options->be_runs.on_set)
		bench->be_runs = then.be_runs;
	if (!bench->be_options->be_warmups.on_set)
		bench->be_warmups = then.be_warmups;
	return (1);
}

static int
result_keep(struct bench *bench, const struct bench_result *result)
{
	struct bench_result *slot = prof_append(&bench->be_result,
	    &bench->be_nresults, sizeof(*slot));

	if (slot == NULL)
		return (-1);
	*slot = *result;
	return (0);
}

static int
load_result(struct bench *bench, const struct json *json)
{
	struct bench_result result = { 0 };
	const char *profile = json_text(json, "profile");
	const double command = json_number(json, "command", -1);
	const double block = json_number(json, "block", -1);
	const double of = json_number(json, "of", BENCH_IN_BLOCK);

	if (!(command >= 0 && command < (double)bench->be_ncommands) ||
	    !(block >= 0 && block < 1e9) ||
	    !(of >= 1 && of <= BENCH_ONE_BLOCK))
		return (-1);
	result.br_command = (unsigned)command;
	result.br_block = (uint32_t)block;
	result.br_of = (uint32_t)of;
	result.br_status = (int)json_number(json, "status", 0);
	result.br_steal_s = json_number(json, "steal", 0);
	for (int m = 0; m < BENCH_NMETRICS; m++)
		result.br_value[m] = json_number(json,
		    bench_metrics[m].mn_name, NAN);
	if (profile != NULL)
		snprintf(result.br_profile, sizeof(result.br_profile), "%s",
		    profile);
	return (result_keep(bench, &result));
}

/* Whole lines; what stands behind the last of them was cut short. */
static int
load_results(struct bench *bench, char *text, const char *path)
{
	char *end;
	size_t line = 0;

	for (; (end = strchr(text, '\n')) != NULL; text = end + 1) {
		const char *why;
		struct json *json = json_parse(text, (size_t)(end - text),
		    &why);
		const int rv = json == NULL ? -1 : load_result(bench, json);

		line++;
		json_free(json);
		if (rv == -1)
			return (msg_fail("bench", "remove this line of the "
			    "file, or the whole directory",
			    "%s: line %zu is not a valid result",
			    path, line));
	}
	if (*text != '\0')
		msg_note("bench", "%s: the last line is incomplete, so its run "
		    "is repeated", path);
	return (0);
}

static int
load_file(struct bench *bench, const char *name,
    int (*take)(struct bench *, char *, const char *))
{
	char *path = path_of(bench, name), *text;
	size_t length;
	int rv = -1;

	if (path == NULL)
		return (file_fail(name, "out of memory"));
	text = file_read_regular(path, &length);
	if (text != NULL)
		rv = take(bench, text, path);
	else if (errno == ENOENT || errno == ENOTDIR)
		rv = 0;
	else
		file_fail(path, strerror(errno));
	free(text);
	free(path);
	return (rv);
}

static int
take_about(struct bench *bench, char *text, const char *path)
{
	const char *why;
	struct json *json = json_parse(text, strlen(text), &why);
	int rv;

	if (json == NULL)
		return (file_fail(path, why));
	rv = load_about(bench, json, path);
	json_free(json);
	return (rv);
}

int
bench_load(struct bench *bench)
{
	const int rv = load_file(bench, BENCH_ABOUT, take_about);

	if (rv == 1 && load_file(bench, BENCH_RUNS, load_results) == -1)
		return (-1);
	return (rv);
}

bool
bench_is_there(const struct bench *bench)
{
	char *path = path_of(bench, BENCH_ABOUT);
	const bool is_there = path != NULL && access(path, F_OK) == 0;

	free(path);
	return (is_there);
}

/* -------------------------------------------------------------- writing */

static void
emit_about(const struct bench *bench, struct emit *em)
{
	char maker[32], seed[24];

	snprintf(maker, sizeof(maker), "dtprof %s", prof_version());
	snprintf(seed, sizeof(seed), "%llu",
	    (unsigned long long)bench->be_seed);
	emit_line(em);
	EMIT(em, COUNT("schema_version", JSON_SCHEMA), WORD("made_by", maker),
	    WORD("seed", seed), COUNT("runs", bench->be_runs),
	    COUNT("warmups", bench->be_warmups),
	    COUNT("shell", bench->be_shell), COUNT("record", bench->be_record),
	    COUNT("off_cpu", bench->be_off_cpu),
	    GIVEN("prepare", bench->be_prepare));
	emit_rows(em, "commands");
	for (size_t i = 0; i < bench->be_ncommands; i++) {
		EMIT_ROW(em, NULL, TEXT("name", bench->be_command[i].bc_name),
		    TEXT("command", bench->be_command[i].bc_text),
		    GIVEN("build_id", bench->be_command[i].bc_build_id));
	}
	emit_close(em);
	emit_line(em);
	emit_block(em, "environment");
	bench_environment(em);
}

static int
about_write(const struct bench *bench)
{
	char *path = path_of(bench, BENCH_ABOUT);
	struct emit em;
	struct out out;
	int fd, why;

	if (path == NULL)
		return (file_fail(bench->be_directory, "out of memory"));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd != -1)
		file_give(fd);
	out_init(&out, fd);
	emit_json(&em, &out);
	emit_about(bench, &em);
	emit_end(&em);
	out_flush(&out);
	why = fd == -1 ? errno : out.ou_errno != 0 ? out.ou_errno :
	    fsync(fd) == -1 ? errno : 0;
	if (fd != -1 && (close(fd) == -1 || why != 0))
		(void)unlink(path);
	if (why != 0)
		file_fail(path, strerror(why));
	free(path);
	return (why != 0 ? -1 : 0);
}

static char *
line_of(const struct bench_result *br, size_t *length)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, length);

	if (stream == NULL)
		return (NULL);
	fprintf(stream, "{\"command\":%u,\"block\":%u,\"of\":%u,"
	    "\"status\":%d", br->br_command, br->br_block, br->br_of,
	    br->br_status);
	for (int m = 0; m < BENCH_NMETRICS; m++)
		if (isfinite(br->br_value[m]))
			fprintf(stream, ",\"%s\":%.17g",
			    bench_metrics[m].mn_name, br->br_value[m]);
	fprintf(stream, ",\"steal\":%.17g,\"load\":%.17g,\"throttled\":%llu",
	    br->br_steal_s, br->br_load,
	    (unsigned long long)br->br_throttled);
	if (br->br_profile[0] != '\0')
		fprintf(stream, ",\"profile\":\"%s\"", br->br_profile);
	fputs("}\n", stream);
	if (fclose(stream) != 0) {
		free(text);
		return (NULL);
	}
	return (text);
}

/*
 * All or nothing: what a full disk took of a line is taken back, and what a
 * line lacked when all was pulled away too.
 */
static int
line_append(int fd, const char *line, size_t length)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char last = '\n';
	ssize_t n;

	while (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n')
		end--;
	if (ftruncate(fd, end) == -1 || lseek(fd, end, SEEK_SET) == -1)
		return (errno);
	n = write(fd, line, length);
	if (n == (ssize_t)length && fsync(fd) == 0)
		return (0);
	n = n == -1 || n == (ssize_t)length ? errno : ENOSPC;
	(void)!ftruncate(fd, end);
	return ((int)n);
}

/* With the first result: a bench that never ran leaves nothing behind. */
int
bench_append(struct bench *bench, const struct bench_result *result)
{
	char *path = path_of(bench, BENCH_RUNS), *line;
	size_t length = 0;
	int fd, why = ENOMEM;

	if (!bench->be_has_files && about_write(bench) == -1) {
		free(path);
		return (-1);
	}
	bench->be_has_files = true;
	line = line_of(result, &length);
	if (path == NULL || line == NULL)
		goto out;
	fd = file_create(path, O_RDWR | O_NOFOLLOW, NULL);
	why = fd == -1 ? errno : line_append(fd, line, length);
	if (fd != -1)
		close(fd);
	if (why == 0 && result_keep(bench, result) == -1)
		why = ENOMEM;
out:
	free(line);
	if (why != 0)
		msg_fail("bench", "earlier runs are saved: free some space and "
		    "run bench again", "%s: %s",
		    path != NULL ? path : BENCH_RUNS, strerror(why));
	free(path);
	return (why != 0 ? -1 : 0);
}

/* ---------------------------------------------------------- the old one */

static bool
is_ours(const char *name)
{
	const char *dot = strrchr(name, '.');

	return (strcmp(name, BENCH_ABOUT) == 0 ||
	    strcmp(name, BENCH_RUNS) == 0 ||
	    (dot != NULL && strcmp(dot, ".dtp") == 0));
}

/*
 * The directory itself, not what a link leads to; as root only where it is
 * root's or that of who called sudo: else it is somebody's trap.
 */
static int
open_directory(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	struct stat st;

	if (fd == -1 || geteuid() != 0 || (fstat(fd, &st) == 0 &&
	    (st.st_uid == 0 || st.st_uid == file_sudo_id("SUDO_UID"))))
		return (fd);
	(void)close(fd);
	errno = EPERM;
	return (-1);
}

/* Only what a bench puts there; anything else keeps the directory alive. */
static int
remove_directory(const char *path)
{
	const int fd = open_directory(path);
	DIR *dir = fd == -1 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (dir == NULL)
		return (errno == ENOENT ? 0 : -1);
	while ((entry = readdir(dir)) != NULL)
		if (is_ours(entry->d_name))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	return (rmdir(path));
}

int
bench_keep_old(const struct bench *bench)
{
	char *old;
	int rv = -1;

	if (asprintf(&old, "%s.old", bench->be_directory) == -1)
		return (file_fail(bench->be_directory, "out of memory"));
	if (remove_directory(old) == -1)
		file_fail(old, strerror(errno));
	else if (rename(bench->be_directory, old) == -1)
		file_fail(bench->be_directory, strerror(errno));
	else {
		msg_note("bench", "renamed the existing %s to %s",
		    bench->be_directory, old);
		rv = 0;
	}
	free(old);
	return (rv);
}

int
bench_make_directory(const struct bench *bench)
{
	const bool is_new = mkdir(bench->be_directory, 0777) == 0;
	int fd;

	if (!is_new && errno != EEXIST)
		return (file_fail(bench->be_directory, strerror(errno)));
	fd = open_directory(bench->be_directory);
	if (fd == -1)
		return (file_fail(bench->be_directory, strerror(errno)));
	if (is_new)
		file_give(fd);
	(void)close(fd);
	return (0);
}

int
bench_make_baselines(void)
{
	const struct bench all = { .be_directory = BENCH_BASELINES };

	return (bench_make_directory(&all));
}

void
bench_free(struct bench *bench)
{
	free_commands(bench);
	free(bench->be_result);
	free(bench->be_kept_in);
	if (bench->be_words_fd > 2)
		close(bench->be_words_fd);
	if (bench->be_null_fd > 2)
		close(bench->be_null_fd);
}
