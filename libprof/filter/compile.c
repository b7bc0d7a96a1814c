/* SPDX-License-Identifier: ISC */
/*
 * Compiles a filter to the list of comparisons that BPF and libprof run
 * (dtp_filter.h).  Every node of the tree knows how many comparisons are
 * below it, so the places are known before anything is written: the left
 * side begins where the node does, the right side behind the left.  All
 * jumps therefore lead forward.  Called by join.c and evaluate.c.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "events/names.h"
#include "filter.h"
#include "filter_impl.h"

static void	filter_emit(const struct filter_tree *tree, unsigned at,
		    struct dtp_filter *filter, unsigned place, __u8 yes,
		    __u8 no);
static int	field_argument(const struct filter_scope *scope, uint32_t slot,
		    enum filter_value *value, bool *is_signed);
static bool	field_same(const char *written, const char *known);
static void	field_list(const struct filter_scope *scope, char *text,
		    size_t size);

void
prof_filter_scope(const struct prof_event *event, struct filter_scope *scope)
{
	memset(scope, 0, sizeof(*scope));
	if (event == NULL)
		scope->fs_nargs = DTP_MAX_ARGS;
	else {
		scope->fs_event = event->ev_name;
		/* The recorder makes text of the last ones, and BPF cannot. */
		while (scope->fs_nargs < event->ev_nargs &&
		    !event->ev_args[scope->fs_nargs].ag_is_later)
			scope->fs_nargs++;
		scope->fs_is_syscall = event->ev_is_syscall;
		scope->fs_is_call = event->ev_is_call;
		scope->fs_is_site = event->ev_nhooks > 0;
	}
	for (uint32_t n = 0; n < scope->fs_nargs; n++) {
		struct filter_arg *arg = &scope->fs_arg[n];

		arg->fa_is_signed = event == NULL ||
		    event->ev_args[n].ag_load.ar_signed;
		if (event == NULL)
			continue;
		arg->fa_name = event->ev_args[n].ag_name;
		arg->fa_text = event->ev_args[n].ag_is_text ? DTP_KEY_CALL :
		    event->ev_args[n].ag_load.ar_kind != DTP_A_INT ?
		    DTP_KEY_TEXT : DTP_KEY_NUMBER;
	}
}

int
prof_filter_flatten(const struct filter_tree *tree, int at,
    struct dtp_filter *filter, struct prof_err *error)
{
	const struct filter_node *root = &tree->ft_node[at];

	if (root->fn_ntests > DTP_MAX_TESTS) {
		prof_fail(error, PROF_E_FILTER,
		    "too many comparisons in the filter: %u (at most %d)",
		    root->fn_ntests, DTP_MAX_TESTS);
		return (prof_cure(error, "use fewer comparisons when "
		    "recording, and filter again when reading"));
	}
	filter->fi_ntests = root->fn_ntests;
	filter->fi_ntexts = tree->ft_ntexts;
	memcpy(filter->fi_text, tree->ft_text, sizeof(filter->fi_text));
	filter_emit(tree, (unsigned)at, filter, 0, DTP_ACCEPT, DTP_REJECT);
	for (uint32_t n = 0; n < filter->fi_ntests; n++)
		filter->fi_fields |= 1U << filter->fi_test[n].ft_field |
		    1U << filter->fi_test[n].ft_other;
	return (0);
}

int
prof_filter_compile(const char *expression, const struct prof_event *event,
    struct dtp_filter *filter, struct prof_err *error)
{
	struct filter_scope scope;

	memset(filter, 0, sizeof(*filter));
	if (expression == NULL)
		return (0);
	prof_filter_scope(event, &scope);
	return (prof_filter_translate(expression, &scope, filter, NULL,
	    error));
}

int
prof_filter_translate(const char *expression,
    const struct filter_scope *scope, struct dtp_filter *filter,
    struct filter_calls *calls, struct prof_err *error)
{
	struct filter_tree tree = { 0 };
	int root = prof_filter_parse(expression, scope, &tree, error);

	memset(filter, 0, sizeof(*filter));
	if (calls != NULL)
		*calls = tree.ft_calls;
	return (root == -1 ? -1 : prof_filter_flatten(&tree, root, filter,
	    error));
}

/* The parser bounds the depth; a chain of && is deep on the left only. */
static void
filter_emit(const struct filter_tree *tree, unsigned at,
    struct dtp_filter *filter, unsigned place, __u8 yes, __u8 no)
{
	const struct filter_node *node = &tree->ft_node[at];
	unsigned behind;

	switch (node->fn_kind) {
	case FILTER_TEST:
		filter->fi_test[place] = node->fn_test;
		filter->fi_test[place].ft_yes = yes;
		filter->fi_test[place].ft_no = no;
		return;
	case FILTER_NOT:
		filter_emit(tree, node->fn_left, filter, place, no, yes);
		return;
	default:
		behind = place + tree->ft_node[node->fn_left].fn_ntests;
		if (node->fn_kind == FILTER_AND)
			filter_emit(tree, node->fn_left, filter, place,
			    (__u8)behind, no);
		else
			filter_emit(tree, node->fn_left, filter, place, yes,
			    (__u8)behind);
		filter_emit(tree, node->fn_right, filter, behind, yes, no);
		return;
	}
}

static bool
is_of_spans(const struct filter_scope *scope)
{
	return (scope->fs_spans != NULL && scope->fs_spans->fp_is_chosen);
}

static bool
is_live(const struct filter_scope *scope)
{
	return (is_of_spans(scope) && scope->fs_spans->fp_is_live);
}

/*
 * A thread can be on several CPUs in a span, in the kernel and not.  What it is
 * called is known when the recording is read.
 */
static bool
field_is_of_span(const struct filter_scope *scope, int field)
{
	return (field != DTP_F_CPU && field != DTP_F_KERNEL &&
	    (field != DTP_F_COMM || !is_live(scope)));
}

/* What a span is called decides a test at once, see parse.c. */
static int
field_span(const struct filter_scope *scope, const char *name,
    enum filter_value *value, char *why, size_t whysize)
{
	if (scope->fs_spans == NULL) {
		snprintf(why, whysize, "the recording has no spans, or this "
		    "command cannot filter by spans");
		return (-1);
	}
	*value = strcmp(name, "span") == 0 ? FILTER_SPAN :
	    FILTER_SPAN_DURATION;
	return (*value == FILTER_SPAN ? DTP_F_KERNEL :
	    FILTER_F_SPAN_DURATION);
}

static int
field_calls(const struct filter_scope *scope, enum filter_value *value,
    char *why, size_t whysize)
{
	*value = FILTER_CALLS;
	if (scope->fs_has_calls)
		return (FILTER_F_CALLS);
	snprintf(why, whysize, "%s", scope->fs_recorded ?
	    "only commands that show a profile can filter by 'stack'" :
	    "events cannot be counted with a filter by 'stack'; record "
	    "events with dtprof record, or print them with dtprof trace");
	return (-1);
}

/*
 * What every firing has comes first: an argument called pid is argN, too.
 * argN counts as DTrace does: of a syscall it is the N-th argument (or what
 * it returned), not the number, which is "nr".  Of a function or static probe
 * it is a name: which argument is recorded first says nothing about it.
 */
int
prof_filter_field(const struct filter_scope *scope, const char *name,
    enum filter_value *value, bool *is_signed, char *why, size_t whysize)
{
	static const struct {
		const char	*name;
		int		 field;
	} common[] = {
		{ "pid", DTP_F_PID }, { "tid", DTP_F_TID },
		{ "cpu", DTP_F_CPU }, { "uid", DTP_F_UID },
		{ "gid", DTP_F_GID }, { "comm", DTP_F_COMM },
		{ "kernel", DTP_F_KERNEL },
	};
	char known[256];

	*is_signed = false;
	*value = strcmp(name, "comm") == 0 ? FILTER_COMM : FILTER_NUMBER;
	if (scope->fs_is_syscall && strcmp(name, "syscall") == 0) {
		*value = FILTER_SYSCALL;
		return (DTP_F_ARG0);
	}
	if (scope->fs_recorded && (strcmp(name, "span") == 0 ||
	    strcmp(name, "span.duration") == 0))
		return (field_span(scope, name, value, why, whysize));
	if (scope->fs_is_call && strcmp(name, "duration") == 0) {
		*value = FILTER_DURATION;
		return (DTP_F_DURATION);
	}
	for (size_t n = 0; n < sizeof(common) / sizeof(common[0]); n++) {
		if (strcmp(common[n].name, name) != 0 ||
		    (is_of_spans(scope) && !field_is_of_span(scope,
		    common[n].field)))
			continue;
		if (scope->fs_recorded && (common[n].field == DTP_F_UID ||
		    common[n].field == DTP_F_GID)) {
			snprintf(why, whysize, "'%s' is not stored in "
			    "recordings; use this field only with dtprof "
			    "record --filter", name);
			return (-1);
		}
		return (common[n].field);
	}
	for (uint32_t n = 0; n < scope->fs_nargs; n++)
		if (scope->fs_arg[n].fa_name != NULL &&
		    field_same(name, scope->fs_arg[n].fa_name))
			return (field_argument(scope, n, value, is_signed));
	if (strncmp(name, "arg", 3) == 0 && !scope->fs_is_site &&
	    isdigit((unsigned char)name[3]) && name[4] == '\0') {
		uint32_t slot = (uint32_t)(name[3] - '0') +
		    scope->fs_is_syscall + scope->fs_is_call;

		if (slot < scope->fs_nargs)
			return (field_argument(scope, slot, value,
			    is_signed));
	}
	if (strcmp(name, "stack") == 0 && !is_of_spans(scope))
		return (field_calls(scope, value, why, whysize));
	field_list(scope, known, sizeof(known));
	snprintf(why, whysize, "%s has no field '%.40s'; its fields are %s",
	    is_of_spans(scope) ? "a span" : scope->fs_event == NULL ?
	    "an event" : scope->fs_event, name,
	    known);
	return (-1);
}

/*
 * A recording may be of another architecture; a call that it did not meet has
 * a number that nothing has.
 */
int64_t
prof_filter_syscall(const struct filter_scope *scope, const char *name)
{
	const unsigned number = prof_syscall_number(name);

	for (uint32_t n = 0; scope->fs_calls != NULL && n < scope->fs_ncalls;
	    n++)
		if (scope->fs_calls[n] != NULL &&
		    strcmp(scope->fs_calls[n]->cl_name, name) == 0)
			return (n);
	if (number == DTP_MAX_SYSCALL)
		return (-1);
	return (scope->fs_calls != NULL ? DTP_MAX_SYSCALL : (int64_t)number);
}

static int
field_argument(const struct filter_scope *scope, uint32_t slot,
    enum filter_value *value, bool *is_signed)
{
	const struct filter_arg *arg = &scope->fs_arg[slot];

	if (arg->fa_text != DTP_KEY_NUMBER)
		*value = FILTER_TEXT;
	*is_signed = arg->fa_is_signed;
	return (DTP_F_ARG0 + (int)slot);
}

/* next->pid, next.pid and next_pid are the same. */
static bool
field_same(const char *written, const char *known)
{
	while (*written != '\0' && *known != '\0') {
		char w = *written, k = *known;

		written += w == '-' && written[1] == '>' ? 2 : 1;
		known += k == '-' && known[1] == '>' ? 2 : 1;
		if (w == '-' || w == '.')
			w = '_';
		if (k == '-' || k == '.')
			k = '_';
		if (w != k)
			return (false);
	}
	return (*written == *known);
}

static void
field_list(const struct filter_scope *scope, char *text, size_t size)
{
	size_t used;

	used = (size_t)snprintf(text, size, "pid tid%s%s%s%s%s%s%s",
	    is_of_spans(scope) ? "" : " cpu",
	    scope->fs_recorded ? "" : " uid gid",
	    is_live(scope) ? "" : " comm",
	    is_of_spans(scope) ? "" : " kernel",
	    scope->fs_spans == NULL ? "" : " span span.duration",
	    scope->fs_is_syscall ? " syscall" : "",
	    scope->fs_is_call ? " duration" : "");
	if (scope->fs_has_calls && used < size)
		used += (size_t)snprintf(text + used, size - used, " stack");
	for (uint32_t n = 0; n < scope->fs_nargs && used < size; n++) {
		if (scope->fs_arg[n].fa_name == NULL)
			used += (size_t)snprintf(text + used, size - used,
			    " arg%u", n);
		else
			used += (size_t)snprintf(text + used, size - used,
			    " %s", scope->fs_arg[n].fa_name);
	}
}
