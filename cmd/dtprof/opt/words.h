/* SPDX-License-Identifier: ISC */
/* A command line as words; see words.c. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* NULL-ended, owned by the caller; NULL: why says what is in the way. */
char	**words_split(const char *text, const char **why);
void	words_free(char **words);

#endif /* WORDS_H */
