/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: every code has a name, a text and a cure, a failure holds one
 * sentence and one cure however long they are, and nothing of the failure
 * before is left in it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define CHECK(condition) do {						\
	if (!(condition)) {						\
		printf("%s:%d: not so: %s\n", __FILE__, __LINE__,	\
		    #condition);					\
		exit(1);						\
	}								\
} while (0)

int
main(void)
{
	struct prof_err error;
	char longest[2000];
	int code;

	for (code = PROF_OK + 1; code < PROF_NCODES; code++) {
		CHECK(strncmp(prof_code_name(code), "E_", 2) == 0);
		CHECK(prof_code_text(code)[0] != '\0');
		CHECK(prof_code_cure(code)[0] != '\0');
		CHECK(strchr(prof_code_text(code), '\n') == NULL);
		memset(&error, 'x', sizeof(error));
		CHECK(prof_fail(&error, (enum prof_code)code, "%s: %d", "why",
		    code) == -1);
		CHECK(error.pe_code == code);
		CHECK(strncmp(error.pe_text, "why: ", 5) == 0);
		CHECK(strcmp(error.pe_cure, prof_code_cure(code)) == 0);
		CHECK(prof_cure(&error, "do %s", "this") == -1);
		CHECK(strcmp(error.pe_cure, "do this") == 0);
		CHECK(error.pe_code == code);
	}
	CHECK(strcmp(prof_code_name(PROF_E_NEWER), "E_NEWER") == 0);
	CHECK(strcmp(prof_code_name(-1), "E_UNKNOWN") == 0);
	CHECK(strcmp(prof_code_text(PROF_NCODES), "unknown error") == 0);
	memset(longest, 'y', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	CHECK(prof_fail(&error, PROF_E_IO, "%s", longest) == -1);
	CHECK(strlen(error.pe_text) == sizeof(error.pe_text) - 1);
	CHECK(prof_cure(&error, "%s", longest) == -1);
	CHECK(strlen(error.pe_cure) == sizeof(error.pe_cure) - 1);
	CHECK(prof_fail_nomem(&error) == -1 && error.pe_code == PROF_E_NOMEM);
	CHECK(prof_fail(NULL, PROF_E_IO, "nobody asks") == -1);
	CHECK(prof_cure(NULL, "nobody asks") == -1);
	(void)snprintf(longest, sizeof(longest), "%d.%d", PROF_VERSION_MAJOR,
	    PROF_VERSION_MINOR);
	CHECK(strcmp(prof_version(), longest) == 0);
	printf("%d codes\n", PROF_NCODES - 1);
	return (0);
}
