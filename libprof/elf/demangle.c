/* SPDX-License-Identifier: ISC */
/*
 * Names for people out of mangled ones, and shorter ones out of those, for
 * whoever shows functions.
 *
 * libiberty demangles.  A hostile name of a few hundred bytes may stand for
 * gigabytes, since it can refer to its own parts again and again; so what
 * libiberty prints goes through print(), which leaves by longjmp once it is
 * too much.  libiberty then holds nothing but its stack (see there).
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

#define MAX_RAW		(8u << 10)
#define MAX_PRINTED	(64u << 10)

/* D's demangler cannot be stopped: each of them may double what it prints. */
#define MAX_D_REFERENCES 12

struct printed {
	jmp_buf		 pr_leave;
	char		*pr_text;
	size_t		 pr_n;
	bool		 pr_rust;
	bool		 pr_over;
};

typedef int	demangle_fn(const char *, int, demangle_callbackref, void *);

/*
 * Rust's demangler prints a name outside of ASCII from memory that it frees
 * afterwards.  Punctuation, which any long name has, it does not.
 */
static void
part_print(const char *text, size_t length, void *arg)
{
	struct printed *printed = arg;

	if (length == 0)
		return;
	if (length > MAX_PRINTED - printed->pr_n)
		printed->pr_over = true;
	if (printed->pr_over) {
		if (!printed->pr_rust ||
		    (length <= 2 && (text[0] & 0x80) == 0))
			longjmp(printed->pr_leave, 1);
		return;
	}
	memcpy(printed->pr_text + printed->pr_n, text, length);
	printed->pr_n += length;
}

static char *
demangler_run(demangle_fn *demangle, const char *raw, bool rust)
{
	struct printed *printed = calloc(1, sizeof(*printed));
	char *text = NULL;

	if (printed == NULL)
		return (NULL);
	printed->pr_rust = rust;
	printed->pr_text = malloc(MAX_PRINTED);
	if (printed->pr_text != NULL && setjmp(printed->pr_leave) == 0 &&
	    demangle(raw, DMGL_PARAMS | DMGL_ANSI, part_print, printed) != 0 &&
	    !printed->pr_over && printed->pr_n > 0)
		text = strndup(printed->pr_text, printed->pr_n);
	free(printed->pr_text);
	free(printed);
	return (text);
}

static char *
demangle_d(const char *raw)
{
	const char *at = raw;
	size_t n = 0;

	while ((at = strchr(at, 'Q')) != NULL) {
		if (++n > MAX_D_REFERENCES)
			return (NULL);
		at++;
	}
	return (dlang_demangle(raw, DMGL_PARAMS | DMGL_ANSI));
}

char *
prof_demangle(const char *raw)
{
	char *text = NULL;

	if (raw[0] != '_' || strnlen(raw, MAX_RAW + 1) > MAX_RAW)
		return (NULL);
	if (raw[1] == 'D')
		return (demangle_d(raw));
	if (raw[1] == 'R' || raw[1] == 'Z')
		text = demangler_run(rust_demangle_callback, raw, true);
	if (text == NULL && raw[1] == 'Z')
		text = demangler_run(cplus_demangle_v3_callback, raw, false);
	return (text);
}

/* ------------------------------------------------------------- folding */

/* What was read of a name, and what of it is kept. */
struct fold {
	const char	*fo_at;
	char		*fo_out;
	size_t		 fo_n;
	bool		 fo_operator;	/* "operator ..." up to its "(" */
	bool		 fo_params;	/* a list of parameters was seen */
};

static bool
is_word(char c)
{
	return (c == '_' || c == '$' || (c >= '0' && c <= '9') ||
	    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
}

/* Behind the bracket that closes the one here; NULL: nothing does. */
static const char *
behind_parens(const char *at)
{
	size_t depth = 0;

	for (; *at != '\0'; at++) {
		if (*at == '(')
			depth++;
		else if (*at == ')' && --depth == 0)
			return (at + 1);
	}
	return (NULL);
}

/*
 * Comparisons are written ((a)>(b)) and (a)<(b): what is in parentheses does
 * not count, nor does "<" behind them, but for "operator()<int>".
 */
static const char *
behind_angles(const char *at)
{
	static const char call[] = "operator()";
	const size_t length = strlen(call);
	const char *begin = at;
	size_t depth = 0;

	while (at != NULL && *at != '\0') {
		if (*at == '(') {
			at = behind_parens(at);
			if (at != NULL && ((size_t)(at - begin) < length ||
			    memcmp(at - length, call, length) != 0))
				at += strspn(at, "<=");
			continue;
		}
		if (*at == '<')
			depth++;
		else if (*at == '>' && at[-1] != '-' && --depth == 0)
			return (at + 1);
		at++;
	}
	return (NULL);
}

static void
text_put(struct fold *fold, const char *text, size_t length)
{
	memcpy(fold->fo_out + fold->fo_n, text, length);
	fold->fo_n += length;
}

/* "operator" and its signs, so that they are taken for no brackets. */
static bool
fold_operator(struct fold *fold)
{
	const char *at = fold->fo_at;
	size_t length = strlen("operator");

	if (strncmp(at, "operator", length) != 0 || is_word(at[length]) ||
	    (fold->fo_n > 0 && is_word(fold->fo_out[fold->fo_n - 1])))
		return (false);
	at += length;
	if (strncmp(at, "()", 2) == 0 || strncmp(at, "[]", 2) == 0)
		length += 2;
	else
		length += strspn(at, "<>=-+*/%&|^!~,\"");
	text_put(fold, fold->fo_at, length);
	fold->fo_at += length;
	/* "operator<< <int>" */
	if (strncmp(fold->fo_at, " <", 2) == 0)
		fold->fo_at++;
	fold->fo_operator = true;
	return (true);
}

/* One step; false: this is not a name as C++ has them. */
static bool
fold_step(struct fold *fold)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *at = fold->fo_at, *behind;

	if (fold_operator(fold))
		return (true);
	if (*at == '<') {
		behind = behind_angles(at);
		if (behind == NULL || fold->fo_n == 0)
			return (false);
		text_put(fold, behind - at == 2 ? "<>" : "<..>",
		    behind - at == 2 ? 2 : 4);
	} else if (strncmp(at, anonymous, strlen(anonymous)) == 0) {
		behind = at + strlen(anonymous);
		text_put(fold, anonymous, strlen(anonymous));
	} else if (*at == '(') {
		behind = behind_parens(at);
		if (behind == NULL || fold->fo_n == 0 || at[1] == '*')
			return (false);
		text_put(fold, "()", 2);
		fold->fo_params = true;
		fold->fo_operator = false;
	} else {
		behind = at + 1;
		text_put(fold, at, 1);
	}
	fold->fo_at = behind;
	return (true);
}

/* "{lambda(int)#1}": kept but for what is in its brackets. */
static bool
fold_braces(struct fold *fold)
{
	size_t depth = 0;

	do {
		depth += *fold->fo_at == '{';
		depth -= *fold->fo_at == '}';
		if (!fold_step(fold))
			return (false);
	} while (depth > 0 && *fold->fo_at != '\0');
	return (depth == 0);
}

/*
 * "T A::f<T>(int) const": what stands before a space is the type that is
 * returned, unless the parameters were there; what stands behind them, and
 * not after "::", are remarks.
 */
static bool
fold_name(struct fold *fold)
{
	while (*fold->fo_at != '\0') {
		if (*fold->fo_at == '{') {
			if (!fold_braces(fold))
				return (false);
		} else if (*fold->fo_at != ' ' || fold->fo_operator) {
			if (!fold_step(fold))
				return (false);
		} else if (fold->fo_params) {
			break;
		} else {
			fold->fo_n = 0;
			fold->fo_at++;
		}
	}
	return (fold->fo_n > 0 && fold->fo_params);
}

char *
prof_name_fold(const char *name)
{
	struct fold fold = { .fo_at = name };
	size_t length = strlen(name);

	/* "<>" may become "<..>", so twice as much is enough. */
	fold.fo_out = malloc(2 * length + 1);
	if (fold.fo_out == NULL)
		return (NULL);
	if (fold_name(&fold))
		fold.fo_out[fold.fo_n] = '\0';
	else
		memcpy(fold.fo_out, name, length + 1);
	return (fold.fo_out);
}

void
prof_name_strip(char *name, const char **bare)
{
	char *close = strrchr(name, ')'), *at;
	int depth = 0;

	*bare = name;
	if (close == NULL)
		return;
	for (at = close; at > name; at--) {
		depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
		if (depth == 0)
			break;
	}
	if (at == name)
		return;
	*at = '\0';
	for (depth = 0; at > name; at--) {
		depth += at[-1] == '>' || at[-1] == ')' ? 1 :
		    at[-1] == '<' || at[-1] == '(' ? -1 : 0;
		if (depth == 0 && at[-1] == ' ')
			break;
	}
	if (strncmp(at, "operator", 8) != 0)
		*bare = at;
}
