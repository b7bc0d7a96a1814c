/* SPDX-License-Identifier: ISC */
/*
 * How gnuplot is run: no shell, a template of reports/ that is embedded, and
 * data in files of a directory of their own, which is removed afterwards.
 * Names stand in those files only, never in the script, and without what
 * gnuplot takes for more than text.
 *
 * Called by compare_plot.c, report_plot.c and report_latency.c.
 */
#include <sys/wait.h>

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helper/helper.h"
#include "compare_gp.h"
#include "heatmap_gp.h"
#include "json.h"
#include "latency_gp.h"
#include "plot.h"
#include "rates_gp.h"
#include "timeline_gp.h"
#include "tools.h"

#define SCRIPT		"plot.gp"
#define MAX_NAME	60

static int
plot_fail(const char *command, const char *what, const char *why,
    const char *cure)
{
	return (msg_fail(command, cure, "--plot: %s: %s", what, why));
}

const char *
plot_type(const char *path)
{
	const char *dot = strrchr(path, '.');

	return (dot == NULL ? "" : dot + 1);
}

int
plot_check(const char *command, const char *path, bool is_data)
{
	const char *type = plot_type(path);

	if (strcmp(type, "svg") == 0 || strcmp(type, "png") == 0 ||
	    (is_data && strcmp(type, "tsv") == 0))
		return (0);
	return (plot_fail(command, path, "unknown output format", is_data ?
	    "use a name ending in .svg, .png or .tsv" :
	    "use a name ending in .svg or .png"));
}

int
plot_begin(struct plot_dir *dir, const char *command)
{
	memset(dir, 0, sizeof(*dir));
	dir->pd_command = command;
	if (helper_is_there())
		return (helper_plot_begin(command));
	return (file_scratch(command, dir->pd_path));
}

void
plot_remove(struct plot_dir *dir)
{
	static const char *const ours[] = { SCRIPT, "out.svg", "out.png" };
	char path[512];

	if (helper_is_there())
		helper_plot_remove();
	if (dir->pd_path[0] == '\0')
		return;
	for (size_t i = 0; i < dir->pd_n + 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir->pd_path, i < 3 ?
		    ours[i] : dir->pd_name[i - 3]);
		(void)unlink(path);
	}
	(void)rmdir(dir->pd_path);
}

FILE *
plot_file(struct plot_dir *dir, const char *name)
{
	char path[512];
	FILE *file;
	int fd;

	if (helper_is_there()) {
		fd = helper_plot_file(name);
		return (fd == -1 ? NULL : fdopen(fd, "w"));
	}
	snprintf(path, sizeof(path), "%s/%s", dir->pd_path, name);
	file = dir->pd_n < PLOT_FILES ? fopen(path, "wex") : NULL;
	if (file == NULL)
		plot_fail(dir->pd_command, path, strerror(errno),
		    "check the disk");
	else
		dir->pd_name[dir->pd_n++] = name;
	return (file);
}

int
plot_close(const struct plot_dir *dir, FILE *file, const char *name)
{
	const bool is_bad = ferror(file) != 0;

	if (fclose(file) == 0 && !is_bad)
		return (0);
	return (plot_fail(dir->pd_command, name, strerror(errno),
	    "check the disk"));
}

void
plot_text(FILE *file, const char *text)
{
	uint32_t code;
	int is_plain, n = 0;
	size_t length;

	for (; *text != '\0' && n < MAX_NAME; text += length, n++) {
		length = prof_text_take(text, &code, &is_plain);
		if (!is_plain || code == '"' || code == '\\') {
			fputc('?', file);
			length = length == 0 ? 1 : length;
		} else {
			fwrite(text, 1, length, file);
		}
	}
	if (*text != '\0')
		fputs("..", file);
}

static int
run_gnuplot(const struct plot_dir *dir)
{
	/* No ~/.gnuplot, which is a program of its own. */
	char name[] = TOOL_GNUPLOT, script[] = SCRIPT;
	char defaults[] = "--default-settings";
	char *const argv[] = { name, defaults, script, NULL };
	posix_spawn_file_actions_t actions;
	int why, status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addchdir_np(&actions, dir->pd_path);
	why = posix_spawnp(&pid, name, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (why == ENOENT)
		return (plot_fail(dir->pd_command, name, "not installed",
		    TOOL_GNUPLOT_CURE ", or leave --plot out"));
	if (why != 0)
		return (plot_fail(dir->pd_command, "gnuplot", strerror(why),
		    "check gnuplot"));
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	return (status == 0 ? 0 : plot_fail(dir->pd_command, "gnuplot",
	    "it failed", "see the message of gnuplot above; dtprof works "
	    "with gnuplot 5.4"));
}

int
plot_fetch(const struct plot_dir *dir, const char *name, const char *path)
{
	char from[512], *bytes;
	size_t length;
	int rv;

	if (helper_is_there())
		return (helper_plot_fetch(name, path));
	snprintf(from, sizeof(from), "%s/%s", dir->pd_path, name);
	bytes = file_read_regular(from, &length);
	if (bytes == NULL)
		return (plot_fail(dir->pd_command, from, strerror(errno),
		    "check gnuplot"));
	rv = file_replace(dir->pd_command, path, bytes, length);
	free(bytes);
	return (rv);
}

int
plot_draw(struct plot_dir *dir, enum plot_template template,
    const char *type, const char *path)
{
	static const struct {
		const void	*tm_text;
		size_t		 tm_length;
	} templates[PLOT_TEMPLATES] = {
		[PLOT_DRAWS_COMPARE] = { compare_gp, sizeof(compare_gp) },
		[PLOT_DRAWS_HEATMAP] = { heatmap_gp, sizeof(heatmap_gp) },
		[PLOT_DRAWS_TIMELINE] = { timeline_gp, sizeof(timeline_gp) },
		[PLOT_DRAWS_RATES] = { rates_gp, sizeof(rates_gp) },
		[PLOT_DRAWS_LATENCY] = { latency_gp, sizeof(latency_gp) },
	};
	char name[16];
	FILE *file;

	if (helper_is_there())
		return (helper_plot_draw(template, type, path));
	file = plot_file(dir, SCRIPT);
	if (file == NULL)
		return (-1);
	fwrite(templates[template].tm_text, 1, templates[template].tm_length,
	    file);
	setenv("DTPROF_PLOT_TYPE", type, 1);
	snprintf(name, sizeof(name), "out.%s", type);
	if (plot_close(dir, file, SCRIPT) == -1 || run_gnuplot(dir) == -1)
		return (-1);
	return (plot_fetch(dir, name, path));
}
