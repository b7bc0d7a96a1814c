/*
 * ASSERTION: Text and files that other processes choose (lines of maps, lists
 * of CPUs, notes, ELF files) are read within their bounds, whatever they are.
 *
 * Input: one byte that says which (0 maps, 1 CPUs, 2 notes, 3 ELF), and the
 * text or bytes.
 */
/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "elf/build_id.h"
#include "os/cpus.h"
#include "os/procfs.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
maps(char *text, size_t len)
{
	struct prof_record record;

	if (!prof_maps_parse(text, &record))
		return;
	if (record.pr_len > UINT64_MAX - record.pr_addr)
		abort();
	if (record.pr_path >= text && record.pr_path <= text + len &&
	    record.pr_path + strlen(record.pr_path) > text + len)
		abort();
}

static void
cpus(const char *text)
{
	int *list;
	size_t n, i;

	if (prof_cpu_list_parse(text, &list, &n) == -1)
		return;
	for (i = 1; i < n; i++)
		if (list[i] <= list[i - 1])
			abort();
	free(list);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	uint8_t id[20];
	char *text;

	if (len < 1)
		return (0);
	/* Behind the text a NUL, and behind the bytes nothing. */
	text = malloc(len);
	if (text == NULL)
		return (0);
	memcpy(text, input + 1, len - 1);
	text[len - 1] = '\0';
	if (input[0] % 4 == 0)
		maps(text, len - 1);
	else if (input[0] % 4 == 1)
		cpus(text);
	else if (input[0] % 4 == 2 &&
	    prof_build_id_of_notes(text, len, 4 + (input[0] & 4), id) > 20)
		abort();
	else if (input[0] % 4 == 3 &&
	    prof_build_id_of_memory(text, len, id) > 20)
		abort();
	free(text);
	return (0);
}
