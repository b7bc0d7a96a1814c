/* SPDX-License-Identifier: ISC */
/*
 * Output for people: how wide it may be, whether in colour, and through a
 * pager.  All of it on a terminal only, so that what goes into a file or a
 * pipe is the same everywhere.  Used by commands that show tables; the line
 * of progress is term.c.
 */
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal.h"

#define ESCAPED_MAX	4	/* columns of a byte as \x1b */

static bool
is_set(const char *variable)
{
	const char *value = getenv(variable);

	return (value != NULL && value[0] != '\0');
}

/* $PAGER, or less where it is, which ends by itself when it all fits. */
static const char *
pager_of(void)
{
	const char *pager = getenv("PAGER");
	char path[PATH_MAX];

	if (pager != NULL)
		return (pager);
	return (file_find_program("less", path, sizeof(path)) ?
	    "less -RFX" : "");
}

static void
begin_pager(struct terminal *terminal)
{
	const char *pager = pager_of();
	int fds[2];

	if (pager[0] == '\0' || strcmp(pager, "cat") == 0 ||
	    pipe(fds) == -1)
		return;
	terminal->te_pager = fork();
	if (terminal->te_pager == 0) {
		(void)dup2(fds[0], STDIN_FILENO);
		(void)close(fds[0]);
		(void)close(fds[1]);
		(void)setenv("LESS", "RFX", 0);
		/* No shell and no editor from there with our privileges. */
		if (geteuid() == 0)
			(void)setenv("LESSSECURE", "1", 1);
		(void)execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
		_exit(127);
	}
	(void)close(fds[0]);
	if (terminal->te_pager > 0) {
		terminal->te_fd = fds[1];
		/* Ctrl-C is the pager's, which has the terminal. */
		(void)signal(SIGINT, SIG_IGN);
	} else {
		(void)close(fds[1]);
		terminal->te_pager = 0;
	}
}

void
terminal_begin(struct terminal *terminal)
{
	struct winsize size = { .ws_col = 0 };
	const char *type = getenv("TERM");

	memset(terminal, 0, sizeof(*terminal));
	terminal->te_fd = STDOUT_FILENO;
	if (!isatty(STDOUT_FILENO))
		return;
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	terminal->te_width = size.ws_col > 0 ? size.ws_col : 80;
	terminal->te_colour = !is_set("NO_COLOR") && type != NULL &&
	    strcmp(type, "dumb") != 0;
	begin_pager(terminal);
}

int
terminal_end(struct terminal *terminal, const char *command, int status)
{
	int ended = 0;

	if (terminal->te_pager == 0)
		return (status);
	(void)close(terminal->te_fd);
	while (waitpid(terminal->te_pager, &ended, 0) == -1 &&
	    errno == EINTR)
		continue;
	terminal->te_pager = 0;
	/* What a shell says of a command that it cannot run. */
	if (!WIFEXITED(ended) || (WEXITSTATUS(ended) != 126 &&
	    WEXITSTATUS(ended) != 127))
		return (status);
	msg_error(command, "the pager cannot be run, so nothing was shown",
	    "set PAGER to one that is there, or to cat");
	return (EXIT_FAILED);
}

void
terminal_colour(const struct terminal *terminal, struct out *out,
    enum terminal_colour colour)
{
	static const char *const codes[] = {
		[TERMINAL_PLAIN] = "\033[0m", [TERMINAL_BOLD] = "\033[1m",
		[TERMINAL_DIM] = "\033[2m", [TERMINAL_HOT] = "\033[31m",
		[TERMINAL_WARM] = "\033[32m"
	};

	if (terminal->te_colour)
		out_str(out, codes[colour]);
}

void
terminal_warn(const struct terminal *terminal, struct out *out,
    const char *side, const char *event, const char *text)
{
	char line[sizeof(((struct prof_quality *)0)->pq_text)];
	size_t length;

	for (; *text != '\0'; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		terminal_colour(terminal, out, TERMINAL_HOT);
		out_str(out, "warning: ");
		out_str(out, side);
		out_text(out, event);
		out_str(out, ": ");
		out_text(out, line);
		terminal_colour(terminal, out, TERMINAL_PLAIN);
		out_char(out, '\n');
	}
}

/* Bytes of the next character, and the columns that out_text gives it. */
static size_t
next_character(const char *text, size_t *columns)
{
	uint32_t code;
	int is_plain;
	size_t n = prof_text_take(text, &code, &is_plain);

	if (n == 0 || !is_plain) {
		n = n == 0 ? 1 : n;
		*columns = ESCAPED_MAX * n;
	} else if (text[0] == '\\') {
		*columns = 2;
	} else {
		/* At the most: wide ones have three bytes or four. */
		*columns = n < 3 ? 1 : 2;
	}
	return (n);
}

size_t
terminal_text(struct out *out, const char *text, size_t width)
{
	size_t columns, used = 0, bytes = 0, fits = 0, fits_used = 0;
	char buffer[1024];

	while (text[bytes] != '\0' && used <= width) {
		bytes += next_character(text + bytes, &columns);
		used += columns;
		if (used + 2 <= width && bytes < sizeof(buffer)) {
			fits = bytes;
			fits_used = used;
		}
	}
	if (used <= width) {
		out_text(out, text);
		return (used);
	}
	memcpy(buffer, text, fits);
	buffer[fits] = '\0';
	out_text(out, buffer);
	out_str(out, "..");
	return (fits_used + 2);
}
