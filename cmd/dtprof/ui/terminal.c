/* SPDX-License-Identifier: ISC */
/*
 * Output for people: how wide it may be, whether in colour, and through a
 * pager.  All of it on a terminal only, so that what goes into a file or a
 * pipe is the same everywhere.  Used by commands that show tables; the line
 * of progress is term.c.
 */
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helper/helper.h"
#include "terminal.h"

#define ESCAPED_MAX	4	/* columns of a byte as \x1b */
#define WARNING_INDENT	4
#define MAX_UNIT	2	/* letters */

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

int
terminal_pager(struct terminal *terminal)
{
	const char *pager = pager_of();
	int fds[2];

	if (pager[0] == '\0' || strcmp(pager, "cat") == 0 ||
	    pipe(fds) == -1)
		return (-1);
	/* Ctrl-C is the pager's, which has the terminal. */
	(void)signal(SIGINT, SIG_IGN);
	terminal->te_pager = fork();
	if (terminal->te_pager == 0) {
		(void)signal(SIGINT, SIG_DFL);
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
	if (terminal->te_pager > 0)
		return (fds[1]);
	(void)signal(SIGINT, SIG_DFL);
	(void)close(fds[1]);
	terminal->te_pager = 0;
	return (-1);
}

int
terminal_pager_end(struct terminal *terminal)
{
	int ended = 0;

	while (terminal->te_pager > 0 && waitpid(terminal->te_pager, &ended,
	    0) == -1 && errno == EINTR)
		continue;
	terminal->te_pager = 0;
	return (ended);
}

static void
begin_pager(struct terminal *terminal)
{
	int fd;

	if (!helper_is_there()) {
		fd = terminal_pager(terminal);
	} else if ((fd = helper_pager()) != -1) {
		terminal->te_pager = -1;
		(void)signal(SIGINT, SIG_IGN);
	}
	if (fd != -1)
		terminal->te_fd = fd;
}

void
terminal_begin(struct terminal *terminal, int when)
{
	struct winsize size = { .ws_col = 0 };
	const char *type = getenv("TERM");

	memset(terminal, 0, sizeof(*terminal));
	terminal->te_fd = STDOUT_FILENO;
	terminal->te_colour = when == TERMINAL_ALWAYS;
	if (!isatty(STDOUT_FILENO))
		return;
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	terminal->te_width = size.ws_col > 0 ? size.ws_col : 80;
	if (when == TERMINAL_AUTO)
		terminal->te_colour = !is_set("NO_COLOR") && type != NULL &&
		    strcmp(type, "dumb") != 0;
	begin_pager(terminal);
}

int
terminal_end(struct terminal *terminal, const char *command, int status)
{
	int ended;

	if (terminal->te_pager == 0)
		return (status);
	(void)close(terminal->te_fd);
	ended = helper_is_there() ? helper_pager_end() :
	    terminal_pager_end(terminal);
	/* What a shell says of a command that it cannot run. */
	if (!WIFEXITED(ended) || (WEXITSTATUS(ended) != 126 &&
	    WEXITSTATUS(ended) != 127))
		return (status);
	msg_error(command, "cannot execute the pager, so nothing was shown",
	    "set PAGER to an existing pager, or to cat");
	return (EXIT_FAILED);
}

void
terminal_colour(const struct terminal *terminal, struct out *out,
    enum terminal_colour colour)
{
	static const char *const codes[] = {
		[TERMINAL_PLAIN] = "\033[0m", [TERMINAL_BOLD] = "\033[1m",
		[TERMINAL_DIM] = "\033[2m", [TERMINAL_HOT] = "\033[31m",
		[TERMINAL_WARM] = "\033[32m", [TERMINAL_DOUBT] = "\033[33m"
	};

	if (terminal->te_colour)
		out_str(out, codes[colour]);
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

size_t
terminal_columns(const char *text)
{
	size_t columns, sum = 0;

	for (; *text != '\0'; sum += columns)
		text += next_character(text, &columns);
	return (sum);
}

/* One character as out_text has it. */
static void
put_character(struct out *out, const char *text, size_t n)
{
	char buffer[8] = { 0 };

	memcpy(buffer, text, n < sizeof(buffer) ? n : sizeof(buffer) - 1);
	out_text(out, buffer);
}

/* One that a text is folded to. */
struct fold {
	struct out	*fo_out;
	size_t		 fo_width;	/* 0: no end */
	size_t		 fo_indent;
	size_t		 fo_at;
	bool		 fo_is_new;	/* nothing but the indentation */
};

/* A word and the blanks before it; one that fits nowhere is broken. */
static void
fold_word(struct fold *fold, const char *word, size_t length)
{
	size_t n, used, columns = 0;

	for (size_t b = 0; b < length; b += n) {
		n = next_character(word + b, &used);
		columns += used;
	}
	for (size_t b = 0; b < length; b += n) {
		n = next_character(word + b, &used);
		if (fold->fo_width > 0 && fold->fo_at > fold->fo_indent &&
		    fold->fo_at + (b == 0 ? columns : used) > fold->fo_width) {
			out_fmt(fold->fo_out, "\n%*s", (int)fold->fo_indent,
			    "");
			fold->fo_at = fold->fo_indent;
			fold->fo_is_new = true;
		}
		if (word[b] == ' ' && fold->fo_is_new)
			continue;
		put_character(fold->fo_out, word + b, n);
		fold->fo_at += used;
		fold->fo_is_new = false;
	}
}

void
terminal_fold(const struct terminal *terminal, struct out *out,
    const char *text, size_t indent)
{
	const size_t width = terminal->te_width;
	struct fold fold = { out, width > indent + ESCAPED_MAX ? width : 0,
	    indent, 0, false };
	size_t length;

	for (; *text != '\0'; text += length) {
		length = strspn(text, " ");
		length += strcspn(text + length, " ");
		/* "1.23 ms" is one. */
		if (text[length] == ' ' && length > 0 &&
		    isdigit((unsigned char)text[length - 1]) &&
		    strcspn(text + length + 1, " ,;:") <= MAX_UNIT)
			length += 1 + strcspn(text + length + 1, " ");
		fold_word(&fold, text, length);
	}
	out_char(out, '\n');
}

void
terminal_warn(const struct terminal *terminal, struct out *out,
    const char *side, const char *event, const char *text)
{
	size_t length;
	char *line;

	for (; *text != '\0'; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		if (asprintf(&line, "warning: %s%s: %.*s", side, event,
		    (int)length, text) == -1)
			return;
		terminal_colour(terminal, out, TERMINAL_HOT);
		terminal_fold(terminal, out, line, WARNING_INDENT);
		terminal_colour(terminal, out, TERMINAL_PLAIN);
		free(line);
	}
}

void
terminal_more_events(const struct terminal *terminal, struct out *out,
    size_t n)
{
	char text[128];

	snprintf(text, sizeof(text), "... %zu more event%s: widen the "
	    "terminal, or choose events with --event", n, n == 1 ? "" : "s");
	terminal_fold(terminal, out, text, 4);
}
