/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever the text, the filter is either compiled to jumps that
 * only lead forward, or refused with a sentence and a cure.
 *
 * It is compiled for no event, for one with arguments, and for one of a
 * recording, and what is taken is run on facts made of the same bytes.  It is
 * also joined with the event's own filter and the name of a thread, with terms
 * of stacks and without.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_filter.h"
#include "events/event.h"
#include "filter/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char next_pid[] = "next->pid", filename[] = "filename", nr[] = "nr";

static void
run(const struct dtp_filter *filter, const uint8_t *data, size_t size)
{
	struct dtp_facts facts;

	for (unsigned n = 0; n < filter->fi_ntests; n++) {
		const struct dtp_test *test = &filter->fi_test[n];

		if ((test->ft_yes <= n || test->ft_no <= n) ||
		    (test->ft_yes < DTP_REJECT &&
		    test->ft_yes >= filter->fi_ntests) ||
		    (test->ft_no < DTP_REJECT &&
		    test->ft_no >= filter->fi_ntests) ||
		    (filter->fi_fields >> test->ft_field & 1) == 0)
			abort();
	}
	memset(&facts, 0, sizeof(facts));
	memcpy(&facts, data, size < sizeof(facts) ? size : sizeof(facts));
	(void)dtp_filter_holds(filter, &facts);
}

static void
refused(const struct prof_err *error)
{
	if (error->pe_code != PROF_E_FILTER || error->pe_text[0] == '\0' ||
	    error->pe_cure[0] == '\0')
		abort();
}

static void
compile(const char *text, const struct prof_event *event,
    const uint8_t *data, size_t size)
{
	struct dtp_filter filter;
	struct prof_err error;

	memset(&error, 0, sizeof(error));
	if (prof_filter_compile(text, event, &filter, &error) == 0)
		run(&filter, data, size);
	else
		refused(&error);
}

static void
join(const struct prof_event *event, const char *text, const char *comm,
    bool has_calls)
{
	static const struct dtp_facts none;
	struct prof_filter_joined joined = { .fj_has_calls = has_calls };
	struct prof_err error;

	memset(&error, 0, sizeof(error));
	if (prof_filter_join(event, text, comm, &joined, &error) == -1)
		refused(&error);
	else
		run(&joined.fj_program, (const uint8_t *)&none, sizeof(none));
	prof_filter_free(joined.fj_session);
}

static void
joined(struct prof_event *event, const char *text)
{
	char *own = strdup(text);

	for (int n = 0; n < 4 && own != NULL; n++) {
		event->ev_expression = n % 2 == 0 ? NULL : own;
		join(event, text, n % 2 == 0 ? "comm" : NULL, n < 2);
	}
	event->ev_expression = NULL;
	free(own);
}

static void
recorded(const char *text)
{
	static const struct prof_event_info info = {
		.pi_name = "syscall::read:return", .pi_nargs = 2,
		.pi_is_syscall = 1, .pi_arg_names = { "nr", "ret" },
		.pi_arg_is_signed = { 1, 1 },
	};
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_nargs = 2, .pr_args = { 1, (uint64_t)-1 } };
	static const struct prof_function function = {
		.fu_name = "int ns::f<int>(char*) const", .fu_raw = "_ZN2ns1fE",
	};
	struct prof_filter *filter;
	struct prof_err error;
	uint64_t calls;

	if ((filter = prof_filter_new_in(text, &info, NULL, true, &error)) !=
	    NULL && prof_filter_calls(filter, &function, &calls) == 0)
		(void)prof_filter_holds_in(filter, &record, "comm", 0, calls);
	prof_filter_free(filter);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prof_event event;
	char name[] = "event", *text = malloc(size + 1);

	if (text == NULL)
		return (0);
	memcpy(text, data, size);
	text[size] = '\0';
	memset(&event, 0, sizeof(event));
	event.ev_name = event.ev_probe = name;
	event.ev_nargs = 3;
	event.ev_args[0].ag_name = nr;
	event.ev_args[1].ag_name = next_pid;
	event.ev_args[1].ag_load.ar_signed = 1;
	event.ev_args[2].ag_name = filename;
	event.ev_args[2].ag_load.ar_kind = DTP_A_USTR;
	compile(text, NULL, data, size);
	compile(text, &event, data, size);
	recorded(text);
	joined(&event, text);
	free(text);
	return (0);
}
