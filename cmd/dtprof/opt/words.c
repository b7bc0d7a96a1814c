/* SPDX-License-Identifier: ISC */
/*
 * Splits a command line as a shell splits words, and does nothing else that
 * a shell does: quotes and backslashes mean what they mean there; variables,
 * patterns, pipes and redirections are refused rather than passed on as
 * words that the user did not mean.
 *
 * Called by bench, which runs commands without a shell.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

/* One split: the words so far, and the word being made. */
struct split {
	const char	*sp_at;
	char		*sp_word;	/* as long as the text */
	size_t		 sp_length;
	bool		 sp_is_word;	/* "" is one too */
	char		**sp_words;
	size_t		 sp_n;
	const char	*sp_why;
};

static int
split_refuse(struct split *split, const char *why)
{
	split->sp_why = why;
	return (-1);
}

static void
split_put(struct split *split, char c)
{
	split->sp_word[split->sp_length++] = c;
	split->sp_is_word = true;
}

static int
end_word(struct split *split)
{
	char **grown;

	if (!split->sp_is_word)
		return (0);
	grown = reallocarray(split->sp_words, split->sp_n + 2,
	    sizeof(*grown));
	if (grown == NULL)
		return (split_refuse(split, "out of memory"));
	split->sp_words = grown;
	grown[split->sp_n] = strndup(split->sp_word, split->sp_length);
	if (grown[split->sp_n] == NULL)
		return (split_refuse(split, "out of memory"));
	grown[++split->sp_n] = NULL;
	split->sp_length = 0;
	split->sp_is_word = false;
	return (0);
}

/* Between ' and ': everything is itself. */
static int
single_quoted(struct split *split)
{
	split->sp_is_word = true;
	for (split->sp_at++; *split->sp_at != '\''; split->sp_at++) {
		if (*split->sp_at == '\0')
			return (split_refuse(split, "unclosed '"));
		split_put(split, *split->sp_at);
	}
	split->sp_at++;
	return (0);
}

/* Between " and ": a backslash escapes only what is special there. */
static int
double_quoted(struct split *split)
{
	split->sp_is_word = true;
	for (split->sp_at++; *split->sp_at != '"'; split->sp_at++) {
		char c = *split->sp_at;

		if (c == '\0')
			return (split_refuse(split, "unclosed \""));
		if (c == '$' || c == '`')
			return (split_refuse(split, "$ and ` need a shell"));
		if (c == '\\' && split->sp_at[1] == '\n') {
			split->sp_at++;
			continue;
		}
		if (c == '\\' && split->sp_at[1] != '\0' &&
		    strchr("$`\"\\", split->sp_at[1]) != NULL)
			c = *++split->sp_at;
		split_put(split, c);
	}
	split->sp_at++;
	return (0);
}

static int
split_escape(struct split *split)
{
	if (split->sp_at[1] == '\0')
		return (split_refuse(split, "the command ends with a "
		    "backslash"));
	if (split->sp_at[1] != '\n')
		split_put(split, split->sp_at[1]);
	split->sp_at += 2;
	return (0);
}

/* One piece of text; 1: the end. */
static int
split_step(struct split *split)
{
	const char c = *split->sp_at;

	switch (c) {
	case '\0':
		return (end_word(split) == -1 ? -1 : 1);
	case ' ': case '\t': case '\n':
		split->sp_at++;
		return (end_word(split));
	case '\'':
		return (single_quoted(split));
	case '"':
		return (double_quoted(split));
	case '\\':
		return (split_escape(split));
	case '#': case '~':
		if (!split->sp_is_word)
			return (split_refuse(split, "# and ~ need a shell"));
		break;
	case '|': case '&': case ';': case '<': case '>': case '(':
	case ')': case '$': case '`': case '*': case '?': case '[':
		return (split_refuse(split,
		    "|, &, ;, <, >, (, ), $, `, *, ? and [ need a shell"));
	}
	split_put(split, c);
	split->sp_at++;
	return (0);
}

char **
words_split(const char *text, const char **why)
{
	struct split split = { .sp_at = text };
	int rv;

	*why = NULL;
	split.sp_word = malloc(strlen(text) + 1);
	if (split.sp_word == NULL) {
		*why = "out of memory";
		return (NULL);
	}
	do
		rv = split_step(&split);
	while (rv == 0);
	free(split.sp_word);
	if (rv == 1 && split.sp_n > 0)
		return (split.sp_words);
	*why = split.sp_why != NULL ? split.sp_why : "it is empty";
	words_free(split.sp_words);
	return (NULL);
}

void
words_free(char **words)
{
	if (words != NULL)
		for (size_t i = 0; words[i] != NULL; i++)
			free(words[i]);
	free(words);
}
