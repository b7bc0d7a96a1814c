/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever the bytes of a file of results or of a command line,
 * they become a tree or words, or are refused; what became a tree can be
 * asked for anything.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../cmd/dtprof/ui/json.c"

#include "../../cmd/dtprof/opt/words.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No file is read here. */
int
file_open_regular(const char *path)
{
	(void)path;
	abort();
}

void
file_narrow(const char *path)
{
	(void)path;
	abort();
}

static size_t
count(const struct json *json, int depth)
{
	size_t n = 0;

	if (depth > MAX_DEPTH + 1)
		abort();
	for (; json != NULL; json = json->js_next) {
		if (json->js_type == JSON_STRING && json->js_text == NULL)
			abort();
		n += 1 + count(json->js_first, depth + 1);
	}
	return (n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *why;
	struct json *json;
	char *text, **words;

	text = malloc(size + 1);
	if (text == NULL)
		return (0);
	memcpy(text, data, size);
	text[size] = '\0';
	json = json_parse(text, size, &why);
	if ((json == NULL) != (why != NULL) || count(json, 0) > size + 1)
		abort();
	(void)json_number(json, "wall", 0);
	(void)json_text(json_get(json, "results"), "command");
	json_free(json);
	words = words_split(text, &why);
	if ((words == NULL) != (why != NULL))
		abort();
	words_free(words);
	free(text);
	return (0);
}
