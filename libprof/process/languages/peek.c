/* SPDX-License-Identifier: ISC */
/*
 * Memory of a recorded process, for languages that name its code.  Called by
 * process/codes.c and by the files of languages.
 */
#include <string.h>
#include <unistd.h>

#include "language.h"

#define PAGE	4096u

size_t
prof_peek_some(const struct prof_peek *memory, uint64_t address,
    void *bytes, size_t size)
{
	ssize_t n;

	if (memory->pk_fd == -1 || address > INT64_MAX - size)
		return (0);
	n = pread(memory->pk_fd, bytes, size, (off_t)address);
	return (n < 0 ? 0 : (size_t)n);
}

bool
prof_peek_read(const struct prof_peek *memory, uint64_t address,
    void *bytes, size_t size)
{
	return (prof_peek_some(memory, address, bytes, size) == size);
}

/* A page at a time, as the next one may not be there. */
bool
prof_peek_text(const struct prof_peek *memory, uint64_t address,
    char *text, size_t size)
{
	size_t n = 0, part;

	while (n < size - 1) {
		part = PAGE - (size_t)((address + n) % PAGE);
		if (part > size - 1 - n)
			part = size - 1 - n;
		if (!prof_peek_read(memory, address + n, text + n, part))
			return (false);
		if (memchr(text + n, '\0', part) != NULL)
			return (true);
		n += part;
	}
	text[n] = '\0';
	return (true);
}
