/* SPDX-License-Identifier: ISC */
/*
 * Names of files by pattern: %t time, %n number, %r reason, %h host.  Called by
 * record_dump.c and record_rotate.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

#define REASON_MOST	120	/* characters; a name may have 255 */

/* A reason as a part of a name of a file: a hyphen for all that is special. */
static void
put_reason(FILE *stream, const char *reason)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
	bool is_gap = false;

	for (size_t n = 0; *reason != '\0' && n < REASON_MOST; n++, reason++) {
		if (strchr(plain, *reason) == NULL) {
			is_gap = true;
			continue;
		}
		if (is_gap)
			putc('-', stream);
		is_gap = false;
		putc(*reason, stream);
	}
}

static void
put_time(FILE *stream)
{
	const time_t now = time(NULL);
	char text[32] = "";
	struct tm tm;

	if (localtime_r(&now, &tm) != NULL)
		(void)strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm);
	fputs(text, stream);
}

static void
put_host(FILE *stream)
{
	char name[256] = "";

	(void)gethostname(name, sizeof(name) - 1);
	put_reason(stream, name);
}

char *
record_name(const char *pattern, uint64_t number, const char *reason)
{
	size_t length;
	char *text;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return (NULL);
	for (const char *at = pattern; *at != '\0'; at++) {
		if (*at != '%' || at[1] == '\0') {
			putc(*at, stream);
			continue;
		}
		switch (*++at) {
		case 't':
			put_time(stream);
			break;
		case 'n':
			fprintf(stream, "%llu", (unsigned long long)number);
			break;
		case 'r':
			put_reason(stream, reason);
			break;
		case 'h':
			put_host(stream);
			break;
		default:
			putc(*at, stream);
		}
	}
	return (fclose(stream) == 0 ? text : NULL);
}

int
record_name_check(const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	char *folder;
	int rv = 0;

	if (strcmp(pattern, "-") == 0)
		return (msg_error("record", "a dump cannot be written to "
		    "standard output", "give a file with -o"));
	folder = strndup(pattern, slash == NULL ? 0 :
	    (size_t)(slash - pattern + 1));
	if (folder == NULL)
		return (msg_error("record", "out of memory", "free memory"));
	if (strchr(folder, '%') == NULL && faccessat(AT_FDCWD, slash == NULL ?
	    "." : folder, W_OK | X_OK, AT_EACCESS) == -1)
		rv = msg_fail("record", "give a file in a directory that you "
		    "can write to", "-o %s: the directory cannot be written "
		    "to: %s", pattern, strerror(errno));
	free(folder);
	return (rv);
}

bool
record_name_varies(const char *pattern)
{
	return (strstr(pattern, "%n") != NULL ||
	    strstr(pattern, "%t") != NULL);
}
