/* SPDX-License-Identifier: ISC */
/*
 * Messages on standard error: one line of what and why, one line of cure.
 * Used by all commands; nothing of this is data.  Control characters in what
 * others named (files, commands, events) are shown, not obeyed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../cmd.h"

#define BRIEF	100	/* characters of a note */
#define MORE	" (-v: more)"

static bool	 is_brief;

static void	 message_write(const char *command, const char *kind,
		    const char *text, const char *cure);

/* In one write, so that lines of several processes do not mix. */
static void
message_write(const char *command, const char *kind, const char *text,
    const char *cure)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_str(&out, "dtprof: ");
	if (command != NULL) {
		out_str(&out, command);
		out_str(&out, ": ");
	}
	OUT(&out, kind, text, "\n");
	if (cure != NULL && *cure != '\0')
		OUT(&out, "dtprof: hint: ", cure, "\n");
	out_flush(&out);
}

int
msg_error(const char *command, const char *text, const char *cure)
{
	message_write(command, "", text, cure);
	return (-1);
}

int
msg_fail(const char *command, const char *cure, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return (msg_error(command, text, cure));
}

int
msg_prof(const char *command, const struct prof_err *error)
{
	return (msg_error(command, error->pe_text, error->pe_cure));
}

/* To the last clause that ends early enough. */
static void
text_shorten(char *text)
{
	static const char *const ends[] = { ": ", "; ", ", so " };
	char *cut = NULL, *end;

	for (size_t n = 0; n < sizeof(ends) / sizeof(ends[0]); n++)
		for (end = strstr(text, ends[n]); end != NULL &&
		    end - text < BRIEF; end = strstr(end + 1, ends[n]))
			if (cut == NULL || end > cut)
				cut = end;
	if (cut != NULL)
		memcpy(cut, MORE, sizeof(MORE));
}

void
msg_shorten_notes(void)
{
	is_brief = true;
}

void
msg_warning(const char *command, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	message_write(command, "warning: ", text, NULL);
}

void
msg_note(const char *command, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text) - sizeof(MORE), fmt, ap);
	va_end(ap);
	if (is_brief && strlen(text) > BRIEF)
		text_shorten(text);
	message_write(command, "note: ", text, NULL);
}
