/* SPDX-License-Identifier: ISC */
/*
 * Reads a filter: recursive descent over
 *
 *	or:	and { "||" and }
 *	and:	not { "&&" not }
 *	not:	"!" not | "(" or ")" | test
 *	test:	field ("=="|"!="|"<"|"<="|">"|">="|"&"|"~"|"!~") value
 *		| field "in" "(" value { "," value } ")"
 *	value:	number | number unit | 'text' | "text" | p50 | p90 | p99 | field
 *		(text for comm, syscall, span, stack and arguments that are
 *		text, units for durations, p50, p90 and p99 for that of a span,
 *		~ and !~ for stack)
 *
 * into a tree of bounded size and depth.  Every complaint names the column.
 * Called by compile.c; fuzzed by tests/fuzz/filter.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "events/names.h"
#include "filter_impl.h"

#define WORD_MAX	128

enum token {
	TOKEN_END, TOKEN_FIELD, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_COMPARE,
	TOKEN_AND, TOKEN_OR, TOKEN_NOT, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_COMMA,
	TOKEN_OTHER
};

struct subject;

struct parser {
	const char	*pa_text;
	const char	*pa_at;		/* behind the current token */
	const char	*pa_start;	/* of the current token */
	enum token	 pa_token;
	enum dtp_op	 pa_op;		/* TOKEN_COMPARE */
	bool		 pa_is_glob;	/* ~ or !~ */
	unsigned	 pa_depth;
	const struct filter_scope *pa_scope;
	struct filter_tree *pa_tree;
	struct prof_err	*pa_error;
};

static void	token_next(struct parser *parser);
static void	next_word(struct parser *parser);
static void	next_sign(struct parser *parser);
static int	fail_at(struct parser *parser, const char *fmt, ...)
		    PROF_PRINTF(2, 3);
static int	error_expected(struct parser *parser, const char *what);
static int	node_new(struct parser *parser, enum filter_kind kind,
		    int left, int right);
static int	parse_or(struct parser *parser);
static int	parse_and(struct parser *parser);
static int	parse_not(struct parser *parser);
static int	parse_span(struct parser *parser, struct dtp_test *test);
static int	parse_span_duration(struct parser *parser,
		    struct dtp_test *test);
static int	parse_test(struct parser *parser);
static int	parse_argument(struct parser *parser,
		    const struct subject *subject, struct dtp_test *test);
static int	parse_number(struct parser *parser, struct dtp_test *test,
		    bool is_signed, const char *field);
static int	parse_duration(struct parser *parser, struct dtp_test *test);
static int	parse_syscall(struct parser *parser, struct dtp_test *test);
static int	parse_text(struct parser *parser, struct dtp_test *test);
static int	parse_call(struct parser *parser, struct dtp_test *test);

int
prof_filter_parse(const char *expression, const struct filter_scope *scope,
    struct filter_tree *tree, struct prof_err *error)
{
	struct parser parser = { .pa_text = expression,
	    .pa_at = expression, .pa_scope = scope, .pa_tree = tree,
	    .pa_error = error };
	int root;

	token_next(&parser);
	if (parser.pa_token == TOKEN_END)
		return (prof_fail(error, PROF_E_FILTER,
		    "empty filter"));
	if ((root = parse_or(&parser)) == -1)
		return (-1);
	if (parser.pa_token != TOKEN_END)
		return (error_expected(&parser, "'&&', '||' or the end"));
	return (root);
}

/* ------------------------------------------------------------- tokens */

static void
token_next(struct parser *parser)
{
	const char *at = parser->pa_at;

	while (isspace((unsigned char)*at))
		at++;
	parser->pa_start = parser->pa_at = at;
	if (*at == '\0')
		parser->pa_token = TOKEN_END;
	else if (isalnum((unsigned char)*at) || *at == '_')
		next_word(parser);
	else if (*at == '-' && isdigit((unsigned char)at[1])) {
		parser->pa_at++;
		next_word(parser);
	} else if (*at == '"' || *at == '\'') {
		const char *end = strchr(at + 1, *at);

		parser->pa_token = end == NULL ? TOKEN_OTHER : TOKEN_TEXT;
		parser->pa_at = end == NULL ? at + 1 : end + 1;
	} else
		next_sign(parser);
}

/*
 * A number, or a field with its path: "next->pid", "skb.dev.name", or what an
 * argument points to, "str(arg0)".
 */
static void
next_word(struct parser *parser)
{
	const char *at = parser->pa_at;
	bool is_number = isdigit((unsigned char)*at);

	for (;;) {
		while (isalnum((unsigned char)*at) || *at == '_')
			at++;
		if (is_number)
			break;
		if (at[0] == '(' && at - parser->pa_at == 3 &&
		    strncmp(parser->pa_at, "str", 3) == 0 &&
		    strchr(at, ')') != NULL) {
			at = strchr(at, ')') + 1;
			break;
		}
		if (at[0] == '.' && (isalpha((unsigned char)at[1]) ||
		    at[1] == '_'))
			at++;
		else if (at[0] == '-' && at[1] == '>' &&
		    (isalpha((unsigned char)at[2]) || at[2] == '_'))
			at += 2;
		else
			break;
	}
	parser->pa_at = at;
	parser->pa_token = is_number ? TOKEN_NUMBER : TOKEN_FIELD;
}

/* Longer signs stand before their beginnings. */
static void
next_sign(struct parser *parser)
{
	static const struct {
		const char	*text;
		enum token	 token;
		enum dtp_op	 op;
	} signs[] = {
		{ "&&", TOKEN_AND, 0 }, { "||", TOKEN_OR, 0 },
		{ "==", TOKEN_COMPARE, DTP_OP_EQ },
		{ "!=", TOKEN_COMPARE, DTP_OP_NE },
		{ "~", TOKEN_COMPARE, DTP_OP_EQ },
		{ "!~", TOKEN_COMPARE, DTP_OP_NE },
		{ "<=", TOKEN_COMPARE, DTP_OP_LE },
		{ ">=", TOKEN_COMPARE, DTP_OP_GE },
		{ "<", TOKEN_COMPARE, DTP_OP_LT },
		{ ">", TOKEN_COMPARE, DTP_OP_GT },
		{ "&", TOKEN_COMPARE, DTP_OP_AND },
		{ "!", TOKEN_NOT, 0 },
		{ "(", TOKEN_OPEN, 0 }, { ")", TOKEN_CLOSE, 0 },
		{ ",", TOKEN_COMMA, 0 },
	};

	for (size_t n = 0; n < sizeof(signs) / sizeof(signs[0]); n++) {
		size_t length = strlen(signs[n].text);

		if (strncmp(parser->pa_at, signs[n].text, length) != 0)
			continue;
		parser->pa_at += length;
		parser->pa_token = signs[n].token;
		parser->pa_op = signs[n].op;
		parser->pa_is_glob = parser->pa_at[-1] == '~';
		return;
	}
	parser->pa_at++;
	parser->pa_token = TOKEN_OTHER;
}

/* ------------------------------------------------------------- errors */

/* The column of the current token, from 1. */
static int
fail_at(struct parser *parser, const char *fmt, ...)
{
	char why[440];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return (prof_fail(parser->pa_error, PROF_E_FILTER,
	    FILTER_COLUMN "%zu: %s",
	    (size_t)(parser->pa_start - parser->pa_text) + 1, why));
}

static int
error_expected(struct parser *parser, const char *what)
{
	size_t length = (size_t)(parser->pa_at - parser->pa_start);
	char found[32];

	if (parser->pa_token == TOKEN_END)
		return (fail_at(parser, "expected %s at the end", what));
	snprintf(found, sizeof(found), "%.*s",
	    length < sizeof(found) ? (int)length : (int)sizeof(found) - 1,
	    parser->pa_start);
	for (char *at = found; *at != '\0'; at++)
		if (!isprint((unsigned char)*at))
			*at = '?';
	fail_at(parser, "expected %s, found '%s'", what, found);
	if (parser->pa_token == TOKEN_OTHER && *parser->pa_start == '=')
		prof_cure(parser->pa_error, "use == to compare");
	if (parser->pa_token == TOKEN_OTHER && (*parser->pa_start == '"' ||
	    *parser->pa_start == '\''))
		prof_cure(parser->pa_error, "close the quote");
	return (-1);
}

/* --------------------------------------------------------------- tree */

static int
node_new(struct parser *parser, enum filter_kind kind, int left, int right)
{
	int node = prof_filter_node(parser->pa_tree, kind, left, right);

	return (node == -1 ? fail_at(parser, "filter too long") : node);
}

static int
parse_or(struct parser *parser)
{
	int left, right;

	if ((left = parse_and(parser)) == -1)
		return (-1);
	while (parser->pa_token == TOKEN_OR) {
		token_next(parser);
		if ((right = parse_and(parser)) == -1 || (left =
		    node_new(parser, FILTER_OR, left, right)) == -1)
			return (-1);
	}
	return (left);
}

static int
parse_and(struct parser *parser)
{
	int left, right;

	if ((left = parse_not(parser)) == -1)
		return (-1);
	while (parser->pa_token == TOKEN_AND) {
		token_next(parser);
		if ((right = parse_not(parser)) == -1 || (left =
		    node_new(parser, FILTER_AND, left, right)) == -1)
			return (-1);
	}
	return (left);
}

static int
parse_not(struct parser *parser)
{
	int inner;

	if (parser->pa_token != TOKEN_NOT && parser->pa_token != TOKEN_OPEN)
		return (parse_test(parser));
	if (parser->pa_depth == FILTER_DEPTH)
		return (fail_at(parser, "more than %d levels of ( and !",
		    FILTER_DEPTH));
	parser->pa_depth++;
	if (parser->pa_token == TOKEN_NOT) {
		token_next(parser);
		if ((inner = parse_not(parser)) != -1)
			inner = node_new(parser, FILTER_NOT, inner, 0);
	} else {
		token_next(parser);
		if ((inner = parse_or(parser)) != -1 &&
		    parser->pa_token != TOKEN_CLOSE)
			inner = error_expected(parser, "'&&', '||' or ')'");
		if (inner != -1)
			token_next(parser);
	}
	parser->pa_depth--;
	return (inner);
}

/* What is compared. */
struct subject {
	int		 sj_field;
	enum filter_value sj_value;
	bool		 sj_signed;
	char		 sj_name[WORD_MAX];
};

static int
parse_subject(struct parser *parser, struct subject *subject)
{
	size_t length = (size_t)(parser->pa_at - parser->pa_start);
	char why[400];

	if (parser->pa_token != TOKEN_FIELD)
		return (error_expected(parser, "a field, such as pid"));
	if (length >= sizeof(subject->sj_name))
		return (fail_at(parser, "field name too long (%zu characters)",
		    length));
	memcpy(subject->sj_name, parser->pa_start, length);
	subject->sj_name[length] = '\0';
	subject->sj_field = prof_filter_field(parser->pa_scope,
	    subject->sj_name, &subject->sj_value, &subject->sj_signed, why,
	    sizeof(why));
	if (subject->sj_field == -1)
		return (fail_at(parser, "%s", why));
	token_next(parser);
	return (0);
}

/* A field on the right; 0: there is none. */
static int
parse_other(struct parser *parser, const struct subject *subject,
    struct dtp_test *test)
{
	size_t length = (size_t)(parser->pa_at - parser->pa_start);
	enum filter_value value;
	bool is_signed;
	char name[WORD_MAX], why[400];
	int field;

	if (parser->pa_token != TOKEN_FIELD || length >= sizeof(name) ||
	    (subject->sj_value != FILTER_NUMBER &&
	    subject->sj_value != FILTER_DURATION))
		return (0);
	memcpy(name, parser->pa_start, length);
	name[length] = '\0';
	field = prof_filter_field(parser->pa_scope, name, &value, &is_signed,
	    why, sizeof(why));
	if (field == -1 || (value != FILTER_NUMBER &&
	    value != FILTER_DURATION))
		return (0);
	test->ft_other = (__u8)field;
	/* A length is compared with a result that may be an error. */
	test->ft_unsigned = !subject->sj_signed && !is_signed;
	return (1);
}

/* One value at the current token: a test of the subject, its node. */
static int
parse_value(struct parser *parser, const struct subject *subject,
    enum dtp_op op)
{
	struct dtp_test test = { .ft_field = (__u8)subject->sj_field,
	    .ft_op = (__u8)op, .ft_other = DTP_F_ZERO };
	int node, rv;

	rv = parse_other(parser, subject, &test) ? 0 :
	    subject->sj_value == FILTER_TEXT ?
	    parse_argument(parser, subject, &test) :
	    subject->sj_value == FILTER_COMM ? parse_text(parser, &test) :
	    subject->sj_value == FILTER_CALLS ? parse_call(parser, &test) :
	    subject->sj_value == FILTER_SYSCALL ?
	    parse_syscall(parser, &test) :
	    subject->sj_value == FILTER_DURATION ?
	    parse_duration(parser, &test) :
	    subject->sj_value == FILTER_SPAN ? parse_span(parser, &test) :
	    subject->sj_value == FILTER_SPAN_DURATION ?
	    parse_span_duration(parser, &test) :
	    parse_number(parser, &test, subject->sj_signed, subject->sj_name);
	if (rv == -1)
		return (-1);
	token_next(parser);
	if ((node = node_new(parser, FILTER_TEST, 0, 0)) == -1)
		return (-1);
	parser->pa_tree->ft_node[node].fn_test = test;
	parser->pa_tree->ft_node[node].fn_has_calls =
	    subject->sj_value == FILTER_CALLS;
	/* Texts and functions are tests of a set bit, so != is a NOT. */
	return (op == DTP_OP_NE && test.ft_op == DTP_OP_AND ?
	    node_new(parser, FILTER_NOT, node, 0) : node);
}

/* "field in (1, 2)" is field == 1 || field == 2. */
static int
parse_set(struct parser *parser, const struct subject *subject)
{
	int set = -1, node;

	token_next(parser);
	if (parser->pa_token != TOKEN_OPEN)
		return (error_expected(parser, "( after in"));
	do {
		token_next(parser);
		node = parse_value(parser, subject, DTP_OP_EQ);
		if (node == -1 || (set = set == -1 ? node : node_new(parser,
		    FILTER_OR, set, node)) == -1)
			return (-1);
	} while (parser->pa_token == TOKEN_COMMA);
	if (parser->pa_token != TOKEN_CLOSE)
		return (error_expected(parser, ", or )"));
	token_next(parser);
	return (set);
}

static bool
is_in(const struct parser *parser)
{
	return (parser->pa_token == TOKEN_FIELD &&
	    parser->pa_at - parser->pa_start == 2 &&
	    strncmp(parser->pa_start, "in", 2) == 0);
}

/* Texts have no order; only names of functions can be patterns. */
static int
operator_check(struct parser *parser, const struct subject *subject)
{
	const bool is_call = subject->sj_value == FILTER_CALLS;
	const bool is_number = subject->sj_value == FILTER_NUMBER ||
	    subject->sj_value == FILTER_DURATION ||
	    subject->sj_value == FILTER_SPAN_DURATION;
	char expected[WORD_MAX + 64];

	if (parser->pa_is_glob ? is_call : is_number ||
	    parser->pa_op == DTP_OP_EQ || parser->pa_op == DTP_OP_NE)
		return (0);
	snprintf(expected, sizeof(expected), "a comparison (%s or in) after %s",
	    is_number ? "==, !=, <, <=, >, >=, &" : is_call ?
	    "==, !=, ~, !~" : "==, !=", subject->sj_name);
	return (error_expected(parser, expected));
}

static int
parse_test(struct parser *parser)
{
	struct subject subject;
	enum dtp_op op;

	if (parse_subject(parser, &subject) == -1)
		return (-1);
	if (is_in(parser))
		return (parse_set(parser, &subject));
	if (parser->pa_token != TOKEN_COMPARE)
		return (error_expected(parser,
		    "a comparison, such as == or <, after the field"));
	if (operator_check(parser, &subject) == -1)
		return (-1);
	op = parser->pa_op;
	token_next(parser);
	return (parse_value(parser, &subject, op));
}

/* Decimal, 0x hexadecimal, 0 octal; the sign of a signed field counts. */
static int
parse_number(struct parser *parser, struct dtp_test *test, bool is_signed,
    const char *field)
{
	bool negative = *parser->pa_start == '-';
	unsigned long long number;
	char *end;

	if (parser->pa_token == TOKEN_TEXT) {
		fail_at(parser, "%s is a number, not a string", field);
		return (prof_cure(parser->pa_error,
		    "compare a string only with comm or with an argument that "
		    "is text, such as str(arg0)"));
	}
	errno = 0;
	number = strtoull(parser->pa_start + negative, &end, 0);
	if (parser->pa_token != TOKEN_NUMBER || end != parser->pa_at) {
		error_expected(parser, "a number");
		return (prof_cure(parser->pa_error, "write a whole number, "
		    "such as 1000000 or 0xf4240"));
	}
	if (errno != 0 || (negative && number > 1ULL << 63))
		return (fail_at(parser, "the number exceeds 64 bits"));
	if (negative && !is_signed && number != 0)
		return (fail_at(parser, "%s is never negative", field));
	test->ft_value[0] = negative ? -number : number;
	/* Addresses look negative: whoever writes them means no sign. */
	test->ft_unsigned = !is_signed || (!negative && number > INT64_MAX);
	return (0);
}

static int
parse_text(struct parser *parser, struct dtp_test *test)
{
	size_t length = (size_t)(parser->pa_at - parser->pa_start);

	if (parser->pa_token != TOKEN_TEXT)
		return (error_expected(parser, "a string such as \"bash\""));
	length -= 2;
	if (length >= DTP_COMM_LEN)
		return (fail_at(parser, "a thread name (comm) has at most %d "
		    "characters", DTP_COMM_LEN - 1));
	memcpy(test->ft_value, parser->pa_start + 1, length);
	return (0);
}

/* An argument that is text: the test asks for a bit of DTP_F_TEXTS. */
static int
parse_argument(struct parser *parser, const struct subject *subject,
    struct dtp_test *test)
{
	struct filter_tree *tree = parser->pa_tree;
	const uint32_t slot = (uint32_t)subject->sj_field - DTP_F_ARG0;
	size_t length = (size_t)(parser->pa_at - parser->pa_start);
	struct dtp_filter_text *text;

	if (parser->pa_token != TOKEN_TEXT)
		return (error_expected(parser, "a string such as \"GET\""));
	length -= 2;
	/* One that is as long as a slot could be longer there. */
	if (length >= DTP_STR_LEN - 1)
		return (fail_at(parser, "the string is longer than %d "
		    "characters", DTP_STR_LEN - 2));
	if (tree->ft_ntexts == DTP_MAX_TEXTS)
		return (fail_at(parser, "more than %d comparisons of "
		    "arguments with strings", DTP_MAX_TEXTS));
	text = &tree->ft_text[tree->ft_ntexts];
	memset(text, 0, sizeof(*text));
	text->fx_slot = slot;
	text->fx_how = parser->pa_scope->fs_arg[slot].fa_text;
	memcpy(text->fx_word, parser->pa_start + 1, length);
	test->ft_field = DTP_F_TEXTS;
	test->ft_op = DTP_OP_AND;
	test->ft_value[0] = 1U << tree->ft_ntexts++;
	return (0);
}

/* A function in the stack becomes a test of a bit of FILTER_F_CALLS. */
static int
parse_call(struct parser *parser, struct dtp_test *test)
{
	const char *why;
	int n;

	if (parser->pa_token != TOKEN_TEXT)
		return (error_expected(parser, "a function such as \"main\""));
	n = prof_filter_calls_add(&parser->pa_tree->ft_calls,
	    parser->pa_is_glob, parser->pa_start + 1,
	    (size_t)(parser->pa_at - parser->pa_start) - 2, &why);
	if (n == -1)
		return (fail_at(parser, "%s", why));
	test->ft_op = DTP_OP_AND;
	test->ft_value[0] = 1U << n;
	return (0);
}

/* syscall == "read" compares numbers. */
static int
parse_syscall(struct parser *parser, struct dtp_test *test)
{
	size_t length = (size_t)(parser->pa_at - parser->pa_start);
	char name[WORD_MAX];
	int64_t number;

	if (parser->pa_token != TOKEN_TEXT || length - 2 >= sizeof(name))
		return (error_expected(parser,
		    "a system call such as \"read\""));
	snprintf(name, sizeof(name), "%.*s", (int)(length - 2),
	    parser->pa_start + 1);
	number = prof_filter_syscall(parser->pa_scope, name);
	if (number == -1) {
		fail_at(parser, "no such system call: '%.40s'", name);
		return (prof_cure(parser->pa_error,
		    "list system calls with dtprof list 'syscall:*'"));
	}
	test->ft_value[0] = (uint64_t)number;
	test->ft_unsigned = 1;
	return (0);
}

/* Always, or never: a firing is in the kernel or not, and nowhere else. */
static void
test_decide(struct dtp_test *test, bool holds)
{
	test->ft_field = DTP_F_KERNEL;
	test->ft_op = holds ? DTP_OP_NE : DTP_OP_EQ;
	test->ft_value[0] = 2;
	test->ft_unsigned = 1;
}

/* Which span it is, is known: the filter is one of samples in it. */
static int
parse_span(struct parser *parser, struct dtp_test *test)
{
	const struct prof_filter_spans *spans = parser->pa_scope->fs_spans;
	const size_t length = (size_t)(parser->pa_at - parser->pa_start);
	size_t n;

	if (parser->pa_token != TOKEN_TEXT)
		return (error_expected(parser, "a span such as \"request\""));
	for (n = 0; n < spans->fp_n; n++)
		if (strlen(spans->fp_kinds[n]->sk_name) == length - 2 &&
		    strncmp(spans->fp_kinds[n]->sk_name,
		    parser->pa_start + 1, length - 2) == 0)
			break;
	if (n == spans->fp_n) {
		fail_at(parser, "%s span '%.*s'", spans->fp_is_live ?
		    "there is no" : "the recording has no",
		    (int)(length > 42 ? 40 : length - 2),
		    parser->pa_start + 1);
		return (prof_cure(parser->pa_error, spans->fp_is_live ?
		    "name a span that --span defines" :
		    "list spans with dtprof report --by span"));
	}
	test_decide(test, (n == spans->fp_in) == (test->ft_op == DTP_OP_EQ));
	return (0);
}

/* A time, or a quantile of the span that the filter is for. */
static int
parse_span_duration(struct parser *parser, struct dtp_test *test)
{
	static const char *const words[] = { "p50", "p90", "p99" };
	const struct prof_filter_spans *spans = parser->pa_scope->fs_spans;
	const bool is_in = spans->fp_in < spans->fp_n;
	const struct prof_span_kind *kind = is_in ?
	    spans->fp_kinds[spans->fp_in] : NULL;
	const uint64_t values[] = { is_in ? kind->sk_p50_ns : 0,
	    is_in ? kind->sk_p90_ns : 0, is_in ? kind->sk_p99_ns : 0 };
	const size_t length = (size_t)(parser->pa_at - parser->pa_start);
	size_t n;

	for (n = 0; n < 3; n++)
		if (length == strlen(words[n]) && strncmp(parser->pa_start,
		    words[n], length) == 0)
			break;
	if (n < 3 && spans->fp_is_live) {
		fail_at(parser, "%s is not known while recording", words[n]);
		return (prof_cure(parser->pa_error, "compare with a duration, "
		    "e.g. span.duration > 10ms; or record all spans, and "
		    "filter when reading"));
	}
	if (n < 3) {
		test->ft_value[0] = values[n];
		test->ft_unsigned = 1;
	} else if (parser->pa_token == TOKEN_FIELD)
		return (error_expected(parser,
		    "a duration such as 10ms, or p50, p90 or p99"));
	else if (parse_duration(parser, test) == -1)
		return (-1);
	if (!is_in)
		test_decide(test, false);
	return (0);
}

/* Nanoseconds, or a number with its unit: 250us, 1ms. */
static int
parse_duration(struct parser *parser, struct dtp_test *test)
{
	size_t length = (size_t)(parser->pa_at - parser->pa_start);
	char text[WORD_MAX];
	uint64_t ns, hz;

	if (parser->pa_token != TOKEN_NUMBER || length >= sizeof(text))
		return (error_expected(parser,
		    "a duration such as 250us, 1ms or 2s"));
	memcpy(text, parser->pa_start, length);
	text[length] = '\0';
	/* A number alone is of nanoseconds here. */
	if (!prof_parse_u64(text, &ns) &&
	    (!prof_parse_interval(text, &ns, &hz) || ns == 0))
		return (error_expected(parser,
		    "a duration such as 250us, 1ms or 2s"));
	test->ft_value[0] = ns;
	test->ft_unsigned = 1;
	return (0);
}
