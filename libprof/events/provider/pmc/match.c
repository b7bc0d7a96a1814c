/* SPDX-License-Identifier: ISC */
/*
 * Does a counter answer a question?  "l2 miss" is asked, L2_RQSTS:MISS is
 * meant.  Vendors abbreviate as they like, so words are compared by how they
 * begin, without endings, and with their usual other forms: br for branch,
 * llc for l3.  The name counts for more than the description, whole words
 * for more than parts, and words beside each other for more than scattered.
 *
 * Called by search.c for each counter there is.  Pure text.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "events/names.h"

#define WORDS_MAX	8
#define FORMS_MAX	10
#define WORD_MAX	32

struct word {
	char	wo_form[FORMS_MAX][WORD_MAX];	/* [0] as asked */
	size_t	wo_nforms;
};

struct prof_question {
	struct word	qu_word[WORDS_MAX];
	size_t		qu_nwords;
};

/* Without endings, as stem() leaves them; all of a line mean the same. */
static const char *const synonyms[][FORMS_MAX] = {
	{ "branch", "br", "brn", "jump" },
	{ "mispredict", "misp", "mispred", "predict" },
	{ "instruction", "inst", "ins", "insn", "instr" },
	{ "cycle", "cycl", "cyc", "clk", "clock" },
	{ "l3", "llc", "last" },
	{ "memory", "mem", "dram" },
	{ "float", "fp", "flop", "sse", "avx" },
	{ "load", "ld", "read" },
	{ "store", "st", "write" },
	{ "divide", "div", "division", "divider" },
	{ "retir", "ret" },
	{ "prefetch", "pf", "pref" },
	{ "interrupt", "irq", "intr" },
	{ "latency", "lat", "ldlat" },
	{ "bandwidth", "bw", "cas", "bus", "fill" },
	{ "migration", "migrate", "move" },
	{ "data", "dcache", "l1d" },
	{ "walk", "walker", "tablewalk" },
	{ "stall", "stalls", "block" },
	{ "exception", "exc", "fault" },
	{ "speculative", "spec", "specul" },
	{ "operation", "op", "instruction", "inst" },
	{ "switch", "switche" },
};

/* Who does not ask for these means something else that is called alike. */
static const char *const special[][3] = {
	{ "tlb", "translat", "walk" },
	{ "prefetch", "pf", "prefetche" },
};

/* May stand between two words that belong together. */
static const char *const between[] = {
	"the", "in", "of", "a", "cache", "data", NULL
};

/* Words of a question that say nothing about the counter. */
static const char *const fillers[] = {
	"a", "an", "and", "are", "by", "count", "counter", "event", "for",
	"how", "i", "in", "is", "many", "much", "my", "number", "of", "on",
	"per", "the", "to", "what", "which", "with", NULL
};

static size_t	next_token(const char **text, char *token);
static void	word_stem(char *word);
static void	add_forms(struct word *word);
static unsigned	find_form(const char *form, const char *token, bool in_name);
static unsigned	find_word(const struct word *word, const char *text,
		    bool in_name, uint64_t *places);

/* The next run of letters and digits, in lower case; its length, 0: none. */
static size_t
next_token(const char **text, char *token)
{
	size_t n = 0;

	while (**text != '\0' && !isalnum((unsigned char)**text))
		(*text)++;
	for (; isalnum((unsigned char)**text); (*text)++)
		if (n + 1 < WORD_MAX)
			token[n++] = (char)tolower((unsigned char)**text);
	token[n] = '\0';
	return (n);
}

static bool
word_cut(char *word, const char *ending, size_t least)
{
	const size_t length = strlen(word), end = strlen(ending);

	if (length < end + least || strcmp(word + length - end, ending) != 0)
		return (false);
	word[length - end] = '\0';
	return (true);
}

/* "misses" and "missed" begin with miss, which itself is no plural. */
static void
word_stem(char *word)
{
	const size_t length = strlen(word);

	if (length > 2 && strcmp(word + length - 2, "ss") == 0)
		return;
	if (length > 4 && strcmp(word + length - 4, "sses") == 0)
		word[length - 2] = '\0';
	else if (!word_cut(word, "ing", 4) && !word_cut(word, "ed", 4))
		(void)word_cut(word, "s", 3);
}

static void
add_forms(struct word *word)
{
	const char *asked = word->wo_form[0];

	for (size_t s = 0; s < sizeof(synonyms) / sizeof(synonyms[0]); s++) {
		bool same = false;

		for (size_t f = 0; f < FORMS_MAX && synonyms[s][f] != NULL;
		    f++)
			same |= strcmp(synonyms[s][f], asked) == 0;
		for (size_t f = 0; same && f < FORMS_MAX &&
		    synonyms[s][f] != NULL; f++)
			if (strcmp(synonyms[s][f], asked) != 0 &&
			    word->wo_nforms < FORMS_MAX)
				strcpy(word->wo_form[word->wo_nforms++],
				    synonyms[s][f]);
	}
}

struct prof_question *
prof_question_new(const char *words)
{
	struct prof_question *question = calloc(1, sizeof(*question));
	char token[WORD_MAX];

	if (question == NULL)
		return (NULL);
	while (question->qu_nwords < WORDS_MAX &&
	    next_token(&words, token) > 0) {
		struct word *word = &question->qu_word[question->qu_nwords];
		bool says = true;

		for (size_t f = 0; fillers[f] != NULL; f++)
			says &= strcmp(fillers[f], token) != 0;
		if (!says)
			continue;
		word_stem(token);
		strcpy(word->wo_form[word->wo_nforms++], token);
		add_forms(word);
		question->qu_nwords++;
	}
	return (question);
}

/* How well a form is found: as a word, as its beginning, as a part. */
static unsigned
find_form(const char *form, const char *token, bool in_name)
{
	const size_t length = strlen(form);
	char stemmed[WORD_MAX];
	bool is_whole;

	if (strncmp(token, form, length) != 0)
		return (in_name && length >= 3 &&
		    strstr(token, form) != NULL ? 2 : 0);
	strcpy(stemmed, token);
	word_stem(stemmed);
	is_whole = strlen(stemmed) <= length;
	/* "st" begins too much; "l1" means l1d as well. */
	if (!is_whole && length < 3 && !isdigit((unsigned char)
	    form[length - 1]))
		return (0);
	return (is_whole ? 4 : 3);
}

/*
 * The best place of a word in a text: how well, and which of the text's
 * words it is, not counting those that may stand between.
 */
static unsigned
find_word(const struct word *word, const char *text, bool in_name,
    uint64_t *places)
{
	char token[WORD_MAX];
	unsigned best = 0, now;
	size_t at = 0;

	*places = 0;
	while (next_token(&text, token) > 0 && at < 63) {
		bool counts = true;

		for (size_t f = 0; f < word->wo_nforms; f++) {
			now = 4 * find_form(word->wo_form[f], token, in_name);
			/* As asked is better than in other words. */
			now += now > 0 && f == 0;
			best = now > best ? now : best;
			if (now > 0)
				*places |= 1ULL << at;
		}
		for (size_t b = 0; between[b] != NULL; b++)
			counts &= strcmp(between[b], token) != 0;
		at += counts || (*places >> at & 1) != 0;
	}
	return (best);
}

/* Is it about something special that was not asked for? */
static bool
is_special(const struct prof_question *question, size_t kind,
    const char *name)
{
	char token[WORD_MAX];
	bool is = false;

	while (next_token(&name, token) > 0)
		is |= strstr(token, special[kind][0]) != NULL ||
		    strcmp(token, special[kind][1]) == 0;
	for (size_t w = 0; w < question->qu_nwords; w++)
		for (size_t f = 0; f < 3; f++)
			if (strstr(question->qu_word[w].wo_form[0],
			    special[kind][f]) != NULL)
				return (false);
	return (is);
}

#define NEXT_TO		10	/* two words that stand beside each other */
#define SPECIAL		14

unsigned
prof_question_score(const struct prof_question *question, const char *name,
    const char *desc, size_t may_miss)
{
	uint64_t in_name, in_desc, last_name = 0, last_desc = 0;
	unsigned score = 1;
	size_t missed = 0;

	for (size_t w = 0; w < question->qu_nwords; w++) {
		const struct word *word = &question->qu_word[w];
		unsigned as_name = find_word(word, name, true, &in_name);
		unsigned as_desc = find_word(word, desc, false, &in_desc) / 2;

		if (as_name == 0 && as_desc == 0 && missed++ == may_miss)
			return (0);
		score += as_name > as_desc ? as_name : as_desc;
		if ((last_name << 1 & in_name) != 0 ||
		    ((last_desc << 1 | last_desc >> 1) & in_desc) != 0)
			score += NEXT_TO;
		last_name = in_name;
		last_desc = in_desc;
	}
	for (size_t k = 0; k < sizeof(special) / sizeof(special[0]); k++)
		if (question->qu_nwords > 0 && is_special(question, k, name))
			score -= score > SPECIAL ? SPECIAL : score - 1;
	return (score);
}

size_t
prof_question_nwords(const struct prof_question *question)
{
	return (question->qu_nwords);
}

void
prof_question_free(struct prof_question *question)
{
	free(question);
}
