/* SPDX-License-Identifier: ISC */
/*
 * All filters of an event as one tree, which is then split: programs evaluate
 * what is known when an event fires, the session evaluates terms with stack
 * when the functions in the stack have names.
 *
 *	a && (stack == "f" || b) && c	->	program: a && c
 *						session: stack == "f" || b
 *
 * Called by the session for each event.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter_impl.h"

/* In place of a node. */
#define NONE	(-1)
#define FULL	(-2)	/* the tree has no room for it */

int
prof_filter_node(struct filter_tree *tree, enum filter_kind kind, int left,
    int right)
{
	struct filter_node *node;

	if (tree->ft_n == FILTER_NODES)
		return (-1);
	node = &tree->ft_node[tree->ft_n];
	memset(node, 0, sizeof(*node));
	node->fn_kind = kind;
	node->fn_left = (uint16_t)left;
	node->fn_right = (uint16_t)right;
	switch (kind) {
	case FILTER_TEST:
		node->fn_ntests = 1;
		break;
	case FILTER_NOT:
		node->fn_ntests = tree->ft_node[left].fn_ntests;
		node->fn_has_calls = tree->ft_node[left].fn_has_calls;
		break;
	default:
		node->fn_has_calls = tree->ft_node[left].fn_has_calls ||
		    tree->ft_node[right].fn_has_calls;
		node->fn_ntests = (uint16_t)(tree->ft_node[left].fn_ntests +
		    tree->ft_node[right].fn_ntests);
		break;
	}
	return (tree->ft_n++);
}

/* The event's own: its columns are those of what stands in its braces. */
static int
own_parse(const struct prof_event *event, const struct filter_scope *scope,
    struct filter_tree *tree, struct prof_err *error)
{
	struct prof_err why = { 0 };
	int root = prof_filter_parse(event->ev_expression, scope, tree, &why);

	if (root != -1)
		return (root);
	prof_fail(error, why.pe_code, "%s: %s", event->ev_probe, why.pe_text);
	return (prof_cure(error, "%s", why.pe_cure));
}

static int
comm_parse(struct filter_tree *tree, const char *comm, struct prof_err *error)
{
	int node = strlen(comm) >= DTP_COMM_LEN ? -1 :
	    prof_filter_node(tree, FILTER_TEST, 0, 0);
	struct dtp_test *test;

	if (node == -1) {
		prof_fail(error, PROF_E_FILTER, "invalid thread name '%s': "
		    "longer than %d characters", comm, DTP_COMM_LEN - 1);
		return (prof_cure(error, "use the thread name that ps -L -o "
		    "comm shows"));
	}
	test = &tree->ft_node[node].fn_test;
	test->ft_field = DTP_F_COMM;
	test->ft_op = DTP_OP_EQ;
	test->ft_other = DTP_F_ZERO;
	memcpy(test->ft_value, comm, strlen(comm));
	return (node);
}

/* Both, or the one that there is. */
static int
tree_and(struct filter_tree *tree, int left, int right)
{
	int node;

	if (left == FULL || right == FULL)
		return (FULL);
	if (left == NONE || right == NONE)
		return (left == NONE ? right : left);
	node = prof_filter_node(tree, FILTER_AND, left, right);
	return (node == -1 ? FULL : node);
}

/* Terms with stack apart from the others, joined by && each. */
static void
tree_split(struct filter_tree *tree, int at, int *others, int *calls)
{
	const struct filter_node node = tree->ft_node[at];

	if (node.fn_kind == FILTER_AND && node.fn_has_calls) {
		tree_split(tree, node.fn_left, others, calls);
		tree_split(tree, node.fn_right, others, calls);
	} else if (node.fn_has_calls) {
		*calls = tree_and(tree, *calls, at);
	} else {
		*others = tree_and(tree, *others, at);
	}
}

/* A field beside stack that no record has; NULL: none. */
static const char *
tree_unrecorded(const struct filter_tree *tree, int at)
{
	const struct filter_node *node = &tree->ft_node[at];
	const __u8 field = node->fn_test.ft_field;
	const __u8 other = node->fn_test.ft_other;
	const char *found;

	if (node->fn_kind == FILTER_TEST)
		return (node->fn_has_calls ? NULL : field == DTP_F_COMM ?
		    "comm" : field == DTP_F_UID || other == DTP_F_UID ? "uid" :
		    field == DTP_F_GID || other == DTP_F_GID ? "gid" : NULL);
	found = tree_unrecorded(tree, node->fn_left);
	return (found != NULL || node->fn_kind == FILTER_NOT ? found :
	    tree_unrecorded(tree, node->fn_right));
}

/* The filter of the session. */
static int
calls_compile(const struct filter_tree *tree, int at, bool is_call,
    struct prof_filter_joined *joined, struct prof_err *error)
{
	const char *field = tree_unrecorded(tree, at);

	if (field != NULL) {
		prof_fail(error, PROF_E_FILTER, "'%s' and 'stack' are "
		    "alternatives in the filter: '%s' is compared in the "
		    "kernel, 'stack' later", field, field);
		return (prof_cure(error, "join '%s' with '&&'", field));
	}
	joined->fj_session = calloc(1, sizeof(*joined->fj_session));
	if (joined->fj_session == NULL)
		return (prof_fail_nomem(error));
	joined->fj_session->pf_calls = tree->ft_calls;
	joined->fj_session->pf_is_call = is_call;
	if (prof_filter_flatten(tree, at, &joined->fj_session->pf_filter,
	    error) == 0)
		return (0);
	prof_filter_free(joined->fj_session);
	joined->fj_session = NULL;
	return (-1);
}

static int
tree_join(struct filter_tree *tree, int root, const struct prof_event *event,
    struct prof_filter_joined *joined, struct prof_err *error)
{
	int others = NONE, calls = NONE;

	if (root != NONE && root != FULL)
		tree_split(tree, root, &others, &calls);
	if (root == FULL || others == FULL || calls == FULL)
		return (prof_fail(error, PROF_E_FILTER, "filter too long"));
	if (calls != NONE && calls_compile(tree, calls, event->ev_is_call,
	    joined, error) == -1)
		return (-1);
	if (others == NONE || prof_filter_flatten(tree, others,
	    &joined->fj_program, error) == 0)
		return (0);
	prof_filter_free(joined->fj_session);
	joined->fj_session = NULL;
	return (-1);
}

int
prof_filter_join(const struct prof_event *event, const char *expression,
    const char *comm, struct prof_filter_joined *joined,
    struct prof_err *error)
{
	struct filter_tree tree = { 0 };
	struct filter_scope scope;
	int root = NONE, part;

	memset(&joined->fj_program, 0, sizeof(joined->fj_program));
	joined->fj_session = NULL;
	prof_filter_scope(event, &scope);
	scope.fs_has_calls = joined->fj_has_calls;
	if (event->ev_expression != NULL &&
	    (root = own_parse(event, &scope, &tree, error)) == -1)
		return (-1);
	if (expression != NULL) {
		part = prof_filter_parse(expression, &scope, &tree, error);
		if (part == -1)
			return (-1);
		root = tree_and(&tree, root, part);
	}
	if (comm != NULL) {
		if ((part = comm_parse(&tree, comm, error)) == -1)
			return (-1);
		root = tree_and(&tree, root, part);
	}
	return (tree_join(&tree, root, event, joined, error));
}

