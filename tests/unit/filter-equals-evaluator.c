/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a compiled filter decides as a direct evaluation of the same
 * expression does, over 100,000 random expressions, each on 8 random
 * firings; all of its jumps lead forward and every comparison is reachable.
 *
 * Easy to get wrong: the precedence of && and ||, ! before parentheses,
 * signed against unsigned, and where a jump lands after a nested or.
 */
#include "abi/dtp_filter.h"
#include "filter/filter.h"
#include "names.h"

#define ROUNDS	100000
#define FIRINGS	8
#define SET	7		/* behind the other operators */

/* The expression, as generated: printed for the compiler, evaluated here. */
struct node {
	enum { TEST, AND, OR, NOT } kind;
	int	left, right;
	int	field, op;
	int64_t	value, second;	/* of a set */
	int	other;		/* a field on the right; -1: none */
	const char *text;
};

struct expression {
	struct node	node[64];
	int		n, ntests;
	uint64_t	*state;
};

static const struct {
	const char	*name;
	int		 field;
	bool		 is_signed;
} fields[] = {
	{ "pid", DTP_F_PID, false }, { "tid", DTP_F_TID, false },
	{ "cpu", DTP_F_CPU, false }, { "uid", DTP_F_UID, false },
	{ "gid", DTP_F_GID, false }, { "kernel", DTP_F_KERNEL, false },
	{ "arg0", DTP_F_ARG0, true }, { "arg7", DTP_F_ARG0 + 7, true },
	{ "arg3", DTP_F_ARG0 + 3, true }, { "comm", DTP_F_COMM, false },
};
static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=", "&",
	"in" };
static const char *const comms[] = { "bash", "a b", "fifteen--chars-", "" };
static const int64_t values[] = {
	0, 1, 2, 3, 7, 8, 1000, -1, -2, INT64_MAX, INT64_MIN
};

static int
generate(struct expression *e, int depth)
{
	int at = e->n++, kind = (int)random_below(e->state, 8);
	struct node *node = &e->node[at];

	if (depth == 0 || e->ntests >= 12 || e->n > 50)
		kind = 0;
	if (kind < 3) {
		uint32_t which = random_below(e->state, 10);

		node->kind = TEST;
		e->ntests++;
		node->field = (int)which;
		node->op = (int)random_below(e->state,
		    fields[which].field == DTP_F_COMM ? 2 : 7);
		node->text = comms[random_below(e->state, 4)];
		node->value = values[random_below(e->state,
		    fields[which].is_signed ? 11 : 7)];
		node->second = values[random_below(e->state,
		    fields[which].is_signed ? 11 : 7)];
		node->other = -1;
		if (fields[which].field == DTP_F_COMM)
			return (at);
		if (random_below(e->state, 4) == 0)
			node->other = (int)random_below(e->state, 9);
		else if (random_below(e->state, 4) == 0) {
			node->op = SET;
			e->ntests++;
		}
	} else if (kind == 7) {
		node->kind = NOT;
		node->left = generate(e, depth - 1);
	} else {
		node->kind = kind < 5 ? AND : OR;
		node->left = generate(e, depth - 1);
		node->right = generate(e, depth - 1);
	}
	return (at);
}

/* Parentheses only where precedence asks for them, or at random. */
static void
print(const struct expression *e, int at, int above, FILE *out)
{
	const struct node *node = &e->node[at];
	const char *gap = random_below(e->state, 2) ? " " : "";
	int mine = node->kind == OR ? 1 : node->kind == AND ? 2 : 3;
	bool paren = mine < above || random_below(e->state, 6) == 0;

	fprintf(out, "%s", paren ? "(" : "");
	switch (node->kind) {
	case TEST:
		fprintf(out, node->op == SET ? "%s%s %s (" : "%s%s%s%s",
		    fields[node->field].name, gap, ops[node->op], gap);
		if (node->op == SET)
			fprintf(out, "%lld,%s%lld)", (long long)node->value,
			    gap, (long long)node->second);
		else if (node->other != -1)
			fprintf(out, "%s", fields[node->other].name);
		else if (fields[node->field].field == DTP_F_COMM)
			fprintf(out, "\"%s\"", node->text);
		else if (node->value >= 0 && random_below(e->state, 3) == 0)
			fprintf(out, "%#llx", (unsigned long long)node->value);
		else if (node->value >= 0 && random_below(e->state, 3) == 0)
			fprintf(out, "%#llo", (unsigned long long)node->value);
		else
			fprintf(out, "%lld", (long long)node->value);
		break;
	case NOT:
		fprintf(out, "!%s", gap);
		print(e, node->left, 3, out);
		break;
	default:
		/* The right side of a chain keeps its own grouping. */
		print(e, node->left, mine, out);
		fprintf(out, "%s%s%s", gap, node->kind == OR ? "||" : "&&",
		    gap);
		print(e, node->right, mine + 1, out);
		break;
	}
	fprintf(out, "%s", paren ? ")" : "");
}

/* Values are small or extreme, so 128 bits decide without overflow. */
static bool
evaluate(const struct expression *e, int at, const struct dtp_facts *facts)
{
	const struct node *node = &e->node[at];
	__int128 have, want = node->value;
	uint64_t raw, right = (uint64_t)node->value;
	bool is_signed;

	switch (node->kind) {
	case AND:
		return (evaluate(e, node->left, facts) &&
		    evaluate(e, node->right, facts));
	case OR:
		return (evaluate(e, node->left, facts) ||
		    evaluate(e, node->right, facts));
	case NOT:
		return (!evaluate(e, node->left, facts));
	case TEST:
		break;
	}
	if (fields[node->field].field == DTP_F_COMM)
		return ((strncmp((const char *)facts->fa_comm, node->text,
		    DTP_COMM_LEN) == 0) == (node->op == 0));
	raw = facts->fa_field[fields[node->field].field];
	is_signed = fields[node->field].is_signed;
	if (node->other != -1) {
		right = facts->fa_field[fields[node->other].field];
		is_signed |= fields[node->other].is_signed;
		want = is_signed ? (__int128)(int64_t)right :
		    (__int128)right;
	}
	have = is_signed ? (__int128)(int64_t)raw : (__int128)raw;
	switch (node->op) {
	case 0: return (have == want);
	case 1: return (have != want);
	case 2: return (have < want);
	case 3: return (have <= want);
	case 4: return (have > want);
	case 5: return (have >= want);
	case SET: return (have == want || have == node->second);
	default: return ((raw & right) != 0);
	}
}

static void
random_facts(uint64_t *state, struct dtp_facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	for (size_t n = 0; n < sizeof(fields) / sizeof(fields[0]); n++)
		facts->fa_field[fields[n].field] = (uint64_t)values[
		    random_below(state, fields[n].is_signed ? 11 : 7)];
	strncpy((char *)facts->fa_comm, comms[random_below(state, 4)],
	    DTP_COMM_LEN - 1);
}

static void
check_jumps(const struct dtp_filter *filter, const char *text)
{
	unsigned reached = 1;

	for (unsigned n = 0; n < filter->fi_ntests; n++) {
		const struct dtp_test *test = &filter->fi_test[n];

		CHECK((reached >> n & 1) != 0, "test %u of %s is not reached",
		    n, text);
		CHECK(test->ft_yes >= DTP_REJECT || (test->ft_yes > n &&
		    test->ft_yes < filter->fi_ntests), "%s", text);
		CHECK(test->ft_no >= DTP_REJECT || (test->ft_no > n &&
		    test->ft_no < filter->fi_ntests), "%s", text);
		CHECK((filter->fi_fields >> test->ft_field & 1) != 0 &&
		    (filter->fi_fields >> test->ft_other & 1) != 0,
		    "fi_fields of %s", text);
		if (test->ft_yes < DTP_REJECT)
			reached |= 1U << test->ft_yes;
		if (test->ft_no < DTP_REJECT)
			reached |= 1U << test->ft_no;
	}
}

int
main(void)
{
	uint64_t state = 42, yes = 0, no = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct expression e = { .state = &state };
		struct dtp_filter filter;
		struct dtp_facts facts;
		struct prof_err error;
		char text[4096];
		FILE *out;
		int rv, root = generate(&e, 6);

		out = fmemopen(text, sizeof(text), "w");
		CHECK(out != NULL, "fmemopen");
		print(&e, root, 0, out);
		fclose(out);
		rv = prof_filter_compile(text, NULL, &filter, &error);
		if (e.ntests > DTP_MAX_TESTS) {
			CHECK(rv == -1, "%s", text);
			continue;
		}
		CHECK(rv == 0, "%s: %s", text, error.pe_text);
		CHECK((int)filter.fi_ntests == e.ntests, "%s", text);
		check_jumps(&filter, text);
		for (int n = 0; n < FIRINGS; n++) {
			bool wanted;

			random_facts(&state, &facts);
			wanted = evaluate(&e, root, &facts);
			CHECK(dtp_filter_holds(&filter, &facts) == wanted,
			    "round %d: %s should say %d", round, text, wanted);
			yes += wanted;
			no += !wanted;
		}
	}
	CHECK(yes > ROUNDS && no > ROUNDS, "one-sided: %llu yes, %llu no",
	    (unsigned long long)yes, (unsigned long long)no);
	return (passed());
}
