/*
 * ASSERTION: a helper opens for its reader the files that the command line
 * names, in operands, values of options and DIR:COMMAND, and what is in
 * directories that it names; not all files because a word begins with a colon,
 * as a C++ name does; and it draws nothing while there is no directory to draw
 * in.
 *
 * Easy to get wrong: before the first colon of "::run" is a name of no length,
 * and every absolute path begins with that.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/wait.h>

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "../../cmd/dtprof/helper/helper.h"
#include "cli-check.h"

struct options {
	const char	*op_callers;
	const char	*op_output;
};

static char dir[] = "/tmp/dtprof-named.XXXXXX";
static char operand[64], inside[64], outside[64], beside[64], output[64];

static void
file(char path[64], const char *name)
{
	int fd;

	snprintf(path, 64, "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK(fd != -1 && write(fd, "text\n", 5) == 5, "%s", path);
	close(fd);
}

static bool
is_opened(const char *path)
{
	const int fd = helper_open_regular(path);

	if (fd != -1)
		close(fd);
	return (fd != -1);
}

static void
ask(void)
{
	char away[128];
	struct stat st;

	CHECK(helper_is_there(), "no helper");
	CHECK(is_opened(operand), "an operand");
	CHECK(is_opened(inside), "a file in DIR of DIR:COMMAND");
	CHECK(!is_opened(outside) && helper_stat(outside, &st) == -1,
	    "what nobody named");
	CHECK(!is_opened("/etc/passwd"), "an absolute path");
	snprintf(away, sizeof(away), "%s/set/../outside", dir);
	CHECK(!is_opened(away), "%s", away);
	CHECK(!is_opened(beside), "what only begins like a name");
	OK("the helper opens what is named, and nothing else");
	CHECK(helper_plot_draw(PLOT_DRAWS_RATES, "svg", output) == -1,
	    "drawn nowhere");
	CHECK(helper_plot_file("x") == -1, "a file nowhere");
	OK("without a directory for gnuplot nothing is drawn");
	exit(0);
}

int
main(void)
{
	static const struct opt_row rows[] = {
		{ 0, "callers", "FUNCTION", OPT_STRING, 0, 0, NULL, "",
		    offsetof(struct options, op_callers), NULL },
		{ 'o', "output", "FILE", OPT_STRING, 0, 0, NULL, "",
		    offsetof(struct options, op_output), NULL },
		{ .op_type = OPT_END }
	};
	static const struct prof_cmd cmd = { .cm_name = "report",
	    .cm_options = rows, .cm_size = sizeof(struct options) };
	const struct options options = { "::run", output };
	char set[64];
	char *operands[] = { operand, set, NULL };
	int status = -1;
	pid_t pid;

	if (geteuid() != 0) {
		printf("SKIP: not root\n");
		return (77);
	}
	CHECK(mkdtemp(dir) != NULL, "%s", dir);
	snprintf(set, sizeof(set), "%s/set", dir);
	CHECK(mkdir(set, 0700) == 0, "%s", set);
	strcat(set, ":base");
	file(operand, "operand");
	file(inside, "set/inside");
	file(outside, "outside");
	file(beside, "operand2");
	file(output, "output");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		CHECK(helper_begin(&cmd, &options, 2, operands) == 0,
		    "no helper");
		if (helper_is_there())
			ask();
		OK("built with sanitizers: it opens everything itself");
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0, "%d", status);
	CHECK(access("/plot.gp", F_OK) == -1, "written into /");
	CHECK(system("rm -r /tmp/dtprof-named.??????") == 0, "%s", dir);
	return (0);
}
