/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a command line is split into the very words that sh makes of
 * it, for 2,000 random lines of quotes, backslashes and blanks; what sh would
 * expand or pipe is refused.  Easy to get wrong: empty words, a backslash
 * within double quotes, words made of several quoted parts.
 */
#include <string.h>

#include "../../cmd/dtprof/opt/words.c"
#include "cli-check.h"

#define LINES	2000

static unsigned long long state = 20261121;

static unsigned
draw(unsigned n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((unsigned)(state >> 33) % n);
}

/* Only characters that mean the same to both. */
static void
make_line(char *line, size_t size)
{
	static const char chars[] = "ab=/.- '\"\\  ab'\"";
	const size_t n = 1 + draw((unsigned)size - 2);
	size_t i;

	for (i = 0; i < n; i++)
		line[i] = chars[draw(sizeof(chars) - 1)];
	line[i] = '\0';
}

/* What printf '<%s>' makes of our words. */
static void
put_words(FILE *file, char *const *words)
{
	for (; *words != NULL; words++)
		fprintf(file, "<%s>", *words);
	fputc('\n', file);
}

static void
refused(const char *line)
{
	const char *why;
	char **words = words_split(line, &why);

	CHECK(words == NULL && why != NULL, "%s", line);
}

int
main(void)
{
	char line[24], expected[256], got[256];
	char path[] = "/tmp/dtprof-words.XXXXXX", command[64];
	FILE *script, *ours, *theirs;
	const char *why;
	size_t lines = 0;
	char **words;

	script = fdopen(mkstemp(path), "w");
	ours = tmpfile();
	CHECK(script != NULL && ours != NULL, "files");
	fprintf(script, "w() { for x; do printf '<%%s>' \"$x\"; done; echo; "
	    "}\n");
	while (lines < LINES) {
		make_line(line, sizeof(line));
		words = words_split(line, &why);
		if (words == NULL)
			continue;
		fprintf(script, "w %s\n", line);
		put_words(ours, words);
		words_free(words);
		lines++;
	}
	CHECK(fclose(script) == 0, "script");
	rewind(ours);
	snprintf(command, sizeof(command), "sh %s", path);
	theirs = popen(command, "r");
	CHECK(theirs != NULL, "sh");
	for (size_t n = 0; n < lines; n++) {
		CHECK(fgets(expected, sizeof(expected), theirs) != NULL,
		    "sh ended at line %zu", n);
		CHECK(fgets(got, sizeof(got), ours) != NULL, "line %zu", n);
		CHECK(strcmp(expected, got) == 0, "sh: %sours: %s", expected,
		    got);
	}
	CHECK(pclose(theirs) == 0, "sh");
	remove(path);
	OK("%zu lines as sh splits them", lines);
	refused("");
	refused("  ");
	refused("a 'b");
	refused("a \"b");
	refused("a\\");
	refused("a | b");
	refused("a $HOME");
	refused("a \"$HOME\"");
	refused("a *.c");
	refused("a; b");
	refused("~/a");
	words = words_split("'a|b' \"c;d\" e\\*", &why);
	CHECK(words != NULL && strcmp(words[0], "a|b") == 0 &&
	    strcmp(words[2], "e*") == 0, "quoted, they are themselves");
	words_free(words);
	OK("what needs a shell is refused");
	return (0);
}
