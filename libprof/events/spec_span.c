/* SPDX-License-Identifier: ISC */
/*
 * Parses a span, NAME=BEGIN[,END][,key=ARGUMENT].  spec.c and the providers
 * resolve the events BEGIN and END.
 *
 * Called by the session, and fuzzed by tests/fuzz/event.c: the text may contain
 * any bytes.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "names.h"

#define NAME_MAX_BYTES	63
#define KEY		"key="

int
prof_spec_span_refuse(struct prof_err *error, const char *text,
    const char *why)
{
	prof_fail(error, PROF_E_EVENT_SYNTAX, "span '%s': %s", text, why);
	return (prof_cure(error, "use NAME=BEGIN,END or "
	    "NAME=BEGIN,END,key=ARGUMENT, e.g. read=syscall:read:entry,"
	    "syscall:read:return"));
}

static bool
is_name(const char *name)
{
	if (!isalpha((unsigned char)name[0]) && name[0] != '_')
		return (false);
	for (; *name != '\0'; name++)
		if (!isalnum((unsigned char)*name) && strchr("_-.", *name) ==
		    NULL)
			return (false);
	return (true);
}

/* Skip the file of a probe: slashes in its path do not begin settings. */
static char *
file_skip(char *part)
{
	static const char *const providers[] = { "uprobe:", "uretprobe:",
	    "usdt:", "u:", "ur:", "U:" };

	for (size_t n = 0; n < sizeof(providers) / sizeof(providers[0]); n++) {
		if (strncmp(part, providers[n], strlen(providers[n])) != 0)
			continue;
		part += strlen(providers[n]);
		if (*part == '"')
			part += 1 + strcspn(part + 1, "\"");
		return (part + strcspn(part, ":"));
	}
	return (part);
}

/*
 * The next part, up to a comma outside of quotes, brackets and settings.
 * Returns NULL after the last part.
 */
static char *
part_next(char **at)
{
	char *begin = *at, *end;
	bool is_quoted = false, is_setting = false;
	int depth = 0;

	if (begin == NULL)
		return (NULL);
	for (end = file_skip(begin); *end != '\0'; end++) {
		if (*end == '"')
			is_quoted = !is_quoted;
		else if (!is_quoted && *end == '/')
			is_setting = !is_setting;
		else if (!is_quoted && strchr("([{", *end) != NULL)
			depth++;
		else if (!is_quoted && strchr(")]}", *end) != NULL)
			depth--;
		else if (*end == ',' && !is_quoted && !is_setting &&
		    depth <= 0)
			break;
	}
	*at = *end == ',' ? end + 1 : NULL;
	*end = '\0';
	return (begin);
}

int
prof_spec_span_parse(struct prof_spec_span *span, const char *text,
    struct prof_err *error)
{
	char *part, *rest;

	memset(span, 0, sizeof(*span));
	if ((span->sn_copy = strdup(text)) == NULL)
		return (prof_fail_nomem(error));
	span->sn_name = span->sn_copy;
	if ((rest = strchr(span->sn_copy, '=')) == NULL)
		return (prof_spec_span_refuse(error, text, "'=' is missing"));
	*rest++ = '\0';
	if (!is_name(span->sn_name) || strlen(span->sn_name) >
	    NAME_MAX_BYTES)
		return (prof_spec_span_refuse(error, text, "NAME is a letter "
		    "followed by letters, digits, '_', '-' and '.', at most 63 "
		    "characters"));
	span->sn_begin = part_next(&rest);
	while ((part = part_next(&rest)) != NULL) {
		if (strncmp(part, KEY, strlen(KEY)) == 0 &&
		    span->sn_key == NULL)
			span->sn_key = part + strlen(KEY);
		else if (span->sn_end == NULL && span->sn_key == NULL)
			span->sn_end = part;
		else
			return (prof_spec_span_refuse(error, text,
			    "too many parts"));
	}
	if (span->sn_begin[0] == '\0' ||
	    (span->sn_end != NULL && span->sn_end[0] == '\0') ||
	    (span->sn_key != NULL && span->sn_key[0] == '\0'))
		return (prof_spec_span_refuse(error, text, "a part of the span "
		    "is empty"));
	return (0);
}

void
prof_spec_span_fini(struct prof_spec_span *span)
{
	free(span->sn_copy);
}

char *
prof_spec_span_return(const char *begin)
{
	static const char *const returns[][2] = {
		{ "uprobe:", "uretprobe:" }, { "kprobe:", "kretprobe:" },
		{ "fentry:", "fexit:" },
		{ "syscalls:sys_enter_", "syscalls:sys_exit_" },
	};
	static const char call[] = "syscall:", entry[] = ":entry";
	const size_t length = strcspn(begin, "{");
	char *text;

	for (size_t n = 0; n < sizeof(returns) / sizeof(returns[0]); n++) {
		const size_t skip = strlen(returns[n][0]);

		if (strncmp(begin, returns[n][0], skip) == 0)
			return (asprintf(&text, "%s%.*s", returns[n][1],
			    (int)(length - skip), begin + skip) == -1 ? NULL :
			    text);
	}
	if (strncmp(begin, call, strlen(call)) != 0 ||
	    length <= strlen(entry) || strncmp(begin + length -
	    strlen(entry), entry, strlen(entry)) != 0)
		return (NULL);
	return (asprintf(&text, "%.*s:return", (int)(length - strlen(entry)),
	    begin) == -1 ? NULL : text);
}
