/* SPDX-License-Identifier: ISC */
/*
 * Messages on standard error: one line of what and why, one line of cure.
 * Used by all commands; nothing of this is data.  Control characters in what
 * others named (files, commands, events) are shown, not obeyed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd.h"

static void	 say(const char *command, const char *kind, const char *text,
		    const char *cure);

/* In one write, so that lines of several processes do not mix. */
static void
say(const char *command, const char *kind, const char *text, const char *cure)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_str(&out, "dtprof: ");
	if (command != NULL) {
		out_str(&out, command);
		out_str(&out, ": ");
	}
	out_str(&out, kind);
	out_text(&out, text);
	out_char(&out, '\n');
	if (cure != NULL && *cure != '\0') {
		out_str(&out, "dtprof: hint: ");
		out_text(&out, cure);
		out_char(&out, '\n');
	}
	out_flush(&out);
}

void
msg_error(const char *command, const char *text, const char *cure)
{
	say(command, "", text, cure);
}

void
msg_fail(const char *command, const char *cure, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(command, "", text, cure);
}

void
msg_prof(const char *command, const struct prof_err *error)
{
	say(command, "", error->pe_text, error->pe_cure);
}

void
msg_warning(const char *command, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(command, "warning: ", text, NULL);
}

void
msg_note(const char *command, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(command, "note: ", text, NULL);
}
